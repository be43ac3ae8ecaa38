"""Random subgraphs, swapped edges and perturbed weights: what changes, by how much, and what stays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse.csgraph import connected_components
from scipy.stats import chisquare

from graphdr.graphs import model, perturb, spectral
from graphdr.graphs.spectral import low_eigenvalues, shifted_eigengaps
from tests.support.project import draw_sbm

SEEDS = st.integers(0, 2**32 - 1)


def dense(graph: model.Graph) -> np.ndarray:
    return graph.adjacency.toarray()


def weighted(n: int, density: float, seed: int) -> model.Graph:
    """Draw a graph of independent edges with distinct weights, its nodes named by multiples of ten."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, k=1)
    keep = rng.random(len(i)) < density
    return model.from_edges(n, i[keep], j[keep], rng.uniform(0.5, 2, keep.sum()), 10 * np.arange(n))


@given(n=st.integers(2, 30), density=st.sampled_from([0.05, 0.2, 0.8]), seed=SEEDS, data=st.data())
def test_a_subgraph_is_induced_connected_and_in_order(n, density, seed, data):
    graph, size = weighted(n, density, seed), data.draw(st.integers(1, n))
    part = perturb.uniform_nodes(graph, size, np.random.default_rng(seed))
    again = perturb.uniform_nodes(graph, size, np.random.default_rng(seed))
    nodes = part.origin // 10
    assert part.n <= size
    assert np.all(np.diff(part.origin) > 0)
    assert np.array_equal(dense(part), dense(graph)[np.ix_(nodes, nodes)])
    assert size == n or connected_components(part.adjacency)[0] == 1
    assert np.array_equal(part.origin, again.origin)


def test_nodes_are_uniform_and_nested():
    graph, rng = model.from_edges(12, *np.triu_indices(12, k=1)), np.random.default_rng(0)
    drawn = [perturb.uniform_nodes(graph, 4, rng).origin for _ in range(3000)]
    assert {len(nodes) for nodes in drawn} == {4}
    assert chisquare(np.bincount(np.concatenate(drawn))).pvalue > 1e-3
    few, many = (perturb.uniform_nodes(graph, size, np.random.default_rng(5)).origin for size in (4, 8))
    assert set(few) < set(many)


@given(n=st.integers(2, 25), density=st.floats(0, 0.5), share=st.floats(0, 1), seed=SEEDS)
def test_swapping_deletes_edges_and_adds_as_many_others(n, density, share, seed):
    graph = weighted(n, density, seed)
    before, size = dense(graph), graph.adjacency.nnz // 2
    count = round(share * size)
    if count > n * (n - 1) // 2 - size:
        with pytest.raises(ValueError, match="edges to add"):
            perturb.swap_edges(graph, share, np.random.default_rng(seed))
        return
    swapped = perturb.swap_edges(graph, share, np.random.default_rng(seed))
    after = dense(swapped)
    assert np.array_equal(after, after.T)
    assert not after.diagonal().any()
    assert np.count_nonzero((before > 0) & (after == 0)) == 2 * count
    assert np.count_nonzero((before == 0) & (after > 0)) == 2 * count
    assert np.array_equal(after[(before > 0) & (after > 0)], before[(before > 0) & (after > 0)])
    assert np.array_equal(np.sort(after, axis=None), np.sort(before, axis=None))  # no weight is lost or made
    assert np.array_equal(swapped.origin, graph.origin)
    assert np.array_equal(after, dense(perturb.swap_edges(graph, share, np.random.default_rng(seed))))


def test_every_edge_and_every_other_pair_is_as_likely_to_be_swapped():
    graph, rng = weighted(8, 0.4, 1), np.random.default_rng(0)
    before = dense(graph) > 0
    changed = sum((dense(perturb.swap_edges(graph, 0.3, rng)) > 0) ^ before for _ in range(3000))
    upper = np.triu(np.ones_like(before), 1) > 0
    assert chisquare(changed[upper & before]).pvalue > 1e-3
    assert chisquare(changed[upper & ~before]).pvalue > 1e-3


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("part", [40, 4])
@pytest.mark.parametrize("dense_up_to", [0, 400])  # by the iterative solver, and by LAPACK
def test_weights_move_the_laplacian_by_the_given_part_of_the_gap(seed, part, dense_up_to, monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_UP_TO", dense_up_to)
    graph = draw_sbm(seed)
    eps = shifted_eigengaps(low_eigenvalues(graph, 6))[2] / part
    moved = perturb.perturb_weights(graph, eps, np.random.default_rng(seed))
    difference = (model.laplacian(moved) - model.laplacian(graph)).toarray()
    assert_allclose(np.linalg.norm(difference, 2), eps, rtol=1e-6)
    assert np.array_equal(dense(moved) > 0, dense(graph) > 0)
    assert np.array_equal(dense(moved), dense(moved).T)
    assert np.array_equal(moved.origin, graph.origin)


def test_all_sizes_perturb_in_the_same_direction_and_none_not_at_all():
    graph = weighted(20, 0.5, 0)
    none, small, large = (perturb.perturb_weights(graph, eps, np.random.default_rng(0)) for eps in (0.0, 0.001, 0.02))
    assert np.array_equal(dense(none), dense(graph))
    steps = [np.log(model.edges(moved)[2] / model.edges(graph)[2]) for moved in (small, large)]
    assert_allclose(steps[1] / steps[0], (steps[1] / steps[0]).mean(), rtol=1e-9)
    assert_allclose((steps[1] / steps[0]).mean(), 20, rtol=0.1)


@pytest.mark.parametrize(("n", "eps"), [(2, 0.01), (20, 2.5)])
def test_a_size_out_of_reach_is_refused(n, eps):
    """The Laplacian of a single edge never moves, and none moves by more than two."""
    path = model.from_edges(n, np.arange(n - 1), np.arange(1, n))
    with pytest.raises(ValueError, match="no weights of this graph"):
        perturb.perturb_weights(path, eps, np.random.default_rng(0))


@given(n=st.integers(3, 30), density=st.sampled_from([0.2, 0.8]), seed=SEEDS)
def test_shuffled_nodes_keep_their_names_and_the_spectrum(n, density, seed):
    graph = weighted(n, density, seed)
    shuffled = perturb.shuffle_nodes(graph, 1, np.random.default_rng(seed))
    order = np.random.default_rng(seed).permutation(n)
    assert np.array_equal(dense(shuffled), dense(graph)[np.ix_(order, order)])
    assert np.array_equal(shuffled.origin, graph.origin)
    spectra = [np.linalg.eigvalsh(model.laplacian(part).toarray()) for part in (graph, shuffled)]
    assert_allclose(*spectra, atol=1e-12)
