"""The snapshot: its sentence and table on numbers known beforehand, and the gallery as committed."""

import re

from docs import snapshot
from tests.support.project import ROOT

NAN = float("nan")


def row(name: str, *regrets: float) -> dict:
    """Return a row of the main table with these regrets, instance 0 first."""
    spread = {"panel_low": min(regrets), "panel_median": sorted(regrets)[len(regrets) // 2], "panel_high": max(regrets)}
    return {"row": name, "column": "regret", "value": regrets[0], "sem": 0.5, "panel": list(regrets)} | spread


def line(name: str, paper: float, verdict: str) -> dict:
    key = {"artifact": snapshot.TABLE, "row": name, "column": "regret"}
    return key | {"paper": paper, "paper_sem": NAN, "verdict": verdict, "cell": name, "kind": "synthetic"}


def test_the_headline_compares_with_the_next_best_method():
    table = [row("random", 90, 80, 70), row("full", 60, 100, 50), row("graphdr", 10, 10, 10)]
    lines = [line("random", 100, "match"), line("full", 50, "close"), line("graphdr", 5, "no data")]
    text = snapshot.headline(table, lines, {"full": "LinUCB-full"}, [])
    assert text.startswith("GraphDR has 6 times less regret than the next best")
    assert "(instance 0: 6; paper: 10)" in text
    assert "| LinUCB-full | 60.0 ± 0.5 | 60.0 (50.0 … 100.0) | 50.0 |" in text
    assert "Of 2 distinct synthetic numbers of the paper: 1 `match`, 1 `close`, 0 `not contradicted`" in text
    assert "0 more distinct numbers come from other data and are not judged; 1 are missing." in text


def test_a_missing_build_is_one_line_and_changes_nothing(tmp_path, monkeypatch, capsys):
    for name, source in (("README.md", "README.md"), ("config.yaml", "tests/support/tiny.yaml")):
        (tmp_path / name).write_text((ROOT / source).read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(snapshot, "__file__", str(tmp_path / "docs/snapshot.py"))
    monkeypatch.chdir(tmp_path)
    assert snapshot.main() == 1
    assert re.fullmatch(r"error: results/.*: no such file; run make first\n", capsys.readouterr().err)
    assert {path.name for path in tmp_path.iterdir()} == {"README.md", "config.yaml"}


def test_the_committed_gallery_has_every_figure(config):
    page = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
    built = re.search(r"^Built on .*?\d\.(?= `make)", page, re.M)[0]
    assert page == snapshot.gallery({name: spec["title"] for name, spec in config["figures"].items()}, built)
