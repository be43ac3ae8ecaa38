"""Low Laplacian eigenpairs: exact, orthonormal, with canonical signs, the same from both solvers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from graphdr.core.errors import UserError
from graphdr.graphs import spectral
from graphdr.graphs.model import from_edges, laplacian
from tests.support.project import draw_sbm


@pytest.mark.parametrize("dense_up_to", [10**6, 0])  # by LAPACK, and by Lanczos
@pytest.mark.parametrize("seed", range(3))
def test_low_eigenpairs_solve_the_eigenproblem(seed, dense_up_to, monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_UP_TO", dense_up_to)
    graph = draw_sbm(seed, n=80)
    pairs = spectral.low_eigenpairs(graph, 8)
    matrix = laplacian(graph).toarray()
    assert_allclose(pairs.values, np.linalg.eigvalsh(matrix)[:8], atol=1e-9)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(8), atol=1e-9)
    residuals = np.linalg.norm(matrix @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    assert residuals.max() < 1e-7
    assert_allclose(pairs.residuals, residuals, atol=1e-12)
    assert len(spectral.low_eigenpairs(graph, 999).values) == graph.n


@pytest.mark.parametrize("solver", spectral.SOLVERS)
@pytest.mark.parametrize("added", [0.0, 3.0])
def test_every_solver_finds_the_same_subspace_within_its_tolerance(solver, added, monkeypatch):
    graph = draw_sbm(0, n=120)
    dense = spectral.low_eigenpairs(graph, 6, added)
    monkeypatch.setattr(spectral, "DENSE_UP_TO", 0)
    sparse = spectral.low_eigenpairs(graph, 6, added, solver)
    error = 1e-9 if solver == spectral.EXACT else 1e-5
    assert sparse.vectors.dtype == sparse.values.dtype == float
    assert_allclose(sparse.values, dense.values, atol=error)
    assert sparse.residuals.max() < 10 * error
    assert_allclose(sparse.vectors, dense.vectors, atol=1e3 * error)


def test_an_unknown_solver_is_one_line_with_the_choices(small_graph):
    with pytest.raises(UserError, match="solver: no solver 'guess'; there are: exact, single"):
        spectral.low_eigenpairs(small_graph, 2, solver="guess")


@given(
    matrix=arrays(float, (7, 3), elements=st.integers(-9, 9)), signs=arrays(float, 3, elements=st.sampled_from([-1, 1]))
)
def test_signs_are_canonical(matrix, signs):
    fixed = spectral.canonical_signs(matrix)
    assert np.array_equal(np.abs(fixed), np.abs(matrix))
    assert np.array_equal(fixed[np.abs(fixed).argmax(axis=0), range(3)], np.abs(matrix).max(axis=0))
    assert np.array_equal(spectral.canonical_signs(matrix * signs), fixed)


def test_nodes_with_the_same_neighbours_have_exactly_equal_entries():
    """Otherwise rounding, and so the machine, would decide which of two equivalent arms is played."""
    cliques = np.kron(np.eye(4), np.ones((6, 6))) - np.eye(24)
    cliques[[0, 6, 12, 18], [6, 12, 18, 0]] = cliques[[6, 12, 18, 0], [0, 6, 12, 18]] = 1
    i, j = np.nonzero(np.triu(cliques, 1))
    vectors = spectral.low_eigenpairs(from_edges(24, i, j), 3).vectors
    for clique in range(4):
        inner = vectors[6 * clique + 1 : 6 * clique + 6]
        assert np.array_equal(inner, np.broadcast_to(inner[0], inner.shape))
