"""Columns that a user brings."""

import numpy as np

from graphdr.graphs.arm_features import USER_COLUMNS, Basis, BasisSpec, Embedding, equal_roughness, leading


def user_columns(embedding: Embedding, components: int) -> Basis:
    """Return the columns of a user as they are, with their norms as values."""
    vectors = np.asarray(embedding, float)[:, :components]
    return Basis(vectors, np.linalg.norm(vectors, axis=0), np.zeros(vectors.shape[1]))


BASIS = BasisSpec(
    function=user_columns, data=USER_COLUMNS, columns=leading, roughness=equal_roughness, citation="the user"
)
