"""Every adapter gives the same three tables, right in each number, and names the line of a mistake."""

import gzip
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from graphdr.core.errors import UserError
from graphdr.raw.tables import LINKS, NODES, USERS
from tests.support.adapter_twins import ADAPTERS, FIXTURES, TWINS, Memory, fixture, same
from trust import checks

OTHERWISE = {"graph", "mind", "ogbn_arxiv"}  # popularity and reward are no counts and means of links
MIRROR = os.environ.get("GRAPHDR_MIRROR")


@pytest.mark.parametrize("name", ADAPTERS)
def test_the_contract(name):
    nodes, links, users = tables = checks.adapter(name, fixture(name))
    for table, schema in zip(tables, (NODES, LINKS, USERS), strict=True):
        assert table.schema.equals(schema, check_metadata=True)
    assert all(nodes[column].null_count == 0 for column in ("key", "title", "popularity"))
    assert all(column.null_count == 0 for column in links.columns)
    source, node, weight = (column.to_numpy() for column in links.columns)
    if name in ("graph", "ogbn_arxiv"):
        assert len(users) == 0
    else:
        assert len(users) == 1 + source.max()
        assert len(set(users["key"].to_pylist())) == len(users)
    if name not in OTHERWISE:
        for numbers in (source, node):  # of first appearance: each new number is the next one
            assert np.diff(np.maximum.accumulate(numbers), prepend=-1).max() == 1
        reward = np.log1p(weight) if name == "hetrec_lastfm" else weight
        assert nodes["popularity"].to_pylist() == np.bincount(node).tolist()
        np.testing.assert_allclose(nodes["reward"].to_numpy(), np.bincount(node, reward) / np.bincount(node))


def test_every_adapter_reads_its_example_as_plain_python_does():
    assert set(ADAPTERS) == set(TWINS) == {path.name for path in FIXTURES.iterdir()}
    for name, read in ADAPTERS.items():
        same(read(fixture(name)), TWINS[name](fixture(name)))


@pytest.mark.parametrize("name", ADAPTERS)
def test_line_ends_and_a_mark_of_the_encoding_change_nothing(name):
    expected = ADAPTERS[name](fixture(name))
    raw = {role: data.replace(b"\r\n", b"\n") for role, data in fixture(name).items()}
    latin = {role for role, data in raw.items() if name.startswith("movielens") and not data.isascii()}
    for edited in (
        {role: data.replace(b"\n", b"\r\n") for role, data in raw.items()},
        {role: data.removesuffix(b"\n") for role, data in raw.items()},
        {role: data if role in latin else b"\xef\xbb\xbf" + data for role, data in raw.items()},
    ):
        tables = ADAPTERS[name](Memory(edited))
        assert all(table.equals(other) for table, other in zip(tables, expected, strict=True))


def test_news_have_click_rates_and_texts_of_both_sets():
    news = {row["key"]: row for row in ADAPTERS["mind"](fixture("mind")).nodes.to_pylist()}
    assert (news["N2"]["popularity"], news["N2"]["reward"]) == (5, 2 / 5)
    assert news["N7"]["reward"] is None
    assert news["N2"]["text"] == "Golf won. It was close."
    assert (news["N11"]["group"], news["N12"]["group"], news["N12"]["title"]) == ("music", None, "N12")


@pytest.mark.parametrize("name", ["movielens_100k", "movielens_1m", "recbole"])
def test_users_are_numbered_by_their_ratings_and_those_without_one_are_left_out(name):
    users = ADAPTERS[name](fixture(name)).users.to_pydict()
    assert users["key"] == ["7", "3", "9", "8"]
    assert users["gender"] == ["F", "M", "M", None]
    assert users["age"] == ([50, 18, 1, None] if name == "movielens_1m" else [53, 24, 17, None])
    first = None if name == "recbole" else "other"
    others = ["technician/engineer", "K-12 student"] if name == "movielens_1m" else ["technician", "student"]
    assert users["occupation"] == [first, *others, None]
    assert users["friends"] == [None] * 4


