"""How far a noisy graph turns a subspace, against the lemma of Davis and Kahan."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphdr.graphs.arm_features import Basis, leading, nontrivial, residual
from graphdr.graphs.spectral import bottom_gap, interior_gap
from graphdr.theory.constants import dk_ratio


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

    @property
    def ratio(self) -> float:
        """Return the distance over its bound."""
        return self.distance / self.bound


def projector_distance(one: np.ndarray, other: np.ndarray) -> float:
    """Return the spectral norm of the difference of the projectors on two spans of orthonormal columns."""
    return float(max(np.linalg.norm(residual(other, one), 2), np.linalg.norm(residual(one, other), 2)))


def davis_kahan(clean: Basis, observed: Basis, eps: float, k: int, convention: str) -> Rotation:
    """Compare the subspaces of two Laplacians at distance eps (the lemma on projectors), in the convention named.

    Both bases hold u_1, u_2, … from the first on, and the values of the clean one reach past the subspace.
    """
    select, gap = CONVENTIONS[convention]
    distance = projector_distance(select(clean.vectors, k), select(observed.vectors, k))
    separation = gap(clean.values, k)
    return Rotation(distance, dk_ratio(eps, separation), eps <= separation / 4)
