"""What is stored for all instances comes out of its tables as it went in; a mistake in a user's columns is one line."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from graphdr.bandit import pilot
from graphdr.cache import io
from graphdr.core.errors import UserError
from graphdr.graphs import spectral
from graphdr.graphs.model import from_edges
from graphdr.store.datasets import read_user_columns
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


# Columns of a user


RIGHT = "a column 'node' and columns of numbers are needed, with one row for every node"


def write(columns: dict) -> str:
    pq.write_table(pa.table(columns), "mine.parquet")
    return "mine.parquet"


def test_columns_are_found_by_node_whatever_the_order_and_nodes_of_a_random_graph_are_numbers():
    path = write({"b": [1.5, 2.5, 3.5], "node": ["y", "x", "other"], "a": [1, 2, 3]})
    first, second = read_user_columns(path, [["x", "y"], ["y"]])
    assert np.array_equal(first, [[2.5, 2], [1.5, 1]])
    assert np.array_equal(second, [[1.5, 1]])
    (columns,) = read_user_columns(write({"node": [2, 0, 1], "a": [20.0, 0.0, 10.0]}), [["0", "1", "2"]])
    assert columns[:, 0].tolist() == [0, 10, 20]


@pytest.mark.parametrize(
    ("columns", "wrong"),
    [
        ({"item": ["x"], "a": [1]}, "its columns are item, a"),
        ({"node": ["x"]}, "its columns are node"),
        ({"node": ["x"], "a": ["one"]}, "column 'a' has the type string, not numbers"),
        ({"node": ["x", "y"], "a": [1, 2]}, "1 of 2 nodes have no row, the first is 'z'; the file begins with 'x'"),
        ({"node": ["x", "x", "z"], "a": [1, 2, 3]}, "node 'x' has more than one row"),
        ({"node": ["x", None, "z"], "a": [1, 2, 3]}, "a row has no node"),
        ({"node": ["x", "z"], "a": [1, 2], "b": [1, None]}, "column 'b' has no finite number for node 'z'"),
        ({"node": ["x", "z"], "a": [np.inf, 2]}, "column 'a' has no finite number for node 'x'"),
        (
            {"node": pa.nulls(0, pa.string()), "a": pa.nulls(0, pa.int64())},
            "2 of 2 nodes have no row, the first is 'x'",
        ),
    ],
)
def test_a_mistake_is_one_line_that_says_what_would_be_right(columns, wrong):
    with pytest.raises(UserError) as caught:
        read_user_columns(write(columns), [["x", "z"]])
    assert str(caught.value) == f"user_columns: mine.parquet: {wrong}; {RIGHT}"


def test_a_file_that_is_not_there_or_not_parquet_is_one_line():
    Path("text.parquet").write_text("node,a")
    for path in ("none.parquet", "text.parquet"):
        message = rf"^user_columns: {path}: it cannot be read as a parquet file \(.*\); a column"
        with pytest.raises(UserError, match=message):
            read_user_columns(path, [["x"]])
