"""Advice by the paper's protocol: what is advised follows from the regrets, and a log judges the same methods."""

import io
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import yaml
from hypothesis import given
from hypothesis import strategies as st

from graphdr.advise import logs, reading, settings
from graphdr.advise.logs import ByLog
from graphdr.advise.paper import block, building, decision, in_memory, measuring, page, recbole, wording
from graphdr.advise.paper.decision import CONTROLS, COPIES, FULL, LENGTH, LONGEST, SHUFFLED
from graphdr.advise.paper.findings import Findings, Mean, Setting
from graphdr.advise.paper.recbole import Dataset
from graphdr.advise.paper.survey import Survey, survey
from graphdr.advise.reading import Request
from graphdr.bandit import environment, linucb, rewards
from graphdr.cli.main import main
from graphdr.core.errors import UserError
from graphdr.graphs import arm_features, spectral
from graphdr.plan import config as configuration
from graphdr.plan import design
from tests.support import films, in_process
from tests.support.project import ROOT, draw_sbm


def survey_of(
    dataset: Dataset, arms: int = 2, nodes: int | None = None, grid: tuple[int, ...] = (1,), told: bool = False
):
    try:
        return survey(dataset, {"neighbours": 3}, arms, nodes, grid, told)
    except UserError as error:
        assert len(str(error).splitlines()) == 1
        return str(error)


# The survey


def graph_of(pairs: list[tuple[int, int]], nodes: int) -> Dataset:
    net = "".join(f"{i}\t{j}\n" for i, j in pairs)
    item = "".join(f"{i}\t{i % 3}\n" for i in range(nodes))
    texts = {"net": f"source_id:token\ttarget_id:token\n{net}", "item": f"item_id:token\treward:float\n{item}"}
    return Dataset("graph", {role: text.encode() for role, text in texts.items()}, "none", "identity", {}, [])


def test_the_survey_counts_what_is_connected():
    ring = [(i, (i + 1) % 8) for i in range(8)]
    size = survey_of(graph_of([*ring, (8, 9)], 10), grid=(2, 5, 40))
    assert (size.available, size.asked, size.kept, size.components, size.grid) == (10, 10, 8, 2, (2, 5))
    assert "components: the largest is taken, 8 of 10 nodes" in " ".join(wording.notes(size, {}))
    assert "5 dimensions need 7 connected nodes" not in survey_of(graph_of(ring, 8), grid=(40,), told=True)
    assert "--k: 40 dimensions need 42 connected nodes, the graph has 8" in survey_of(
        graph_of(ring, 8), grid=(2, 40), told=True
    )
    assert "8 items are fewer than the 10 candidates" in survey_of(graph_of(ring, 8), arms=10)
    pairs = [(i, i + 1) for i in range(0, 10, 2)]
    assert "largest of 5 components holds 2 of 10 nodes, less than half" in survey_of(graph_of(pairs, 10))


def test_equal_rewards_among_the_connected_nodes_are_refused():
    dataset = graph_of([(0, 3), (3, 6), (6, 9), (9, 12), (1, 2)], 13)
    text = dataset.files["item"].decode()
    alike = dataset._replace(files=dataset.files | {"item": re.sub(r"\t\d\n", "\t1\n", text).encode()})
    ring = alike._replace(
        files=alike.files | {"net": graph_of([(i, (i + 1) % 13) for i in range(13)], 13).files["net"]}
    )
    assert "all 13 connected nodes have the reward 1" in survey_of(ring)


# The configuration


