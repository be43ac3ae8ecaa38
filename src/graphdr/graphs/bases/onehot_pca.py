"""Principal components of one-hot features, which are arbitrary."""

import numpy as np

from graphdr.core.errors import check_dense
from graphdr.graphs.arm_features import Basis, BasisSpec, leading, singular_roughness


def onehot_pca(n: int, components: int) -> Basis:
    """Compute the principal directions of one-hot features: the SVD of the centred identity.

    All its nonzero singular values are equal, so the directions depend on LAPACK and on the order of the nodes.
    """
    check_dense("basis onehot_pca", n)
    _, values, rows = np.linalg.svd(np.eye(n) - 1.0 / n)
    vectors = rows[: min(components, n - 1)].T
    return Basis(vectors, values[: vectors.shape[1]], np.zeros(vectors.shape[1]))


BASIS = BasisSpec(
    function=onehot_pca,
    columns=leading,
    roughness=singular_roughness,
    citation="the paper that this package reproduces",
    has_controls=False,
)
