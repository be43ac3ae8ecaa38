"""Random files are read as plain Python reads them; damaged ones are in tests/trust/test_fuzz.py."""

import json

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphdr.raw.adapters.movielens_100k import GENRES
from tests.support.adapter_twins import ADAPTERS, TWINS, Memory, same

NAMES = st.integers(0, 9).map(str)
TITLES = st.text(st.characters(codec="latin-1", exclude_categories=["Cc"], exclude_characters="|:"), max_size=8)
RATINGS = st.lists(st.tuples(NAMES, NAMES, st.integers(1, 5)), min_size=1, max_size=30)
ITEMS = st.dictionaries(NAMES, st.tuples(TITLES, st.sampled_from(GENRES)), min_size=1)
ENDS = st.tuples(st.sampled_from(["\n", "\r\n"]), st.booleans())


def _text(rows, delimiter, ends=("\n", True), encoding="utf-8", header=()) -> bytes:
    end, last = ends
    lines = [*header, *(delimiter.join(map(str, row)) for row in rows)]
    return (end.join(lines) + end * last).encode(encoding)


def _movielens_100k(rows, titles, ends):
    about = [(i, title, "", "", "", *(int(g == genre) for g in GENRES)) for i, (title, genre) in titles.items()]
    timed = [(*row, 0) for row in rows]
    return Memory(ratings=_text(timed, "\t", ends), items=_text(about, "|", ends, "latin-1"))


def _movielens_1m(rows, titles, ends):
    about = [(i, title, f"{genre}|Z") for i, (title, genre) in titles.items()]
    return Memory(ratings=_text([(*r, 0) for r in rows], "::", ends), items=_text(about, "::", ends, "latin-1"))


def _recbole(rows, titles, ends):
    inter = _text([(*r, 0) for r in rows], "\t", ends, header=["user_id:token\titem_id:token\trating:float\tx:token"])
    about = [(i, title, 0, f"{genre} Z") for i, (title, genre) in titles.items()]
    header = "item_id:token\ttitle:token_seq\tyear:float\tclass:token_seq"
    return Memory(inter=inter, item=_text(about, "\t", ends, header=[header]))


def _amazon_ratings(rows, titles, ends):
    return Memory(ratings=_text([(*row, 0) for row in rows], ",", ends))


def _amazon_reviews(rows, titles, ends):
    reviews = [[json.dumps({"reviewerID": user, "asin": item, "overall": rating})] for user, item, rating in rows]
    return Memory(reviews=_text(reviews, "", ends))


def _hetrec_lastfm(rows, titles, ends):
    about = [(i, title, "", "") for i, (title, _) in titles.items()]
    artists = _text(about, "\t", ends, header=["id\tname\turl\tpictureURL"])
    return Memory(plays=_text(rows, "\t", ends, header=["userID\tartistID\tweight"]), artists=artists)


WRITERS = {write.__name__.strip("_"): write for write in (_amazon_ratings, _amazon_reviews, _hetrec_lastfm)}
WRITERS |= {write.__name__.strip("_"): write for write in (_movielens_100k, _movielens_1m, _recbole)}


def _is_latin1(titles: list[str]) -> bool:
    """Say whether these titles in latin-1 cannot be mistaken for UTF-8, which is refused."""
    data = "".join(f"{title} " for title in titles).encode("latin-1")
    return data.isascii() or "\ufffd" in data.decode(errors="replace")


@settings(max_examples=30)
@given(RATINGS, ITEMS, ENDS)
def test_the_same_ratings_in_any_format_give_the_same_tables(rows, titles, ends):
    assume(_is_latin1([title for title, _ in titles.values()]))
    tables = {name: ADAPTERS[name](write(rows, titles, ends)) for name, write in WRITERS.items()}
    for name, table in tables.items():
        same(table, TWINS[name](WRITERS[name](rows, titles, ends)))
        keys = table.nodes["key"].to_pylist()
        assert [(keys[link["node"]], link["weight"]) for link in table.links.to_pylist()] == [r[1:] for r in rows]
        assert table.links.equals(tables["recbole"].links)
        assert table.nodes["popularity"].equals(tables["recbole"].nodes["popularity"])
        assert table.nodes["reward"].equals(tables["recbole"].nodes["reward"]) or name == "hetrec_lastfm"
    for name in ("movielens_100k", "movielens_1m"):
        assert tables[name].nodes.equals(tables["recbole"].nodes)


NEWS = st.integers(1, 12).map("N{}".format)
SHOWN = st.lists(st.tuples(NEWS, st.integers(0, 1)), min_size=1, max_size=6)
BEHAVIORS = st.lists(st.tuples(NAMES, st.lists(NEWS, max_size=6), SHOWN), min_size=1, max_size=12)
WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=6)


@settings(max_examples=30)
@given(BEHAVIORS, st.none() | BEHAVIORS, st.dictionaries(NEWS, st.tuples(WORDS, WORDS, WORDS, WORDS)), ENDS)
def test_random_news(train, dev, about, ends):
    raw = Memory()
    for role, rows in (("behaviors", train), ("dev_behaviors", dev)):
        lines = [(0, u, "now", " ".join(h), " ".join(f"{i}-{c}" for i, c in s)) for u, h, s in rows or []]
        raw |= {role: _text(lines, "\t", ends)} if lines else {}
    raw = Memory(raw)
    if about:
        raw["news"] = _text([(key, *facts, "", "[]", "[]") for key, facts in about.items()], "\t", ends)
    same(ADAPTERS["mind"](raw), TWINS["mind"](raw))
