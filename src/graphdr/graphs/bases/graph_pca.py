"""Principal components of the rows of the adjacency matrix."""

import numpy as np

from graphdr.graphs.arm_features import Basis, BasisSpec, leading, singular_roughness
from graphdr.graphs.model import Graph


def graph_pca(graph: Graph, components: int) -> Basis:
    """Compute the leading right singular vectors of the column-centred adjacency matrix of an undirected graph.

    They are the left ones of its transpose A - mean 1^T, a linear operator, so that the matrix is never filled.
    """
    from scipy.sparse.linalg import LinearOperator

    from graphdr.graphs.pca import left_components

    adjacency, n = graph.adjacency, graph.n
    mean = adjacency.sum(axis=0) / n

    def times(x: np.ndarray) -> np.ndarray:
        return adjacency @ x - np.multiply.outer(mean, x.sum(axis=0))

    def transposed_times(x: np.ndarray) -> np.ndarray:
        return adjacency @ x - mean @ x

    products = {"matvec": times, "matmat": times, "rmatvec": transposed_times, "rmatmat": transposed_times}
    return left_components(LinearOperator((n, n), **products, dtype=float), components)


BASIS = BasisSpec(
    function=graph_pca, columns=leading, roughness=singular_roughness, citation="the paper that this package reproduces"
)
