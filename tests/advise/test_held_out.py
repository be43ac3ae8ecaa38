"""The command on held-out rewards: text, page and JSON say the same, and one command reads a log as it is published."""

import contextlib
import html
import io
import json
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from graphdr.advise import logs, run, wording
from graphdr.advise.data import Data
from graphdr.advise.simulation.tournament import SimulationConfig
from graphdr.advise.simulation.verdict import HELPS, Saving
from graphdr.cli.main import main
from graphdr.core.errors import UserError
from graphdr.graphs import spectral
from graphdr.graphs.model import edges
from tests.support import shop_log
from tests.support.lacking import COMMAND, WORKFLOW, python_without
from tests.support.project import ROOT, draw_sbm

SHORT = ("--rounds", "300", "--splits", "3")
FILES = ("--edges", "links.csv", "--rewards", "clicks.csv")
OWN = ("advise", *FILES, "--name", "mine", "--rounds", "600", "--splits", "6")


class Answer(NamedTuple):
    """The output of the command as JSON and as text, and the page that it writes."""

    json: dict
    text: str
    page: str


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A project with a graph, several noisy rewards of every node that are smooth on it, and a published log."""
    folder = tmp_path_factory.mktemp("held_out")
    (folder / "Snakefile").touch()
    config = yaml.safe_load((ROOT / "tests/support/tiny.yaml").read_text(encoding="utf-8"))
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    graph = draw_sbm(1, n=80)
    i, j, _ = edges(graph)
    expected = spectral.low_eigenpairs(graph, 4).vectors[:, 1:] @ np.ones(3)
    node = np.repeat(np.arange(graph.n), 4)
    paid = expected[node] + 0.1 * np.random.default_rng(0).normal(size=len(node))
    (folder / "links.csv").write_text("from,to\n" + "".join(f"n{a},n{b}\n" for a, b in zip(i, j, strict=True)))
    (folder / "clicks.csv").write_text(
        "node,reward\n" + "".join(f"n{a},{value}\n" for a, value in zip(node, paid, strict=True))
    )
    shop_log.write(folder, pages=800)
    return folder


def asked(folder: Path, arguments: tuple[str, ...]) -> Answer:
    with contextlib.chdir(folder):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            assert main([*arguments, "--json"]) == 0
        answer = json.loads(printed.getvalue())
        place = Path(answer["folder"])
        assert json.loads((place / "advice.json").read_text(encoding="utf-8")) == answer
        return Answer(answer, *((place / f"advice.{kind}").read_text(encoding="utf-8") for kind in ("txt", "html")))


@pytest.fixture(scope="module")
def answered(project) -> Answer:
    return asked(project, OWN)


def plain(page: str) -> str:
    """Return the words of a page or a text, in one line."""
    return " ".join(html.unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)).split())


def test_text_page_and_json_agree(answered):
    answer, verdict = answered.json, answered.json["verdict"]
    assert verdict["outcome"] == HELPS
    texts = plain(answered.text), plain(answered.page)
    saves = Saving(**verdict["saves"])
    best, other = wording.short(verdict["best_graph"]), wording.short(verdict["best_without"])
    compared = f"{wording.percent(saves.low)} … {wording.percent(saves.high)}"
    for text in texts:
        for sentence in answer["answer"]:
            assert sentence in text
        for share in (wording.span(saves), compared, best, other, f"{verdict['pays_after']:,} rounds"):
            assert share in text
        for score in answer["scores"].values():
            if score["regret"] is not None and not score["control"]:
                assert f"{score['regret']:.1f} ± {score['sem']:.1f}" in text
        for note in answer["notes"]:
            assert note in text
        assert wording.screen(run.screen(answer["screen"]["by_split"])) in text
    assert re.search(r"<h1>(.*?)</h1>", answered.page)[1] == answer["answer"][0] == wording.TEXTS["outcomes"][HELPS]
    names = [wording.short(name) for name in answer["scores"] if not answer["scores"][name]["control"]]
    assert not re.search(r"(src|href)=\"(?!data:)|<script|@import|url\(|<!-- ", answered.page)  # it loads nothing
    assert "\033" not in answered.text
    starred = [name for name in names if f"{name}*" in re.sub(r"<[^>]+>", " ", answered.page)]
    assert starred[0] == wording.short(verdict["method"])
    assert len(starred) == 1


def test_savings_are_those_of_the_regrets_in_the_table(answered):
    """Whoever divides the regrets that are printed gets the savings of the answer."""
    verdict, scores = answered.json["verdict"], answered.json["scores"]
    best, other = verdict["best_graph"], verdict["best_without"]
    assert 1 - scores[best]["regret"] / scores[other]["regret"] == pytest.approx(verdict["saves"]["estimate"])
    assert 1 - scores[best]["regret"] / scores["full"]["regret"] == pytest.approx(verdict["saves_full"]["estimate"])
    assert 1 - scores[other]["regret"] / scores["full"]["regret"] == pytest.approx(verdict["sharing"]["estimate"])
    for control in ("shuffled", "random_directions", "longest"):
        found = verdict[f"over_{control}"]
        assert found["other_regret"] == pytest.approx(scores[control]["regret"])
        assert 1 - found["regret"] / found["other_regret"] == pytest.approx(found["estimate"])
    for name, curve in answered.json["curves"].items():
        assert curve[-1][1] == pytest.approx(scores[name]["regret"])
    judged = {name: score["regret"] for name, score in scores.items() if score["regret"] and not score["control"]}
    assert judged.keys() == answered.json["curves"].keys() == {best, other, "full", "random"}
    assert min(judged, key=judged.get) == verdict["method"]


def test_every_run_is_kept_and_what_is_not_judged_is_shown_behind_the_best_of_its_kind(answered, project):
    every = pq.read_table(project / answered.json["folder"] / run.RUNS).to_pandas()
    config, verdict = SimulationConfig(**answered.json["simulation"]), answered.json["verdict"]
    scores = {name: score for name, score in answered.json["scores"].items() if not score["control"]}
    table, judged = (every[every["phase"] == phase] for phase in ("compared", "judged"))
    finals = judged[judged["round"] == config.horizon].pivot(index=["split", "run"], columns="method", values="regret")
    controls = {"shuffled", "random_directions", "longest"}
    assert set(finals) == {verdict["best_graph"], verdict["best_without"], "full", "random"} | controls
    for name, count in finals.count().items():
        assert count == config.splits * (config.controls if name in controls else config.judging_runs)
    assert scores[verdict["best_graph"]]["sees_graph"]
    assert not scores[verdict["best_without"]]["sees_graph"]
    counts = table[table["run"] < config.comparing].groupby("method").size()
    assert counts.to_dict() == dict.fromkeys(scores, config.splits * config.comparing * 100)
    assert table["run"].max() < config.comparing + config.deciding
    assert not table.duplicated(["method", "split", "run", "round"]).any()
    for name, regret in finals.mean().items():
        assert regret == pytest.approx(answered.json["scores"][name]["regret"])
    compared = table[table["round"] == config.horizon].set_index(["split", "run"])
    for name, score in scores.items():
        if score["regret"] is None:
            best = verdict["best_graph" if score["sees_graph"] else "best_without"]
            mine, least = (compared["regret"][compared["method"] == each] for each in (name, best))
            assert score["behind"] == pytest.approx(mine.mean() / least.loc[mine.index].mean() - 1)
            assert score["behind"] > 0
            shown = rf"{re.escape(wording.short(name))} (yes|no) .*? {wording.percent(score['behind'])} more"
            assert re.search(shown, plain(answered.page))


def test_a_log_and_features_as_they_are_published_are_answered_by_one_command(project):
    answered = asked(project, ("advise", "--features", "item_context.csv", "--log", "all.csv", *SHORT))
    answer = answered.json
    assert (answer["size"]["items"], answer["size"]["played"]) == (shop_log.ITEMS, [shop_log.ITEMS] * 2)
    assert answer["size"]["split_by"] == "rewards"
    policies = {row["policy"] for row in answer["log"]["estimates"]}
    verdict = answer["verdict"]
    assert policies >= {"logged", "random", *(wording.short(verdict[name]) for name in ("best_graph", "best_without"))}
    assert answer["answer"][-1].startswith(("By the log ", "The log says nothing of "))
    assert "<h2>By the log</h2>" in answered.page
    assert any("nearest by cosine between their features" in note for note in answer["notes"])


def write_topics(folder: Path, topic: np.ndarray) -> None:
    """Write the topics of the log's items without edges between them, and several noisy rewards by topic."""
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(shop_log.ITEMS, k=1)
    pairs = [f"{a},{b}" for a, b in zip(i, j, strict=True) if topic[a] == topic[b]]
    rows = [f"{a},{topic[a] + rng.normal()}" for a in range(shop_log.ITEMS) for _ in range(8)]
    (folder / "topics.csv").write_text("\n".join(["from,to", *pairs]))
    (folder / "by_topic.csv").write_text("\n".join(["node,reward", *rows]))


