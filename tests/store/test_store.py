"""What is stored for all instances comes out of its tables as it went in."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from graphdr.bandit import pilot
from graphdr.cache import io
from graphdr.graphs import spectral
from graphdr.graphs.model import from_edges
from graphdr.store.graphs import random_items, read_bases, read_graphs, read_items, write_bases, write_graphs
from graphdr.store.pilots import read_pilots, write_pilots
from graphdr.store.problems import read_estimates
from tests.support.project import draw_sbm

pytestmark = pytest.mark.usefixtures("workdir")


def test_groups_are_runs_of_equal_keys():
    columns = {"problem": list("aabb"), "instance": [0, 1, 1, 1], "node": [0] * 4, "theta": [1.0] * 4}
    io.write("theta", columns, "t.parquet")
    parts = io.read_parts("theta", "t.parquet", ("problem", "instance"), "node")
    lengths = {key: len(nodes) for key, (nodes,) in parts.items()}
    assert lengths == {("a", 0): 1, ("a", 1): 1, ("b", 1): 2}


def test_graphs_of_several_sizes_and_one_without_edges_come_back_with_their_nodes():
    bare = from_edges(3, *np.zeros((2, 0), int), np.zeros(0), np.arange(3))
    graphs = [draw_sbm(0), bare, draw_sbm(1, n=30)]
    items = [random_items(graph) for graph in graphs]
    write_graphs(graphs, items, "nodes.parquet", "edges.parquet")
    for graph, again in zip(graphs, read_graphs("nodes.parquet", "edges.parquet"), strict=True):
        assert_array_equal(again.adjacency.toarray(), graph.adjacency.toarray())
        assert_array_equal(again.origin, graph.origin)
    for nodes, again in zip(items, read_items("nodes.parquet"), strict=True):
        for name in nodes._fields:
            assert_array_equal(getattr(again, name), getattr(nodes, name))


def test_bases_of_several_sizes_come_back_by_instance_and_draw():
    by_key = {
        (instance, draw): spectral.low_eigenpairs(draw_sbm(instance, n=30 + 10 * instance), 5 + draw)
        for instance in range(2)
        for draw in range(2)
    }
    write_bases(by_key, "basis.parquet")
    again = read_bases("basis.parquet")
    assert list(again) == list(by_key)
    for key, basis in by_key.items():
        assert_array_equal(again[key].vectors, basis.vectors)
        assert_array_equal(again[key].values, basis.values)
        assert_array_equal(again[key].residuals, basis.residuals)
    write_bases({}, "basis.parquet")
    assert read_bases("basis.parquet") == {}


def test_pilots_come_back_with_their_sums_and_the_rounds_that_were_kept():
    theta = np.array([0.6, -0.8, 0.0])
    by_key = {("a", 0): {b: pilot.play(theta, 0.1, b * 3, np.random.default_rng(b)) for b in (1, 4)}}
    write_pilots(by_key, "estimates.parquet", "rounds.parquet", {"a": 4})
    kept = read_pilots("estimates.parquet", "rounds.parquet")["a", 0]
    for budget, played in by_key["a", 0].items():
        for name in ("theta", "pulls", "sums", "sums_of_squares"):
            assert_array_equal(getattr(kept[budget], name), getattr(played, name))
    assert kept[1].nodes is None
    assert_array_equal(kept[4].nodes, by_key["a", 0][4].nodes)
    assert_array_equal(kept[4].rewards, by_key["a", 0][4].rewards)
    assert_array_equal(read_estimates("estimates.parquet")["a", 0, 4], by_key["a", 0][4].theta)