def test_friends_are_numbers_of_users_who_played_something_both_ways_and_in_order():
    raw = fixture("hetrec_lastfm")
    users = ADAPTERS["hetrec_lastfm"](raw).users.to_pydict()
    assert dict(zip(users["key"], users["friends"], strict=True)) == {"7": [2], "3": [2], "9": [0, 1], "8": []}
    raw["friends"] = b"userID\tfriendID\n9\t7\n3\t9\n9\t3\n"
    assert ADAPTERS["hetrec_lastfm"](raw).users.to_pydict() == users
    del raw["friends"]
    assert ADAPTERS["hetrec_lastfm"](raw).users["friends"].null_count == 4


OPTIONAL = {
    "hetrec_lastfm": ["artists", "friends"],
    "mind": ["news", "dev_news", "dev_behaviors"],
    "movielens_100k": ["items", "users"],
    "movielens_1m": ["items", "users"],
    "ogbn_arxiv": ["features", "categories", "papers"],
    "recbole": ["item", "user"],
}


@pytest.mark.parametrize("name", OPTIONAL)
def test_optional_files_may_be_absent(name):
    for absent in (*([role] for role in OPTIONAL[name]), OPTIONAL[name]):
        raw = Memory({role: data for role, data in fixture(name).items() if role not in absent})
        same(ADAPTERS[name](raw), TWINS[name](raw))


def test_recbole_finds_columns_by_name():
    head, row = "{}\tuser_id:token\titem_id:token\tx:float_seq\t{}", "2.5\tu\ti\t1 2\t{}"
    text = "\n".join([head.format("price:float", "stars:float"), row.format(4), row.format(1)])
    raw = Memory(inter=text.encode(), item=b"name:token\titem_id:token\tgenre:token\nNo. 1\ti\tPop Rock\n")
    raw["user"] = b"gender:token\tuser_id:token\tage:float\nx\tu\t30.0\n"
    nodes, _, users = ADAPTERS["recbole"](raw)
    assert [nodes[column].to_pylist() for column in ("title", "group", "reward")] == [["No. 1"], ["Pop"], [1.0]]
    assert [users[column].to_pylist() for column in ("age", "gender", "occupation")] == [[30], ["x"], [None]]
    assert ADAPTERS["recbole"](raw, value="stars").links["weight"].to_pylist() == [4.0, 1.0]
    with pytest.raises(UserError, match="no column of type float 'user_id'; there are: price, stars"):
        ADAPTERS["recbole"](raw, value="user_id")
    raw["item"] = b"item_id:token\tclass:token_seq\tlong_name:token_seq\ni\tPop\tNo. 2\n"
    assert ADAPTERS["recbole"](raw).nodes["title"].to_pylist() == ["No. 2"]


def test_recbole_takes_rewards_and_features_of_the_items():
    text = "user_id:token\titem_id:token\tplays:float\nu\ta\t1\nv\ta\t7\nu\tb\t{}\n"
    raw = Memory(inter=text.format(0).encode())
    assert ADAPTERS["recbole"](raw, value="plays").nodes["reward"].to_pylist() == [4.0, 0.0]
    assert ADAPTERS["recbole"](raw, value="plays", log1p=True).nodes["reward"].to_pylist() == [np.log(16) / 2, 0.0]
    raw["item"] = b"item_id:token\treward:float\tfeatures:float_seq\nb\t-2\t0 1\na\t5\t1 0.5\nb\t-2\t0 1\n"
    nodes = ADAPTERS["recbole"](raw, value="plays", log1p=True).nodes
    assert nodes.select(["reward", "features"]).to_pylist() == [
        {"reward": 5.0, "features": [1.0, 0.5]},
        {"reward": -2.0, "features": [0.0, 1.0]},
    ]
    raw["item"] = raw["item"].replace(b"-2\t0 1\n", b"-2\t0 2\n", 1)
    with pytest.raises(UserError, match="item, line 4: item_id 'b' again, with other values"):
        ADAPTERS["recbole"](raw)
    with pytest.raises(UserError, match=r"inter, line 4: plays -1 has no log\(1 \+ value\)"):
        ADAPTERS["recbole"](Memory(inter=text.format(-1).encode()), value="plays", log1p=True)


