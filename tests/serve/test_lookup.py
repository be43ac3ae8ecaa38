"""Names are found as a dictionary finds them, by a table of hashes too."""

import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from graphdr.serve.arms import Arms
from tests.support.policies import refused
from tests.support.project import ROOT

KINDS = [list, tuple, np.array, iter, dict.fromkeys]
MANY = [f"item {number}" for number in range(5000)]


def expected(arms: Arms, names: list) -> list[int]:
    return [arms.place[name] for name in names]


def test_added_and_removed_names_are_found_and_not_found():
    arms = Arms(MANY)
    arms.places(MANY)  # the table is made
    more = arms.added(["new", "newer"])
    assert_array_equal(more.places([*MANY[:40], "newer", "new"]), [*range(40), 5001, 5000])
    fewer = more.without(["item 3", "new"])
    assert_array_equal(fewer.places([*MANY[4:40], "newer"]), [*range(3, 39), 4999])
    for where, gone in ((arms, "new"), (fewer, "item 3"), (fewer, "new")):
        with refused(f"no arm '{gone}'"):
            where.places([*MANY[4:40], gone])
    assert_array_equal(more.places([*MANY[:40], "new"]), [*range(40), 5000])
    again = fewer.added(["item 3"])
    assert_array_equal(again.places([*MANY[4:40], "item 3"]), [*range(3, 39), 5000])
    assert_array_equal(again.places(None), np.arange(5001))


@pytest.mark.parametrize("names", [[-1, -2, *range(100)], [*map(str, range(50)), -1, -2], [2**61 - 2, -1, -2, 0, 7]])
def test_numbers_of_equal_hashes_are_told_apart(names):
    assert hash(-1) == hash(-2)
    arms = Arms(names)
    order = names * 40
    assert_array_equal(arms.places(order), expected(arms, order))
    assert_array_equal(arms.places([-2] * 40), np.full(40, names.index(-2)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=3), unique=True, min_size=1, max_size=80), st.data())
def test_any_texts_are_found_as_in_a_dictionary(names, data):
    arms = Arms(names)
    asked = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=60))
    found = arms.places(data.draw(st.sampled_from(KINDS[:4]))(asked))
    assert found.dtype == np.uint32
    assert_array_equal(found, expected(arms, asked))
    other = data.draw(st.text(max_size=4) | st.sampled_from([17, -1, None, 1.5, b"item 1"]))
    if other not in names:
        with refused(f"no arm {re.escape(repr(other))}"):
            arms.places([*asked, other])


@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_texts_are_found_as_in_a_dictionary(kind):
    arms = Arms(MANY)
    names = np.random.default_rng(0).permutation(MANY).tolist()
    assert_array_equal(arms.places(kind(names)), expected(arms, names))
    if kind is list:
        assert arms._table is not None  # it was asked
    with refused("arms are given as a sequence of their names"):
        arms.places([["item 1"]] * 50)


def test_another_process_with_other_hashes_finds_the_same_places():
    arms = Arms(MANY)
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
