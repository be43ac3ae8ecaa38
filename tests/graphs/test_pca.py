"""Feature maps from data against dense twins, by LAPACK and by Lanczos alike."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.graphs import pca
from graphdr.graphs.arm_features import Basis
from graphdr.graphs.bases.content_pca import content_pca
from graphdr.graphs.bases.graph_pca import graph_pca
from graphdr.graphs.model import from_edges
from tests.support.project import draw_sbm

SOLVERS = {"lapack": 400, "lanczos": 0}  # the size up to which matrices are dense


@pytest.fixture(params=SOLVERS)
def solver(request, monkeypatch) -> str:
    monkeypatch.setattr(pca, "DENSE_UP_TO", SOLVERS[request.param])
    return request.param


def draw_ratings(seed: int, n: int = 90, users: int = 120) -> sp.csr_array:
    """Draw ratings 1..5, one item without any and one with equal ones."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(1, 6, (n, users)) * (rng.random((n, users)) < 0.2)
    matrix[3], matrix[7] = 0, 4 * (matrix[7] > 0)
    return sp.csr_array(matrix.astype(float))


def projector(vectors: np.ndarray) -> np.ndarray:
    return vectors @ vectors.T


def dense_content(matrix: np.ndarray, rank: int) -> np.ndarray:
    """Centre the observed ratings of every item and return U S of the leading singular triples."""
    centred = np.zeros_like(matrix)
    for item, row in enumerate(matrix):
        seen = row != 0
        centred[item, seen] = row[seen] - (row[seen].mean() if seen.any() else 0)
    u, s, _ = np.linalg.svd(centred)
    return u[:, :rank] * s[:rank]


def dense_pca(embedding: np.ndarray, k: int) -> np.ndarray:
    """Return the leading left singular vectors of rows scaled to length one; a row of rounding errors is zero."""
    length = np.linalg.norm(embedding, axis=1)
    unit = [row / size if size > 1e-9 else 0 * row for row, size in zip(embedding, length, strict=True)]
    return np.linalg.svd(unit)[0][:, :k]


def assert_components(basis: Basis, n: int, k: int) -> None:
    """Check shapes, orthonormality, order and residuals."""
    assert basis.vectors.shape == (n, k)
    assert basis.values.shape == basis.residuals.shape == (k,)
    assert np.all(np.diff(basis.values) <= 0)
    assert basis.residuals.max() < 1e-10
    assert_allclose(basis.vectors.T @ basis.vectors, np.eye(k), atol=1e-10)
    top = np.abs(basis.vectors).argmax(axis=0)
    assert np.all(basis.vectors[top, np.arange(k)] > 0)


@pytest.mark.parametrize("shape", [(90, 120), (120, 90), (90, 90)])
def test_the_leading_svd_is_that_of_lapack(solver, shape):
    matrix = np.random.default_rng(0).standard_normal(shape)
    u, s, v = np.linalg.svd(matrix)
    for form in (matrix, sp.csr_array(matrix)):
        left, values, right = pca.leading_svd(form, 6)
        assert_allclose(values, s[:6], rtol=1e-12)
        assert_allclose(np.abs(np.sum(left * u[:, :6], axis=0)), 1, atol=1e-10)
        assert_allclose(np.abs(np.sum(right.T * v[:6], axis=1)), 1, atol=1e-10)
        assert_allclose(left * values, matrix @ right, atol=1e-10)


def test_directions_without_any_variance_are_left_out(solver):
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 90))
    assert content_pca(matrix, 8).vectors.shape == (100, 3)
    assert content_pca(np.zeros((100, 3)), 8).vectors.shape == (100, 0)


