"""How far a noisy graph turns a subspace, which the lemma of Davis and Kahan bounds (``constants.dk_ratio``)."""

import numpy as np

from graphdr.graphs.arm_features import residual


def projector_distance(one: np.ndarray, other: np.ndarray) -> float:
    """Return the spectral norm of the difference of the projectors on two spans of orthonormal columns."""
    return float(max(np.linalg.norm(residual(other, one), 2), np.linalg.norm(residual(one, other), 2)))
