"""Radius rules of LinUCB: how wide the confidence interval of every round is.

A rule computes a ``Radius`` from the inputs of a run. Its name is that of the bound in ``theory.bounds.BOUNDS`` that
holds for it; a constant radius and that of another paper have none.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphdr.core.errors import required
from graphdr.theory.constants import Constants, after_pilot, beta0, potential

CONSTANT, SPECTRAL = OF_NO_THEOREM = "constant", "spectral"  # of the paper: they need neither facts nor a pilot
THEORY_FACTS = ("zeta", "eps_l", "interior_gap")  # of a problem, behind nu_k
ERROR_BOUND = "pilot_error_bound"  # the fact that replaces the pilot's true error


class RadiusInputs(NamedTuple):
    """What a rule may use: rounds, constants, and the true residual or that of a pilot."""

    rounds: int
    constants: Constants | None = None
    alpha: float | None = None
    nu_k: float | None = None
    s_k_bar: float | None = None
    residual: np.ndarray | None = None  # the true r_perp, one entry per arm
    pilot_residual: np.ndarray | None = None  # a pilot's estimate of it …
    error: float | None = None  # … and e_r, how far off it is or, known beforehand, may be
    spectrum: np.ndarray | None = None  # eigenvalues of V_0, ascending


class Radius(NamedTuple):
    """A radius per round, whether the leverage of a residual is added to it, and that residual."""

    radius: np.ndarray
    inflation: float = 0.0
    residual: np.ndarray | None = None


def constant(inputs: RadiusInputs) -> Radius:
    """Use alpha in every round, as the experiments do."""
    return Radius(np.full(inputs.rounds, float(required(inputs.alpha, "alpha"))))


def spectral(inputs: RadiusInputs) -> Radius:
    """Use the radius of SpectralUCB (Valko et al., Spectral bandits for smooth graph functions, ICML 2014).

    Its effective dimension d is the largest with (d - 1) lambda_d <= T / ln(1 + T / ridge), where lambda_d are the
    eigenvalues of V_0. The reward has unit norm in that of V_0, as its C = 1 says.
    """
    spectrum, c = required(inputs.spectrum, "spectrum"), required(inputs.constants, "constants")
    volume = np.log(1.0 + inputs.rounds / c.ridge)
    dimension = 1 + np.flatnonzero(np.arange(len(spectrum)) * spectrum <= inputs.rounds / volume)[-1]
    width = 2.0 * c.noise * np.sqrt(dimension * volume + 2.0 * np.log(1.0 / c.delta)) + 1.0
    return Radius(np.full(inputs.rounds, width))


def exact(inputs: RadiusInputs) -> Radius:
    """Use the radius of Theorem 1, for a reward inside the subspace."""
    return Radius(_beta0(inputs))


def generic(inputs: RadiusInputs) -> Radius:
    """Use the radius of Theorem 2: all that a residual of at most nu_k could have done so far."""
    c = required(inputs.constants, "constants")._replace(size=required(inputs.s_k_bar, "s_k_bar"))
    before = potential(np.arange(inputs.rounds), c.k, c.ridge, c.bound_x)
    return Radius(_beta0(inputs._replace(constants=c)) + required(inputs.nu_k, "nu_k") * before)


def oracle(inputs: RadiusInputs) -> Radius:
    """Use the radius of Theorem 3, with what the true residual has done so far in place of the horizon's SRL_T."""
    return Radius(_beta0(inputs), 1.0, required(inputs.residual, "residual"))


def estimated(inputs: RadiusInputs) -> Radius:
    """Use the online radius of Theorem 4: what a pilot's residual has done so far, and what its error may hide."""
    residual, error = required(inputs.pilot_residual, "pilot_residual"), required(inputs.error, "error")
    c = required(inputs.constants, "constants")
    hidden = c.bound_x * error * potential(np.arange(1, 1 + inputs.rounds), c.k, c.ridge, c.bound_x)
    return Radius(_beta0(inputs) + hidden, 1.0, residual)


def a_priori(inputs: RadiusInputs) -> Radius:
    """Use the radius of Theorem 4 with an error known before the run, which the pilot seldom exceeds."""
    return estimated(inputs._replace(constants=after_pilot(required(inputs.constants, "constants"))))


def uninflated(inputs: RadiusInputs) -> Radius:
    """Use beta_t^0 alone whatever the residual, as in the proposition on no inflation."""
    return exact(inputs)


RADII: dict[str, Callable[[RadiusInputs], Radius]] = {
    f.__name__: f for f in (constant, spectral, exact, generic, oracle, estimated, a_priori, uninflated)
}
A_PRIORI = a_priori.__name__


def of_theorem(rule: str) -> bool:
    """Tell whether a rule is that of one of the paper's theorems, which starts from facts and a pilot."""
    return rule not in OF_NO_THEOREM


def facts_behind(rule: str) -> tuple[str, ...]:
    """Return the facts of a problem that a rule uses."""
    if not of_theorem(rule):
        return ()
    return (*THEORY_FACTS, ERROR_BOUND) if rule == A_PRIORI else THEORY_FACTS


def _beta0(inputs: RadiusInputs) -> np.ndarray:
    return beta0(np.arange(1, 1 + inputs.rounds), *required(inputs.constants, "constants"))
