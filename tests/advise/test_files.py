"""A user's own files: read the same in any format and dialect, or refused in one line that names all mistakes."""

import codecs
import csv
import io
import re
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graphdr.advise import reading
from graphdr.advise.data import Data
from graphdr.advise.reading import Request, read
from graphdr.core.errors import UserError
from graphdr.raw import bounded
from graphdr.raw import user_tables as roles
from graphdr.raw.dialect import TextFormat
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
        graph = nx.Graph()
        graph.add_weighted_edges_from([("a", "b", 2.0), ("b", "c", 1.0)])
        nx.write_graphml(graph, name)
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


CHANGES_OF_A_MATRIX = [
    {"indices": [0, 9]}, {"indptr": [0, 2, 1]}, {"shape": [2, 3]}, {"format": "bsr"},
    {"data": [object(), object()]},  # which would have to be unpickled
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES_OF_A_MATRIX)
def test_a_matrix_that_does_not_fit_is_one_line(put, change):
    put(rewards="node,reward\n0,1\n1,2\n")
    parts = {"format": "csr", "shape": [2, 2], "data": [1.0, 1.0], "indices": [1, 0], "indptr": [0, 1, 2]}
    np.savez("x.npz", **{name: np.array(part) for name, part in parts.items()})
    read(Request(edges=Path("x.npz"), rewards=Path("rewards")))
    np.savez("x.npz", **{name: np.array(part) for name, part in (parts | change).items()})
    with pytest.raises(UserError, match=r"^x.npz: [^\n]+$"):
        read(Request(edges=Path("x.npz"), rewards=Path("rewards")))


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
    # The line is right with quotes and far below.
    ('user,item,rating\na,"x\ny",1\nb,z,q\n', "^interactions: 2 problems: .*line 2: .*holds a tab or a line break"),
    ("user,item,rating\na\nb,x\n", "^interactions, line 2: number of fields is 1; .*1 more such: line 3"),
    ('user,item,rating\na,"x",1\nb,"z,2\n', "^interactions, line 3: a quote that is not closed: 'b,\"z,2'"),
    ('user,item,rating\na,"x, y",1\n\nb,"z",q\n', "^interactions, line 4: rating 'q' is not a finite number"),
    ("user,item,rating\r\n\r\na,x,1\r\n\r\nb,z,q\r\n", "^interactions, line 5: rating 'q' is not a finite"),
    ("user,item,rating\n\na,x,1\n\nb,z\n", "^interactions, line 5: number of fields is 2"),
    (
        "user,item,rating\n" + "a,x,1\n" * 9000 + "b,y,q\n" * 5,
        "^interactions, line 9002: .*4 more such: lines 9003, 9004, 9005, …",
    ),
    # Lines without end, and files of nothing but mistakes
    (b"a," * 3_000_000, "^interactions, line 1: longer than 4 MB"),
    (b"user,item,rating\n" + b"a" * 9_000_000, "^interactions: cannot be parsed; a row may be longer than 4 MB"),
    ("user,item,rating\n" + "a\n" * 150_000, r"line 2: number of fields is 1; .* as in 100,000 more rows$"),
    ("# x\n" * 150_000 + "a,b,1\n", ": more than 100,000 lines of comments"),
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
    ("features", "item,x\na,1\nb,2\n", "^features: 1 of 3 items of the data are missing, 'c' first"),
    ("features", "item,x\na,1\nb,red\nc,2\n", f"^features, line 3: x 'red' {FINITE}"),
]
IN_EDGES = [
    (EDGES + "a,b\n", r"^edges, line 5: 'a' and 'b' are joined again \(as in line 2\); --merge-duplicates"),
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
    monkeypatch.setattr(bounded, "free_memory", lambda: roles.READING * size)
    assert len(user_table(Path("table")).columns["user"]) == 1000
    monkeypatch.setattr(bounded, "free_memory", lambda: roles.READING * size - 1)
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


# Tables as people have them


def rows(data: Data) -> list[tuple]:
    """Return interactions as tuples of the user's number, the item's name, and numbers."""
    user, item, value, time = data.interactions
    columns = [user.tolist(), data.keys.take(pa.array(item)).to_pylist()]
    columns += [column.tolist() for column in (value, time) if column is not None]
    return list(zip(*columns, strict=True))


def numbered(table: list[tuple]) -> list[tuple]:
    """Replace the name of each user by its number, in order of first appearance."""
    numbers = {user: number for number, user in enumerate(dict.fromkeys(row[0] for row in table))}
    return [(numbers[row[0]], *row[1:]) for row in table]


def pairs(data: Data) -> list[tuple]:
    """Return edges as pairs of names."""
    return [tuple(data.keys[int(end)].as_py() for end in edge) for edge in zip(*data.edges[:2], strict=True)]


# Files as they are published


BOOKS = (
    '"User-ID";"ISBN";"Book-Rating"\r\n"276725";"034545104X";"0"\r\n"276726";"0155061224";"5"\r\n'
    '"276727";"034545104X";"3"\r\n'
)


def test_book_crossing_is_read_as_it_is_published(put):
    features = '"ISBN";"Book-Title"\n"034545104X";"The \\"Real\\" caf\xe9; &amp; more"\n"0155061224";"B"\n'
    data = read(Request(**put(interactions=BOOKS, features=features.encode("latin-1"))))
    assert rows(data) == [(0, "034545104X", 0), (1, "0155061224", 5), (2, "034545104X", 3)]
    assert data.features.tolist() == [[1, 0], [0, 1]]  # a column of texts with quotes and separators in them
    assert data.notes[0] == "interactions: separated by ; (--separator); value: column 'Book-Rating' (--value)"
    assert any("encoding Latin-1 (--encoding)" in note for note in data.notes)


SNAP = "# Directed graph: x.txt\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n"


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        (SNAP, None),
        (SNAP.replace("\t", "  "), None),
        ("% bip unweighted\n0 1\n1 2\n", None),
        ("0 1 0.5\n1 2 1.5\n", [0.5, 1.5]),
        ("% sym\n0 1\t2\n1 2\t3\n", [2, 3]),
        ("%%MatrixMarket matrix coordinate pattern symmetric\n% made by x\n3 3 2\n0 1\n1 2\n", None),
        (" 0   1\n 1 \t 2 \n", None),
        ("source target weight\n0 1 2,5\n1 2 3\n", [2.5, 3]),
        ("0::1::2::978300760\n1::2::3::978300760\n", [2, 3]),
        ("0 1 1217567877\n1 2 1217573801\n", None),
        ("sep=;\nfrom;to;w\n0;1;2,5\n1;2;3\n", [2.5, 3]),
    ],
)
def test_edge_lists_of_all_kinds_are_read(put, text, weights):
    data = read(Request(**put(edges=text, rewards="node,reward\n0,1\n1,2\n2,4\n")))
    assert pairs(data) == [("0", "1"), ("1", "2")]
    assert weights == (None if data.edges.weight is None else data.edges.weight.tolist())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1;2;1,5\n3;4;2,25\n", [("1", "2", 1.5), ("3", "4", 2.25)]),
        ("user 1,2,5\nuser 2,3,4\n", [("user 1", "2", 5), ("user 2", "3", 4)]),
        ("user,item,liked,value\na,x,q,true\nb,y,q,No\n", [("a", "x", 1), ("b", "y", 0)]),
        ("u1 i1 4 978300760\nu2 i2 5 978300761\n", [("u1", "i1", 4, 978300760), ("u2", "i2", 5, 978300761)]),
        (
            "user,item,rating,date\na,x,1,2024-01-01\nb,y,2,2024-01-01 00:00:10\n",
            [("a", "x", 1, 1704067200), ("b", "y", 2, 1704067210)],
        ),
        ("user,item,rating,date\na,x,1,yesterday\nb,y,2,today\n", [("a", "x", 1), ("b", "y", 2)]),
        ("a,x,978300760\nb,x,978300761\n", [("a", "x", 978300760), ("b", "x", 978300761)]),
        ("userId:token,movieId:token,rating:float\na,x,1\nb,y,2\n", [("a", "x", 1), ("b", "y", 2)]),
        ('"user"\t"item"\t"rating"\n"a"\t"x"\t1\n"b"\t"y"\t2\n', [("a", "x", 1), ("b", "y", 2)]),
        ("#user,item,rating\na,x,1\nb,y,2\n", [("a", "x", 1), ("b", "y", 2)]),
        ("#cat,x,1\n#dog,y,5\nmouse,x,3\n", [("#cat", "x", 1), ("#dog", "y", 5), ("mouse", "x", 3)]),
        ("user,item,rating\na,x, 1\n\nb,y,+2 \n", [("a", "x", 1), ("b", "y", 2)]),
        ('"User ID";item;rating\na;x;1\nb;y;2\n', [("a", "x", 1), ("b", "y", 2)]),
        ("a\tx\t1\t881250949\nb\ty\t2\t881250950\n", [("a", "x", 1, 881250949), ("b", "y", 2, 881250950)]),
    ],
)
def test_interactions_of_all_kinds_are_read(put, text, expected):
    assert rows(read(Request(**put(interactions=text)))) == numbered(expected)