@pytest.mark.parametrize("content", ["ratings", "none"])
def test_the_blocks_can_be_pasted_into_the_configuration(config, content):
    inter = b"user_id:token\titem_id:token\tvalue:float\nu\ta\t1\n"
    dataset = Dataset("recbole", {"inter": inter}, content, "log1p", {"value": "value", "log1p": True}, [])
    seen = survey_of(graph_of([(i, j) for i in range(60) for j in range(i)], 60), grid=block.GRID)._replace(
        family="knn"
    )
    pasted = yaml.safe_load(yaml.safe_dump(block.blocks("mine", "mine.csv", dataset, seen)))
    whole = {name: part | pasted.get(name, {}) if isinstance(part, dict) else part for name, part in config.items()}
    configuration.read(whole)
    plan = design.expand(whole, missing=[name for name in config["datasets"]])
    assert plan.batches["mine"].problems == ["mine"]
    assert ("content_pca" in whole["experiments"]["mine"]["methods"]) == (content != "none")
    own = block.configuration(config, "mine", pasted, seen)
    plan = design.expand(own)
    assert [plan.problems[name]["k"] for name in plan.members["mine"]] == list(block.GRID)
    assert list(plan.batches) == ["mine"]
    few = seen._replace(kept=12, grid=(2, 5))
    small = block.configuration(config, "mine", block.blocks("mine", "x", dataset, few), few)
    small["protocol"] = small["protocol"] | {"arms": 5}
    design.expand(small)


def test_names_are_those_that_the_configuration_takes():
    assert block.slug("My Ratings-2.csv") == "my_ratings_2_csv"
    assert block.slug("2024") == "data_2024"
    assert block.slug("…") == "data"
    for name in ("All", "a b", "1a", "", "../x", "all", "run_bandit"):
        with pytest.raises(UserError, match="--name: "):
            block.check_name(name, {"all", "run_bandit"})


# Weighing


