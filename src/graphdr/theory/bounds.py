"""The paper's bounds on the regret after t rounds, one per theorem, and runs set against them.

Each holds for runs with the radius of its name in ``bandit.radii``.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from graphdr.core.errors import required
from graphdr.theory.constants import OF_PILOT, Constants, after_pilot, beta0, potential
from graphdr.theory.results import RunResult

NEGLIGIBLE = 1e-9  # SRL and CRW of less than this per round are rounding errors: there is no residual


def exact(t: ArrayLike, c: Constants) -> np.ndarray:
    """Bound the regret when the reward lies inside the subspace (Theorem 1, exact smoothness); full LinUCB: k = d."""
    return 2 * beta0(np.asarray(t) + 1, *c) * potential(t, c.k, c.ridge, c.bound_x)


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


def a_priori(t: ArrayLike, c: Constants, srl: ArrayLike, crw: ArrayLike, error: float) -> np.ndarray:
    """Bound the regret as ``estimated`` does, by an error known before the run that the pilot seldom exceeds."""
    return estimated(t, after_pilot(c), srl, crw, error)


def uninflated(t: ArrayLike, c: Constants, srl: ArrayLike, crw: ArrayLike) -> np.ndarray:
    """Bound the regret of a radius that leaves the residual out (the proposition on no inflation)."""
    widths = potential(t, c.k, c.ridge, c.bound_x) + np.asarray(t, float)
    return exact(t, c) + np.asarray(srl) * widths + crw


BOUNDS: dict[str, Callable[..., np.ndarray]] = {
    f.__name__: f for f in (exact, generic, oracle, estimated, a_priori, uninflated)
}


def growth(t: np.ndarray, path: np.ndarray) -> float:
    """Return the least-squares slope of log path on log t over t > T/2, zero for a path of rounding errors.

    The corollary on benign residuals asks for 0 of SRL_t and at most 1/2 of CRW_t.
    """
    if _vanishes(t, path):
        return 0.0
    late = (2 * t > t[-1]) & (path > 0)
    x = np.log(t[late]) - np.log(t[late]).mean()
    return float(x @ np.log(path[late]) / (x @ x))


def _vanishes(t: np.ndarray, path: np.ndarray) -> bool:
    return bool(np.all(path <= NEGLIGIBLE * t))


class Check(NamedTuple):
    """A realised quantity and its bound, at every checkpoint."""

    realised: np.ndarray
    bound: np.ndarray

    @property
    def ratio(self) -> np.ndarray:
        """Return realised over bound: zero for nothing at all, infinite for something where nothing is allowed."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.realised == 0, 0.0, self.realised / self.bound)


def checks(
    run: RunResult, c: Constants, robust: tuple[float, float] | None = None, error: float | None = None
) -> dict[str, Check]:
    """Set one run against all that applies to it: ``potential``, ``srl``, ``crw`` and the names of BOUNDS.

    Theorem 1 applies where there is no residual, Theorem 2 and the envelopes of SRL and CRW where ``robust``
    (nu_k, s_k_bar) is given, Theorem 4 where the error of the pilot is, true or known beforehand. A bound is a theorem
    for the radius of its name, for others a comparison.
    """
    srl, crw, widths = required(run.srl, "srl"), required(run.crw, "crw"), required(run.widths, "widths")
    checked = {
        "potential": Check(widths, potential(run.t, c.k, c.ridge, c.bound_x)),
        "oracle": Check(run.regret, oracle(run.t, c, srl, crw)),
        "uninflated": Check(run.regret, uninflated(run.t, c, srl, crw)),
    }
    if _vanishes(run.t, srl) and _vanishes(run.t, crw):
        checked["exact"] = Check(run.regret, exact(run.t, c))
    if robust is not None:
        most_srl, most_crw = envelope(run.t, c, robust[0])
        checked |= {"srl": Check(srl, most_srl), "crw": Check(crw, most_crw)}
        checked["generic"] = Check(run.regret, generic(run.t, c, *robust))
    if error is not None:
        seen = run.srl_pilot, run.crw_pilot, error
        checked |= {name: Check(run.regret, BOUNDS[name](run.t, c, *seen)) for name in OF_PILOT}
    return checked
