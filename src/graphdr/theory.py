"""The paper's theory as functions of its constants: radii, potentials, regret bounds and rotations of a subspace.

Everything that depends on the round takes an array of rounds and returns an array. The paper writes gamma_k for
4 eps / Delta; here it is ``dk_ratio``, since gamma is the name of a diagnostic.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from graphdr.features import Basis, leading, nontrivial

LONGEST = 1.0  # L_x: no row of orthonormal columns is longer
ROUNDING = 1e-9  # SRL and CRW of less than this a round are those of rounding: there is no residual


class Constants(NamedTuple):
    """What every bound depends on, in the order in which ``beta0`` takes it."""

    k: int
    noise: float  # R
    delta: float = 0.05
    ridge: float = 1.0  # lambda, at least the square of bound_x
    bound_x: float = 1.0  # L_x, no feature vector is longer
    size: float = 1.0  # S, the norm of the reward inside the subspace


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


def s_bar(s_k: float, zeta: float) -> float:
    """Return the bound on the norm of the reward in the generic theorem: inside norm plus tail."""
    return s_k + zeta


def dk_ratio(eps: float, gap: float) -> float:
    """Return 4 eps / gap, the bound of the Davis-Kahan lemma on the distance of two projectors."""
    if eps == 0:
        return 0.0
    return 4.0 * eps / gap if gap > 0 else np.inf


def nu(zeta: float, s_k: float, eps: float, gap: float, bound_x: float = 1.0) -> float:
    """Return nu_k, the generic theorem's bound on the residual of any arm: from the tail and from the noisy graph."""
    rotated = s_k * dk_ratio(eps, gap) if s_k else 0.0
    return bound_x * (zeta + rotated)


def inside(vectors: np.ndarray, theta: np.ndarray) -> tuple[float, np.ndarray]:
    """Split a reward by orthonormal columns: its norm inside their span, and the residual r_perp outside."""
    if not np.allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), rtol=0, atol=1e-8):
        raise ValueError("the columns are not orthonormal: the theorems need a projection")
    coordinates = vectors.T @ theta
    return float(np.linalg.norm(coordinates)), theta - vectors @ coordinates


def pilot_error(pilot: np.ndarray, residual: np.ndarray) -> float:
    """Return e_r, the distance of a pilot's residual from the true one."""
    return float(np.linalg.norm(pilot - residual))


# Bounds on the regret after t rounds, one per theorem. Each holds for runs with the radius of its name in `radius`.


def exact(t: ArrayLike, c: Constants) -> np.ndarray:
    """Bound the regret when the reward lies inside the subspace (Theorem 1, exact smoothness)."""
    return 2 * beta0(np.asarray(t) + 1, *c) * potential(t, c.k, c.ridge, c.bound_x)


def full(t: ArrayLike, c: Constants, d: int) -> np.ndarray:
    """Bound the regret of LinUCB in all d dimensions (the corollary that compares with it): Theorem 1 with d for k."""
    return exact(t, c._replace(k=d))


def generic(t: ArrayLike, c: Constants, nu_k: float, s_k_bar: float) -> np.ndarray:
    """Bound the regret when the residual of no arm exceeds nu_k (Theorem 2, generic robust)."""
    srl, crw = envelope(t, c, nu_k)
    return oracle(t, c._replace(size=s_k_bar), srl, crw)


def envelope(t: ArrayLike, c: Constants, nu_k: float) -> tuple[np.ndarray, np.ndarray]:
    """Bound SRL_t and CRW_t by nu_k alone (the corollary that makes Theorem 2 a special case of Theorem 3)."""
    return nu_k * potential(t, c.k, c.ridge, c.bound_x), 2 * nu_k * np.asarray(t, float)


def oracle(t: ArrayLike, c: Constants, srl: ArrayLike, crw: ArrayLike) -> np.ndarray:
    """Bound the regret by the leverage and width of the true residual (Theorem 3, a posteriori oracle)."""
    return exact(t, c) + 2 * np.asarray(srl) * potential(t, c.k, c.ridge, c.bound_x) + crw


def estimated(t: ArrayLike, c: Constants, srl: ArrayLike, crw: ArrayLike, error: float) -> np.ndarray:
    """Bound the regret by the leverage, width and error of a pilot's residual (Theorem 4, estimated residual)."""
    missed = c.bound_x * error
    inflated = np.asarray(srl) + missed * potential(t, c.k, c.ridge, c.bound_x)
    return oracle(t, c, inflated, crw) + 2 * missed * np.asarray(t, float)


def uninflated(t: ArrayLike, c: Constants, srl: ArrayLike, crw: ArrayLike) -> np.ndarray:
    """Bound the regret of a radius that leaves the residual out (the proposition on no inflation)."""
    spent = potential(t, c.k, c.ridge, c.bound_x) + np.asarray(t, float)
    return exact(t, c) + np.asarray(srl) * spent + crw


