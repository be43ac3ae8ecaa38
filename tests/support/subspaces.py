"""The lemma of Davis and Kahan in both conventions: that of the theory, u_1..u_k, and that of the experiments."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphdr.graphs.arm_features import Basis, leading, nontrivial
from graphdr.graphs.spectral import interior_gap
from graphdr.theory.constants import dk_ratio, projector_distance


def bottom_gap(values: np.ndarray, k: int) -> float:
    """Return lambda_{k+1} - lambda_k, which separates u_1..u_k from all others."""
    return float(values[k] - values[k - 1])


class Convention(NamedTuple):
    """Which columns of u_1, u_2, … span the subspace, and the gap between it and the rest of the spectrum."""

    select: Callable[[np.ndarray, int], np.ndarray]
    gap: Callable[[np.ndarray, int], float]


CONVENTIONS = {
    "theory": Convention(leading, bottom_gap),  # u_1..u_k
    "experiments": Convention(nontrivial, interior_gap),  # u_2..u_{k+1}
}


class Rotation(NamedTuple):
    """How far a noisy graph turned a subspace, what the Davis-Kahan lemma allows, and whether its condition holds."""

    distance: float
    bound: float
    condition: bool


def davis_kahan(clean: Basis, observed: Basis, eps: float, k: int, convention: str) -> Rotation:
    """Compare the subspaces of two Laplacians at distance eps (the lemma on projectors), in the convention named.

    Both bases hold u_1, u_2, … from the first on, and the values of the clean one reach past the subspace.
    """
    select, gap = CONVENTIONS[convention]
    distance = projector_distance(select(clean.vectors, k), select(observed.vectors, k))
    separation = gap(clean.values, k)
    return Rotation(distance, dk_ratio(eps, separation), eps <= separation / 4)