@pytest.mark.parametrize("mark", ["é", "<>", "~", "tab", "blanks"])
def test_any_separator_can_be_named(put, mark):
    text = "user,item,rating\na,x,1\nb,y,2\n".replace(",", {"tab": "\t", "blanks": " "}.get(mark, mark))
    asked = put(interactions=text)
    assert rows(read(Request(**asked, text_format=TextFormat(separator=mark)))) == [(0, "x", 1), (1, "y", 2)]
    with pytest.raises(UserError, match=r"^--separator: .* is no mark"):
        read(Request(**asked, text_format=TextFormat(separator='"')))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig", "cp1252", "latin-1"])
def test_the_encoding_is_told_from_the_bytes_or_by_the_user(put, encoding):
    text = "user,item,rating\nb,Jos\xe9,1\na,\xfc,2\n"
    mark = codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b""
    expected = [(0, "Jos\xe9", 1), (1, "\xfc", 2)]
    assert rows(read(Request(**put(interactions=mark + text.encode(encoding))))) == expected
    unmarked = put(interactions=text.encode("utf-16-le"))
    assert rows(read(Request(**unmarked, text_format=TextFormat("utf-16-le")))) == expected
    for wrong, message in (
        ("klingon", "^--encoding: no encoding 'klingon'"),
        ("ascii", "^interactions: not ascii text"),
        ("utf-16", "^interactions: not utf-16 text .*--encoding names another"),
    ):
        with pytest.raises(UserError, match=message):
            read(Request(**put(interactions=text), text_format=TextFormat(wrong)))


