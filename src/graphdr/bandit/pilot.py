"""What a short pilot says beforehand: an estimated reward per node, from one of several sources of rewards.

Where arms are nodes, the model of rewards is the mean of each; where they are contexts, it is a ridge regression on
them. Adding a source is one function here.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphdr.bandit.arm_set import ArmSet, Sparse
from graphdr.core.errors import check_dense, required
from graphdr.graphs import arm_features

EXPLORED = 0.5  # share of logged rounds in which any arm was as likely as any other


class Pilot(NamedTuple):
    """What a pilot knows of every node: an estimated reward, pulls, and the rewards' sum and sum of squares.

    The rounds behind it, nodes played and rewards paid, are None where they were not kept.
    """

    theta: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    sums_of_squares: np.ndarray
    nodes: np.ndarray | None = None
    rewards: np.ndarray | None = None


def play(
    theta: np.ndarray, noise: float, rounds: int, rng: np.random.Generator, chance: np.ndarray | None = None
) -> Pilot:
    """Play random nodes, uniform or by their chance, and estimate each by its mean reward.

    A random one of uniform candidates is a random node, so no candidates are drawn and one pilot serves every
    way to draw them. With the same stream a smaller budget is the beginning of a larger one.
    """
    n = len(theta)
    node_rng, noise_rng = rng.spawn(2)
    nodes = node_rng.integers(n, size=rounds) if chance is None else node_rng.choice(n, rounds, p=chance)
    rewards = theta[nodes] + noise * noise_rng.standard_normal(rounds)
    pulls = np.bincount(nodes, minlength=n).astype(float)
    sums, sums_of_squares = (np.bincount(nodes, values, minlength=n) for values in (rewards, rewards**2))
    return Pilot(means(nodes, rewards, n), pulls, sums, sums_of_squares, nodes, rewards)


def means(nodes: np.ndarray, rewards: np.ndarray, n: int) -> np.ndarray:
    """Return the mean reward of every node, of all rewards for those never played."""
    pulls, sums = np.bincount(nodes, minlength=n), np.bincount(nodes, rewards, minlength=n)
    estimate = np.full(n, rewards.mean())
    np.divide(sums, pulls, out=estimate, where=pulls > 0)
    return estimate


def pilot_error(estimate: np.ndarray, theta: np.ndarray, vectors: np.ndarray) -> float:
    """Return e_r = ||r_hat - r_perp||, the true error of the residual outside orthonormal columns."""
    return arm_features.tail(estimate - theta, vectors)


def error_bound(pilot: Pilot, noise: float, vectors: np.ndarray, chance: float) -> float:
    """Return an e_r, known before the run, that a pilot of means exceeds with at most this chance.

    Given the pulls, the error is Gaussian with variance noise^2 / pulls on every node, so that its squared norm
    outside of the orthonormal columns is a sum of weighted chi-squares (Laurent and Massart 2000, Lemma 1). A node
    never pulled may be off by its estimate and the whole norm of a unit reward.
    """
    seen = pilot.pulls > 0
    variance = np.divide(noise**2, pilot.pulls, out=np.zeros(len(seen)), where=seen)
    leverage = np.sum(vectors**2, axis=1)
    inside = vectors.T @ (variance[:, None] * vectors)
    total = variance @ (1 - leverage)  # the trace, squared Frobenius norm and a bound on the norm of their covariance
    squares = variance**2 @ (1 - 2 * leverage) + np.sum(inside**2)
    x = np.log(1 / chance)
    noisy = total + 2 * np.sqrt(max(squares, 0.0) * x) + 2 * variance.max() * x
    return float(np.sqrt(max(noisy, 0.0)) + np.linalg.norm(1 + np.abs(pilot.theta[~seen])))


class Setting(NamedTuple):
    """What a pilot is played on: the arms, the nodes' true rewards, and how often logs show each arm."""

    arm_set: ArmSet
    theta: np.ndarray
    noise: float
    ridge: float
    popularity: np.ndarray  # of the nodes


def prefix(setting: Setting, rounds: int, rng: np.random.Generator) -> Pilot:
    """Play uniformly random arms before all else, and fit the model to their rewards."""
    arm_set = setting.arm_set
    played = play(arm_set(setting.theta), setting.noise, rounds, rng)
    if arm_set.rows is None:
        return played
    arms, rewards = required(played.nodes, "nodes"), required(played.rewards, "rewards")
    return _on_nodes(arm_set, played, fit(arm_set, len(setting.theta), arms, rewards, setting.ridge))