MISTAKES = [  # adapter, role, what to replace, by what, the message
    ("movielens_100k", "ratings", "3\t30\t2\t", "3\t30\t", "line 3: number of fields is 3; expected 4 .user, item, "),
    ("movielens_100k", "ratings", "3\t30\t2\t", "3\t30\ttwo\t", "line 3: rating 'two' is not a finite number"),
    ("movielens_100k", "ratings", "3\t30\t2\t", "3\t30\t22\t", "line 3: rating 22.0 is not from 1 to 5"),
    ("movielens_100k", "ratings", "3\t30\t2\t", "3\t0x1e\t2\t", "line 3: item '0x1e' is not a whole number"),
    ("movielens_100k", "items", "|0|0|0|1\n", "|0|0|0|2\n", "line 3: Western '2' is not 0 or 1"),
    ("movielens_100k", "items", b"Mis\xe8re", "Misère".encode(), "line 1: not latin-1 text"),
    ("movielens_100k", "users", "|24|", "|200|", "line 1: age 200 is not from 0 to 150"),
    ("movielens_100k", "users", "|student|", "||", "line 4: occupation '' is empty"),
    ("movielens_100k", "users", "5|61|", "3|61|", "line 2: user '3' again, with other values"),
    ("movielens_1m", "users", "::17::", "::21::", "line 1: occupation 21 is not from 0 to 20"),
    ("recbole", "user", "\t53\t", "\t5.3\t", "line 4: age 5.3 is not a whole number"),
    ("recbole", "user", "user_id:token", "name:token", "line 1: no column 'user_id'; there are: age, "),
    ("hetrec_lastfm", "friends", "friendID", "friend", "line 1: header 'userID.tfriend'; expected"),
    ("hetrec_lastfm", "friends", "7\t9", "7\t7", "line 5: user '7' is a friend of themselves"),
    ("movielens_1m", "ratings", "9::20::3::", "9:20::3::", r"line 4: number of fields is 3; .* double colons"),
    ("recbole", "inter", "item_id:token", "user_id:token", "line 1: two columns of one name"),
    ("recbole", "inter", "item_id:token", "item_id", "line 1: header field ':item_id'; expected a name and one of"),
    ("recbole", "inter", "rating:float", "rating:token", "line 1: no column of type float 'rating'"),
    ("amazon_ratings", "ratings", "A3Z,", "user,item,rating,time\nA3Z,", "line 3: rating 'rating' is not a finite"),
    ("amazon_reviews", "reviews", '"A9Z",', '"A9Z"', r"line 4: not JSON \(.*\); expected {\"reviewerID\": text"),
    ("amazon_reviews", "reviews", '"A9Z",', '"A9Z", "overall": 5,', "line 4: a name is given twice"),
    ("amazon_reviews", "reviews", '{"reviewerID": "A9Z"', 'null\n{"reviewerID": "A9Z"', "line 4: not a JSON object"),
    ("hetrec_lastfm", "plays", "9\t20\t", "9\t20\t-", "line 5: weight '-333' is not a whole number from 0"),
    ("hetrec_lastfm", "artists", "東京".encode(), "東京".encode("shift-jis"), "line 4: not UTF-8 text"),
    ("ogbn_arxiv", "edges", "5,4", "5,8", "line 9: cited node 8 is not from 0 to 7"),
    ("ogbn_arxiv", "papers", "5,90295\n", "", "line 7: node 6; expected 5, nodes being in order"),
    ("ogbn_arxiv", "papers", "7,90329\n", "", "papers: 7 rows; expected one for each of the 8 nodes"),
    ("ogbn_arxiv", "papers", "90329", "90210", "papers: 1 nodes have the paper id of another"),
    ("graph", "net", "c\ta\t1", "c\tz\t1", "line 4: target_id 'z' is not among the nodes"),
    ("graph", "net", "c\ta\t1", "c\ta\t0", "line 4: weight 0 is not positive"),
    ("graph", "item", "c\t3", "b\t3", "line 4: item_id 'b' again"),
    ("graph", "item", "reward:float", "worth:float", "line 1: no column 'reward:float'; there are: features, item_id"),
    ("graph", "item", "-1 7", "-1", "line 4: features has 1 numbers; expected 2 as above"),
    ("mind", "behaviors", "N9-0 N1-1", "N9-0 N1", r"line 7: impression 'N1'; expected id-0 \(not clicked\) or id-1"),
    ("mind", "dev_behaviors", "\tN12\t", "\tN12-1\t", "line 2: news 'N12-1' in the history; "),
    ("amazon_reviews", "reviews", '"A9Z",', "7,", "line 4: reviewerID is 7; expected"),
    ("graph", "item", "-1 7", "-1 inf", "line 4: features 'inf' is not a finite number"),
]


