"""Graphs: edges, subgraphs, components and the normalised Laplacian.

SciPy is imported where it is used: a bandit run reads the declarations of bases, and with them this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import scipy.sparse as sp


class Graph(NamedTuple):
    """An undirected graph with weights of edges and names of nodes.

    Attributes
    ----------
    adjacency : sparse array of shape (n, n)
        The symmetric matrix of weights.
    origin : ndarray of shape (n,)
        The name of every node; it keeps its name when others are dropped.
    n : int
        The number of nodes.
    """

    adjacency: sp.csr_array
    origin: np.ndarray

    @property
    def n(self) -> int:
        return self.adjacency.shape[0]


def from_edges(
    n: int, i: ArrayLike, j: ArrayLike, weight: ArrayLike | None = None, origin: ArrayLike | None = None
) -> Graph:
    """Build the graph on nodes 0 … n - 1 with edges i–j (each given once, i != j), of weight one unless given.

    >>> path = graphdr.from_edges(3, [0, 1], [1, 2])
    >>> path.adjacency.toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    import scipy.sparse as sp

    i, j = np.asarray(i), np.asarray(j)
    weight = np.ones(len(i)) if weight is None else np.asarray(weight, float)
    rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
    adjacency = sp.coo_array((np.concatenate([weight, weight]), (rows, columns)), shape=(n, n)).tocsr()
    return Graph(adjacency, np.arange(n) if origin is None else np.asarray(origin))


def edges(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (i, j, weight) with i < j, sorted by i and then j."""
    matrix = graph.adjacency
    matrix.sort_indices()
    i = np.repeat(np.arange(graph.n), np.diff(matrix.indptr))
    upper = i < matrix.indices
    return i[upper], matrix.indices[upper], matrix.data[upper]


def induced(graph: Graph, nodes: np.ndarray) -> Graph:
    """Return the subgraph on the given nodes, in the given order."""
    return Graph(graph.adjacency[nodes][:, nodes], graph.origin[nodes])


def largest_component(graph: Graph) -> Graph:
    """Return the largest connected component (the first one on a tie).

    Parameters
    ----------
    graph : Graph
        In one or several components.

    Returns
    -------
    Graph
        The nodes of the largest, with their names in ``origin``.

    Examples
    --------
    >>> two = graphdr.from_edges(5, [0, 2, 3], [1, 3, 4])  # 0–1 and 2–3–4
    >>> graphdr.largest_component(two).origin.tolist()
    [2, 3, 4]
    """
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(graph.adjacency, directed=False)
    if count == 1:
        return graph
    return induced(graph, np.flatnonzero(label == np.bincount(label).argmax()))


def inverse_root_degrees(graph: Graph, added: float = 0.0) -> np.ndarray:
    """Return the diagonal of (D + added I)^-1/2, 0 for isolated nodes if nothing is added."""
    degree = graph.adjacency.sum(axis=1) + added
    return np.divide(1.0, np.sqrt(degree), out=np.zeros(graph.n), where=degree > 0)


def normalised_adjacency(graph: Graph, added: float = 0.0) -> sp.csr_array:
    """Return D^-1/2 A D^-1/2, with rows of isolated nodes left empty; ``added`` goes to every degree."""
    import scipy.sparse as sp

    scale = inverse_root_degrees(graph, added)
    return sp.csr_array(sp.diags_array(scale) @ graph.adjacency @ sp.diags_array(scale))


def laplacian(graph: Graph, added: float = 0.0) -> sp.csr_array:
    """Return the symmetric normalised Laplacian L = I - D^-1/2 A D^-1/2, with D the diagonal matrix of degrees.

    Parameters
    ----------
    graph : Graph
        With adjacency A.
    added : float, default=0.0
        Added to every degree in D: the regularised Laplacian of Qin and Rohe (2013).

    Returns
    -------
    sparse array of shape (n, n)

    Examples
    --------
    >>> graphdr.laplacian(graphdr.from_edges(2, [0], [1])).toarray().tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    import scipy.sparse as sp

    return sp.csr_array(sp.eye_array(graph.n) - normalised_adjacency(graph, added))
