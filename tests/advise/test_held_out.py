"""The command on held-out rewards: text, page and JSON say the same, and one command reads a log as it is published."""

import contextlib
import html
import io
import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from graphdr.advise import by_log, logs, run, settings, wording
from graphdr.advise.data import Data, Rewards
from graphdr.advise.paper import in_memory
from graphdr.advise.simulation.trial import Game
from graphdr.advise.simulation.verdict import HELPS, Saving
from graphdr.cli.main import main
from graphdr.core.errors import UserError
from graphdr.graphs import spectral
from graphdr.graphs.model import edges
from tests.support import shop_log
from tests.support.lacking import COMMAND, WORKFLOW, python_without
from tests.support.project import ROOT, draw_sbm

SHORT = ("--rounds", "300", "--splits", "3")
OWN = (
    "advise",
    "--edges",
    "links.csv",
    "--rewards",
    "clicks.csv",
    "--name",
    "mine",
    "--rounds",
    "600",
    "--splits",
    "6",
)


class Said(NamedTuple):
    """What the command prints, as JSON and as text, and the page that it writes."""

    json: dict
    text: str
    page: str


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A project with a graph, several noisy rewards of every node that are smooth on it, and a published log."""
    folder = tmp_path_factory.mktemp("held_out")
    (folder / "Snakefile").touch()
    config = yaml.safe_load((ROOT / "tests/support/tiny.yaml").read_text(encoding="utf-8"))
    config["protocol"] |= {"horizon": 200}
    config["methods"] |= yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["methods"]
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


def asked(folder: Path, arguments: tuple[str, ...]) -> Said:
    with contextlib.chdir(folder):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            assert main([*arguments, "--json"]) == 0
        answer = json.loads(printed.getvalue())
        place = Path(answer["folder"])
        assert json.loads((place / "advice.json").read_text(encoding="utf-8")) == answer
        return Said(answer, *((place / f"advice.{kind}").read_text(encoding="utf-8") for kind in ("txt", "html")))


@pytest.fixture(scope="module")
def said(project) -> Said:
    return asked(project, OWN)


def plain(page: str) -> str:
    """Return the words of a page or a text, in one line."""
    return " ".join(html.unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)).split())


def test_text_page_and_json_agree(said):
    answer, verdict = said.json, said.json["verdict"]
    assert verdict["outcome"] == HELPS
    texts = plain(said.text), plain(said.page)
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
        assert answer["paper"]["answer"] in text
        assert wording.screen(run._screen(answer["screen"]["by_split"])) in text
    assert re.search(r"<h1>(.*?)</h1>", said.page)[1] == answer["answer"][0] == wording.TEXTS["outcomes"][HELPS]
    names = [wording.short(name) for name in answer["scores"] if not answer["scores"][name]["control"]]
    starred = [name for name in names if f"{name}*" in re.sub(r"<[^>]+>", " ", said.page)]
    assert starred[0] == wording.short(verdict["method"])
    assert len(starred) == 1


def test_savings_are_those_of_the_regrets_in_the_table(said):
    """Whoever divides the regrets that are printed gets the savings of the answer."""
    verdict, scores = said.json["verdict"], said.json["scores"]
    best, other = verdict["best_graph"], verdict["best_without"]
    assert 1 - scores[best]["regret"] / scores[other]["regret"] == pytest.approx(verdict["saves"]["estimate"])
    assert 1 - scores[best]["regret"] / scores["full"]["regret"] == pytest.approx(verdict["saves_full"]["estimate"])
    assert 1 - scores[other]["regret"] / scores["full"]["regret"] == pytest.approx(verdict["sharing"]["estimate"])
    for control in ("shuffled", "length", "longest"):
        found = verdict[f"over_{control}"]
        assert found["other_regret"] == pytest.approx(scores[control]["regret"])
        assert 1 - found["regret"] / found["other_regret"] == pytest.approx(found["estimate"])
    for name, curve in said.json["curves"].items():
        assert curve[-1][1] == pytest.approx(scores[name]["regret"])
    judged = {name: score["regret"] for name, score in scores.items() if score["regret"] and not score["control"]}
    assert judged.keys() == {best, other, "full", "random"}
    assert min(judged, key=judged.get) == verdict["method"]


def test_methods_that_are_not_judged_are_shown_behind_the_best_of_their_kind(said, project):
    every = pq.read_table(project / said.json["folder"] / run.RUNS).to_pandas()
    final = every[(every["phase"] == "compared") & (every["round"] == said.json["game"]["horizon"])]
    rest = {name: score for name, score in said.json["scores"].items() if score["regret"] is None}
    assert rest
    for name, score in rest.items():
        best = said.json["verdict"]["best_graph" if score["sees_graph"] else "best_without"]
        mine, least = (final[final["method"] == one].set_index(["split", "run"])["regret"] for one in (name, best))
        assert score["behind"] == pytest.approx(mine.mean() / least.loc[mine.index].mean() - 1)
        assert score["behind"] > 0
        shown = rf"{re.escape(wording.short(name))} (yes|no) .*? {wording.percent(score['behind'])} more"
        assert re.search(shown, plain(said.page))


def test_the_answer_under_the_paper_s_protocol_is_on_the_page(said, project, monkeypatch):
    paper = said.json["paper"]
    assert paper["differs"] == (paper["use_graph"] != (said.json["verdict"]["outcome"] == HELPS))
    section = plain(
        re.search(
            r"Under the paper&#39;s protocol</h2>.*?</section>|Under the paper's.*?</section>", said.page, re.DOTALL
        )[0]
    )
    assert ("That differs from the answer above" in section) == paper["differs"]
    assert ("Both agree on whether to use the graph" in section) == (not paper["differs"])
    weigh = in_memory.advice
    monkeypatch.setattr(
        in_memory, "advice", lambda *given: (found := weigh(*given))._replace(use_graph=not found.use_graph)
    )
    other = asked(project, ("advise", *OWN[1:6], "turned", *OWN[7:]))
    assert other.json["paper"]["differs"] != paper["differs"]
    assert other.json["verdict"] == said.json["verdict"]
    assert ("That differs from the answer above" in other.page) == other.json["paper"]["differs"]
    for one in (said, other):
        assert ("That is another answer." in plain(one.text)) == one.json["paper"]["differs"]


def test_the_page_loads_nothing_and_the_text_has_no_colours(said):
    assert not re.search(r"(src|href)=\"(?!data:)|<script|@import|url\(|<!-- ", said.page)
    assert "\033" not in said.text
    judged = {name for name, own in said.json["scores"].items() if own["regret"] and not own["control"]}
    assert said.json["curves"].keys() == judged


def test_every_run_is_kept(said, project):
    every = pq.read_table(project / said.json["folder"] / run.RUNS).to_pandas()
    game, verdict = Game(**said.json["game"]), said.json["verdict"]
    table, judged = (every[every["phase"] == phase] for phase in ("compared", "judged"))
    finals = judged[judged["round"] == game.horizon].pivot(index=["split", "run"], columns="method", values="regret")
    mine, other = (finals[verdict[name]] for name in ("best_graph", "best_without"))
    assert 1 - mine.mean() / other.mean() == pytest.approx(verdict["saves"]["estimate"])
    assert len(mine) == len(other) == game.splits * game.judging
    methods = [name for name, own in said.json["scores"].items() if not own["control"]]
    first = table[table["run"] < game.comparing]
    counts = first.groupby("method").size()
    assert set(counts.index) == set(methods)
    assert set(counts) == {game.splits * game.comparing * 100}
    assert table["run"].max() < game.comparing + game.deciding
    assert not table.duplicated(["method", "split", "run", "round"]).any()
    for name, regret in finals.mean().items():
        assert regret == pytest.approx(said.json["scores"][name]["regret"])


def test_a_log_and_features_as_they_are_published_are_answered_by_one_command(project):
    said = asked(project, ("advise", "--features", "item_context.csv", "--log", "all.csv", *SHORT))
    answer = said.json
    assert (answer["size"]["items"], answer["size"]["played"]) == (shop_log.ITEMS, [shop_log.ITEMS] * 2)
    assert answer["size"]["split_by"] == "rewards"
    policies = {row["policy"] for row in answer["log"]["estimates"]}
    verdict = answer["verdict"]
    assert policies >= {"logged", "random", *(wording.short(verdict[name]) for name in ("best_graph", "best_without"))}
    assert answer["answer"][-1].startswith(("By the log ", "The log says nothing of "))
    assert "<h2>By the log</h2>" in said.page
    assert any("nearest by cosine between their features" in note for note in answer["notes"])


def write_topics(folder: Path, topic: np.ndarray) -> None:
    """Write the topics of the log's items without edges between them, and several noisy rewards by topic."""
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(shop_log.ITEMS, k=1)
    pairs = [f"{a},{b}" for a, b in zip(i, j, strict=True) if topic[a] == topic[b]]
    rows = [f"{a},{topic[a] + rng.normal()}" for a in range(shop_log.ITEMS) for _ in range(8)]
    (folder / "topics.csv").write_text("\n".join(["from,to", *pairs]))
    (folder / "by_topic.csv").write_text("\n".join(["node,reward", *rows]))


