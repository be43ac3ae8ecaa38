"""Arms beyond single nodes: vectors over the nodes of a graph, and pairs of a segment of users and a node."""

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphdr.graphs.model import Graph


def context_rows(vectors: Any, n: int) -> sp.csr_array:
    """Return vectors over n nodes, dense or sparse, as the sorted rows of one sparse matrix.

    Every row is the context x of one arm: its features are x^T E, its reward is x^T theta.

    Parameters
    ----------
    vectors : matrix of shape (m, n), or vector
        Weights of nodes, a row per context.
    n : int
        The number of nodes.

    Returns
    -------
    sparse array of shape (m, n)

    Raises
    ------
    ValueError
        Vectors over other nodes, of length zero, or with numbers that are not finite.

    Examples
    --------
    >>> graphdr.context_rows([[0.5, 0.5, 0.0]], 3).toarray().tolist()
    [[0.5, 0.5, 0.0]]
    """
    if not sp.issparse(vectors):
        vectors = np.atleast_2d(np.asarray(vectors, float))
    rows = sp.csr_array(vectors.reshape(1, -1) if vectors.ndim == 1 else vectors, dtype=float)
    if rows.shape[1] != n:
        raise ValueError(f"contexts over {rows.shape[1]} nodes; the graph has {n}")
    if not (rows.has_canonical_format and rows.data.all()):
        rows = rows.copy()  # the matrix may share memory with the caller's
        rows.sum_duplicates()
        rows.eliminate_zeros()
    if not np.isfinite(rows.data).all():
        at = int(np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[~np.isfinite(rows.data)][0])
        raise ValueError(f"context {at} has a weight that is no finite number")
    empty = np.flatnonzero(np.diff(rows.indptr) == 0)
    if len(empty):
        raise ValueError(f"context {int(empty[0])} has length zero; a context has at least one node")
    return rows


def distinct(rows: sp.csr_array) -> tuple[sp.csr_array, np.ndarray]:
    """Return the contexts without repeats, in order of first appearance, and the place of each context among them."""
    places: dict[tuple[bytes, bytes], int] = {}
    place = np.empty(rows.shape[0], np.uint32)
    for at, (start, end) in enumerate(pairwise(rows.indptr)):
        key = rows.indices[start:end].tobytes(), rows.data[start:end].tobytes()
        place[at] = places.setdefault(key, len(places))
    return rows[np.unique(place, return_index=True)[1]], place


def product(graph: Graph, segments: np.ndarray, segment_coupling: float = 1.0) -> Graph:
    """Return the Cartesian product with a graph of segments.

    Node s * n + i is node i for segment s of the users. Within a segment, nodes are joined as in the graph; a node is
    joined to itself in other segments as these are joined.

    Parameters
    ----------
    graph : Graph
        The nodes of every segment.
    segments : ndarray of shape (m, m)
        The symmetric matrix of weights between segments.
    segment_coupling : float, default=1.0
        The mean weight of a node's edges to other segments, in units of its edges within its segment.

    Returns
    -------
    Graph
        With m * n nodes.

    Examples
    --------
    >>> pairs = graphdr.product(graphdr.from_edges(2, [0], [1]), np.array([[0, 1], [1, 0]]), segment_coupling=3)
    >>> pairs.adjacency.sum(axis=1).tolist()
    [4.0, 4.0, 4.0, 4.0]
    """
    count, n = len(segments), graph.n
    weights = np.asarray(segments, float)
    if count > 1:
        weights = weights * (segment_coupling * graph.adjacency.sum() / n / (weights.sum() / count))
    across = sp.kron(sp.csr_array(weights), sp.eye_array(n))
    adjacency = sp.csr_array(sp.kron(sp.eye_array(count), graph.adjacency) + across)
    return Graph(adjacency, np.arange(count * n))


def ring(count: int) -> np.ndarray:
    """Return the weights of a ring of segments; two segments share one edge."""
    weights = np.zeros((count, count))
    if count > 1:
        at = np.arange(count)
        weights[at, (at + 1) % count] = weights[(at + 1) % count, at] = 1.0
    return weights


def path(count: int) -> np.ndarray:
    """Return the weights of a path of segments, such as bands of age in their order."""
    return np.eye(count, k=1) + np.eye(count, k=-1)


def complete(count: int) -> np.ndarray:
    """Return the weights of a complete graph of segments."""
    return np.ones((count, count)) - np.eye(count)