def test_two_columns_for_a_role_are_said(put):
    data = read(Request(**put(interactions="user,item,rating,score\na,x,1,3\nb,y,2,4\n")))
    assert "interactions: value: column 'rating', not 'score' (--value)" in data.notes
    named = Request(**put(interactions="user,item,rating,score\na,x,1,3\nb,y,2,4\n"), columns={"value": "score"})
    assert read(named).interactions.value.tolist() == [3, 4]


NAMED_ROLES = {
    "Book-Rating": "value", "User-ID": "user", "movieId": "item", "user_id": "user", "reviewTime": "time",
    "FromNodeId": "source", "ToNodeId": "target", "customer_unique_id": "user",
}  # fmt: skip


@pytest.mark.parametrize(("name", "role"), NAMED_ROLES.items())
def test_the_word_that_counts_in_a_name_says_its_role(name, role):
    assert roles.is_usual(name, [role])
    assert not any(roles.is_usual(name, [other]) for other in {"user", "value", "time", "source", "target"} - {role})


def test_a_first_line_of_names_is_data_if_they_are_said_again(put):
    names = "node,reward\nann,1\nbob,2\ncarl,4\n"
    assert pairs(read(Request(**put(edges="ann,bob\nbob,carl\n", rewards=names)))) == [("ann", "bob"), ("bob", "carl")]
    data = read(Request(**put(edges="page,link\nann,bob\nbob,carl\n", rewards=names)))
    assert pairs(data) == [("ann", "bob"), ("bob", "carl")]


