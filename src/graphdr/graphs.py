"""Graphs: random families, edge flips, node permutations, components and the normalised Laplacian."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graphdr.errors import check_dense


class Graph(NamedTuple):
    """An undirected graph; ``origin[i]`` is the name that node i had before any node was dropped."""

    adjacency: sp.csr_array
    origin: np.ndarray

    @property
    def n(self) -> int:
        return self.adjacency.shape[0]


def from_edges(n: int, i: np.ndarray, j: np.ndarray, weight=None, origin=None) -> Graph:
    """Build the graph with edges i–j (each given once, i != j)."""
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


def sbm(n: int, rng: np.random.Generator, *, blocks: int, p_in: float, p_out: float) -> Graph:
    """Draw a stochastic block model with equal blocks, nodes sorted by block."""
    block = np.arange(n) * blocks // n
    i, j = np.triu_indices(n, k=1)
    keep = rng.random(len(i)) < np.where(block[i] == block[j], p_in, p_out)
    return from_edges(n, i[keep], j[keep])


def rgg(n: int, rng: np.random.Generator, *, radius: float) -> Graph:
    """Draw a random geometric graph: uniform points in the unit square, joined within the radius."""
    points = rng.random((n, 2))
    i, j = np.triu_indices(n, k=1)
    keep = np.sum((points[i] - points[j]) ** 2, axis=1) <= radius**2
    return from_edges(n, i[keep], j[keep])


FAMILIES = {f.__name__: f for f in (sbm, rgg)}


def flip_pairs(graph: Graph, probability: float, rng: np.random.Generator) -> Graph:
    """Flip every node pair of an unweighted graph (edge to non-edge and back) with the given probability.

    One uniform number is drawn per pair, so that with the same stream a smaller probability flips a
    subset of what a larger one flips.
    """
    check_dense("flip", graph.n)
    i, j = np.triu_indices(graph.n, k=1)
    present = graph.adjacency.toarray()[i, j] > 0
    present ^= rng.random(len(i)) < probability
    return from_edges(graph.n, i[present], j[present], origin=graph.origin)


def drop_edges(graph: Graph, keep: float, rng: np.random.Generator) -> Graph:
    """Keep the given share of the edges, chosen uniformly without replacement."""
    i, j, weight = edges(graph)
    chosen = np.sort(rng.permutation(len(i))[: round(keep * len(i))])
    return from_edges(graph.n, i[chosen], j[chosen], weight[chosen], graph.origin)


def induced(graph: Graph, nodes: np.ndarray) -> Graph:
    """Return the subgraph on the given nodes, in the given order."""
    return Graph(graph.adjacency[nodes][:, nodes], graph.origin[nodes])


def permute_nodes(graph: Graph, permutation: np.ndarray) -> Graph:
    """Relabel the nodes: node i of the result is node ``permutation[i]``, under the old names."""
    return Graph(graph.adjacency[permutation][:, permutation], graph.origin)


def largest_component(graph: Graph) -> Graph:
    """Return the largest connected component (the first one on a tie)."""
    count, label = connected_components(graph.adjacency, directed=False)
    if count == 1:
        return graph
    return induced(graph, np.flatnonzero(label == np.bincount(label).argmax()))


def inverse_root_degrees(graph: Graph) -> np.ndarray:
    """Return the diagonal of D^-1/2, 0 for isolated nodes."""
    degree = graph.adjacency.sum(axis=1)
    return np.divide(1.0, np.sqrt(degree), out=np.zeros(graph.n), where=degree > 0)


def normalised_adjacency(graph: Graph) -> sp.csr_array:
    """Return D^-1/2 A D^-1/2, with rows of isolated nodes left empty."""
    scale = inverse_root_degrees(graph)
    return sp.csr_array(sp.diags_array(scale) @ graph.adjacency @ sp.diags_array(scale))


def laplacian(graph: Graph) -> sp.csr_array:
    """Return the symmetric normalised Laplacian L = I - D^-1/2 A D^-1/2."""
    return sp.csr_array(sp.eye_array(graph.n) - normalised_adjacency(graph))
