"""Graphs: families, flips, components, permutations and the normalised Laplacian."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.core.errors import DENSE_LIMIT, UserError
from graphdr.graphs import model, perturb, random_graphs
from graphdr.graphs.bases.netmf import netmf
from graphdr.graphs.bases.onehot_pca import onehot_pca
from graphdr.stages import run_bandit


def dense(graph: model.Graph) -> np.ndarray:
    return graph.adjacency.toarray()


@st.composite
def any_graph(draw, fewest: int = 2, most: int = 16):
    """Draw a graph with any edges at all, isolated nodes and weights included."""
    n, seed = draw(st.integers(fewest, most)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, k=1)
    keep = rng.random(len(i)) < draw(st.sampled_from([0.0, 0.1, 0.3, 0.7, 1.0]))
    weight = rng.uniform(0.1, 2, keep.sum()) if draw(st.booleans()) else None
    return model.from_edges(n, i[keep], j[keep], weight)


def test_an_sbm_is_simple_and_has_equal_sorted_blocks_with_the_stated_densities():
    inside = np.kron(np.eye(5), np.ones((40, 40))) > 0
    draws = [random_graphs.sbm(200, np.random.default_rng(s), blocks=5, p_in=0.3, p_out=0.02) for s in (0, 0, 1)]
    adjacency, same, other = map(dense, draws)
    assert np.array_equal(adjacency, same)
    assert not np.array_equal(adjacency, other)
    assert np.array_equal(adjacency, adjacency.T)
    assert not adjacency.diagonal().any()
    assert set(np.unique(adjacency)) == {0, 1}
    for pairs, p in ((np.triu(inside, 1), 0.3), (np.triu(~inside, 1), 0.02)):
        assert abs(adjacency[pairs].mean() - p) < 4 * np.sqrt(p * (1 - p) / pairs.sum())


def test_an_rgg_joins_points_within_the_radius():
    points = np.random.default_rng(3).random((40, 2))
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    adjacency = dense(random_graphs.rgg(40, np.random.default_rng(3), radius=0.25))
    assert np.array_equal(adjacency, (distance <= 0.25) & ~np.eye(40, dtype=bool))


@given(graph=any_graph())
def test_edges_and_graph_are_the_same_thing(graph):
    i, j, weight = model.edges(graph)
    assert np.all(i < j)
    assert np.array_equal(np.lexsort((j, i)), np.arange(len(i)))
    assert np.array_equal(dense(model.from_edges(graph.n, i, j, weight)), dense(graph))


@given(graph=any_graph())
def test_the_laplacian_is_the_normalised_one_and_an_isolated_node_keeps_its_diagonal(graph):
    degree = dense(graph).sum(axis=1)
    scale = np.diag(np.where(degree > 0, degree, np.inf) ** -0.5)
    assert_allclose(model.laplacian(graph).toarray(), np.eye(graph.n) - scale @ dense(graph) @ scale, atol=1e-15)


@given(graph=any_graph(), seed=st.integers(0, 99), some=st.floats(0, 1), more=st.floats(0, 1))
def test_flips_are_symmetric_and_nested(graph, seed, some, more):
    before = dense(graph) > 0
    less, rest = (
        (dense(perturb.flip_pairs(graph, p, np.random.default_rng(seed))) > 0) ^ before for p in sorted([some, more])
    )
    assert np.array_equal(less, less.T)
    assert not less.diagonal().any()
    assert not (less & ~rest).any()
    complement = perturb.flip_pairs(graph, 1, np.random.default_rng(seed))
    assert np.array_equal(dense(complement), 1 - before - np.eye(graph.n))


def test_flips_come_with_their_probability(small_graph):
    flipped = dense(perturb.flip_pairs(small_graph, 0.1, np.random.default_rng(0))) != dense(small_graph)
    pairs = small_graph.n * (small_graph.n - 1) / 2
    assert abs(flipped.sum() / 2 / pairs - 0.1) < 4 * np.sqrt(0.09 / pairs)


@given(graph=any_graph(), keep=st.floats(0, 1), seed=st.integers(0, 99))
def test_dropped_edges_leave_the_stated_share(graph, keep, seed):
    left = perturb.drop_edges(graph, keep, np.random.default_rng(seed))
    count = len(model.edges(graph)[0])
    assert len(model.edges(left)[0]) == round(keep * count)
    assert np.array_equal(dense(left), np.where(dense(left) > 0, dense(graph), 0))


def test_every_edge_is_as_likely_to_be_dropped(small_graph):
    rng = np.random.default_rng(0)
    kept = np.mean([dense(perturb.drop_edges(small_graph, 0.5, rng)) for _ in range(400)], axis=0)
    present = dense(small_graph) > 0
    assert np.abs(kept[present] - 0.5).max() < 5 * np.sqrt(0.25 / 400)


@given(graph=any_graph())
def test_the_largest_component_is_connected_closed_and_largest(graph):
    reach = np.linalg.matrix_power(np.eye(graph.n) + (dense(graph) > 0), graph.n) > 0
    part = model.largest_component(graph)
    assert part.n == reach.sum(axis=1).max()
    first = np.argmax(reach.sum(axis=1))  # the component of the first node on a tie
    assert np.array_equal(part.origin, np.flatnonzero(reach[first]))
    assert np.array_equal(dense(part), dense(graph)[np.ix_(part.origin, part.origin)])


@pytest.mark.parametrize(
    "make",
    [
        lambda graph: perturb.flip_pairs(graph, 0.1, np.random.default_rng(0)),
        lambda graph: onehot_pca(graph.n, 4),
        lambda graph: netmf(graph, 4),
        run_bandit._dense_laplacian,
    ],
)
def test_what_needs_all_pairs_of_a_large_graph_is_refused_in_one_line(make):
    with pytest.raises(UserError, match="20,001 nodes need a dense matrix of 3 GB; leave it out, or take at most"):
        make(model.from_edges(DENSE_LIMIT + 1, np.arange(DENSE_LIMIT), np.arange(1, DENSE_LIMIT + 1)))
