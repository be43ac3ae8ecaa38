"""What the theorems are made of: their constants, the radius beta_t^0, the elliptical potential, rotations and nu_k.

Everything that depends on the round takes an array of rounds and returns an array. The paper writes gamma_k for
4 eps / Delta; here it is ``dk_ratio``, since gamma is the name of a diagnostic.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from graphdr.graphs.arm_features import residual


class Constants(NamedTuple):
    """What every bound depends on, in the order in which ``beta0`` takes it."""

    k: int
    noise: float  # R
    delta: float = 0.05
    ridge: float = 1.0  # lambda, at least the square of bound_x
    bound_x: float = 1.0  # L_x, no feature vector is longer
    size: float = 1.0  # S, the norm of the reward inside the subspace


OF_PILOT = ("estimated", "a_priori")  # rules of Theorem 4, which go by a pilot's residual and its error
PILOT_SHARE = 0.5  # of delta: the chance that a pilot is worse than said beforehand; the rest is left to the run


def after_pilot(c: Constants) -> Constants:
    """Return the constants of a run whose pilot may fail, too: both together fail with chance delta at most."""
    return c._replace(delta=(1 - PILOT_SHARE) * c.delta)


def log_volume(t: ArrayLike, k: int, ridge: float, bound_x: float) -> np.ndarray:
    """Return k log(1 + t L_x^2 / (lambda k)), the most that log det V can have grown after t rounds."""
    return k * np.log1p(np.asarray(t, float) * bound_x**2 / (ridge * k))


def beta0(t: ArrayLike, k: int, noise: float, delta: float, ridge: float, bound_x: float, size: float) -> np.ndarray:
    """Return beta_t^0, the radius of round t (from 1) that covers noise and ridge but no residual."""
    spread = log_volume(np.asarray(t, float) - 1, k, ridge, bound_x) + 2 * np.log(1 / delta)
    return noise * np.sqrt(spread) + np.sqrt(ridge) * size


def potential(t: ArrayLike, k: int, ridge: float, bound_x: float) -> np.ndarray:
    """Return A_t, the elliptical potential bound on the summed widths of the arms played in t rounds."""
    return np.sqrt(2 * np.asarray(t, float) * log_volume(t, k, ridge, bound_x))


def dk_ratio(eps: float, gap: float) -> float:
    """Return 4 eps / gap, the bound of the Davis-Kahan lemma on the distance of two projectors."""
    if eps == 0:
        return 0.0
    return 4.0 * eps / gap if gap > 0 else np.inf


def projector_distance(first: np.ndarray, second: np.ndarray) -> float:
    """Return the spectral norm of the difference of the projectors on two spans of orthonormal columns."""
    return float(max(np.linalg.norm(residual(second, first), 2), np.linalg.norm(residual(first, second), 2)))


def nu(zeta: float, s_k: float, eps: float, gap: float, bound_x: float = 1.0) -> float:
    """Return nu_k, the generic theorem's bound on the residual of any arm: from the tail and from the noisy graph."""
    rotated = s_k * dk_ratio(eps, gap) if s_k else 0.0
    return bound_x * (zeta + rotated)


def split(theta: np.ndarray, vectors: np.ndarray) -> tuple[float, np.ndarray]:
    """Split a reward by orthonormal columns: its norm inside their span, and the residual r_perp outside."""
    if not np.allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), rtol=0, atol=1e-8):
        raise ValueError("the columns are not orthonormal: the theorems need a projection")
    return float(np.linalg.norm(vectors.T @ theta)), residual(theta, vectors)
