"""Embeddings of nodes as columns: the regularised Laplacian, interactions, and the matrix behind random walks."""

import numpy as np
import scipy.sparse as sp

from graphdr.core.errors import check_dense
from graphdr.graphs.arm_features import Basis
from graphdr.graphs.model import Graph, inverse_root_degrees, normalised_adjacency
from graphdr.graphs.pca import left_components
from graphdr.graphs.spectral import EXACT, low_eigenpairs

WINDOW = 3  # steps of a random walk within which two nodes are neighbours


def regularised_low(graph: Graph, components: int, solver: str = EXACT) -> Basis:
    """Return the lowest eigenpairs of I - D_t^-1/2 A D_t^-1/2, where D_t adds the mean degree to every degree.

    So nodes of few neighbours cannot form eigenvectors of their own (Qin and Rohe, 2013).
    """
    return low_eigenpairs(graph, components, added=graph.adjacency.sum() / graph.n, solver=solver)


def interaction_svd(interactions: sp.csr_array, components: int) -> Basis:
    """Return the leading left singular vectors of an item x user matrix, as it is: neither centred nor scaled."""
    return left_components(interactions, components)


def netmf(graph: Graph, components: int) -> Basis:
    """Return the leading left singular vectors of log max(vol/3 (P + P^2 + P^3) D^-1, 1), where P = D^-1 A.

    This is what DeepWalk factorises with windows of three steps and one negative sample (Qiu et al., 2018).
    """
    check_dense("basis netmf", graph.n)
    step = normalised_adjacency(graph)
    walks = step.toarray()
    for _ in range(WINDOW - 1):
        walks = step @ walks
        walks += step
    scale = inverse_root_degrees(graph)
    walks *= scale[:, None] * (graph.adjacency.sum() / WINDOW)
    walks *= scale
    np.maximum(walks, 1.0, out=walks)
    return left_components(np.log(walks, out=walks), components)
