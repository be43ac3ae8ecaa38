"""Nearest neighbours: a contract over the searches, the recall that is reported, and what is said where one misses."""

import re
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from graphdr.core.errors import UserError
from graphdr.graphs import from_data, neighbours
from graphdr.graphs.neighbours import EXACT, SEARCHES, Sides, nearest, recall, sides
from graphdr.graphs.records import Records
from tests.support.lacking import python_without

ITEMS, USERS, WANTED = 600, 400, 5
needs_scale = pytest.mark.skipif(find_spec("pynndescent") is None, reason="no pynndescent here, of the extra scale")
compiled = [needs_scale, pytest.mark.slow]  # for ten seconds
every_search = pytest.mark.parametrize(
    "search", [search if search == EXACT else pytest.param(search, marks=compiled) for search in SEARCHES]
)


@pytest.fixture(scope="module")
def ratings() -> Sides:
    """Draw ratings of items by the users who are near them on a circle, with empty and equal rows."""
    rng = np.random.default_rng(4)
    away = np.abs(np.arange(ITEMS)[:, None] / ITEMS - rng.random(USERS))
    near = rng.random((ITEMS, USERS)) < np.exp(-((np.minimum(away, 1 - away) / 0.05) ** 2))
    matrix = near * rng.integers(1, 6, (ITEMS, USERS)).astype(float)
    matrix[10], matrix[20] = 0.0, matrix[21]
    return sides(sp.csr_array(matrix))


@pytest.fixture(scope="module")
def search_result(ratings) -> Callable[[str], tuple[np.ndarray, np.ndarray]]:
    return cache(lambda search: nearest(ratings, WANTED, search, seed=3))


@every_search
def test_a_search_finds_others_with_their_cosines_nearest_first_and_ties_by_index(search, ratings, search_result):
    unit = ratings.rows.toarray()
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-300)
    near, cosine = search_result(search)
    assert near.shape == cosine.shape == (ITEMS, WANTED)
    assert (near[10] == -1).all()
    for i, (others, values) in enumerate(zip(near, cosine, strict=True)):
        others, values = others[others >= 0], values[others >= 0]
        assert i not in others
        assert len({*others.tolist()}) == len(others)
        np.testing.assert_allclose(values, unit[others] @ unit[i], rtol=1e-12)
        assert_array_equal(np.lexsort((others, -values)), np.arange(len(others)))


@every_search
def test_a_search_finds_nearly_all_of_the_exact_neighbours_and_these_to_the_last_bit(search, ratings, search_result):
    share = recall(ratings, search_result(search)[0])
    assert share == 1.0 if search == EXACT else share >= 0.95
    same = (np.sort(search_result(search)[0]) == np.sort(search_result(EXACT)[0])).all(axis=1)
    assert same.mean() > 0.8
    for actual, expected in zip(search_result(search), search_result(EXACT), strict=True):
        assert_array_equal(actual[same], expected[same])


@every_search
def test_a_search_is_the_same_with_the_same_seed_and_for_some_of_the_rows(search, ratings, search_result):
    some = np.array([3, 17, 10, 599])
    for actual, wanted in zip(nearest(ratings, WANTED, search, 3, some), search_result(search), strict=True):
        assert_array_equal(actual, wanted[some])


@every_search
def test_numbers_in_single_precision_are_multiplied_in_double(search, ratings, monkeypatch):
    odd = ratings.rows.copy()
    odd.data += np.random.default_rng(5).random(len(odd.data))
    single = Sides(*(side.astype(np.float32) for side in sides(odd)))
    double = Sides(*(side.astype(float) for side in single))
    expected = nearest(double, WANTED, search)
    monkeypatch.setattr(neighbours, "AT_ONCE", 7)
    for actual, wanted in zip(nearest(single, WANTED, search), expected, strict=True):
        assert_array_equal(actual, wanted)


@every_search
def test_more_neighbours_than_there_are_rows_are_all_rows_that_share_a_column(search):
    few = sides(sp.csr_array([[1.0, 1.0], [0.0, 2.0], [3.0, 0.0]]))
    assert nearest(few, 4, search)[0].tolist() == [[1, 2, -1, -1], [0, -1, -1, -1], [0, -1, -1, -1]]


def test_recall_is_the_share_of_the_exact_neighbours_that_were_found():
    matrix = sides(sp.csr_array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]))
    assert recall(matrix, np.array([[1, 2], [0, 2], [0, 1]])) == 1.0
    assert recall(matrix, np.array([[1, -1], [0, -1], [-1, -1]])) == 2 / 6
    assert recall(sides(sp.csr_array(np.eye(3))), np.full((3, 2), -1)) == 1.0  # there is nothing to find


@needs_scale
@pytest.mark.slow
def test_a_graph_of_data_takes_the_search_and_says_what_it_found(ratings, capsys):
    item, user = ratings.rows.tocoo().coords
    records = Records(user, item, ratings.rows.tocoo().data, np.bincount(item, minlength=ITEMS))
    exact, wanted = (from_data.knn("all", records, neighbours=WANTED, search=search) for search in SEARCHES)
    (share,) = re.findall(r"^search approximate: recall (\S+) of the exact", capsys.readouterr().out)
    assert float(share) >= 0.95
    assert exact.n == wanted.n
    assert exact.adjacency.multiply(wanted.adjacency).sum() >= 0.95 * exact.adjacency.sum()


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ("psychic", "search: no search 'psychic'; there are: approximate, exact"),
        pytest.param("approximate", r"approximate takes 100 entries, not .*; exact takes any", marks=needs_scale),
    ],
)
def test_a_search_that_cannot_be_is_refused_in_one_line(ratings, monkeypatch, search, message):
    monkeypatch.setattr(neighbours, "PYNNDESCENT_UP_TO", 100)
    with pytest.raises(UserError, match=message):
        nearest(ratings, WANTED, search)


def test_without_pynndescent_one_line_names_the_extra():
    code = """
import scipy.sparse as sp
from graphdr.graphs.neighbours import nearest, sides
try:
    nearest(sides(sp.csr_array([[1.0], [2.0]])), 1, "approximate")
except ImportError as error:
    print(error)
"""
    shown = python_without(("pynndescent",), code).stdout
    assert shown == 'search: approximate needs pynndescent: pip install "graphdr[scale]"\n'
