"""Advice on a user's own data: files are read or refused in one line, and what is advised follows from the regrets."""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphdr.advise import block, decision, logs, page, reading, wording
from graphdr.advise.decision import CONTROLS, COPIES, FULL, LENGTH, LONGEST, SHUFFLED
from graphdr.advise.findings import ByLog, Findings, Mean, Setting
from graphdr.advise.reading import Request
from graphdr.advise.survey import Survey, survey
from graphdr.advise.paper.recbole import Dataset
from graphdr.advise.paper.recbole import dataset as as_dataset
from graphdr.bandit import environment, linucb, rewards
from graphdr.cli.main import main
from graphdr.core.errors import UserError
from graphdr.graphs import arm_features, spectral
from graphdr.plan import config as configuration
from graphdr.plan import design
from tests.support.project import ROOT, draw_sbm
from trust import cases

RATINGS = "user,item,rating,timestamp\na,a,4,1\nb,a,2,2\na,b,5,3\nb,c,1,4\n"
EDGES = "source,target\na,b\nb,c\nc,a\n"
REWARDS = "node,reward\na,1\nb,2\nc,4\n"


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Write files into an empty folder, which is the current one; return the names as paths."""
    monkeypatch.chdir(tmp_path)

    def write(**contents) -> dict[str, Path]:
        for name, text in contents.items():
            Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return {name: Path(name) for name in contents}

    return write


def read(request: Request) -> Dataset:
    return as_dataset(reading.read(request))


def lines(dataset: Dataset, role: str) -> list[list[str]]:
    return [line.split("\t") for line in dataset.files[role].decode().splitlines()]


# Reading


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", RATINGS),
        ("x.tsv", RATINGS.replace(",", "\t")),
        ("x.txt", RATINGS.replace(",", ";").replace("user", '"User ID"')),
        ("x.dat", "userID\tartistID\tweight\n" + "a\ta\t4\r\nb\ta\t2\r\na\tb\t5\r\nb\tc\t1\r\n"),
        ("x.inter", "user_id:token\titem_id:token\trating:float\na\ta\t4\nb\ta\t2\na\tb\t5\nb\tc\t1\n"),
        ("x.data", RATINGS.partition("\n")[2].replace(",", "\t")),
        ("x.csv", "\ufeff" + RATINGS),
    ],
)
def test_the_same_interactions_in_any_format_are_the_same(put, name, text):
    put(**{name: text})
    dataset = read(Request(interactions=Path(name)))
    assert lines(dataset, "inter") == [
        ["user_id:token", "item_id:token", "value:float"],
        *(list(row) for row in ("aa4", "ba2", "ab5", "bc1")),
    ]
    assert (dataset.content, dataset.transform, dataset.options) == ("ratings", "identity", {"value": "value"})


def test_parquet_is_read_and_columns_can_be_named(put):
    put()
    table = pa.table({"who": [7, 7, 8], "what": ["x", "y", "x"], "how": [0.5, 1.0, 2.0], "rating": [1, 1, 1]})
    pq.write_table(table, "x.parquet")
    columns = {"user": "who", "item": "what", "value": "how"}
    dataset = read(Request(interactions=Path("x.parquet"), columns=columns))
    assert lines(dataset, "inter")[1:] == [["7", "x", "0.5"], ["7", "y", "1"], ["8", "x", "2"]]


@pytest.mark.parametrize("kind", ["csv", "graphml", "npz"])
def test_the_same_graph_in_any_format_is_the_same(put, kind):
    keys = {"csv": "abc", "graphml": "abc", "npz": "012"}[kind]
    name = f"x.{kind}"
    put(**{"r.csv": "node,reward\n" + "".join(f"{key},{at}\n" for at, key in enumerate(keys))})
    if kind == "csv":
        put(**{name: "source,target,weight\na,b,2\nb,c,1\n"})
    elif kind == "npz":
        sp.save_npz(name, sp.csr_array([[0, 2.0, 0], [2, 0, 1], [0, 1, 0]]))
    else:
        edge = '<edge source="{}" target="{}"><data key="d">{}</data></edge>'
        inside = "".join(f'<node id="{key}"/>' for key in keys) + edge.format("a", "b", 2) + edge.format("b", "c", 1)
        head = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="d" for="edge" attr.name="weight"/>'
        put(**{name: f"{head}<graph>{inside}</graph></graphml>"})
    dataset = read(Request(edges=Path(name), rewards=Path("r.csv")))
    a, b, c = keys
    assert lines(dataset, "net")[1:] == [[a, b, "2"], [b, c, "1"]]
    assert lines(dataset, "item")[1:] == [[a, "0"], [b, "1"], [c, "2"]]


def test_a_graphml_may_hold_its_rewards(put):
    text = '<graphml><key id="r" attr.name="reward"/><graph>{}<edge source="a" target="b"/></graph></graphml>'
    nodes = '<node id="a"><data key="r">1</data></node>\n<node id="b"><data key="r">{}</data></node>'
    put(**{"x.graphml": text.format(nodes.format("3"))})
    assert lines(read(Request(edges=Path("x.graphml"))), "item")[1:] == [["a", "1"], ["b", "3"]]
    put(**{"x.graphml": text.format(nodes.format("x"))})
    with pytest.raises(UserError, match=r"x.graphml, line 2: reward 'x' is not a finite number"):
        read(Request(edges=Path("x.graphml")))


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<node id="a"/>\n<node id="a"/><edge source="a" target="b"/>', "x.graphml, line 2: node id 'a' again"),
        ('<node id="a"/>\n<edge source="a" target="b"/>', "x.graphml, line 2: 'b' is not among the nodes"),
        ('<node id="a"/><edge source="a"/>', "x.graphml: an edge without 'target'"),
        ('<node id="a"/>', "x.graphml: a graph without edges"),
        ("<node>", r"x.graphml, line 1: not XML \(mismatched tag\)"),
    ],
)
def test_a_mistake_in_a_graphml_is_one_line(put, inside, message):
    put(**{"x.graphml": f"<graphml><graph>{inside}</graph></graphml>", "rewards": "a,1\nb,2\n"})
    with pytest.raises(UserError, match=message):
        read(Request(edges=Path("x.graphml"), rewards=Path("rewards")))


@pytest.mark.parametrize("change", [{"indices": [0, 9]}, {"indptr": [0, 2, 1]}, {"shape": [2, 3]}, {"format": "bsr"}])
def test_a_matrix_that_does_not_fit_is_one_line(put, change):
    put(rewards="node,reward\n0,1\n1,2\n")
    parts = {"format": "csr", "shape": [2, 2], "data": [1.0, 1.0], "indices": [1, 0], "indptr": [0, 1, 2]}
    np.savez("x.npz", **{name: np.array(part) for name, part in parts.items()})
    read(Request(edges=Path("x.npz"), rewards=Path("rewards")))
    np.savez("x.npz", **{name: np.array(part) for name, part in (parts | change).items()})
    with pytest.raises(UserError, match=r"^x.npz: [^\n]+$"):
        read(Request(edges=Path("x.npz"), rewards=Path("rewards")))


def test_no_matrix_is_unpickled(put):
    put()
    np.savez("x.npz", format=np.array("csr"), shape=np.array([2, 2]), data=np.array([object()], object))
    with pytest.raises(UserError, match=r"^x.npz: not a sparse matrix of scipy.sparse.save_npz"):
        read(Request(edges=Path("x.npz")))


def test_features_titles_and_rewards_are_brought_into_the_order_of_the_items(put):
    files = put(
        interactions=RATINGS,
        rewards="item,reward\nc,3\nb,2\na,1\n",
        features="item,x,y\nb,0,1\nc,1,1\na,0.5,-2\n",
        titles='item,title\nb,"Two, words"\nz,Other\n',
    )
    dataset = read(Request(**files))
    assert lines(dataset, "item")[1:] == [
        ["a", "1", "", "0.5 -2"],
        ["b", "2", "Two, words", "0 1"],
        ["c", "3", "", "1 1"],
    ]
    assert dataset.content == "features"
    assert any("z" in note for note in dataset.notes)


def test_loops_and_repeats_are_merged_if_asked(put):
    put(edges="source,target,weight\na,b,1\nb,a,2\nc,c,1\nb,c,5\n", rewards=REWARDS)
    dataset = read(Request(edges=Path("edges"), rewards=Path("rewards"), merge_duplicates=True, drop_loops=True))
    assert lines(dataset, "net")[1:] == [["a", "b", "3"], ["b", "c", "5"]]
    assert len(dataset.notes) == 2


def test_one_value_can_be_the_positive_one(put):
    put(edges=EDGES, rewards="node,label\na,cs\nb,math\nc,cs\n")
    dataset = read(Request(edges=Path("edges"), rewards=Path("rewards"), positive="cs"))
    assert lines(dataset, "item")[1:] == [["a", "1"], ["b", "0"], ["c", "1"]]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 3, 4, 5], "identity"),
        ([1, 3, 13883, 20, 2], "log1p"),
        ([1, 3, 13883, 20, -2], "identity"),
        ([0.5, 3, 13883, 20, 2], "identity"),
        ([90, 95, 99, 101, 120], "identity"),
    ],
)
def test_only_counts_with_a_long_tail_are_logged(values, expected):
    transform, why = reading.chosen_transform(np.array(values, float), "auto")
    assert transform == expected
    assert "--transform" in why
    assert reading.chosen_transform(np.array(values, float), "log1p")[0] == "log1p"


MISTAKES = [  # files, options, message
    ({}, {}, "give a file of interactions, or --edges FILE with --rewards FILE"),
    ({"interactions": ""}, {}, "^interactions: empty file$"),
    ({"interactions": "user,item,rating\n"}, {}, "^interactions: no rows below the header$"),
    (
        {"interactions": RATINGS.replace("item", "thing")},
        {},
        r"no column of items; there are: user, thing, rating, timest.* --item COLUMN$",
    ),
    (
        {"interactions": RATINGS},
        {"columns": {"value": "stars"}},
        "no column 'stars'; there are: user, item, rating, timestamp",
    ),
    (
        {"interactions": RATINGS.replace("b,a,2,2", "b,a")},
        {},
        r"^interactions, line 3: number of fields is 2; expected 4 \(",
    ),
    ({"interactions": RATINGS.replace("b,a,2,2", "")}, {}, "^interactions, line 3: user is empty"),
    (
        {"interactions": RATINGS.replace("b,a,2", "b,a,two")},
        {},
        "^interactions, line 3: rating 'two' is not a finite number",
    ),
    (
        {"interactions": RATINGS.replace("b,a,2", "b,a,nan")},
        {},
        "^interactions, line 3: rating 'nan' is not a finite number",
    ),
    ({"interactions": RATINGS.replace("b,a,2", "b,,2")}, {}, "^interactions, line 3: item is empty"),
    (
        {"interactions": RATINGS.replace("b,a,2", "b,a,-2")},
        {"transform": "log1p"},
        r"line 3: rating -2 has no log\(1 \+ value\)",
    ),
    (
        {"interactions": "user,item,rating\nu,a,3\nv,b,3\n"},
        {},
        "all items have the mean value 3, so that there is nothing to learn",
    ),
    ({"interactions": b"\xef\xbb\xbf" + RATINGS.encode() + b"x,\xe9,1,1\n"}, {}, "^interactions: not UTF-8 text"),
    ({"interactions": b"PK\x03\x04rubbish"}, {}, "^interactions: not a table of text"),
    ({"interactions": "user,user,rating\na,b,1\n"}, {}, "line 1: two columns of one name: user, user, rating"),
    *(
        ({"interactions": RATINGS, role: text}, {}, message)
        for role, text, message in (
            ("rewards", "item,reward\na,1\nb,2\n", "^rewards: 1 of 3 items of the data are missing, 'c' first"),
            (
                "rewards",
                "item,reward\na,1\nb,2\nc,1\nz,2\n",
                "^rewards, line 5: 1 of 4 are not in the data, 'z' first; drop them, or",
            ),
            (
                "rewards",
                "item,reward\na,1\nb,1\nc,1\n",
                "^rewards: all rewards are 1, so that there is nothing to learn",
            ),
            ("features", "item,x\na,1\na,1\nb,1\nc,1\n", "^features, line 3: item 'a' again; expected each once"),
            ("features", "item,x\na,1\nb,2\n", "^features: 1 of 3 items of the data are missing, 'c' first"),
            ("features", "item,x\na,1\nb,red\nc,2\n", "^features, line 3: x 'red' is not a finite number"),
        )
    ),
    ({"edges": EDGES}, {}, "^edges: no rewards; give --rewards FILE"),
    (
        {"edges": EDGES + "a,b\n", "rewards": REWARDS},
        {},
        r"^edges, line 5: 'a' and 'b' are joined again \(as in line 2\); --merge-duplicates",
    ),
    ({"edges": EDGES + "b,a\n", "rewards": REWARDS}, {}, "^edges, line 5: 'b' and 'a' are joined again"),
    ({"edges": EDGES + "b,b\n", "rewards": REWARDS}, {}, "^edges, line 5: 'b' is joined to itself; --drop-loops"),
    ({"edges": "source,target,weight\na,b,1\nb,c,-2\n", "rewards": REWARDS}, {}, "^edges, line 3: negative weight -2"),
    (
        {"edges": "source,target,weight\na,b,1\nb,c,0\n", "rewards": REWARDS},
        {},
        "^edges, line 3: weight 0; leave out the edge",
    ),
    ({"edges": "source,target\na,a\n", "rewards": REWARDS}, {"drop_loops": True}, "^edges: no edge between two nodes"),
    ({"edges": EDGES, "rewards": REWARDS + "d,3\n"}, {}, "^rewards, line 5: 1 of 4 are not in the data, 'd' first"),
    (
        {"edges": EDGES, "rewards": "node,reward\na,1\nb,2\n"},
        {},
        "^rewards: 1 of 3 items of the data are missing, 'c' first",
    ),
    ({"edges": EDGES, "rewards": REWARDS}, {"positive": "cs"}, "^rewards: no reward is 'cs', the value of --positive"),
]


@pytest.mark.parametrize(("contents", "options", "message"), MISTAKES)
def test_a_mistake_is_one_line_that_names_the_place(put, contents, options, message):
    files = put(**contents)
    with pytest.raises(UserError, match=message) as caught:
        read(Request(**files, **options))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_missing_file_or_folder_is_one_line(put):
    put()
    for name in ("nothing.csv", "nothing.parquet", "nothing.npz", "nothing.graphml", "."):
        with pytest.raises(UserError, match=re.escape(f"{name}: ")):
            read(Request(edges=Path(name)) if name[-1] in "zl" else Request(interactions=Path(name)))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_odd_files_are_read_or_refused_in_one_line(put, data):
    contents = {"interactions": RATINGS, "edges": EDGES, "rewards": REWARDS, "features": "item,x\na,1\nb,2\nc,3\n"}
    kind = data.draw(st.sampled_from([["interactions", "rewards", "features"], ["interactions"], ["edges", "rewards"]]))
    odd = data.draw(st.sampled_from(kind))
    suffix = data.draw(st.sampled_from(["", ".csv", ".inter", ".parquet", ".npz", ".graphml", ".gz"]))
    put(**{name: contents[name] for name in kind} | {odd + suffix: data.draw(cases.odd_files(contents[odd].encode()))})
    asked = {name: Path(name) for name in kind} | {odd: Path(odd + suffix)}
    try:
        dataset = read(Request(**asked))
    except UserError as error:
        assert len(str(error).splitlines()) == 1
    else:
        survey_of(dataset, arms=1)


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


ARGUMENTS = ("advise", "--edges", "links.csv", "--rewards", "clicks.csv", "--name", "mine", "--k", "1", "3", "5")


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
        assert main(["advise", *extra]) == 1
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
