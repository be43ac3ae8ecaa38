"""Graphs of all instances, in and out of tables."""

from collections.abc import Sequence

import numpy as np

from graphdr.cache import io
from graphdr.graphs.model import Graph, edges, from_edges
from graphdr.store.items import Items
from graphdr.store.rows import groups, stack


def write_graphs(graphs: Sequence[Graph], items: Sequence[Items], nodes_path: str, edges_path: str) -> None:
    """Write the graph of every instance, and what its nodes are, as a table of nodes and one of edges."""
    nodes, links = [], []
    for instance, (graph, columns) in enumerate(zip(graphs, items, strict=True)):
        i, j, weight = edges(graph)
        key = {"instance": instance, "node": np.arange(graph.n), "origin": graph.origin}
        nodes.append(key | columns._asdict())
        links.append({"i": i, "j": j, "weight": weight, "instance": instance})
    io.write("nodes", stack(nodes), nodes_path)
    io.write("edges", stack(links), edges_path)


def read_graphs(nodes_path: str, edges_path: str) -> list[Graph]:
    """Read the graphs of all instances."""
    nodes, links = io.read("nodes", nodes_path), io.read("edges", edges_path)
    origin = io.values(nodes["origin"])
    i, j, weight = (io.values(links[name]) for name in ("i", "j", "weight"))
    rows_of_edges = {instance: rows for (instance,), rows in groups(links, "instance")}
    graphs = []
    for (instance,), rows in groups(nodes, "instance"):
        part = rows_of_edges.get(instance, slice(0, 0))
        graphs.append(from_edges(rows.stop - rows.start, i[part], j[part], weight[part], origin[rows]))
    return graphs
