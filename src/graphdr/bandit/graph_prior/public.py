"""The graph prior on plain arrays, for people who play or ask without the workflow; inputs are checked here."""

import numpy as np

from graphdr.bandit import linucb
from graphdr.bandit.graph_prior import evidence, known, model, play
from graphdr.bandit.linucb import Run
from graphdr.core.errors import UserError
from graphdr.theory.gaussian import thompson_bound, ucb_bound
from graphdr.theory.outcome import Outcome


def run_graph_prior(
    run: Run, rng: np.random.Generator, *, thompson: bool = False, every: int = linucb.EVERY
) -> Outcome:
    """Play the graph prior on a run, with nothing to be set.

    The reward of an arm is taken as part graph, part its own; the rewards seen say how much of each, how large the
    noise is and how many columns matter (docs/graph_prior.md).

    Parameters
    ----------
    run : Run
        With features and their roughness, as ``graphdr.graded_features`` returns them.
    rng : Generator
        It draws the first 20 arms and what Thompson sampling needs.
    thompson : bool, default=False
        Play the best candidate of a draw from the posterior in place of the largest upper bound.
    every : int
        Sums are kept for every so many rounds.

    Returns
    -------
    Outcome
        Its ``fit`` has the weights found last.

    Examples
    --------
    >>> graph = graphdr.largest_component(graphdr.sbm(60, graphdr.stream(0, "graph"), blocks=3, p_in=0.5, p_out=0.05))
    >>> low = graphdr.low_eigenpairs(graph, 24)
    >>> theta = graphdr.smooth_reward(low.vectors[:, 1:4], graphdr.stream(0, "theta"))
    >>> spec = {"arms": 5, "candidates": "uniform", "horizon": 2000, "noise": 0.1}
    >>> rounds = graphdr.draw_rounds(0, spec, graph.n, instance=0, seed=0)
    >>> features, roughness = graphdr.graded_features("laplacian_low", low)
    >>> run = graphdr.Run(theta, rounds, features, roughness=roughness)
    >>> ours = graphdr.run_graph_prior(run, graphdr.stream(0, "first rounds"))
    >>> [full] = graphdr.run_linucb([graphdr.Run(theta, rounds)], 1.0)
    >>> bool(5 * ours.regret[-1] < full.regret[-1])
    True
    """
    if run.features is None or run.roughness is None:
        raise UserError("a run of the graph prior needs features and their roughness: see graphdr.graded_features")
    for columns in ((run.features, run.roughness), *([run.beside] if run.beside else [])):
        _check(len(run.theta), *columns)
    rounds, candidates = run.stream.arms.shape
    first = rng.integers(candidates, size=min(play.FIRST, rounds))
    choices = play.play(run, first, rng if thompson else None)
    fit = known.describe(run, choices, thompson_bound if thompson else ucb_bound)
    return linucb.measure(run, choices.arms, every=every)._replace(fit=fit)


def log_bayes_factor(arms: np.ndarray, rewards: np.ndarray, features: np.ndarray, roughness: np.ndarray) -> float:
    """Return ln B of a graph: how far rewards of arms, such as logged random pulls, speak for it.

    B is the evidence for rewards that are part graph, part each arm's own, over that for independent arms. Above 2, the
    rewards speak for the graph; below, they do not show it (yet).

    Parameters
    ----------
    arms, rewards : ndarray of shape (rounds,)
        The arm that was played in every round, as a number, and what it paid.
    features : ndarray of shape (n, J)
        Those of all arms, as ``graphdr.graded_features`` returns them.
    roughness : ndarray of shape (J,)
        That of every column.

    Returns
    -------
    float

    Examples
    --------
    >>> graph = graphdr.largest_component(graphdr.sbm(60, graphdr.stream(0, "graph"), blocks=3, p_in=0.5, p_out=0.05))
    >>> low, rng = graphdr.low_eigenpairs(graph, 24), graphdr.stream(0, "log")
    >>> theta = graphdr.smooth_reward(low.vectors[:, 1:4], rng)
    >>> arms = rng.integers(graph.n, size=500)
    >>> rewards = theta[arms] + 0.1 * rng.standard_normal(500)
    >>> features, roughness = graphdr.graded_features("laplacian_low", low)
    >>> graphdr.log_bayes_factor(arms, rewards, features, roughness) > 2
    True
    >>> graphdr.log_bayes_factor(arms, rewards, rng.permutation(features), roughness) > 2  # rows of other arms
    False
    """
    arms, rewards, features = np.asarray(arms), np.asarray(rewards, float), np.asarray(features)
    _check(len(features), features, roughness)
    if arms.shape != rewards.shape or arms.ndim != 1 or not len(arms):
        raise UserError(f"one reward for every arm played: arms have shape {arms.shape}, rewards {rewards.shape}")
    if not np.issubdtype(arms.dtype, np.integer) or arms.min() < 0 or arms.max() >= len(features):
        raise UserError(f"arms are rows of the features, whole numbers from 0 to {len(features) - 1}")
    if not np.isfinite(rewards).all():
        raise UserError("rewards must be finite numbers")
    return evidence.log_bayes_factor(model.statistics(len(features), arms, rewards), model.columns(features, roughness))


def _check(n: int, features: np.ndarray, roughness: np.ndarray) -> None:
    """Refuse features that do not fit to the arms or to their roughness."""
    if np.ndim(features) != 2 or features.shape != (n, np.size(roughness)):
        shape = np.shape(features)
        raise UserError(f"features of {n} arms have a row for each, and a column for each roughness; not {shape}")
    if not (np.isfinite(features).all() and np.isfinite(roughness).all() and np.min(roughness, initial=0.0) >= 0):
        raise UserError("features must be finite numbers, and their roughness finite and at least zero")