FIVE, UNEQUAL = np.arange(shop_log.ITEMS) % 5, np.arange(shop_log.ITEMS) // 60  # numbers of topics
TOPICS = ("advise", "--edges", "topics.csv", "--rewards", "by_topic.csv", *SHORT)


def test_a_graph_in_several_components_is_played_whole_and_so_is_its_log(project):
    write_topics(project, FIVE)
    said = asked(project, (*TOPICS, "--log", "all.csv"))
    size = said.json["size"]
    assert (size["played"], size["components"]) == ([shop_log.ITEMS] * 2, [5, 5])
    assert said.json["verdict"]["outcome"] == HELPS
    assert any("the graph has 5 components; all are kept" in note for note in said.json["notes"])
    assert not any("could not be used" in warning for warning in said.json["log"]["warnings"])
    assert {row["policy"] for row in said.json["log"]["estimates"]} >= {wording.short(said.json["verdict"]["method"])}
    assert said.json["paper"] is None  # it would play the largest component alone
    assert wording.under_paper(None) in plain(said.text)


def test_a_log_with_arms_outside_the_largest_component_is_used(project):
    write_topics(project, UNEQUAL)
    said = asked(project, (*TOPICS, "--log", "all.csv"))
    assert not any("could not be used" in warning for warning in said.json["log"]["warnings"])
    assert not said.json["answer"][-1].startswith("The log says nothing of")
    assert said.json["size"]["components"] == [2, 2]
    assert said.json["paper"] is not None


