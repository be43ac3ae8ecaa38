"""A contract over every basis, and which of its columns become arm features."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from graphdr.core.errors import UserError
from graphdr.graphs import arm_features, filters, model, random_graphs
from graphdr.graphs.arm_features import CONTROLS, RANDOM_DIRECTIONS, SHUFFLED, Source, all_bases, find
from tests.support import twins
from tests.support.instances import permute_nodes
from tests.support.project import ROOT

BASES = all_bases()


@pytest.mark.parametrize("name", BASES)
def test_the_contract_of_a_basis(name, small_graph):
    basis, same, other = (compute(name, small_graph, seed=seed) for seed in (0, 0, 1))
    spec = find(name)
    columns = 8 * (2 if spec.control == RANDOM_DIRECTIONS else 1)
    assert basis.vectors.shape == (small_graph.n, columns)
    assert basis.values.shape == basis.residuals.shape == (columns,)
    assert np.isfinite(basis.vectors).all()
    assert basis.residuals.max() < 1e-10
    if spec.roughness is not arm_features.equal_roughness and spec.control != RANDOM_DIRECTIONS:
        assert_allclose(basis.vectors.T @ basis.vectors, np.eye(8), atol=1e-10)
    assert np.array_equal(basis.vectors, same.vectors)
    assert np.array_equal(basis.vectors, other.vectors) == (not spec.is_random)
    more = compute(name, small_graph, 12).vectors
    assert_allclose(more[:, :columns], basis.vectors, atol=1e-9)


def controls(kind: str) -> list[tuple[str, str]]:
    """Return the controls of a kind, each with its basis."""
    return [(name, name.removesuffix(f"_{kind}")) for name, spec in BASES.items() if spec.control == kind]


def source(name: str, graph: model.Graph, components: int = 8) -> Source:
    """Return everything that a basis may be computed from, with an embedding unrelated to the graph."""
    everything = Source(graph.n, graph, embedding=np.random.default_rng(99).standard_normal((graph.n, 20)))
    stored = find(BASES[name].made_of or "laplacian_low").compute(everything, components, None)  # draws nothing
    return everything._replace(stored=stored)


def compute(name: str, graph: model.Graph, components: int = 8, seed: int = 0) -> arm_features.Basis:
    return find(name).compute(source(name, graph, components), components, np.random.default_rng(seed))


def assert_same_up_to_sign(columns: np.ndarray, expected: np.ndarray) -> None:
    assert_allclose(np.abs(np.sum(columns * expected, axis=0)), 1, atol=1e-7)


def test_the_registry_has_every_basis_under_its_name():
    assert all(spec.name == name and spec == find(name) for name, spec in BASES.items())
    assert arm_features.IDENTITY not in BASES
    assert all(spec.citation for spec in BASES.values())
    assert not any(BASES[spec.stored_name].made_of for spec in BASES.values())  # so that these can be built first
    for name in ("laplacian_high", "gaussian_shuffled"):
        with pytest.raises(UserError, match=f"no basis '{name}'; there are: "):
            find(name)
    controlled = {name for name, spec in BASES.items() if spec.control is None and spec.has_controls}
    assert {"laplacian_low", "netmf", "content_pca", "user_columns"} <= controlled
    assert not controlled & {"gaussian", "onehot_pca", "pooled_low"}
    for kind in CONTROLS:
        assert {name for _, name in controls(kind)} == controlled
    streams = {name: spec.stream_name for name, spec in BASES.items()}  # old names, so that no draw changes
    assert streams["laplacian_low_shuffled"] == "shuffled"
    assert streams["laplacian_low_random_directions"] == "length"
    assert streams["unit_rows_random_directions"] == "unit_rows_length"
    assert streams["netmf_shuffled"] == "netmf_shuffled"


def test_the_page_cites_bases_as_their_files_do():
    lines = (ROOT / "docs/bases.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| `")]
    cited = {cells[0].strip("`"): cells[-1] for cells in rows if len(cells) == 4}
    assert len(cited) > 10
    assert cited == {name: find(name).citation for name in cited}
    assert {cells[0].strip("`") for cells in rows if len(cells) == 3} == set(filters.FILTERS)


@pytest.mark.parametrize("name", BASES)
def test_a_basis_uses_just_what_it_declares(name, small_graph):
    everything = source(name, small_graph)
    turned = everything.stored._replace(vectors=-everything.stored.vectors)
    relabelled = permute_nodes(small_graph, np.arange(small_graph.n)[::-1])
    embedding = np.random.default_rng(98).standard_normal((small_graph.n, 20))
    expected, spec = compute(name, small_graph).vectors, find(name)
    assert spec.reads <= {*Source._fields, "components", "rng"}
    assert (spec.made_of is not None, spec.data is not None) == ("stored" in spec.reads, "embedding" in spec.reads)
    for field, other in {"graph": relabelled, "stored": turned, "embedding": embedding}.items():
        changed = everything._replace(**{field: other})
        vectors = spec.compute(changed, 8, np.random.default_rng(0)).vectors
        assert np.array_equal(vectors, expected) == (field not in spec.reads)


@pytest.mark.parametrize("name", BASES)
def test_a_method_gets_k_columns_that_lie_row_by_row(name, small_graph):
    vectors = compute(name, small_graph).vectors
    for k in (1, 3, 6):
        chosen = arm_features.select(name, vectors, k)
        assert chosen.shape == (small_graph.n, k)
        assert chosen.flags.c_contiguous
        inside = np.linalg.matrix_rank(np.hstack([chosen, vectors])) == np.linalg.matrix_rank(vectors)
        spec = find(name)
        assert inside == (spec.control != RANDOM_DIRECTIONS and spec.columns is not arm_features.unit_rows)


@pytest.mark.parametrize(("control", "name"), controls(RANDOM_DIRECTIONS))
def test_random_directions_keep_the_norm_of_every_row_and_nothing_of_its_direction(control, name, small_graph):
    vectors, moved = (compute(basis, small_graph).vectors for basis in (name, control))
    for k, weights in ((1, None), (3, None), (6, np.arange(6) / 5)):
        features = arm_features.select(name, vectors, k, weights)
        drawn = arm_features.select(control, moved, k, weights)
        assert_allclose(np.linalg.norm(drawn, axis=1), np.linalg.norm(features, axis=1))
        turned = np.sum(features * drawn, axis=1) / np.sum(features**2, axis=1)
        assert abs(turned.mean()) < 3 / np.sqrt(small_graph.n)


@pytest.mark.parametrize(("control", "name"), controls(SHUFFLED))
def test_a_shuffled_basis_has_the_same_rows_elsewhere(control, name, small_graph):
    features, moved = (arm_features.select(basis, compute(basis, small_graph).vectors, 5) for basis in (name, control))
    assert not np.array_equal(features, moved)
    assert np.array_equal(np.unique(features, axis=0), np.unique(moved, axis=0))


def test_a_control_made_of_a_stored_basis_is_that_made_from_scratch(small_graph):
    for name in (name for name, spec in BASES.items() if spec.made_of):
        everything = source(name, small_graph)._replace(stored=None)
        whole = arm_features.compute(name, everything, 8, np.random.default_rng(0))
        assert np.array_equal(whole.vectors, compute(name, small_graph).vectors)


def dense_twin(name: str, adjacency: np.ndarray, ratings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values and vectors of a basis, from the first on, by dense algebra."""
    degree = adjacency.sum(axis=1)
    if name == "interaction_svd":  # of the ratings as they are
        left, values, _ = np.linalg.svd(ratings)
        return values, left
    if name == "netmf":  # the logarithm of what random walks meet
        walk = adjacency / degree[:, None]
        met = sum(np.linalg.matrix_power(walk, steps) for steps in (1, 2, 3)) / degree
        left, values, _ = np.linalg.svd(np.log(np.maximum(degree.sum() / 3 * met, 1)))
        return values, left
    scale = np.diag((degree + adjacency.sum() / len(degree)) ** -0.5)
    return np.linalg.eigh(np.eye(len(degree)) - scale @ adjacency @ scale)


