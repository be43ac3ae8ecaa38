"""Condensed rows have the products of long ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.advise.simulation import ratings_gram
from graphdr.graphs import pca
from graphdr.graphs.from_data import cosine_knn


def draw_ratings(seed: int, n: int = 90, users: int = 120) -> sp.csr_array:
    """Draw ratings 1..5, one item without any and one with equal ones."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(1, 6, (n, users)) * (rng.random((n, users)) < 0.2)
    matrix[3], matrix[7] = 0, 4 * (matrix[7] > 0)
    return sp.csr_array(matrix.astype(float))


@pytest.mark.parametrize("kind", [ratings_gram.PLAIN, ratings_gram.CENTRED])
@pytest.mark.parametrize("up_to", [0, 90])
@pytest.mark.parametrize("rank", [1, 8, 88, 200])
def test_condensed_rows_are_the_leading_components_of_long_ones(monkeypatch, up_to, rank, kind):
    monkeypatch.setattr(ratings_gram, "GRAM_UP_TO", up_to)
    matrix = draw_ratings(0)
    left, values, _ = np.linalg.svd((pca.centred_rows(matrix) if kind else matrix).toarray())
    short = ratings_gram.condense(ratings_gram.ratings_gram(matrix), rank, kind)
    kept = min(rank, 88 if kind else 89)  # one row is zero, and with its mean taken off another one
    assert short.shape == (90, kept)
    assert_allclose(short @ short.T, left[:, :kept] * values[:kept] ** 2 @ left[:, :kept].T, atol=1e-9)
    assert_allclose(short[[3, 7] if kind else [3]], 0, atol=1e-9)


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 12), st.integers(1, 12))
def test_neighbours_by_products_are_those_by_rows(seed, n, users, neighbours):
    rng = np.random.default_rng(seed)  # small whole numbers, some below zero: many ties
    matrix = sp.csr_array((rng.integers(-1, 3, (n, users)) * (rng.random((n, users)) < 0.5)).astype(float))
    for mine, other in zip(
        ratings_gram.nearest(ratings_gram.ratings_gram(matrix), neighbours),
        cosine_knn(matrix, neighbours)[:2],
        strict=True,
    ):
        assert_array_equal(mine, other)
