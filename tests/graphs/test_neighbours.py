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

ITEMS, USERS, FOUND = 600, 400, 5
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
def found(ratings) -> Callable[[str], tuple[np.ndarray, np.ndarray]]:
    return cache(lambda search: nearest(ratings, FOUND, search, seed=3))


@every_search
def test_a_search_finds_others_with_their_cosines_nearest_first_and_ties_by_index(search, ratings, found):
    unit = ratings.rows.toarray()
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-300)
    near, cosine = found(search)
    assert near.shape == cosine.shape == (ITEMS, FOUND)
    assert (near[10] == -1).all()
    for i, (others, values) in enumerate(zip(near, cosine, strict=True)):
        others, values = others[others >= 0], values[others >= 0]
        assert i not in others
        assert len({*others.tolist()}) == len(others)
        np.testing.assert_allclose(values, unit[others] @ unit[i], rtol=1e-12)
        assert_array_equal(np.lexsort((others, -values)), np.arange(len(others)))


@every_search
def test_a_search_finds_nearly_all_of_the_exact_neighbours(search, ratings, found):
    share = recall(ratings, found(search)[0])
    assert share == 1.0 if search == EXACT else share >= 0.95


@every_search
def test_where_the_same_neighbours_are_found_they_are_equal_to_the_last_bit(search, found):
    same = (np.sort(found(search)[0]) == np.sort(found(EXACT)[0])).all(axis=1)
    assert same.mean() > 0.8
    for one, other in zip(found(search), found(EXACT), strict=True):
        assert_array_equal(one[same], other[same])


@every_search
def test_a_search_is_the_same_with_the_same_seed_and_for_some_of_the_rows(search, ratings, found):
    some = np.array([3, 17, 10, 599])
    for one, other in zip(nearest(ratings, FOUND, search, 3, some), found(search), strict=True):
        assert_array_equal(one, other[some])


@every_search
def test_numbers_in_single_precision_are_multiplied_in_double(search, ratings, monkeypatch):
    odd = ratings.rows.copy()
    odd.data += np.random.default_rng(5).random(len(odd.data))
    single = Sides(*(side.astype(np.float32) for side in sides(odd)))
    double = Sides(*(side.astype(float) for side in single))
    expected = nearest(double, FOUND, search)
    monkeypatch.setattr(neighbours, "AT_ONCE", 7)
    for one, other in zip(nearest(single, FOUND, search), expected, strict=True):
        assert_array_equal(one, other)


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
    exact, other = (from_data.knn("all", records, neighbours=FOUND, search=search) for search in SEARCHES)
    (share,) = re.findall(r"^search approximate: recall (\S+) of the exact", capsys.readouterr().out)
    assert float(share) >= 0.95
    assert exact.n == other.n
    assert exact.adjacency.multiply(other.adjacency).sum() >= 0.95 * exact.adjacency.sum()


def test_an_unknown_search_is_one_line_with_the_choices(ratings):
    with pytest.raises(UserError, match="search: no search 'psychic'; there are: approximate, exact"):
        nearest(ratings, FOUND, "psychic")


@needs_scale
def test_more_entries_than_pynndescent_can_number_are_refused(ratings, monkeypatch):
    monkeypatch.setattr(neighbours, "PYNNDESCENT_UP_TO", 100)
    with pytest.raises(UserError, match=r"search: approximate takes 100 entries, not .*; exact takes any"):
        nearest(ratings, FOUND, "approximate")


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