@pytest.mark.parametrize("n", [40, 450])  # LAPACK and Lanczos
@pytest.mark.parametrize("name", ["interaction_svd", "netmf", "regularised_low"])
def test_a_basis_is_that_of_its_dense_twin(name, n):
    graph = random_graphs.sbm(n, np.random.default_rng(3), blocks=4, p_in=0.3, p_out=0.02)
    ratings = np.random.default_rng(0).integers(0, 6, (n, 50)).astype(float)
    basis = arm_features.compute(name, Source(n, graph, embedding=sp.csr_array(ratings)), 4, None)
    values, vectors = dense_twin(name, graph.adjacency.toarray(), ratings)
    assert_allclose(basis.values, values[:4], atol=1e-8)
    assert_same_up_to_sign(basis.vectors, vectors[:, :4])
    assert basis.residuals.max() < 1e-8


def test_unit_rows_have_length_one_and_zero_rows_stay_zero(small_graph):
    vectors = compute("unit_rows", small_graph).vectors.copy()
    vectors[7] = 0.0
    for k in (1, 4):
        chosen = arm_features.select("unit_rows", vectors, k)
        assert_allclose(np.linalg.norm(chosen, axis=1), np.arange(small_graph.n) != 7)
        cosine = np.sum(chosen * vectors[:, 1 : k + 1], axis=1)
        assert_allclose(cosine, np.linalg.norm(vectors[:, 1 : k + 1], axis=1))


def test_laplacian_low_starts_at_the_trivial_vector_and_its_features_after_it(small_graph):
    basis = compute("laplacian_low", small_graph)
    values, vectors = np.linalg.eigh(twins.laplacian(small_graph.adjacency.toarray()))
    assert_allclose(basis.values, values[:8], atol=1e-12)
    for name in ("laplacian_low", "laplacian_low_shuffled"):
        assert_same_up_to_sign(arm_features.select(name, basis.vectors, 3), vectors[:, 1:4])


@pytest.mark.parametrize("name", BASES)
def test_every_column_has_a_roughness(name, small_graph):
    basis = compute(name, small_graph)
    for k in (1, 5):
        rough = arm_features.roughness(name, basis.values, k)
        assert rough.shape == (k,)
        assert (rough >= 0).all()
        assert (np.diff(rough) >= -1e-12).all()
    spec = find(name)
    assert (rough.max() == 0) == (name == "onehot_pca" or spec.roughness is arm_features.equal_roughness)
    if spec.is_spectral:  # of u_1, which other features leave out, it is zero
        values = compute(spec.stored_name, small_graph).values
        assert_allclose(rough, values[:5] if spec.columns is arm_features.leading else values[1:6], atol=1e-12)


def test_onehot_pca_has_centred_directions_and_gaussian_features_preserve_lengths_on_average(small_graph):
    basis = compute("onehot_pca", small_graph, 999)
    assert basis.vectors.shape == (small_graph.n, small_graph.n - 1)
    assert_allclose(basis.vectors.sum(axis=0), 0, atol=1e-10)
    assert_allclose(basis.values, 1)
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
