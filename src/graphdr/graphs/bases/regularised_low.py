"""The lowest eigenvectors of the regularised Laplacian, which adds the mean degree to every degree."""

from graphdr.graphs.arm_features import Basis, BasisSpec, eigenvalue_roughness, nontrivial
from graphdr.graphs.model import Graph


def regularised_low(graph: Graph, components: int, solver: str) -> Basis:
    """Compute the lowest eigenvectors of I - D_t^-1/2 A D_t^-1/2, where D_t = D + mean degree.

    Nodes with few neighbours then form no eigenvectors of their own.
    """
    from graphdr.graphs.spectral import low_eigenpairs

    return low_eigenpairs(graph, components, added=graph.adjacency.sum() / graph.n, solver=solver)


BASIS = BasisSpec(
    function=regularised_low,
    columns=nontrivial,
    roughness=eigenvalue_roughness,
    citation="Qin and Rohe (2013), arXiv:1309.4111",
)