@pytest.mark.parametrize(("name", "role", "old", "new", "message"), MISTAKES)
def test_a_mistake_is_one_line_that_names_it(name, role, old, new, message):
    raw = fixture(name)
    old, new = (text if isinstance(text, bytes) else text.encode() for text in (old, new))
    assert old in raw[role]
    raw[role] = raw[role].replace(old, new, 1)
    with pytest.raises(UserError, match=f"^archive.zip: {role}(, |: ).*") as caught:
        ADAPTERS[name](raw)
    assert caught.match(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_empty_or_damaged_file_is_refused(name):
    for role, data in fixture(name).items():
        with pytest.raises(UserError, match=f"{role}: empty file"):
            ADAPTERS[name](Memory(fixture(name) | {role: b""}))
        raw = Memory(fixture(name))
        packed = gzip.compress(data)[:-9]
        raw.open = lambda wanted, role=role, packed=packed, raw=raw: (
            gzip.GzipFile(fileobj=io.BytesIO(packed)) if wanted == role else Memory.open(raw, wanted)
        )
        with pytest.raises(UserError, match=rf"{role}: cannot be read \(.*\); fetch it again"):
            ADAPTERS[name](raw)


def test_a_mistake_at_the_end_of_a_long_file_is_found():
    text = "".join(f"{i % 700}::{i % 901}::{1 + i % 5}::0\n" for i in range(100_000))
    for line, message in (("1::2::x::0", "rating 'x' is not"), ("1::2::3", "number of fields is 3")):
        with pytest.raises(UserError, match=f"line 100001: {message}"):
            ADAPTERS["movielens_1m"](Memory(ratings=f"{text}{line}\n".encode()))


def member(archive: Path, name: str) -> bytes:
    """Return the unpacked bytes of a member of a zip, or of a gzip itself."""
    data = zipfile.ZipFile(archive).read(name) if name else archive.read_bytes()
    return gzip.decompress(data) if (name or archive.name).endswith(".gz") else data


ARXIV = {"edges": "raw/edge", "labels": "raw/node-label"}
ARXIV |= {"categories": "mapping/labelidx2arxivcategeory", "papers": "mapping/nodeidx2paperid"}
MOVIES_100K = {"ratings": "data", "items": "item", "users": "user"}
MOVIES = {"ratings": "ratings", "items": "movies", "users": "users"}
LASTFM = {"plays": "user_artists", "artists": "artists", "friends": "user_friends"}
REAL = {  # the archive, its members by role, how their paths are spelled, and numbers of nodes and links
    "movielens_100k": ("ml-100k.zip", MOVIES_100K, "ml-100k/u.{}", (1682, 10**5)),
    "movielens_1m": ("ml-1m.zip", MOVIES, "ml-1m/{}.dat", (3706, 1_000_209)),
    "hetrec_lastfm": ("hetrec2011-lastfm-2k.zip", LASTFM, "{}.dat", (17_632, 92_834)),
    "amazon_reviews": ("reviews_Digital_Music_5.json.gz", {"reviews": ""}, "", (3568, 64_706)),
    "ogbn_arxiv": ("arxiv.zip", ARXIV, "arxiv/{}.csv.gz", (169_343, 1_166_243)),
    "mind": ("MINDsmall_train.zip", {"behaviors": "behaviors", "news": "news"}, "{}.tsv", None),
}


@pytest.mark.skipif(not MIRROR, reason="GRAPHDR_MIRROR is not set")
@pytest.mark.parametrize("name", REAL)
def test_real_files(name):
    archive, members, spelled, counts = REAL[name]
    if not Path(MIRROR, archive).exists():
        pytest.skip(f"the mirror has no {archive}")
    raw = Memory({role: member(Path(MIRROR, archive), spelled.format(path)) for role, path in members.items()})
    tables = ADAPTERS[name](raw)
    assert counts is None or (len(tables.nodes), len(tables.links)) == counts
    if len(tables.links) < 200_000:  # plain Python takes long
        same(tables, TWINS[name](raw))