def test_items_chosen_without_a_value_are_rewarded_by_their_share_of_users(put):
    data = read(Request(**put(interactions="user,item\na,x\nb,x\nb,y\nb,y\n")))
    assert data.interactions.value is None
    assert any("no column of values" in note and "--value" in note for note in data.notes)
    assert data.interactions.choosers(2).tolist() == [2, 1]


# Several files


def test_interactions_may_come_with_a_graph(put):
    asked = put(interactions="user,item,rating\na,x,1\nb,y,5\nb,x,3\n", edges="source,target\nx,y\ny,z\nz,z\n")
    data = read(Request(**asked, drop_loops=True))
    assert (data.keys.to_pylist(), pairs(data)) == (["x", "y"], [("x", "y")])
    assert any(note.startswith("2 edges with an end that is not among") for note in data.notes)


def test_features_may_come_alone_and_hold_categories(put):
    text = ",item_id,item_feature_0,item_feature_1\n0,7,0.5,4ae3\n1,8,-1,9b2f\n2,9,2,4ae3\n"
    data = read(Request(**put(features=text)))
    assert data.keys.to_pylist() == ["7", "8", "9"]
    assert data.features.tolist() == [[0.5, 1, 0], [-1, 0, 1], [2, 1, 0]]
    assert data.rewards is None
    assert any("indicators" in note and "'item_feature_1'" in note for note in data.notes)
    rewards = "node,reward\n9,1\n7,2\n8,3\n"
    data = read(Request(**put(features=text, rewards=rewards)))
    assert (data.rewards.item.tolist(), data.rewards.value.tolist()) == ([2, 0, 1], [1, 2, 3])
    with pytest.raises(UserError, match=r"^features, line 4: item_id '7' again; expected each once"):
        read(Request(**put(features=text.replace("2,9", "2,7"))))


def test_lists_of_numbers_are_features(put):
    asked = put(interactions="user,item,rating\na,x,1\nb,y,2\n", features="item,v\nx,1 2\ny,3 4\n")
    assert read(Request(**asked)).features.tolist() == [[1, 2], [3, 4]]
    for text, message in (("x,1 2\ny,3\n", "1 features; expected 2"), ("x,1 2\ny,3 q\n", "v 'q' is not a finite")):
        with pytest.raises(UserError, match=f"^features, line 3: {message}"):
            read(Request(**asked | put(features=f"item,v\n{text}")))


def test_a_node_may_have_several_rewards(put):
    data = read(Request(**put(edges="source,target\na,b\n", rewards="node,reward\nb,1\na,2\nb,5\n")))
    assert (data.rewards.item.tolist(), data.rewards.value.tolist()) == ([1, 0, 1], [1, 2, 5])
    assert "rewards: 1 further rewards of items that have one: each of them counts" in data.notes


def test_parquet_keeps_numbers_and_times_and_its_columns_can_be_named(put):
    put()
    dates = pa.array([0, 1000, 2000], pa.timestamp("ms"))
    table = pa.table({"who": [7, 7, 8], "what": pa.array(["y", "x", "y"]).dictionary_encode(), "how": [1, 2, 4]})
    pq.write_table(table.append_column("rating", [[1, 1, 1]]).append_column("date", dates), "x.parquet")
    request = Request(interactions=Path("x.parquet"), columns={"user": "who", "item": "what", "value": "how"})
    assert rows(read(request)) == [(0, "y", 1, 0), (0, "x", 2, 1), (1, "y", 4, 2)]


# Mistakes


def test_all_mistakes_of_a_file_are_named_at_once(put):
    text = "source,target,weight\na,b,1\nb,b,1\nb,c,x\na,b,2\nc\nc,a,y\nb,a,1\nd,d,1\n"
    asked = put(edges=text, rewards="node,reward\na,1\nb,2\nc,3\n")
    with pytest.raises(UserError) as caught:
        read(Request(**asked))
    assert str(caught.value).startswith("edges: 4 problems: ")
    for lines in ("line 6: .*", "line 4: .* line 7 ", "line 3: .* line 9; --drop-loops", "line 5: .* line 8; --merge"):
        assert re.search(rf"\(\d\) {lines}", str(caught.value))
    data = read(Request(**asked | put(rewards="node,reward\na,1\nb,2\nq,3\n"), tolerant=True))
    assert (pairs(data), data.edges.weight.tolist()) == ([("a", "b")], [4])
    assert "edges: a line is left out (first: line 6: number of fields is 1" in " ".join(data.notes)


