"""The transformer returns the paper's features, extends them to new nodes, and keeps scikit-learn's conventions."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info

from graphdr.core.rng import stream
from graphdr.graphs import arm_features, model, spectral
from graphdr.serve import basis as served
from graphdr.serve.basis import SERVED, Extender, one_thread
from graphdr.serve.embedding import GraphEmbedding
from tests.support.project import draw_sbm

GRAPH = draw_sbm(3, n=60, blocks=3, p_in=0.4, p_out=0.05)
NAMES = [f"item {node:02}" for node in range(GRAPH.n)]
MATRIX = GRAPH.adjacency.toarray()
FRAME = pd.DataFrame(MATRIX, NAMES, NAMES)

# scikit-learn's checks give the matrix X X^T of a few features: of small rank, with a diagonal, and where X is sparse
# in several components. An estimator that keeps both passes all checks; one that refuses components says so.
KEEPS = GraphEmbedding(k=1, components="keep", self_loops="keep")
REFUSES = GraphEmbedding(k=2, self_loops="keep")
PARTS = "the matrix of the check has several components, which this estimator is told to refuse"
EXPECTED = {
    "check_estimator_sparse_tag": PARTS,
    "check_estimator_sparse_array": PARTS,
    "check_estimator_sparse_matrix": PARTS,
    "check_fit2d_1feature": PARTS,
    "check_fit_idempotent": "the matrix of the check has rank two: u_3 has eigenvalue 1, where no node can be added",
}


@parametrize_with_checks(
    [KEEPS, REFUSES], expected_failed_checks=lambda estimator: {} if estimator.components == "keep" else EXPECTED
)
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


# The features


@pytest.mark.parametrize("basis", SERVED)
def test_the_features_are_those_of_the_methods(basis):
    embedding = GraphEmbedding(k=4, basis=basis, random_state=7)
    found = embedding.fit_transform(GRAPH)
    rng = stream(7, "served basis", basis=arm_features.find(basis).stream_name)
    vectors = arm_features.compute(basis, arm_features.Source(GRAPH.n, GRAPH), 5, rng).vectors
    assert_array_equal(found, arm_features.select(basis, vectors, 4))
    assert_array_equal(found, embedding.embedding_)
    assert found is not embedding.embedding_
    assert embedding.names_ == list(range(GRAPH.n))
    assert hasattr(embedding, "eigenvalues_") == arm_features.find(basis).is_spectral


def test_eigenvalues_are_those_of_the_columns():
    embedding = GraphEmbedding(k=4).fit(GRAPH)
    residual = model.laplacian(GRAPH) @ embedding.embedding_ - embedding.embedding_ * embedding.eigenvalues_
    assert_allclose(residual, 0, atol=1e-9)
    first = GraphEmbedding(k=4, basis="laplacian_first").fit(GRAPH)
    assert_allclose(first.eigenvalues_, [0, *embedding.eigenvalues_[:3]], atol=1e-12)


@pytest.mark.parametrize("source", [MATRIX, sp.csr_array(MATRIX), FRAME, nx.from_pandas_adjacency(FRAME)])
def test_the_fitted_adjacency_has_the_fitted_rows(source):
    embedding = GraphEmbedding(k=6)
    found = embedding.fit_transform(source)
    assert_allclose(embedding.transform(source), found, rtol=0, atol=1e-9)
    assert embedding.n_features_in_ == GRAPH.n
    assert embedding.names_ == (NAMES if source is FRAME or isinstance(source, nx.Graph) else list(range(GRAPH.n)))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8))
def test_new_nodes_are_extended_one_by_one_as_the_policy_does(seed, count):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (count, GRAPH.n)) * (rng.random((count, GRAPH.n)) < 0.1)
    rows[1:, 0] += 1  # the first may have no edge, and then gets zeros
    embedding = GraphEmbedding(k=3).fit(GRAPH)
    joined = [(np.flatnonzero(row), row[np.flatnonzero(row)]) for row in rows]
    extender = Extender.of_fitted(embedding.embedding_, embedding.eigenvalues_, MATRIX.sum(axis=1))
    expected, _ = extender.extended(embedding.embedding_, joined)
    assert_allclose(embedding.transform(sp.csr_array(rows)), expected[GRAPH.n :], rtol=0, atol=1e-12)


@pytest.mark.parametrize("state", [lambda: 1, lambda: np.random.RandomState(0)])
def test_random_bases_are_those_of_their_seed(state):
    states = state(), state(), None
    first, same, unseeded = (
        GraphEmbedding(3, basis="gaussian", random_state=one).fit_transform(GRAPH) for one in states
    )
    assert_array_equal(first, same)
    assert (first != unseeded).all()


# Several components


@st.composite
def in_parts(draw) -> model.Graph:
    """Draw a weighted graph of two to four connected components and some nodes without an edge, in random order."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    sizes = draw(st.lists(st.integers(2, 12), min_size=2, max_size=4))
    seed = int(rng.integers(10**6))
    parts = [nx.connected_watts_strogatz_graph(size, min(size, 3), 0.5, seed=seed) for size in sizes]
    graph = nx.disjoint_union_all([*parts, nx.empty_graph(draw(st.integers(0, 3)))])
    weights = np.triu(nx.to_numpy_array(graph) * rng.uniform(0.5, 2.0, (len(graph), len(graph))))
    order = rng.permutation(len(graph))
    return model.Graph(sp.csr_array((weights + weights.T)[np.ix_(order, order)]), np.arange(len(graph)))


