"""NetMF: singular vectors of the matrix that DeepWalk factorises."""

import numpy as np

from graphdr.core.errors import check_dense
from graphdr.graphs.arm_features import Basis, BasisSpec, leading, singular_roughness
from graphdr.graphs.model import Graph, inverse_root_degrees, normalised_adjacency

WINDOW = 3  # steps of a random walk within which two nodes are neighbours


def netmf(graph: Graph, components: int) -> Basis:
    """Compute the leading left singular vectors of log max(vol/3 (P + P^2 + P^3) D^-1, 1), where P = D^-1 A.

    DeepWalk factorises this matrix with windows of three steps and one negative sample.
    """
    from graphdr.graphs.pca import left_components

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


BASIS = BasisSpec(
    function=netmf, columns=leading, roughness=singular_roughness, citation="Qiu et al. (2018), arXiv:1710.02971"
)
