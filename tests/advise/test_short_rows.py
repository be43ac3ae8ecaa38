"""Short rows have the products of long ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from graphdr.advise.simulation import short_rows
from graphdr.graphs import pca


def draw_ratings(seed: int, n: int = 90, users: int = 120) -> sp.csr_array:
    """Draw ratings 1..5, one item without any and one with equal ones."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(1, 6, (n, users)) * (rng.random((n, users)) < 0.2)
    matrix[3], matrix[7] = 0, 4 * (matrix[7] > 0)
    return sp.csr_array(matrix.astype(float))


@pytest.mark.parametrize("up_to", [0, 90])
@pytest.mark.parametrize("rank", [1, 8, 89, 200])
def test_condensed_rows_are_the_leading_components_of_long_ones(monkeypatch, up_to, rank):
    monkeypatch.setattr(short_rows, "GRAM_UP_TO", up_to)
    matrix = pca.centred_rows(draw_ratings(0))
    left, values, _ = np.linalg.svd(matrix.toarray())
    short = short_rows.condensed(matrix, rank)
    kept = min(rank, 88)  # two rows are zero
    assert short.shape == (90, kept)
    assert_allclose(short @ short.T, left[:, :kept] * values[:kept] ** 2 @ left[:, :kept].T, atol=1e-9)
    assert_allclose(short[[3, 7]], 0, atol=1e-9)


def test_products_of_rows_are_those_of_the_matrix():
    matrix = draw_ratings(1)
    parts = [getattr(form, part) for form in (matrix, matrix.tocsc()) for part in ("indptr", "indices", "data")]
    np.testing.assert_array_equal(short_rows._products(*parts), np.triu((matrix @ matrix.T).toarray()))
