"""What theory says of a run of the graph prior, were the weights of its last fit known to be true."""

from collections.abc import Callable

import numpy as np

from graphdr.bandit.graph_prior import model
from graphdr.bandit.graph_prior.model import Columns, Weights, shares
from graphdr.bandit.graph_prior.play import FIRST, Choices
from graphdr.bandit.linucb import Run
from graphdr.theory import gaussian
from graphdr.theory.outcome import Fit


def prior_columns(weights: Weights, basis: Columns) -> np.ndarray:
    """Return the columns found, each times the standard deviation of its weight over that of the noise."""
    found = slice(weights.columns)
    return basis.features[:, found] * np.sqrt(weights.scale * shares(basis, weights.rho)[found])


def describe(run: Run, choices: Choices, bound: Callable[..., float]) -> Fit | None:
    """Return the last fit of a run and what follows from it; None if it was too short for a fit.

    ``bound`` is the one of theory.gaussian for the policy that was played.
    """
    if not choices.fits:
        return None
    (_, weights), (rounds, candidates) = choices.fits[-1], run.stream.arms.shape
    first = run.features, run.roughness
    columns = prior_columns(weights, model.candidates(first, run.beside)[weights.basis])
    prior = columns, weights.residual
    gain = gaussian.information_gain(*prior, np.bincount(choices.arms, minlength=len(run.theta)).astype(float))
    return Fit(
        fit_columns=weights.columns,
        fit_rho=weights.rho,
        fit_scale=weights.scale,
        fit_residual=weights.residual,
        fit_noise=weights.noise,
        fit_basis=weights.basis,
        fit_share=gaussian.expected_share(*prior, weights.columns),
        true_share=gaussian.true_share(run.theta, columns),
        gain=gain,
        gain_bound=bound(gain, gaussian.greatest_variance(*prior), weights.noise, rounds, candidates, FIRST),
    )