def test_lines_with_mistakes_are_left_out_if_tolerated(put):
    text = "user,item,rating\na,x,1\nb,y\n,z,3\nc,y,4\nd,x,NA\n"
    data = read(Request(**put(interactions=text), tolerant=True))
    assert rows(data) == [(0, "x", 1), (1, "y", 4)]
    assert data.keys.to_pylist() == ["x", "y"]
    assert sum("left out" in note for note in data.notes) == 3


def test_a_long_line_is_read(put):
    long = " ".join(["0.5"] * 50_000)
    asked = put(interactions="user,item,rating\na,x,1\nb,y,2\n", features=f"item,v\nx,{long}\ny,{long}\n")
    assert read(Request(**asked)).features.shape == (2, 50_000)


# Any table in any dialect


LETTERS = st.sampled_from("abcé ü0;,|:.x'")
VALUES = st.integers(-999, 999).map(lambda number: number / 4)


@st.composite
def dialects(draw) -> dict:
    separator = draw(st.sampled_from([",", ";", "\t", "|", "::", "  ", " \t"]))
    return {
        "separator": separator,
        "encoding": draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])),
        "quotes": len(separator) == 1 and separator != "\t" and draw(st.sampled_from(["all", "some"])),
        "comma": separator not in (",", "  ", " \t") and draw(st.booleans()),
        "header": draw(st.booleans()),
        "comments": draw(st.sampled_from(["", "# a comment\n", "% one\n% and two\n"])),
        "end": draw(st.sampled_from(["\n", "\r\n"])),
        "last": draw(st.booleans()),
        "excel": len(separator) == 1 and draw(st.booleans()),
    }


def in_dialect(table: list[tuple], shape: dict) -> bytes:
    point = "," if shape["comma"] else "."
    lines = [[user, item, str(value).replace(".", point)] for user, item, value in table]
    lines = [["User-ID", "movieId", "Book-Rating"], *lines] if shape["header"] else lines
    if shape["quotes"]:
        stream = io.StringIO()
        quoting = csv.QUOTE_ALL if shape["quotes"] == "all" else csv.QUOTE_MINIMAL
        csv.writer(stream, delimiter=shape["separator"], quoting=quoting, lineterminator="\n").writerows(lines)
        text = stream.getvalue()
    else:
        text = "".join(f"{shape['separator'].join(line)}\n" for line in lines)
    text = (f"sep={shape['separator']}\n" if shape["excel"] else "") + shape["comments"] + text
    text = text if shape["last"] else text.removesuffix("\n")
    return text.replace("\n", shape["end"]).encode(shape["encoding"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.text(LETTERS, max_size=4), st.text(LETTERS, max_size=4), VALUES), min_size=2), dialects())
@example([("", "", 0.25), ("", "a", 1.0)], {"separator": ";", "encoding": "latin-1", "quotes": "all", "comma": True,
         "header": False, "comments": "", "end": "\r\n", "last": False, "excel": True})  # fmt: skip
def test_a_table_in_any_dialect_is_read_back(put, table, shape):
    lost = {"all": "", "some": ";,|:".replace(shape["separator"], "")}.get(shape["quotes"], ";,|: ")
    clean = str.maketrans("", "", lost)  # a mark outside of quotes might separate
    table = [(f"k{user.translate(clean)}", f"k{item.translate(clean)}", value) for user, item, value in table]
    asked = Request(**put(interactions=in_dialect(table, shape), rewards=rewarded(table)), transform="identity")
    assert rows(read(asked)) == numbered(table)


def rewarded(table: list[tuple]) -> bytes:
    """Write a reward for each item, so that equal values are no mistake."""
    items = dict.fromkeys(item for _, item, _ in table)
    stream = io.StringIO()
    csv.writer(stream).writerows([("item", "reward"), *((item, at) for at, item in enumerate(items))])
    return stream.getvalue().encode()
