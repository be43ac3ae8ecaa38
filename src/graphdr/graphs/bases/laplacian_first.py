"""The eigenvectors of ``laplacian_low`` with features that begin with u_1."""

from graphdr.graphs.arm_features import BasisSpec, copy_stored, eigenvalue_roughness, leading

BASIS = BasisSpec(
    function=copy_stored,
    made_of="laplacian_low",
    columns=leading,
    roughness=eigenvalue_roughness,
    citation="the paper that this package reproduces",
)
