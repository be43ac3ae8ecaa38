"""The eigenvectors of ``regularised_low`` with feature rows of norm one."""

from graphdr.graphs.arm_features import BasisSpec, copy_stored, eigenvalue_roughness, unit_rows

BASIS = BasisSpec(
    function=copy_stored,
    made_of="regularised_low",
    columns=unit_rows,
    roughness=eigenvalue_roughness,
    citation="Qin and Rohe (2013), arXiv:1309.4111",
)
