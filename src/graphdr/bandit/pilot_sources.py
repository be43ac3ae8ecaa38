"""Where the rewards behind a pilot come from, and how a model of the nodes' rewards is fitted to them.

Where arms are nodes, the model is the mean of each; where they are contexts, it is a ridge regression on them. Adding
a source is one function here.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphdr.bandit.arm_set import ArmSet, Sparse
from graphdr.bandit.pilot import Pilot, means, play
from graphdr.core.errors import check_dense, required

EXPLORED = 0.5  # share of logged rounds in which any arm was as likely as any other


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