def regrets(seed: int = 0, **means: float) -> dict:
    """Draw regrets around these means at k = 2 and 5, with a common part per seed; controls have ten draws."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, 10, 5)

    def draw(method, mean):
        rows = mean + 20 * rng.normal(size=(10, 1)) if method in COPIES else np.full((1, 1), mean)
        return rows + common + rng.normal(size=(len(rows), 5))

    usual = {"random": 900.0, "linucb_full": 700.0, "graphdr": 500.0, "graph_pca": 550.0}
    usual |= dict.fromkeys((*COPIES, *LONGEST.values()), 800.0)
    return {method: {2: draw(method, mean + 50), 5: draw(method, mean)} for method, mean in (usual | means).items()}


@pytest.mark.parametrize(
    ("means", "reason", "method"),
    [
        ({}, "graph", "graphdr"),
        ({"graph_pca": 300}, "graph", "graph_pca"),
        ({"content_pca": 600}, "graph", "graphdr"),
        ({"content_pca": 400}, "content", "content_pca"),
        (
            {"content_pca": 400, CONTROLS["content_pca"]: 410, "graphdr": 790, "graph_pca": 795},
            "control",
            "linucb_full",
        ),
        (
            {"content_pca": 690, "graphdr": 750, "graph_pca": 760, **dict.fromkeys(SHUFFLED, 700)},
            "control",
            "linucb_full",
        ),
        ({"graphdr": 750, "graph_pca": 760, CONTROLS["graphdr"]: 1200}, "full", "linucb_full"),
        ({"graph_pca": 300, CONTROLS["graph_pca"]: 310}, "control", "linucb_full"),
        ({"graphdr": 790, "graph_pca": 800}, "control", "linucb_full"),
        ({"graphdr": 650, CONTROLS["graphdr"]: 660, "graph_pca": 680}, "control", "linucb_full"),
        ({LONGEST["graphdr"]: 500}, "length", "linucb_full"),
        ({LONGEST["graphdr"]: 400, "content_pca": 600}, "length", "content_pca"),
        ({LONGEST["graph_pca"]: 400}, "graph", "graphdr"),  # of the other graph method
        ({LENGTH: 400}, "graph", "graphdr"),  # shown, but not decisive
        ({"linucb_full": 500.3, "graph_pca": 600}, "tie", "linucb_full"),
        ({"linucb_full": 900.2, "graphdr": 950, "graph_pca": 960}, "nothing", "linucb_full"),
    ],
)
def test_what_is_advised_follows_from_the_regrets(means, reason, method):
    advice = decision.weigh(regrets(**means), 2)
    assert (advice.reason, advice.method) == (reason, method)
    assert advice.use_graph == (reason == "graph")
    assert advice.k == (None if method == FULL else 5)
    beats_full = advice.against[FULL].low > 0  # as its control does: neither way is sure
    assert (advice.sure == "not sure") == (
        reason in ("tie", "nothing") or (reason in ("control", "length") and beats_full)
    )
    assert advice.at_edge == sorted({method, advice.best_without_graph} - {FULL})


def test_the_judging_seeds_alone_decide_what_is_saved():
    values = regrets()
    changed = {method: {k: own.copy() for k, own in by_k.items()} for method, by_k in values.items()}
    for by_k in changed.values():
        for own in by_k.values():
            own[:, :2] -= 100.0  # all methods alike: nothing else is chosen
    one, other = decision.weigh(values, 2), decision.weigh(changed, 2)
    assert one.saves == other.saves
    assert one.judged == other.judged


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=8))
def test_an_interval_holds_its_estimate_and_is_wider_for_one_further_value(values):
    mean, one = decision.interval(np.array(values)), decision.interval(np.array(values), of_one=True)
    assert mean.low <= mean.estimate <= mean.high
    assert one.high - one.low >= mean.high - mean.low
    assert not (mean.low > 0 and mean.sure == decision.UNSURE)


def simulated(reward: np.ndarray, graph, draws: int = 5, horizon: int = 2000) -> dict:
    """Play the methods on a small graph in this process."""
    low = spectral.low_eigenpairs(graph, 12).vectors
    setting = {"arms": 10, "candidates": "uniform", "horizon": horizon, "noise": 0.1}
    rounds = [environment.draw(0, setting, graph.n, instance=0, seed=seed) for seed in range(5)]

    def play(arms):
        runs = linucb.play([linucb.Run(reward, own, features=arms) for own in rounds], 1.0)
        return [run.regret[-1] for run in runs]

    def longest(arms):
        lengths = np.linalg.norm(arms, axis=1)
        played = [own.arms[np.arange(horizon), lengths[own.arms].argmax(axis=1)] for own in rounds]
        return [(reward[own.arms].max(axis=1) - reward[arm]).sum() for own, arm in zip(rounds, played, strict=True)]

    orders = [np.random.default_rng(draw).permutation(graph.n) for draw in range(draws)]
    regret = {method: {} for method in ("random", "linucb_full", "graphdr", "graph_pca", *COPIES, *LONGEST.values())}
    for k in (3, 6):
        own = arm_features.select("laplacian_low", low, k=k)
        regret["graphdr"][k] = regret["graph_pca"][k] = np.array([play(own)])
        regret |= {name: regret[name] | {k: np.array([play(own[order]) for order in orders])} for name in COPIES}
        regret["linucb_full"][k] = np.array([play(None)])
        regret["random"][k] = regret["linucb_full"][k] + 50
        regret |= {name: regret[name] | {k: np.array([longest(own)])} for name in LONGEST.values()}
    return regret


def test_a_smooth_reward_needs_the_graph_and_a_shuffled_one_does_not():
    graph = draw_sbm(1, n=150, blocks=5, p_in=0.3, p_out=0.02)
    low = spectral.low_eigenpairs(graph, 12).vectors
    smooth = rewards.smooth(arm_features.nontrivial(low, 4), np.random.default_rng(0))
    assert decision.weigh(simulated(smooth, graph), 2).use_graph
    for seed in range(2):
        shuffled = np.random.default_rng(100 + seed).permutation(smooth)
        assert not decision.weigh(simulated(shuffled, graph), 2).use_graph


# The command


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A checkout of the tiny configuration with longer runs, and a graph with a smooth reward."""
    folder = tmp_path_factory.mktemp("advised")
    for name in ("workflow", "profiles"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "Snakefile", folder)
    config = yaml.safe_load((ROOT / "tests" / "support" / "tiny.yaml").read_text(encoding="utf-8"))
    config["protocol"] |= {"horizon": 3000}
    config["methods"] |= yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["methods"]
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    graph = draw_sbm(1, n=80)
    i, j = sp.triu(graph.adjacency).nonzero()
    smooth = rewards.smooth(
        arm_features.nontrivial(spectral.low_eigenpairs(graph, 8).vectors, 3), np.random.default_rng(0)
    )
    (folder / "links.csv").write_text("from,to\n" + "".join(f"n{a},n{b}\n" for a, b in zip(i, j, strict=True)))
    (folder / "clicks.csv").write_text("node,reward\n" + "".join(f"n{a},{value}\n" for a, value in enumerate(smooth)))
    (folder / "rounds.csv").write_text("offered,action,gain,propensity\n" + "".join(played(smooth, rounds=1500)))
    return folder