def test_a_log_of_items_that_are_left_out_is_refused_before_the_simulation(project, monkeypatch, capsys):
    write_topics(project, FIVE)
    monkeypatch.chdir(project)
    assert main([*TOPICS, "--log", "all.csv", "--nodes", "50"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "error: all.csv: 30 of its arms are not among the 50 items that are taken, '50' first; give --nodes all"
    ]


def test_a_log_that_cannot_be_used_is_not_said_to_say_nothing(said):
    findings = SimpleNamespace(log=logs.ByLog([], ["the log could not be used: its arms are others"]))
    assert wording._by_log(findings) == "The log could not be used: its arms are others."


def test_a_graph_without_edges_among_the_items_is_refused_in_one_line(project, monkeypatch, capsys):
    """Two items that hardly anybody rated are joined; the forty that can be played are not."""
    rng = np.random.default_rng(0)
    rows = [f"u{user},i{item},{rng.normal()}" for user in range(30) for item in range(40)]
    (project / "ratings.csv").write_text("\n".join(["user,item,value", *rows, "u0,a,1", "u0,b,2"]))
    (project / "rare.csv").write_text("from,to\na,b")
    monkeypatch.chdir(project)
    assert main(["advise", "ratings.csv", "--edges", "rare.csv", *SHORT]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said == ["error: no edge joins two of the 40 items that can be played: bring edges between them"]


def test_rewards_of_a_log_are_those_of_the_arms_played(project):
    rows = pa.array(["a", "b", "c"])
    with pytest.raises(UserError, match="features alone say nothing about rewards; give --rewards FILE, or --log FILE"):
        by_log.with_rewards(Data(rows, features=np.eye(3)), None)
    with contextlib.chdir(project):
        log = logs.read(Path("all.csv"), {})
        with pytest.raises(UserError, match=r"^all.csv: 80 of its arms are not among the items, '\d+' first$"):
            by_log.with_rewards(Data(rows, features=np.eye(3)), log)
    keys = pa.array([str(number) for number in reversed(range(shop_log.ITEMS))])
    found = by_log.with_rewards(Data(keys, features=np.ones((len(keys), 1))), log).rewards
    clicked = np.bincount(found.item, found.value, len(keys))
    raw = np.loadtxt(project / "all.csv", delimiter=",", skiprows=1, usecols=(2, 4))  # item_id, click
    np.testing.assert_allclose(clicked[::-1], np.bincount(raw[:, 0].astype(int), raw[:, 1], len(keys)))


def test_items_without_a_reward_do_not_reach_the_paper_s_protocol():
    features = np.random.default_rng(0).normal(size=(40, 3))
    paid = np.random.default_rng(1).normal(size=30)
    data = Data(pa.array(map(str, range(40))), rewards=Rewards(np.arange(5, 35), paid), features=features)
    posed = in_memory.problem(data, {"observed": {"neighbours": 10}}, 40)
    assert np.isfinite(posed.theta).all()
    np.testing.assert_array_equal(posed.graph.origin, np.arange(5, 35))
    np.testing.assert_allclose(np.corrcoef(posed.theta, paid)[0, 1], 1)
    np.testing.assert_allclose(posed.content, features[5:35], rtol=1e-6)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--k", "5"], "--k: each method finds its own k; to try others give --protocol paper"),
        (["--splits", "1"], "--splits: 1 is too few; give at least 2"),
        (["--rounds", "50"], "--rounds: 50 is too few; give at least 100"),
        (["--name", "A b"], "--name: 'A b' is not a name of lower case letters"),
        (["--nodes", "6"], "6 items are fewer than the 10 that a round needs; bring more data"),
    ],
)
def test_wrong_usage_is_one_line(project, monkeypatch, capsys, extra, message):
    monkeypatch.chdir(project)
    assert main([*OWN, *extra]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith(f"error: {message}")
    assert len(said) == 1


SHORT_PAPER = """
from graphdr.advise import settings
short = settings.shipped()
short["protocol"] |= {"horizon": 200}
settings.shipped = lambda: short
"""


@pytest.mark.slow
def test_without_a_project_advice_is_given_by_the_settings_and_the_packages_of_the_extra_for_files(project, tmp_path):
    for name in ("links.csv", "clicks.csv"):
        shutil.copy(project / name, tmp_path)
    done = python_without(WORKFLOW, SHORT_PAPER + COMMAND, *OWN, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert any(note.startswith("the settings are those of the package") for note in answer["notes"])
    assert {path.name for path in (tmp_path / answer["folder"]).iterdir()} == {*run.FILES.values(), run.RUNS}
    paper = python_without(WORKFLOW, COMMAND, *OWN, "--protocol", "paper", cwd=tmp_path)
    needs = 'error: graphdr advise --protocol paper needs snakemake: pip install "graphdr[workflow]"\n'
    assert (paper.returncode, paper.stdout, paper.stderr) == (1, "", needs)


def test_the_settings_of_the_package_are_those_of_the_configuration(config):
    assert settings.shipped() == settings.of(config)


def test_a_folder_that_is_named_must_be_a_project(tmp_path, capsys):
    assert main([*OWN, "--root", str(tmp_path)]) == 1
    assert "not the folder of a project" in capsys.readouterr().err
