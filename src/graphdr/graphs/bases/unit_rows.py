"""The eigenvectors of ``laplacian_low`` with feature rows of norm one."""

from graphdr.graphs.arm_features import BasisSpec, copy_stored, eigenvalue_roughness, unit_rows

BASIS = BasisSpec(
    function=copy_stored,
    made_of="laplacian_low",
    columns=unit_rows,
    roughness=eigenvalue_roughness,
    citation="Ng, Jordan and Weiss (2002), NeurIPS 14",
)
