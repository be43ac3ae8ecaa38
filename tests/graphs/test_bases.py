"""A contract over every basis, and which of its columns become arm features."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from graphdr.core.errors import UserError
from graphdr.graphs import arm_features, bases, filters, model, random_graphs
from tests.support import twins
from tests.support.instances import permute_nodes
from tests.support.project import ROOT

ORTHONORMAL = sorted(set(bases.BASES) - {"gaussian", "given", "given_shuffled", *arm_features.LENGTH})


def source(name: str, graph: model.Graph, components: int = 8) -> bases.Source:
    """Return all that a basis may be computed from, with an embedding that has nothing to do with the graph."""
    given = bases.Source(graph.n, graph, embedding=np.random.default_rng(99).standard_normal((graph.n, 20)))
    original = bases.BASES[bases.MADE_OF.get(name, "laplacian_low")]
    return given._replace(original=original(given, components, None))  # which draws nothing


def compute(name: str, graph: model.Graph, components: int = 8, seed: int = 0) -> arm_features.Basis:
    return bases.BASES[name](source(name, graph, components), components, np.random.default_rng(seed))


def test_every_basis_has_features_and_a_citation():
    assert set(bases.BASES) == set(arm_features.FEATURES)
    assert arm_features.IDENTITY not in bases.BASES
    assert set(bases.BASES) >= {*bases.REDRAWN, *bases.FROM_GRAPH, *bases.MADE_OF, *bases.FROM_DATA}
    assert set(bases.CITATIONS) == set(bases.BASES) - set(arm_features.CONTROLS)
    assert all(bases.CITATIONS.values())
    assert not set(bases.MADE_OF.values()) & bases.MADE_OF.keys()  # so that all of these can be built first


def test_every_basis_is_explained_and_cited_on_its_page():
    lines = (ROOT / "docs/bases.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| `")]
    cited = {cells[0].strip("`"): cells[-1] for cells in rows if len(cells) == 4}
    assert cited == bases.CITATIONS
    assert {cells[0].strip("`") for cells in rows if len(cells) == 3} == set(filters.FILTERS)


def test_every_basis_of_data_or_graph_has_both_controls():
    drawn = {"gaussian", "onehot_pca", "pooled_low"}  # the last is that of the items, alike in all segments
    for controls in (arm_features.SHUFFLED, arm_features.LENGTH):
        assert set(controls.values()) == set(bases.CITATIONS) - drawn


@pytest.mark.parametrize("name", bases.BASES)
def test_a_basis_uses_just_what_it_declares(name, small_graph):
    everything = source(name, small_graph)
    turned = everything.original._replace(vectors=-everything.original.vectors)
    relabelled = permute_nodes(small_graph, np.arange(small_graph.n)[::-1])
    embedding = np.random.default_rng(98).standard_normal((small_graph.n, 20))
    other = bases.Source(small_graph.n, relabelled, turned, embedding)
    expected = compute(name, small_graph).vectors
    uses = {"graph": bases.FROM_GRAPH, "original": bases.MADE_OF, "embedding": bases.FROM_DATA}
    for field, declared in uses.items():
        changed = everything._replace(**{field: getattr(other, field) if name in declared else None})
        vectors = bases.BASES[name](changed, 8, np.random.default_rng(0)).vectors
        assert np.array_equal(vectors, expected) == (name not in declared)


@pytest.mark.parametrize("name", bases.BASES)
def test_a_basis_has_one_column_value_and_residual_a_component(name, small_graph):
    basis = compute(name, small_graph)
    columns = 8 * (2 if name in arm_features.LENGTH else 1)
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
        assert inside == (name not in arm_features.LENGTH and arm_features.FEATURES[name] != arm_features.unit_rows)


@pytest.mark.parametrize(("control", "name"), arm_features.LENGTH.items())
def test_length_keeps_the_length_of_every_row_and_nothing_of_its_direction(control, name, small_graph):
    vectors, own = (compute(basis, small_graph).vectors for basis in (name, control))
    for k, weights in ((1, None), (3, None), (6, np.arange(6) / 5)):
        features, drawn = arm_features.select(name, vectors, k, weights), arm_features.select(control, own, k, weights)
        assert_allclose(np.linalg.norm(drawn, axis=1), np.linalg.norm(features, axis=1))
        turned = np.sum(features * drawn, axis=1) / np.sum(features**2, axis=1)
        assert abs(turned.mean()) < 3 / np.sqrt(small_graph.n)


@pytest.mark.parametrize(("control", "name"), arm_features.SHUFFLED.items())
def test_a_shuffled_basis_has_the_same_rows_elsewhere(control, name, small_graph):
    features, moved = (arm_features.select(own, compute(own, small_graph).vectors, 5) for own in (name, control))
    assert not np.array_equal(features, moved)
    assert np.array_equal(np.unique(features, axis=0), np.unique(moved, axis=0))


def test_a_control_made_of_a_stored_basis_is_that_made_from_scratch(small_graph):
    for name in bases.MADE_OF:
        whole = bases.compute(name, source(name, small_graph)._replace(original=None), 8, np.random.default_rng(0))
        assert np.array_equal(whole.vectors, compute(name, small_graph).vectors)


@pytest.mark.parametrize("n", [40, 450])  # LAPACK and Lanczos
def test_the_regularised_basis_is_that_of_a_dense_matrix(n):
    graph = random_graphs.sbm(n, np.random.default_rng(3), blocks=4, p_in=0.3, p_out=0.02)
    adjacency = graph.adjacency.toarray()
    scale = np.diag((adjacency.sum(axis=1) + adjacency.sum() / n) ** -0.5)
    values, vectors = np.linalg.eigh(np.eye(n) - scale @ adjacency @ scale)
    basis = bases.compute("regularised_low", bases.Source(n, graph), 4, None)
    assert_allclose(basis.values, values[:4], atol=1e-8)
    assert_allclose(np.abs(np.sum(basis.vectors * vectors[:, :4], axis=0)), 1, atol=1e-8)
    assert basis.residuals.max() < 1e-8


def test_unit_rows_have_length_one_and_zero_rows_stay_zero(small_graph):
    vectors = compute("unit_rows", small_graph).vectors.copy()
    vectors[7] = 0.0
    for k in (1, 4):
        chosen = arm_features.select("unit_rows", vectors, k)
        assert_allclose(np.linalg.norm(chosen, axis=1), np.arange(small_graph.n) != 7)
        cosine = np.sum(chosen * vectors[:, 1 : k + 1], axis=1)
        assert_allclose(cosine, np.linalg.norm(vectors[:, 1 : k + 1], axis=1))


def test_interaction_svd_takes_ratings_as_they_are():
    ratings = np.random.default_rng(0).integers(0, 6, (30, 50)).astype(float)
    basis = bases.compute("interaction_svd", bases.Source(30, embedding=sp.csr_array(ratings)), 6, None)
    left, values, _ = np.linalg.svd(ratings)
    assert_allclose(basis.values, values[:6])
    assert_allclose(np.abs(np.sum(basis.vectors * left[:, :6], axis=0)), 1, atol=1e-9)


def test_netmf_is_the_logarithm_of_what_random_walks_meet(small_graph):
    adjacency, n = small_graph.adjacency.toarray(), small_graph.n
    degree = adjacency.sum(axis=1)
    walk = adjacency / degree[:, None]
    met = sum(np.linalg.matrix_power(walk, steps) for steps in (1, 2, 3)) / degree
    left, values, _ = np.linalg.svd(np.log(np.maximum(degree.sum() / 3 * met, 1)))
    basis = compute("netmf", small_graph)
    assert_allclose(basis.values, values[:8])
    assert_allclose(np.abs(np.sum(basis.vectors * left[:, :8], axis=0)), 1, atol=1e-7)
    with pytest.raises(UserError, match="basis netmf: 20,001 nodes need a dense matrix of 3 GB; leave it out, or take"):
        bases.compute("netmf", bases.Source(20_001, model.from_edges(20_001, [0], [1])), 8, None)
    assert n == len(basis.vectors)


@pytest.mark.parametrize("name", bases.BASES)
def test_every_column_has_a_roughness(name, small_graph):
    basis = compute(name, small_graph)
    for k in (1, 5):
        rough = arm_features.roughness(name, basis.values, k)
        assert rough.shape == (k,)
        assert (rough >= 0).all()
        assert (np.diff(rough) >= -1e-12).all()
    original = arm_features.CONTROLS.get(name, name)
    flat = original in ("gaussian", "given", "onehot_pca")
    assert (rough.max() == 0) == flat
    if original in arm_features.EIGENVECTORS:  # of u_1, which other features leave out, it is zero
        first = compute("regularised_low" if "regularised" in name else "laplacian_low", small_graph).values
        assert_allclose(rough, first[:5] if "first" in name else first[1:6], atol=1e-12)


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
