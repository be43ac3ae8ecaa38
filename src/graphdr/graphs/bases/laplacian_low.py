"""The lowest-frequency eigenvectors u_1, u_2, … of the normalised Laplacian: the basis of GraphDR."""

from graphdr.graphs.arm_features import Basis, BasisSpec, eigenvalue_roughness, nontrivial
from graphdr.graphs.model import Graph


def laplacian_low(graph: Graph, components: int, solver: str) -> Basis:
    """Compute the lowest-frequency eigenvectors of the normalised Laplacian."""
    from graphdr.graphs.spectral import low_eigenpairs

    return low_eigenpairs(graph, components, solver=solver)


BASIS = BasisSpec(
    function=laplacian_low,
    columns=nontrivial,
    roughness=eigenvalue_roughness,
    citation="Belkin and Niyogi (2003), doi:10.1162/089976603321780317",
)