def logged(setting: Setting, rounds: int, rng: np.random.Generator) -> Pilot:
    """Take logged rounds with the chance of every arm, and correct the model by what they add to it (doubly robust)."""
    return _doubly_robust(setting, rounds, rng, folds=1)


def cross_fitted(setting: Setting, rounds: int, rng: np.random.Generator) -> Pilot:
    """Take the same logged rounds, and correct in either half of them the model that the other half gives."""
    return _doubly_robust(setting, rounds, rng, folds=2)


def _doubly_robust(setting: Setting, rounds: int, rng: np.random.Generator, folds: int) -> Pilot:
    """Play with the chance of every arm, correct the model of the opposite fold in each, and return to the nodes."""
    arm_set, chance = setting.arm_set, propensities(setting)
    played = play(arm_set(setting.theta), setting.noise, rounds, rng, chance)
    arms, rewards = required(played.nodes, "nodes"), required(played.rewards, "rewards")
    parts = [np.arange(start, rounds, folds) for start in range(folds)]
    values = np.zeros(len(chance))
    for here, other in zip(parts, parts[::-1], strict=True):
        model = fit(arm_set, len(setting.theta), arms[other], rewards[other], setting.ridge)
        values += corrected(arm_set, arms[here], rewards[here], chance, model) / folds
    if arm_set.rows is None:
        return played._replace(theta=values)
    each = rounds / len(values)  # as many plays as uniform ones would have been
    return _on_nodes(arm_set, played, ridge(arm_set.rows, np.full(len(values), each), each * values, setting.ridge))


SOURCES: dict[str, Callable[[Setting, int, np.random.Generator], Pilot]] = {
    f.__name__: f for f in (prefix, logged, cross_fitted)
}
PREFIX = prefix.__name__


def propensities(setting: Setting) -> np.ndarray:
    """Return the chance of every arm in a log: in half of the rounds uniform, else as popular as its nodes are."""
    popular = setting.arm_set(setting.popularity)
    return EXPLORED / len(popular) + (1 - EXPLORED) * popular / popular.sum()


def fit(arm_set: ArmSet, n: int, arms: np.ndarray, rewards: np.ndarray, penalty: float) -> np.ndarray:
    """Fit rewards of n nodes: their means, or a ridge regression where arms are contexts."""
    if arm_set.rows is None:
        return means(arms, rewards, n)
    pulls, sums = (np.bincount(arms, weights, arm_set.rows.shape[0]) for weights in (np.ones(len(arms)), rewards))
    return ridge(arm_set.rows, pulls, sums, penalty)


def ridge(rows: Sparse, pulls: np.ndarray, sums: np.ndarray, penalty: float) -> np.ndarray:
    """Return (X^T N X + penalty I)^-1 X^T y for contexts X that were played N times, with rewards that sum up to y."""
    from scipy.linalg import cho_factor, cho_solve

    check_dense("a ridge regression", rows.shape[1])
    gram = (rows.T @ (rows * pulls[:, None])).toarray()
    gram[np.diag_indices_from(gram)] += penalty
    return cho_solve(cho_factor(gram, overwrite_a=True), rows.T @ sums)


def corrected(
    arm_set: ArmSet, arms: np.ndarray, rewards: np.ndarray, chance: np.ndarray, model: np.ndarray
) -> np.ndarray:
    """Return the doubly robust reward of every arm: the model's, and what the rounds add to it by their chance."""
    predicted = arm_set(model)
    missed = (rewards - predicted[arms]) / chance[arms]
    return predicted + np.bincount(arms, missed, len(predicted)) / len(arms)


def _on_nodes(arm_set: ArmSet, played: Pilot, theta: np.ndarray) -> Pilot:
    """Return what rounds with contexts say of the nodes: a node is played with every context that holds it."""
    rows: Sparse = arm_set.rows
    held = rows.astype(bool).astype(float)
    return played._replace(
        theta=theta,
        pulls=held.T @ played.pulls,
        sums=rows.T @ played.sums,
        sums_of_squares=rows.T @ played.sums_of_squares,
    )
