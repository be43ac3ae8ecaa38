"""What the nodes of the graphs of all instances are, out of tables; who reads no edges needs no SciPy."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphdr.cache import io
from graphdr.panels.rows import groups

if TYPE_CHECKING:
    from graphdr.graphs.model import Graph


class Items(NamedTuple):
    """What the nodes of a graph are: numbers in their data set, popularities and observed rewards (nan: none)."""

    item: np.ndarray
    popularity: np.ndarray
    reward: np.ndarray


def random_items(graph: "Graph") -> Items:
    """Return what the nodes of a random graph are: themselves, as popular as their degree."""
    return Items(graph.origin, graph.adjacency.sum(axis=1), np.full(graph.n, np.nan))


def read_items(nodes_path: str) -> list[Items]:
    """Read what the nodes of all instances are."""
    nodes = io.read("nodes", nodes_path)
    columns = [io.values(nodes[name]) for name in Items._fields]
    return [Items(*(column[rows] for column in columns)) for _, rows in groups(nodes, "instance")]