def played(reward: np.ndarray, rounds: int, offered: int = 4) -> Iterator[str]:
    """Yield the lines of a log: one of some random candidates is played at random."""
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        arm, *others = rng.choice(len(reward), offered, replace=False)
        names = "|".join(f"n{each}" for each in sorted([arm, *others]))
        yield f"{names},n{arm},{reward[arm] + 0.1 * rng.standard_normal():.4f},{1 / offered}\n"


PAPER = ("advise", "--protocol", "paper")
ARGUMENTS = (*PAPER, "--edges", "links.csv", "--rewards", "clicks.csv", "--name", "mine", "--k", "1", "3", "5")


@pytest.mark.slow
def test_the_command_builds_advises_and_builds_nothing_twice(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    assert main([*ARGUMENTS, "--json"]) == 0, Path("results/advise/mine/build.log").read_text()[-5000:]
    answer = json.loads(capsys.readouterr().out)
    assert (answer["advice"]["use_graph"], answer["advice"]["k"]) == (True, 3)
    folder = project / answer["folder"]
    assert json.loads((folder / "advice.json").read_text()) == answer
    best = min((own[k]["mean"], method, k) for method, own in answer["regret"].items() for k in own)
    assert best[1:] == ("graphdr", "3")
    assert "content_pca" not in answer["regret"]
    shown = (folder / "advice.html").read_text()
    assert not re.search(r"(src|href)=\"(?!data:)|<script|@import|url\(|<!-- ", shown)
    text = (folder / "advice.txt").read_text()
    assert text.startswith("Use the graph, through GraphDR")
    built = {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}
    assert main(ARGUMENTS) == 0
    assert "\033" not in text
    assert capsys.readouterr().out == text
    assert built == {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}
    assert main(["verify"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["interactions", "described", "implicit", "graph"])
def test_the_numbers_of_the_stages_come_out_without_a_build(project, tmp_path, monkeypatch, kind):
    ours = yaml.safe_load((project / "config.yaml").read_text(encoding="utf-8"))
    ours["protocol"] |= {"horizon": 200, "arms": 5}
    monkeypatch.chdir(tmp_path)
    table = pd.read_csv(io.BytesIO(films.ratings()), sep="\t", names=["user", "item", "rating"], skiprows=1)
    pd.concat([table, table[:40]])[["user", "item"]].to_csv("chosen.csv", index=False)
    table.to_csv("rated.csv", index=False)
    about = pd.DataFrame(np.random.default_rng(1).normal(size=(films.FILMS, 3)), columns=list("xyz"))
    about.assign(item=[f"f{film}" for film in range(films.FILMS)]).to_csv("about.csv", index=False)
    request = {
        "interactions": Request(interactions=Path("rated.csv")),
        "described": Request(interactions=Path("rated.csv"), features=Path("about.csv")),
        "implicit": Request(interactions=Path("chosen.csv")),
        "graph": Request(edges=project / "links.csv", rewards=project / "clicks.csv"),
    }[kind]
    data = reading.read(request)
    nodes, grid = len(data.keys) - 4, (2, 5)
    prepared = recbole.dataset(data)
    size = survey(prepared, ours["observed"], 5, nodes, grid, told=True)
    whole = block.configuration(ours, "mine", block.blocks("mine", "x", prepared, size), size)
    monkeypatch.chdir(building.lay_out(tmp_path, "mine", whole, prepared.files))
    in_process.build_here(whole)
    built = measuring.regrets(design.expand(whole), "mine")
    told = settings.of(ours)
    computed = in_memory.regrets(in_memory.problem(data, told, nodes), told, grid)
    assert computed.keys() == built.keys()
    for method, by_k in built.items():
        assert list(computed[method]) == list(by_k), method
        for k, regret in by_k.items():
            np.testing.assert_allclose(computed[method][k], regret, rtol=1e-9, err_msg=f"{method}, k = {k}")


@pytest.mark.slow
def test_a_log_judges_the_same_methods(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    assert main([*ARGUMENTS, "--log", "rounds.csv", "--log-columns", "reward=gain", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    gain = {
        (row["policy"], row["against"]): row
        for row in answer["log"]["estimates"]
        if row["estimator"] == "doubly_robust"
    }
    assert gain["GraphDR", "GraphDR-shuffled (control)"]["low"] > 0
    assert gain["GraphDR", "logged"]["low"] > 0
    assert answer["answer"][-1].startswith("By the log it would have earned more than what was played (+0.")
    assert (
        "Mean reward a round, from 1,200 rounds of the log" in (project / answer["folder"] / "advice.txt").read_text()
    )
    assert "<h2>By the log</h2>" in (project / answer["folder"] / "advice.html").read_text()
    for columns, message in (("reward", "'reward' is not ROLE=COLUMN"), ("gain=reward", "no role 'gain'")):
        assert main([*ARGUMENTS, "--log", "rounds.csv", "--log-columns", columns]) == 1
        assert message in capsys.readouterr().err
    (project / "rounds.csv").write_text("action,reward,propensity\n" + "x1,0.5,0.5\n" * 100)
    assert main([*ARGUMENTS, "--log", "rounds.csv"]) == 1
    assert "rounds.csv: 1 of its 1 arms are not in the graph, the first is 'x1'" in capsys.readouterr().err


def test_wrong_usage_and_failing_builds_are_one_line(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    for extra, message in (
        ([], "give a file of interactions, or --edges FILE with --rewards FILE"),
        (["nothing.csv"], "nothing.csv: no such file"),
        (["links.csv", "--nodes", "many"], "--nodes: 'many' is neither a number of nodes nor all"),
        (["links.csv", "--k", "0"], "--k: 0 is not a number of dimensions"),
        (["links.csv", "--name", "all"], "--name: 'all' is a target"),
    ):
        assert main([*PAPER, *extra]) == 1
        said = capsys.readouterr().err
        assert said.startswith("error: ")
        assert message in said
        assert said.count("\n") == 1
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert main([*ARGUMENTS, "--name", "other"]) == 1
    assert "the build failed; " in capsys.readouterr().err


def test_texts_of_a_user_cannot_break_the_page():
    facts = dict.fromkeys([*block.FACTS, *block.OF_CONTENT], 0.5)
    evil = "<script>alert(1)</script>"
    page_text = page.fill(
        Findings(
            name="mine", label=evil, folder=evil, notes=[evil], answer=[evil, evil], paste=evil,
            graph=Survey("network", 3, 3, 3, 1, 2, (2, 5), "identity", "none"),
            setting=Setting(horizon=10, arms=2, noise=0.1, seeds=5, choosing_seeds=2, shuffled_copies=10),
            advice=decision.weigh(regrets(), 2),
            regret={method: {k: Mean(1.0, 0.1) for k in (2, 5)} for method in block.METHODS},
            facts={2: facts, 5: facts}, spectrum=[0.0, 0.1], curves={"graphdr": [[100, 1.0]]},
            log=ByLog([logs.Row(evil, None, "ips", *[0.5] * 7, 100, 0.95)], [evil]),
            labels=dict.fromkeys(block.METHODS, evil), styles={},
        )
    )  # fmt: skip
    assert "<script" not in page_text
    assert page_text.count("&lt;script&gt;") > 20


def test_the_methods_are_those_of_the_configuration(config):
    methods = block.methods(config)
    assert {method: spec["label"] for method, spec in methods.items() if not spec.get("control")} == {
        "random": "Random", "linucb_full": "LinUCB-full", "content_pca": "content-PCA", "graph_pca": "graph-PCA",
        "graphdr": "GraphDR",
    }  # fmt: skip
    assert all(methods[method]["control"] for method in (*COPIES, *LONGEST.values()))
    lacking = {name: spec for name, spec in config["methods"].items() if name != "graph_pca"}
    with pytest.raises(UserError, match=r"^config.yaml: methods: no 'graph_pca'"):
        block.methods(config | {"methods": lacking})
