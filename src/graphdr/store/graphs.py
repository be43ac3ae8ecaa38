"""Graphs of all instances, what their nodes are, and their bases, in and out of tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphdr.cache import io
from graphdr.graphs.arm_features import Basis

if TYPE_CHECKING:
    from graphdr.graphs.model import Graph


class Items(NamedTuple):
    """The nodes of a graph: numbers in their data set, popularities and observed rewards (nan: none)."""

    item: np.ndarray
    popularity: np.ndarray
    reward: np.ndarray


def random_items(graph: "Graph") -> Items:
    """Return the items of a random graph: the nodes themselves, as popular as their degree."""
    return Items(graph.origin, graph.adjacency.sum(axis=1), np.full(graph.n, np.nan))


def write_graphs(graphs: Sequence["Graph"], items: Sequence[Items], nodes_path: str, edges_path: str) -> None:
    """Write the graph of every instance, and what its nodes are, as a table of nodes and one of edges."""
    from graphdr.graphs.model import edges

    nodes, links = [], []
    for instance, (graph, columns) in enumerate(zip(graphs, items, strict=True)):
        i, j, weight = edges(graph)
        key = {"instance": instance, "node": np.arange(graph.n), "origin": graph.origin}
        nodes.append(key | columns._asdict())
        links.append({"i": i, "j": j, "weight": weight, "instance": instance})
    io.write_parts("nodes", nodes, nodes_path)
    io.write_parts("edges", links, edges_path)


def read_graphs(nodes_path: str, edges_path: str) -> list["Graph"]:
    """Read the graphs of all instances."""
    from graphdr.graphs.model import from_edges  # with SciPy, which readers of items and bases do without

    links = io.read_parts("edges", edges_path, ["instance"], "i", "j", "weight")
    without = [np.zeros(0, int), np.zeros(0, int), np.zeros(0)]
    graphs = []
    for instance, (origin,) in io.read_parts("nodes", nodes_path, ["instance"], "origin").items():
        i, j, weight = links.get(instance, without)
        graphs.append(from_edges(len(origin), i, j, weight, origin))
    return graphs


def read_items(nodes_path: str) -> list[Items]:
    """Read the items of all instances."""
    return [Items(*columns) for columns in io.read_parts("nodes", nodes_path, ["instance"], *Items._fields).values()]


def write_bases(bases: dict[tuple[int, int], Basis], path: str) -> None:
    """Write bases keyed by (instance, draw), one row per component; without bases, a table without rows."""
    parts = []
    for (instance, draw), basis in bases.items():
        key = {"instance": instance, "draw": draw, "component": np.arange(len(basis.values))}
        columns = {"value": basis.values, "residual": basis.residuals, "vector": list(basis.vectors.T)}
        parts.append(key | columns)
    io.write_parts("basis", parts, path)


def read_bases(path: str) -> dict[tuple[int, int], Basis]:
    """Read bases by (instance, draw)."""
    table = io.read("basis", path)
    values, residuals = io.arrays(table, "value", "residual")
    vectors = table["vector"].combine_chunks()
    flat, offsets = io.values(vectors.values), io.values(vectors.offsets)
    bases = {}
    for (instance, draw), rows in io.groups(table, "instance", "draw"):
        block = flat[offsets[rows.start] : offsets[rows.stop]]
        basis = Basis(block.reshape(len(values[rows]), -1).T, values[rows], residuals[rows])
        bases[int(instance), int(draw)] = basis
    return bases
