"""Random columns: a Johnson–Lindenstrauss projection."""

import numpy as np

from graphdr.graphs.arm_features import Basis, BasisSpec, equal_roughness, scaled


def gaussian(n: int, components: int, rng: np.random.Generator) -> Basis:
    """Draw the columns of a Johnson–Lindenstrauss projection, before the scale 1/sqrt(k)."""
    vectors = rng.standard_normal((components, n)).T  # column by column: a larger k extends a smaller
    return Basis(vectors, np.ones(components), np.zeros(components))


BASIS = BasisSpec(
    function=gaussian,
    columns=scaled,
    roughness=equal_roughness,
    citation="Johnson and Lindenstrauss (1984), doi:10.1090/conm/026/737400",
    has_controls=False,
)