BOUNDS = {f.__name__: f for f in (exact, generic, oracle, estimated, uninflated)}


class Growth(NamedTuple):
    """Log-log slopes of SRL_t and CRW_t; the corollary on benign residuals asks for 0 and at most 1/2."""

    srl: float
    crw: float


def benign(t: np.ndarray, srl: np.ndarray, crw: np.ndarray) -> Growth:
    """Measure how leverage and width grow over the last half of the horizon (the corollary on benign residuals)."""
    return Growth(_growth(t, srl), _growth(t, crw))


def _growth(t: np.ndarray, path: np.ndarray) -> float:
    """Return the least-squares slope of log path on log t over t > T/2, zero for a path of rounding errors."""
    if _vanishes(t, path):
        return 0.0
    late = (2 * t > t[-1]) & (path > 0)
    x = np.log(t[late]) - np.log(t[late]).mean()
    return float(x @ np.log(path[late]) / (x @ x))


def _vanishes(t: np.ndarray, path: np.ndarray) -> bool:
    return bool(np.all(path <= ROUNDING * t))


# Two conventions of what the k-dimensional subspace is, each with the gap that protects it.


def bottom_gap(values: np.ndarray, k: int) -> float:
    """Return lambda_{k+1} - lambda_k, which separates u_1..u_k from all others."""
    return float(values[k] - values[k - 1])


def interior_gap(values: np.ndarray, k: int) -> float:
    """Return the smaller gap around u_2..u_{k+1}: u_1 below and u_{k+2} above are both neighbours."""
    return float(min(values[1] - values[0], values[k + 1] - values[k]))


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
    return float(max(_outside(one, other), _outside(other, one)))


def _outside(one: np.ndarray, other: np.ndarray) -> float:
    return np.linalg.norm(other - one @ (one.T @ other), 2)


def davis_kahan(clean: Basis, observed: Basis, eps: float, k: int, convention: str) -> Rotation:
    """Compare the subspaces of two Laplacians at distance eps (the lemma on projectors), in the convention named.

    Both bases hold u_1, u_2, … from the first on, and the values of the clean one reach past the subspace.
    """
    select, gap = CONVENTIONS[convention]
    distance = projector_distance(select(clean.vectors, k), select(observed.vectors, k))
    separation = gap(clean.values, k)
    return Rotation(distance, dk_ratio(eps, separation), eps <= separation / 4)


# One run against the bounds.


class Run(NamedTuple):
    """What one run did up to its checkpoints t: regret, SRL_t and CRW_t of a residual, and summed widths."""

    t: np.ndarray
    regret: np.ndarray
    srl: np.ndarray
    crw: np.ndarray
    widths: np.ndarray


class Check(NamedTuple):
    """A realised quantity and its bound, at every checkpoint."""

    realised: np.ndarray
    bound: np.ndarray

    @property
    def ratio(self) -> np.ndarray:
        """Return realised over bound: zero for nothing at all, infinite for something where nothing is allowed."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.realised == 0, 0.0, self.realised / self.bound)


class Robust(NamedTuple):
    """What the generic theorem knows: nu_k, and the bound on the norm of the reward."""

    nu_k: float
    s_k_bar: float


class Pilot(NamedTuple):
    """What the fourth theorem knows of one run: SRL_t and CRW_t of the pilot's residual, and its error."""

    srl: np.ndarray
    crw: np.ndarray
    error: float


def checks(run: Run, c: Constants, robust: Robust | None = None, pilot: Pilot | None = None) -> dict[str, Check]:
    """Set one run against all that applies to it: ``potential``, ``srl``, ``crw`` and the names of BOUNDS.

    Theorem 1 applies where there is no residual, Theorem 2 and the envelopes of SRL and CRW where ``robust`` is
    given, Theorem 4 where ``pilot`` is. A bound is a theorem for the radius of its name, for others a comparison.
    """
    found = {
        "potential": Check(run.widths, potential(run.t, c.k, c.ridge, c.bound_x)),
        "oracle": Check(run.regret, oracle(run.t, c, run.srl, run.crw)),
        "uninflated": Check(run.regret, uninflated(run.t, c, run.srl, run.crw)),
    }
    if _vanishes(run.t, run.srl) and _vanishes(run.t, run.crw):
        found["exact"] = Check(run.regret, exact(run.t, c))
    if robust is not None:
        srl, crw = envelope(run.t, c, robust.nu_k)
        found |= {"srl": Check(run.srl, srl), "crw": Check(run.crw, crw)}
        found["generic"] = Check(run.regret, generic(run.t, c, *robust))
    if pilot is not None:
        found["estimated"] = Check(run.regret, estimated(run.t, c, *pilot))
    return found
