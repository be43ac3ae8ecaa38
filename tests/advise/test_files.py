"""A user's own files: read the same in any format, or refused in one line."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphdr.advise import reading
from graphdr.advise.data import Data
from graphdr.advise.reading import Request, read
from graphdr.core.errors import UserError
from graphdr.raw import bounded
from graphdr.raw.user_tables import READING
from trust import cases
from trust.checks import user_table

RATINGS = "user,item,rating,timestamp\na,a,4,1\nb,a,2,2\na,b,5,3\nb,c,1,4\n"
EDGES = "source,target\na,b\nb,c\nc,a\n"
REWARDS = "node,reward\na,1\nb,2\nc,4\n"


def edges(data: Data) -> list[tuple[str, str, float]]:
    names = data.keys.to_pylist()
    return [(names[i], names[j], weight) for i, j, weight in zip(*data.edges, strict=True)]


def rewards(data: Data) -> dict[str, float]:
    names = data.keys.take(pa.array(data.rewards.item)).to_pylist()
    return dict(zip(names, data.rewards.value.tolist(), strict=True))


@pytest.mark.parametrize("kind", ["graphml", "npz"])
def test_the_same_graph_in_any_format_is_the_same(put, kind):
    keys = {"graphml": "abc", "npz": "012"}[kind]
    name = f"x.{kind}"
    put(**{"r.csv": "node,reward\n" + "".join(f"{key},{at}\n" for at, key in enumerate(keys))})
    if kind == "npz":
        sp.save_npz(name, sp.csr_array([[0, 2.0, 0], [2, 0, 1], [0, 1, 0]]))
    else:
        edge = '<edge source="{}" target="{}"><data key="d">{}</data></edge>'
        inside = "".join(f'<node id="{key}"/>' for key in keys) + edge.format("a", "b", 2) + edge.format("b", "c", 1)
        head = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="d" for="edge" attr.name="weight"/>'
        put(**{name: f"{head}<graph>{inside}</graph></graphml>"})
    data = read(Request(edges=Path(name), rewards=Path("r.csv")))
    a, b, c = keys
    assert edges(data) == [(a, b, 2), (b, c, 1)]
    assert rewards(data) == {a: 0, b: 1, c: 2}


def test_a_graphml_may_hold_its_rewards(put):
    text = '<graphml><key id="r" attr.name="reward"/><graph>{}<edge source="a" target="b"/></graph></graphml>'
    nodes = '<node id="a"><data key="r">1</data></node>\n<node id="b"><data key="r">{}</data></node>'
    put(**{"x.graphml": text.format(nodes.format("3"))})
    assert rewards(read(Request(edges=Path("x.graphml")))) == {"a": 1, "b": 3}
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


def test_features_and_rewards_are_those_of_the_items(put):
    features = "item,x,y\nb,0,1\nc,1,1\na,0.5,-2\n"
    data = read(Request(**put(interactions=RATINGS, rewards="item,reward\nc,3\nb,2\na,1\n", features=features)))
    assert rewards(data) == {"a": 1, "b": 2, "c": 3}
    assert data.features.tolist() == [[0.5, -2], [0, 1], [1, 1]]


def test_loops_and_repeats_are_merged_if_asked(put):
    put(edges="source,target,weight\na,b,1\nb,a,2\nc,c,1\nb,c,5\n", rewards=REWARDS)
    data = read(Request(edges=Path("edges"), rewards=Path("rewards"), merge_duplicates=True, drop_loops=True))
    assert edges(data) == [("a", "b", 3), ("b", "c", 5)]
    assert len(data.notes) == 2


def test_one_value_can_be_the_positive_one(put):
    put(edges=EDGES, rewards="node,label\na,cs\nb,math\nc,cs\n")
    data = read(Request(edges=Path("edges"), rewards=Path("rewards"), positive="cs"))
    assert rewards(data) == {"a": 1, "b": 0, "c": 1}


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
    transform, reason = reading.choose_transform(np.array(values, float), "auto")
    assert transform == expected
    assert "--transform" in reason
    assert reading.choose_transform(np.array(values, float), "log1p")[0] == "log1p"


FINITE, NO_LESSON = "is not a finite number", "so that there is nothing to learn"
IN_INTERACTIONS = [
    ("", "^interactions: empty file$"),
    ("user,item,rating\n", "^interactions: no rows below the header$"),
    ("user,item,rating\nu,a,3\nv,b,3\n", f"all items have the mean value 3, {NO_LESSON}"),
    (b"\xef\xbb\xbf" + RATINGS.encode() + b"x,\xe9,1,1\n", "^interactions: not UTF-8 text"),
    (b"PK\x03\x04rubbish", "^interactions: not a table of text"),
    ("user,user,rating\na,b,1\n", "line 1: two columns of one name: user, user, rating"),
]
CHANGES = [
    ("item", "thing", r"no column of items; there are: user, thing, rating, timest.* --item COLUMN$"),
    ("b,a,2,2", "b,a", r"^interactions, line 3: number of fields is 2; expected 4 \("),
    ("b,a,2,2", ",a,2,2", "^interactions, line 3: user is empty"),
    ("b,a,2", "b,,2", "^interactions, line 3: item is empty"),
    ("b,a,2", "b,a,two", f"^interactions, line 3: rating 'two' {FINITE}"),
]
WITH_INTERACTIONS = [
    ("rewards", "item,reward\na,1\nb,2\n", "^rewards: 1 of 3 items of the data are missing, 'c' first"),
    ("rewards", "item,reward\na,1\nb,2\nc,1\nz,2\n", "^rewards, line 5: 1 of 4 are not in the data, 'z' first; drop"),
    ("rewards", "item,reward\na,1\nb,1\nc,1\n", f"^rewards: all rewards are 1, {NO_LESSON}"),
    ("features", "item,x\na,1\na,1\nb,1\nc,1\n", "^features, line 3: item 'a' again; expected each once"),
    ("features", "item,x\na,1\nb,2\n", "^features: 1 of 3 items of the data are missing, 'c' first"),
    ("features", "item,x\na,1\nb,red\nc,2\n", f"^features, line 3: x 'red' {FINITE}"),
]
IN_EDGES = [
    (EDGES + "a,b\n", r"^edges, line 5: 'a' and 'b' are joined again \(as in line 2\); --merge-duplicates"),
    (EDGES + "b,a\n", "^edges, line 5: 'b' and 'a' are joined again"),
    (EDGES + "b,b\n", "^edges, line 5: 'b' is joined to itself; --drop-loops"),
    ("source,target,weight\na,b,1\nb,c,-2\n", "^edges, line 3: negative weight -2"),
    ("source,target,weight\na,b,1\nb,c,0\n", "^edges, line 3: weight 0; leave out the edge"),
]
MISTAKES = [  # files, options, message
    ({}, {}, "give a file of interactions, or --edges FILE with --rewards FILE"),
    ({"rewards": REWARDS}, {}, "give a file of interactions, or --edges FILE with --rewards FILE"),
    *(({"interactions": text}, {}, message) for text, message in IN_INTERACTIONS),
    *(({"interactions": RATINGS.replace(old, new)}, {}, message) for old, new, message in CHANGES),
    ({"interactions": RATINGS}, {"columns": {"value": "stars"}}, "no column 'stars'; there are: user, item, rating"),
    ({"interactions": "a,x,1\nb,y,-2\n"}, {"transform": "log1p"}, r"line 2: .*-2 has no log\(1 \+ value\)"),
    *(({"interactions": RATINGS, role: text}, {}, message) for role, text, message in WITH_INTERACTIONS),
    *(({"edges": text, "rewards": REWARDS}, {}, message) for text, message in IN_EDGES),
    ({"edges": EDGES}, {}, "^edges: no rewards; give --rewards FILE"),
    ({"edges": "source,target\na,a\n", "rewards": REWARDS}, {"drop_loops": True}, "^edges: no edge between two nodes"),
    ({"edges": EDGES, "rewards": REWARDS + "d,3\n"}, {}, "^rewards, line 5: 1 of 4 are not in the data, 'd' first"),
    ({"edges": EDGES, "rewards": "node,reward\na,1\nb,2\n"}, {}, "^rewards: 1 of 3 items of the data are missing, 'c'"),
    ({"edges": EDGES, "rewards": REWARDS}, {"positive": "cs"}, "^rewards: no reward is 'cs', the value of --positive"),
    # Mistakes of several files are one error.
    (
        {"edges": "source,target\na,a\n", "rewards": "node,reward\na,x\n", "features": "item,x\na,1\na,2\n"},
        {},
        "^edges, line 2: 'a' is joined to itself; --drop-loops.* out. Also features, line 3: item 'a' again.*"
        f". Also rewards, line 2: reward 'x' {FINITE}",
    ),
    ({"edges": EDGES, "rewards": REWARDS, "features": "item\na\n"}, {}, "^features: no column besides 'item'; exp"),
]


@pytest.mark.parametrize(("contents", "options", "message"), MISTAKES)
def test_a_mistake_is_one_line_that_names_the_place(put, contents, options, message):
    files = put(**contents)
    with pytest.raises(UserError, match=message) as caught:
        read(Request(**files, **options))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_text_that_cannot_be_read_in_the_free_memory_is_refused(put, monkeypatch):
    put(table="user,item,value\n" + "a,b,1\n" * 1000)
    size = Path("table").stat().st_size
    monkeypatch.setattr(bounded, "free_memory", lambda: READING * size)
    assert len(user_table(Path("table")).columns["user"]) == 1000
    monkeypatch.setattr(bounded, "free_memory", lambda: READING * size - 1)
    with pytest.raises(UserError, match=r"table: its table would take 36\.1 kB, and .* 100% of the free memory"):
        user_table(Path("table"))


def test_a_missing_file_or_folder_is_one_line(put):
    put()
    for name in ("nothing.csv", "nothing.parquet", "nothing.npz", "nothing.graphml", "."):
        with pytest.raises(UserError, match=re.escape(f"{name}: ")):
            read(Request(edges=Path(name)) if name[-1] in "zl" else Request(interactions=Path(name)))


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_odd_files_are_read_or_refused_in_one_line(put, data):
    contents = {"interactions": RATINGS, "edges": EDGES, "rewards": REWARDS, "features": "item,x\na,1\nb,2\nc,3\n"}
    kind = data.draw(st.sampled_from([["interactions", "rewards", "features"], ["interactions"], ["edges", "rewards"]]))
    odd = data.draw(st.sampled_from(kind))
    suffix = data.draw(st.sampled_from(["", ".csv", ".inter", ".parquet", ".npz", ".graphml", ".gz"]))
    put(**{name: contents[name] for name in kind} | {odd + suffix: data.draw(cases.odd_files(contents[odd].encode()))})
    asked = {name: Path(name) for name in kind} | {odd: Path(odd + suffix)}
    try:
        read(Request(**asked))
    except UserError as error:
        assert len(str(error).splitlines()) == 1
