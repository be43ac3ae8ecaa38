"""Eigenvectors of the items' graph, repeated for every segment of users: one model for all segments."""

import numpy as np

from graphdr.graphs.arm_features import Basis, BasisSpec, eigenvalue_roughness, nontrivial
from graphdr.graphs.model import Graph, induced


def pooled_low(graph: Graph, components: int, segments: int, solver: str) -> Basis:
    """Compute the lowest eigenvectors of the graph of the items, which is that of pairs within the first segment."""
    from graphdr.graphs.spectral import low_eigenpairs

    items = induced(graph, np.arange(graph.n // segments))
    low = low_eigenpairs(items, components, solver=solver)
    return low._replace(vectors=np.tile(low.vectors, (segments, 1)) / np.sqrt(segments))


BASIS = BasisSpec(
    function=pooled_low, columns=nontrivial, roughness=eigenvalue_roughness, citation="this package", has_controls=False
)