ARMS = np.arange(shop_log.ITEMS)
TOPICS = ("advise", "--edges", "topics.csv", "--rewards", "by_topic.csv", *SHORT)


@pytest.mark.parametrize("count", [5, 2], ids=["equal components", "unequal components"])
def test_a_graph_in_several_components_is_played_whole_and_so_is_its_log(project, count):
    write_topics(project, ARMS % 5 if count == 5 else ARMS // 60)
    answer = asked(project, (*TOPICS, "--log", "all.csv")).json
    assert (answer["size"]["played"], answer["size"]["components"]) == ([shop_log.ITEMS] * 2, [count] * 2)
    assert any(f"the graph has {count} components; all are kept" in note for note in answer["notes"])
    assert not any("could not be used" in warning for warning in answer["log"]["warnings"])
    assert {row["policy"] for row in answer["log"]["estimates"]} >= {wording.short(answer["verdict"]["best_graph"])}


def test_rewards_of_a_log_are_those_of_the_arms_played(project):
    rows = pa.array(["a", "b", "c"])
    with pytest.raises(UserError, match="features alone say nothing about rewards; give --rewards FILE, or --log FILE"):
        run.with_rewards(Data(rows, features=np.eye(3)), None)
    with contextlib.chdir(project):
        log = logs.read(Path("all.csv"), {})
        with pytest.raises(
            UserError,
            match=r"^all.csv: 80 of its 80 arms are not among the 3 items, .* such as 'a'$",
        ):
            run.with_rewards(Data(rows, features=np.eye(3)), log)
    keys = pa.array([str(number) for number in reversed(range(shop_log.ITEMS))])
    found = run.with_rewards(Data(keys, features=np.ones((len(keys), 1))), log).rewards
    clicked = np.bincount(found.item, found.value, len(keys))
    raw = np.loadtxt(project / "all.csv", delimiter=",", skiprows=1, usecols=(2, 4))  # item_id, click
    np.testing.assert_allclose(clicked[::-1], np.bincount(raw[:, 0].astype(int), raw[:, 1], len(keys)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*OWN, "--splits", "1"), "--splits: 1 is too few; give at least 2"),
        ((*OWN, "--rounds", "50"), "--rounds: 50 is too few; give at least 100"),
        ((*OWN, "--name", "A b"), "--name: 'A b' is not a name of lower case letters"),
        ((*OWN, "--nodes", "6"), "6 items are fewer than the 10 that a round needs; bring more data"),
        (
            (*TOPICS, "--log", "all.csv", "--nodes", "50"),
            "all.csv: 30 of its 80 arms are not among the 50 items, the first is '77'; .*; give --nodes all$",
        ),
    ],
)
def test_wrong_usage_is_one_line(project, monkeypatch, capsys, arguments, message):
    write_topics(project, ARMS % 5)
    monkeypatch.chdir(project)
    assert main([*arguments]) == 1
    (answered,) = capsys.readouterr().err.splitlines()
    assert re.match(f"error: {message}", answered)


@pytest.mark.slow
def test_without_a_project_advice_needs_the_extra_for_files_alone(project, tmp_path):
    for name in ("links.csv", "clicks.csv"):
        shutil.copy(project / name, tmp_path)
    done = python_without(WORKFLOW, COMMAND, *OWN, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert any(note.startswith("the random seed is 0") for note in answer["notes"])
    assert {path.name for path in (tmp_path / answer["folder"]).iterdir()} == {*run.FILES.values(), run.RUNS}
