"""Panels in and out of tables: the graphs, bases, rewards and facts of all instances of a file."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from graphdr.cache import io
from graphdr.graphs.arm_features import Basis


def groups(table: pa.Table, *keys: str) -> Iterator[tuple[tuple, slice]]:
    """Yield the slices of consecutive rows that agree in all key columns."""
    columns = [io.values(table[key]) for key in keys]
    if not len(table):
        return
    changed = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    starts = [0, *(np.flatnonzero(changed) + 1), len(table)]
    for begin, end in pairwise(starts):
        yield tuple(column[begin] for column in columns), slice(begin, end)


def stack(parts: list[dict]) -> dict[str, np.ndarray]:
    """Concatenate equally named columns; a scalar is repeated to the length of its part."""
    lengths = [max((len(v) for v in part.values() if np.ndim(v)), default=1) for part in parts]

    def column(values):
        if not any(map(np.ndim, values)):
            return np.repeat(np.array(values), lengths)
        return np.concatenate([np.broadcast_to(value, size) for value, size in zip(values, lengths, strict=True)])

    return {name: column([part[name] for part in parts]) for name in parts[0]}


class Items(NamedTuple):
    """What the nodes of a graph are: numbers in their data set, popularities and observed rewards (nan: none)."""

    item: np.ndarray
    popularity: np.ndarray
    reward: np.ndarray


def random_items(graph) -> Items:
    """Return what the nodes of a random graph are: themselves, as popular as their degree."""
    return Items(graph.origin, graph.adjacency.sum(axis=1), np.full(graph.n, np.nan))


def write_graphs(panel: list, items: list[Items], nodes_path: str, edges_path: str) -> None:
    """Write one graph per instance, and what its nodes are, as a table of nodes and one of edges."""
    from graphdr.graphs.model import edges

    nodes = [
        {"instance": i, "node": np.arange(g.n), "origin": g.origin} | own._asdict()
        for i, (g, own) in enumerate(zip(panel, items, strict=True))
    ]
    io.write("nodes", stack(nodes), nodes_path)
    parts = [dict(zip(("i", "j", "weight"), edges(g), strict=True)) | {"instance": i} for i, g in enumerate(panel)]
    io.write("edges", stack(parts), edges_path)


def read_items(nodes_path: str) -> list[Items]:
    """Read what the nodes of all instances are."""
    nodes = io.read("nodes", nodes_path)
    columns = [io.values(nodes[name]) for name in Items._fields]
    return [Items(*(column[rows] for column in columns)) for _, rows in groups(nodes, "instance")]


def read_records(nodes_path: str, links_path: str):
    """Read a data set as records of which source met which node, with the groups of the nodes as codes."""
    from graphdr.graphs.records import Records

    nodes, links = io.read("dataset_nodes", nodes_path), io.read("dataset_links", links_path)
    kinds = [nodes[name] for name in ("group", "subgroup") if nodes[name].null_count < len(nodes)]
    codes = [io.values(kind.combine_chunks().dictionary_encode().indices.fill_null(-1)) for kind in kinds]
    popularity = io.values(nodes["popularity"])
    source, node, weight = (io.values(links[name]) for name in ("source", "node", "weight"))
    return Records(source, node, weight, popularity, np.column_stack(codes) if codes else None)


def read_graphs(nodes_path: str, edges_path: str) -> list:
    """Read the graphs of all instances."""
    from graphdr.graphs.model import from_edges

    nodes, edges = io.read("nodes", nodes_path), io.read("edges", edges_path)
    origin = io.values(nodes["origin"])
    i, j, weight = (io.values(edges[name]) for name in ("i", "j", "weight"))
    ends = {key: rows for (key,), rows in groups(edges, "instance")}
    panel = []
    for (instance,), rows in groups(nodes, "instance"):
        own = ends.get(instance, slice(0, 0))
        panel.append(from_edges(rows.stop - rows.start, i[own], j[own], weight[own], origin[rows]))
    return panel


def write_bases(panel: dict, path: str) -> None:
    """Write bases keyed by (instance, draw), one row a component; no basis is a table without rows."""
    if not panel:
        return io.write("basis", io.nothing("basis"), path)
    parts = [
        {"instance": instance, "draw": draw, "component": np.arange(len(basis.values))}
        | {"value": basis.values, "residual": basis.residuals}
        for (instance, draw), basis in panel.items()
    ]
    vectors = [vector for basis in panel.values() for vector in basis.vectors.T]
    io.write("basis", stack(parts) | {"vector": vectors}, path)


def read_bases(path: str) -> dict[tuple[int, int], Basis]:
    """Read bases by (instance, draw)."""
    table = io.read("basis", path)
    values, residuals = io.values(table["value"]), io.values(table["residual"])
    vectors = table["vector"].combine_chunks()
    flat, offsets = io.values(vectors.values), io.values(vectors.offsets)
    panel = {}
    for key, rows in groups(table, "instance", "draw"):
        block = flat[offsets[rows.start] : offsets[rows.stop]]
        panel[tuple(map(int, key))] = Basis(block.reshape(len(values[rows]), -1).T, values[rows], residuals[rows])
    return panel


def read_thetas(path: str) -> dict[tuple[str, int], np.ndarray]:
    """Read rewards: (problem, instance) to theta."""
    table = io.read("theta", path)
    theta = io.values(table["theta"])
    return {key: theta[rows] for key, rows in groups(table, "problem", "instance")}


def read_facts(path: str) -> dict[tuple[str, int, str], float]:
    """Read facts: (problem, instance, quantity) to value."""
    table = io.read("facts", path)
    keys = zip(*(io.values(table[name]).tolist() for name in ("problem", "instance", "quantity")), strict=True)
    return dict(zip(keys, io.values(table["value"]).tolist(), strict=True))