@pytest.mark.parametrize("seed", range(2))
def test_content_of_ratings_and_its_components_are_those_of_the_dense_twin(solver, seed):
    matrix = draw_ratings(seed)
    content, expected = pca.ratings_content(matrix, 20), dense_content(matrix.toarray(), 20)
    assert_allclose(projector(content), projector(expected), atol=1e-9)
    assert_allclose(np.linalg.norm(content, axis=0), np.linalg.norm(expected, axis=0))
    assert not content[[3, 7]].any()  # exactly, so that no rounding error is taken for a direction
    assert pca.ratings_content(matrix, 999).shape[1] <= 90
    basis = content_pca(content, 5)
    assert_components(basis, 90, 5)
    assert_allclose(projector(basis.vectors), projector(dense_pca(expected, 5)), atol=1e-9)
    assert not basis.vectors[[3, 7]].any()


def test_an_observed_zero_counts_as_a_rating():
    full = sp.csr_array(np.array([[1.0, 3.0], [2.0, 5.0]]))
    full.data[0] = 0
    assert_allclose(np.abs(pca.ratings_content(full)[:, 0]), np.array([1.5, 1.5]) * np.sqrt(2))


@given(seed=st.integers(0, 999), n=st.integers(6, 30), d=st.integers(1, 12))
def test_embedding_pca_ignores_lengths_and_keeps_equal_rows_equal(seed, n, d):
    rng = np.random.default_rng(seed)
    embedding = rng.standard_normal((n, d))
    embedding[1], embedding[4] = 0, embedding[2]
    embedding[5] = 1e-15  # a zero but for rounding errors
    k = min(3, d)
    basis = content_pca(embedding, k)
    assert_components(basis, n, k)
    assert_allclose(projector(basis.vectors), projector(dense_pca(embedding, k)), atol=1e-8)
    assert not basis.vectors[[1, 5]].any()
    assert np.array_equal(basis.vectors[4], basis.vectors[2])
    longer = content_pca(embedding * rng.uniform(0.5, 9, (n, 1)), k)
    assert_allclose(longer.vectors, basis.vectors, atol=1e-9)


def test_sparse_and_dense_embeddings_agree_and_more_components_extend_fewer(solver):
    embedding = draw_ratings(1)
    embedding.data += np.random.default_rng(0).random(embedding.nnz)
    few, many = (content_pca(embedding, k).vectors for k in (4, 9))
    assert_allclose(content_pca(embedding.toarray(), 4).vectors, few, atol=1e-9)
    assert_allclose(many[:, :4], few, atol=1e-9)


def test_texts_are_weighed_by_counts_and_rarity():
    matrix = pca.text_content(["The graph, the GRAPH", "a graph of x", "", "the étude"]).toarray()
    twice, once = 1 + np.log(5 / 3), 1 + np.log(5 / 2)  # words of two texts and of one
    assert_allclose(matrix, [[2 * twice, 2 * twice, 0, 0], [0, twice, once, 0], [0] * 4, [twice, 0, 0, once]])
    for texts in ([], [""], ["a", "?!", "x y"]):  # without words, no columns
        assert pca.text_content(texts).shape == (len(texts), 0)


@pytest.mark.parametrize("seed", range(3))
def test_graph_pca_is_the_svd_of_the_centred_adjacency(solver, seed):
    graph = draw_sbm(seed, n=80, p_in=0.5)
    adjacency = graph.adjacency.toarray()
    rows = np.linalg.svd(adjacency - adjacency.mean(axis=0))[2]
    basis = graph_pca(graph, 3)  # as many as blocks less one: the gap after them is wide
    assert_components(basis, graph.n, 3)
    assert_allclose(projector(basis.vectors), projector(rows[:3].T), atol=1e-9)


def test_graph_pca_of_a_large_graph_needs_no_square_matrix():
    n = 60_000  # 29 GB as a square matrix of floats
    hub, leaf = np.zeros(n // 2 - 1, int), np.arange(1, n // 2)
    i, j = np.r_[hub, hub + n // 2], np.r_[leaf, leaf + n // 2]  # two stars, one with another edge
    basis = graph_pca(from_edges(n, np.r_[i, 1], np.r_[j, 2]), 2)
    assert_allclose(basis.vectors.T @ basis.vectors, np.eye(2), atol=1e-9)
    assert np.ptp(basis.vectors[3 : n // 2], axis=0).max() < 1e-11
