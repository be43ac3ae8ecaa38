"""Graphs of all instances, and the records of a data set, in and out of tables."""

from collections.abc import Sequence

import numpy as np

from graphdr.cache import io
from graphdr.graphs.model import Graph, edges, from_edges
from graphdr.graphs.records import Records
from graphdr.panels.items import Items
from graphdr.panels.rows import groups, stack


def write_graphs(panel: Sequence[Graph], items: Sequence[Items], nodes_path: str, edges_path: str) -> None:
    """Write one graph per instance, and what its nodes are, as a table of nodes and one of edges."""
    nodes = [
        {"instance": i, "node": np.arange(g.n), "origin": g.origin} | columns._asdict()
        for i, (g, columns) in enumerate(zip(panel, items, strict=True))
    ]
    io.write("nodes", stack(nodes), nodes_path)
    parts = [dict(zip(("i", "j", "weight"), edges(g), strict=True)) | {"instance": i} for i, g in enumerate(panel)]
    io.write("edges", stack(parts), edges_path)


def read_records(nodes_path: str, links_path: str) -> Records:
    """Read a data set as records of which source met which node, with the groups of the nodes as codes."""
    nodes, links = io.read("dataset_nodes", nodes_path), io.read("dataset_links", links_path)
    kinds = [nodes[name] for name in ("group", "subgroup") if nodes[name].null_count < len(nodes)]
    codes = [io.values(kind.combine_chunks().dictionary_encode().indices.fill_null(-1)) for kind in kinds]
    popularity = io.values(nodes["popularity"])
    source, node, weight = (io.values(links[name]) for name in ("source", "node", "weight"))
    return Records(source, node, weight, popularity, np.column_stack(codes) if codes else None)


def read_graphs(nodes_path: str, edges_path: str) -> list[Graph]:
    """Read the graphs of all instances."""
    nodes, links = io.read("nodes", nodes_path), io.read("edges", edges_path)
    origin = io.values(nodes["origin"])
    i, j, weight = (io.values(links[name]) for name in ("i", "j", "weight"))
    joined = {key: rows for (key,), rows in groups(links, "instance")}
    panel = []
    for (instance,), rows in groups(nodes, "instance"):
        at = joined.get(instance, slice(0, 0))
        panel.append(from_edges(rows.stop - rows.start, i[at], j[at], weight[at], origin[rows]))
    return panel
