"""A user's own files: read the same in any format, or refused in one line."""

import contextlib
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphdr.advise import reading
from graphdr.advise.paper.recbole import Dataset
from graphdr.advise.paper.recbole import dataset as as_dataset
from graphdr.advise.paper.survey import survey
from graphdr.advise.reading import Request
from graphdr.core.errors import UserError
from trust import cases

RATINGS = "user,item,rating,timestamp\na,a,4,1\nb,a,2,2\na,b,5,3\nb,c,1,4\n"
EDGES = "source,target\na,b\nb,c\nc,a\n"
REWARDS = "node,reward\na,1\nb,2\nc,4\n"


def read(request: Request) -> Dataset:
    return as_dataset(reading.read(request))


def lines(dataset: Dataset, role: str) -> list[list[str]]:
    return [line.split("\t") for line in dataset.files[role].decode().splitlines()]


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
        ("x.csv", RATINGS.replace("\nb,a", "\n\nb,a")),
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
    ({"interactions": RATINGS.replace("b,a,2,2", ",a,2,2")}, {}, "^interactions, line 3: user is empty"),
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
        with contextlib.suppress(UserError):
            survey(dataset, {"neighbours": 3}, 1, None, (1,), told=False)
