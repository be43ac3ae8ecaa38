"""A contract over every basis, and which of its columns become arm features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphdr.graphs import arm_features, bases, model
from tests.support import twins
from tests.support.instances import permute_nodes

ORTHONORMAL = sorted(set(bases.BASES) - {"gaussian", "length"})
WIDTH = {"length": 2}  # columns of a component, where there are several


def source(graph: model.Graph, components: int = 8) -> bases.Source:
    """Return all that a basis may be computed from, with an embedding that has nothing to do with the graph."""
    low = bases.laplacian_low(bases.Source(graph.n, graph), components, None)
    return bases.Source(graph.n, graph, low, np.random.default_rng(99).standard_normal((graph.n, 20)))


def compute(name: str, graph: model.Graph, components: int = 8, seed: int = 0) -> arm_features.Basis:
    return bases.BASES[name](source(graph, components), components, np.random.default_rng(seed))


def test_every_basis_has_features():
    assert set(bases.BASES) == set(arm_features.FEATURES)
    assert arm_features.IDENTITY not in bases.BASES
    assert set(bases.BASES) >= bases.REDRAWN | bases.FROM_GRAPH | bases.FROM_LOW | bases.FROM_DATA


@pytest.mark.parametrize("name", bases.BASES)
def test_a_basis_uses_just_what_it_declares(name, small_graph):
    everything = source(small_graph)
    turned = everything.low._replace(vectors=-everything.low.vectors)
    relabelled = permute_nodes(small_graph, np.arange(small_graph.n)[::-1])
    other = bases.Source(small_graph.n, relabelled, turned, everything.embedding**3)
    expected = compute(name, small_graph).vectors
    uses = {"graph": bases.FROM_GRAPH, "low": bases.FROM_LOW, "embedding": bases.FROM_DATA}
    for field, declared in uses.items():
        changed = everything._replace(**{field: getattr(other, field) if name in declared else None})
        vectors = bases.BASES[name](changed, 8, np.random.default_rng(0)).vectors
        assert np.array_equal(vectors, expected) == (name not in declared)


@pytest.mark.parametrize("name", bases.BASES)
def test_a_basis_has_one_column_value_and_residual_a_component(name, small_graph):
    basis = compute(name, small_graph)
    columns = 8 * WIDTH.get(name, 1)
    assert basis.vectors.shape == (small_graph.n, columns)
    assert basis.values.shape == basis.residuals.shape == (columns,)
    assert np.isfinite(basis.vectors).all()
    assert basis.residuals.max() < 1e-10


@pytest.mark.parametrize("name", ORTHONORMAL)
def test_a_basis_is_orthonormal(name, small_graph):
    u = compute(name, small_graph).vectors
    assert_allclose(u.T @ u, np.eye(8), atol=1e-10)


@pytest.mark.parametrize("name", bases.BASES)
def test_just_the_redrawn_bases_depend_on_their_stream(name, small_graph):
    one, same, other = (compute(name, small_graph, seed=seed).vectors for seed in (0, 0, 1))
    assert np.array_equal(one, same)
    assert np.array_equal(one, other) == (name not in bases.REDRAWN)


@pytest.mark.parametrize("name", bases.BASES)
def test_more_components_extend_a_basis(name, small_graph):
    fewer = compute(name, small_graph, 8).vectors
    assert_allclose(compute(name, small_graph, 12).vectors[:, : fewer.shape[1]], fewer, atol=1e-9)


@pytest.mark.parametrize("name", bases.BASES)
def test_a_method_gets_k_columns_that_lie_row_by_row(name, small_graph):
    vectors = compute(name, small_graph).vectors
    for k in (1, 3, 6):
        chosen = arm_features.select(name, vectors, k)
        assert chosen.shape == (small_graph.n, k)
        assert chosen.flags.c_contiguous
        inside = np.linalg.matrix_rank(np.hstack([chosen, vectors])) == np.linalg.matrix_rank(vectors)
        assert inside == (name != "length")


def test_length_keeps_the_length_of_every_row_and_nothing_of_its_direction(small_graph):
    low, own = (compute(name, small_graph).vectors for name in ("laplacian_low", "length"))
    for k in (1, 3, 6):
        features, control = arm_features.select("laplacian_low", low, k), arm_features.select("length", own, k)
        assert_allclose(np.linalg.norm(control, axis=1), np.linalg.norm(features, axis=1))
        turned = np.sum(features * control, axis=1) / np.sum(features**2, axis=1)
        assert abs(turned.mean()) < 3 / np.sqrt(small_graph.n)


def test_laplacian_low_starts_at_the_trivial_vector_and_its_features_after_it(small_graph):
    basis = compute("laplacian_low", small_graph)
    values, vectors = np.linalg.eigh(twins.laplacian(small_graph.adjacency.toarray()))
    assert_allclose(basis.values, values[:8], atol=1e-12)
    for name in ("laplacian_low", "shuffled"):
        chosen = arm_features.select(name, basis.vectors, 3)
        assert_allclose(np.abs(np.sum(chosen * vectors[:, 1:4], axis=0)), 1, atol=1e-9)


def test_shuffled_is_the_low_basis_of_a_permuted_graph(small_graph):
    permutation = np.random.default_rng(5).permutation(small_graph.n)
    shuffled = compute("shuffled", small_graph, seed=5)
    permuted = compute("laplacian_low", permute_nodes(small_graph, permutation))
    assert_allclose(shuffled.values, permuted.values, atol=1e-10)
    assert_allclose(shuffled.vectors @ shuffled.vectors.T, permuted.vectors @ permuted.vectors.T, atol=1e-9)
    original = compute("laplacian_low", small_graph).vectors
    assert not np.allclose(shuffled.vectors @ shuffled.vectors.T, original @ original.T, atol=0.1)


def test_onehot_pca_is_a_basis_of_centred_directions(small_graph):
    basis = compute("onehot_pca", small_graph)
    assert_allclose(basis.vectors.sum(axis=0), 0, atol=1e-10)
    assert_allclose(basis.values, 1)
    assert compute("onehot_pca", small_graph, 999).vectors.shape == (small_graph.n, small_graph.n - 1)


def test_gaussian_features_preserve_lengths_on_average(small_graph):
    vectors = compute("gaussian", small_graph, 400).vectors
    for k in (5, 400):
        chosen = arm_features.select("gaussian", vectors, k)
        squares = np.sum(chosen**2, axis=1)  # E ||z||^2 = 1, with variance 2 / k
        assert abs(squares.mean() - 1) < 4 * np.sqrt(2 / k / small_graph.n)
        assert_allclose(chosen * np.sqrt(k), vectors[:, :k])


def test_tail_is_the_norm_of_what_is_left_out(small_graph):
    u = compute("laplacian_low", small_graph, small_graph.n).vectors
    theta = u @ np.r_[np.zeros(2), 3.0, 4.0, np.zeros(small_graph.n - 4)]
    for columns, left in (([2, 3], 0), ([3], 3), ([2], 4), ([0, 1], 5)):
        assert_allclose(arm_features.tail(theta, u[:, columns]), left, atol=1e-9)
