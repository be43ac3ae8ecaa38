"""Names are found as a dictionary finds them, by a table of hashes too."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from graphdr.serve import lookup
from graphdr.serve.lookup import Lookup
from tests.support.project import ROOT

MANY = [f"item {number}" for number in range(5000)]


def expected(arms: Lookup, names: list) -> list[int]:
    return [arms.place[name] for name in names]


@pytest.mark.parametrize("count", [1, lookup.MANY - 1, lookup.MANY, 1000, 5000])
@pytest.mark.parametrize("kind", [list, tuple, np.array, iter, dict.fromkeys])
def test_thousands_of_texts_are_found_as_in_a_dictionary(count, kind):
    arms = Lookup(MANY)
    names = np.random.default_rng(count).choice(MANY, count, replace=False).tolist()
    found = arms.places(kind(names))
    assert found.dtype == np.uint32
    assert_array_equal(found, expected(arms, names))
    if kind in (list, tuple):  # else the table was not asked
        assert (arms._table is not None) == (count >= lookup.MANY)


def test_repeated_names_are_found_each_time():
    assert_array_equal(Lookup(MANY).places(["item 7"] * 100), np.full(100, 7))


@pytest.mark.parametrize("at", [0, 500, 999])
@pytest.mark.parametrize("unknown", ["item 5000", "", "Item 1", 17, -1, None, 1.5, b"item 1"])
def test_an_unknown_name_among_many_is_named(at, unknown):
    names = [*MANY[:at], unknown, *MANY[at:1000]]
    with pytest.raises(ValueError, match=f"no arm {unknown!r}"):
        Lookup(MANY).places(names)


def test_what_cannot_be_a_name_is_no_sequence_of_names():
    with pytest.raises(ValueError, match="arms are given as a sequence of their names"):
        Lookup(MANY).places([["item 1"]] * 50)


def test_added_and_removed_names_are_found_and_not_found():
    arms = Lookup(MANY)
    arms.places(MANY)  # the table is made
    more = arms.added(["new", "newer"])
    assert_array_equal(more.places([*MANY[:40], "newer", "new"]), [*range(40), 5001, 5000])
    with pytest.raises(ValueError, match="no arm 'new'"):
        arms.places([*MANY[:40], "new"])
    fewer = more.without(["item 3", "new"])
    assert_array_equal(fewer.places([*MANY[4:40], "newer"]), [*range(3, 39), 4999])
    for gone in ("item 3", "new"):
        with pytest.raises(ValueError, match=f"no arm '{gone}'"):
            fewer.places([*MANY[4:40], gone])
    assert_array_equal(more.places([*MANY[:40], "new"]), [*range(40), 5000])
    again = fewer.added(["item 3"])
    assert_array_equal(again.places([*MANY[4:40], "item 3"]), [*range(3, 39), 5000])
    assert_array_equal(again.places(None), np.arange(5001))


@pytest.mark.parametrize("names", [[-1, -2, *range(100)], [*map(str, range(50)), -1, -2], [2**61 - 2, -1, -2, 0, 7]])
def test_numbers_of_equal_hashes_are_told_apart(names):
    assert hash(-1) == hash(-2)
    arms = Lookup(names)
    order = names * 40
    assert_array_equal(arms.places(order), expected(arms, order))
    assert_array_equal(arms.places([-2] * 40), np.full(40, names.index(-2)))


def test_the_table_finds_hashes_that_fall_into_one_slot():
    hashes = np.arange(100, dtype=np.int64) * 2**20 - 2**40  # equal in their last digits, some negative
    places = np.random.default_rng(0).permutation(100)
    table = lookup._tabulate(hashes, places)
    assert_array_equal(lookup._find(hashes[::-1].copy(), table), places[::-1])
    assert len(lookup._find(np.array([2**50], np.int64), table)) == 0
    assert len(lookup._find(np.array([hashes[0], -1], np.int64), table)) == 0


def test_of_equal_hashes_no_table_is_made_and_the_dictionary_is_asked(monkeypatch):
    hashes = np.array([5, 9, 5], np.int64)
    table = lookup._tabulate(hashes, np.arange(3))
    assert len(table) == 0
    assert len(lookup._find(hashes, table)) == 0
    arms = Lookup(MANY)
    monkeypatch.setattr(arms, "_table", table)
    assert_array_equal(arms.places(MANY[:100]), np.arange(100))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=3), unique=True, min_size=1, max_size=80), st.data())
def test_any_texts_are_found_as_in_a_dictionary(names, data):
    arms = Lookup(names)
    asked = data.draw(st.lists(st.sampled_from(names), min_size=lookup.MANY, max_size=60))
    assert_array_equal(arms.places(asked), expected(arms, asked))
    other = data.draw(st.text(max_size=4))
    if other not in names:
        with pytest.raises(ValueError, match="no arm"):
            arms.places([*asked, other])


def test_another_process_with_other_hashes_finds_the_same_places():
    arms = Lookup(MANY)
    arms.places(MANY)
    code = """
import pickle, sys
arms = pickle.load(sys.stdin.buffer)
print(hash("item 1"), arms.places([f"item {number}" for number in range(4999, 4899, -1)]).tolist())
"""
    env = os.environ | {"PYTHONHASHSEED": "12345"}
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, input=pickle.dumps(arms), capture_output=True)
    own, found = ran.stdout.decode().split(" ", 1)
    assert found.strip() == str(list(range(4999, 4899, -1)))
    assert int(own) != hash("item 1")


def test_two_arms_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two arms have the same name"):
        Lookup(["a", "b", "a"])
    assert Lookup(["a", "b"]).without(["a"]).added(["a"]).place == {"b": 0, "a": 1}
