"""What the nodes of the graphs are; apart from ``store.graphs``, so that a reader without edges needs no SciPy."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphdr.cache import io
from graphdr.store.rows import split

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


def read_items(nodes_path: str) -> list[Items]:
    """Read the items of all instances."""
    instances = split(io.read("nodes", nodes_path), ["instance"], Items._fields)
    return [Items(*columns) for columns in instances.values()]