@settings(max_examples=30, deadline=None)
@given(in_parts(), st.integers(1, 12))
def test_the_pairs_of_several_components_are_the_lowest_of_the_whole(graph, count):
    label = connected_components(graph.adjacency, directed=False)[1]
    found = served.low_eigenpairs_of_parts(graph, label, count)
    degree = graph.adjacency.sum(axis=1)
    joined = np.flatnonzero(degree)
    whole = np.linalg.eigvalsh(model.laplacian(model.induced(graph, joined)).toarray())
    assert_allclose(found.values, whole[:count], rtol=0, atol=1e-9)
    size = len(found.values)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(size), rtol=0, atol=1e-9)
    assert found.residuals.max() < 1e-9
    assert_allclose(found.vectors[:, 0], np.sqrt(degree / degree.sum()), rtol=0, atol=1e-9)
    assert not found.vectors[degree == 0].any()


def test_the_first_features_tell_components_apart():
    graph = nx.disjoint_union_all([nx.complete_graph(6), nx.complete_graph(4), nx.path_graph(3), nx.empty_graph(1)])
    features = GraphEmbedding(k=2, components="keep").fit_transform(graph)
    directions = features / np.sqrt([max(degree, 1) for _, degree in graph.degree])[:, None]
    groups = np.split(directions, [6, 10, 13])
    assert all(np.ptp(group, axis=0).max() < 1e-9 for group in groups)
    centres = np.array([group[0] for group in groups])
    assert min(np.linalg.norm(a - b) for i, a in enumerate(centres) for b in centres[:i]) > 0.05
    assert not features[-1].any()


def test_components_kept_have_rows_that_extend_and_controls():
    graph = nx.disjoint_union(nx.karate_club_graph(), nx.complete_graph(5))
    embedding = GraphEmbedding(k=3, components="keep")
    assert_allclose(embedding.fit(graph).transform(graph), embedding.embedding_, rtol=0, atol=1e-9)
    shuffled = GraphEmbedding(k=3, components="keep", basis="laplacian_low_shuffled", random_state=0).fit(graph)
    assert_array_equal(np.sort(shuffled.embedding_, axis=0), np.sort(embedding.embedding_, axis=0))


def test_the_largest_component_is_embedded_as_if_it_were_alone():
    parts = sp.block_diag([np.ones((2, 2)) - np.eye(2), MATRIX]).tocsr()
    with pytest.warns(UserWarning, match="2 nodes are left out"):
        embedding = GraphEmbedding(k=3, components="largest").fit(parts)
    assert embedding.names_ == list(range(2, 2 + GRAPH.n))
    assert embedding.n_features_in_ == GRAPH.n
    assert_array_equal(embedding.embedding_, GraphEmbedding(k=3).fit(MATRIX).embedding_)


# Conventions


def test_a_pipeline_a_clone_and_the_names_of_features():
    pipeline = make_pipeline(GraphEmbedding(k=3), StandardScaler())
    scaled = pipeline.fit_transform(MATRIX)
    assert_allclose(pipeline.transform(MATRIX), scaled, atol=1e-7)
    embedding = clone(GraphEmbedding(k=3, basis="unit_rows")).set_output(transform="pandas")
    assert repr(embedding) == "GraphEmbedding(basis='unit_rows', k=3)"
    frame = embedding.fit_transform(FRAME)
    assert frame.index.tolist() == NAMES
    assert frame.columns.tolist() == embedding.get_feature_names_out().tolist()
    assert frame.columns[0] == "graphembedding0"


def test_columns_of_new_rows_are_compared_with_the_fitted_nodes():
    embedding = GraphEmbedding(k=3).fit(FRAME)
    assert embedding.feature_names_in_.tolist() == NAMES
    with pytest.raises(ValueError, match="feature names"):
        embedding.transform(FRAME[NAMES[::-1]])
    embedding.fit(nx.from_pandas_adjacency(FRAME))
    assert not hasattr(embedding, "feature_names_in_")
    with (
        pytest.warns(UserWarning, match="fitted without feature names"),
        pytest.raises(ValueError, match="the fitted nodes, in the order of names_"),
    ):
        embedding.transform(FRAME[NAMES[::-1]])


WRONG = {
    "k is a whole number from 1 to 59, not 60": lambda: GraphEmbedding(k=60).fit(GRAPH),
    "no basis 'wavelets'; there are: .*laplacian_low": lambda: GraphEmbedding(basis="wavelets").fit(GRAPH),
    "new nodes need basis 'laplacian_low'; this one is 'netmf'": lambda: (
        GraphEmbedding(3, basis="netmf").fit(GRAPH).transform(MATRIX)
    ),
    "within 0.001 of 1": lambda: GraphEmbedding(2).fit(nx.star_graph(5)).transform(np.ones((1, 6))),
    "has the nodes that were fitted": lambda: GraphEmbedding(2).fit(GRAPH).transform(nx.path_graph(3)),
    "Negative values": lambda: GraphEmbedding(2).fit(GRAPH).transform(-MATRIX),
    "the graph has no edges": lambda: GraphEmbedding(2, components="keep").fit(nx.empty_graph(4)),
    "has 2 columns, fewer than k": lambda: GraphEmbedding(3, components="keep").fit(
        nx.disjoint_union(nx.path_graph(3), nx.empty_graph(2))
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_makes_no_embedding_is_refused(message):
    with pytest.raises(ValueError, match=message):
        WRONG[message]()


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_a_basis_is_computed_on_one_thread_and_the_others_come_back(monkeypatch):
    before, seen = blas_threads(), []
    monkeypatch.setattr(spectral, "canonical_signs", lambda vectors: seen.append(blas_threads()) or vectors)
    GraphEmbedding(k=2).fit(GRAPH)
    assert seen == [{1}]
    assert blas_threads() == before
    with one_thread():
        assert blas_threads() == {1}
