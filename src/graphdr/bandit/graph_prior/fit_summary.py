"""What theory says of a run of the graph prior if the weights of its last fit are the true ones."""

from collections.abc import Callable

import numpy as np

from graphdr.bandit.environment import Rounds
from graphdr.bandit.graph_prior import model
from graphdr.bandit.graph_prior.model import Columns, Weights, shares
from graphdr.bandit.graph_prior.play import FIRST, Choices
from graphdr.bandit.method import BanditProblem
from graphdr.theory import gaussian
from graphdr.theory.results import Fit


def prior_columns(weights: Weights, basis: Columns) -> np.ndarray:
    """Return the fitted columns, each times the standard deviation of its weight over that of the noise."""
    fitted = slice(weights.columns)
    return basis.features[:, fitted] * np.sqrt(weights.scale * shares(basis, weights.rho)[fitted])


def describe(problem: BanditProblem, rounds: Rounds, choices: Choices, bound: Callable[..., float]) -> Fit | None:
    """Return the last fit of a run and what follows from it; None if the run was too short for a fit.

    ``bound`` is the one of theory.gaussian for the policy that was played.
    """
    if not choices.fits:
        return None
    (_, weights), (horizon, arms) = choices.fits[-1], rounds.arms.shape
    candidates = model.candidates(problem.graded_features, problem.second_basis)
    columns = prior_columns(weights, candidates[weights.basis])
    prior = columns, weights.residual
    gain = gaussian.information_gain(*prior, np.bincount(choices.arms, minlength=len(problem.theta)).astype(float))
    return Fit(
        fit_columns=weights.columns,
        fit_rho=weights.rho,
        fit_scale=weights.scale,
        fit_residual=weights.residual,
        fit_noise=weights.noise,
        fit_basis=weights.basis,
        fit_share=gaussian.expected_share(*prior, weights.columns),
        true_share=gaussian.true_share(problem.theta, columns),
        gain=gain,
        gain_bound=bound(gain, gaussian.greatest_variance(*prior), weights.noise, horizon, arms, FIRST),
    )
