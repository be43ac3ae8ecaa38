"""Where the rewards behind a pilot come from, and how a model of the nodes' rewards is fitted to them.

Where arms are nodes, the model is the mean of each; where they are contexts, it is a ridge regression on them. Adding
a source is one function here.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphdr.bandit.pilot import Pilot, means, play
from graphdr.bandit.pool import Pool
from graphdr.core.errors import check_dense

EXPLORED = 0.5  # share of logged rounds in which any arm was as likely as any other


class Setting(NamedTuple):
    """What a pilot is played on: the arms, the nodes' true rewards, and how often logs show each arm."""

    pool: Pool
    theta: np.ndarray
    noise: float
    ridge: float
    popularity: np.ndarray  # of the nodes


def prefix(setting: Setting, rounds: int, rng: np.random.Generator) -> Pilot:
    """Play uniformly random arms before all else, and fit the model to their rewards."""
    pool = setting.pool
    played = play(pool(setting.theta), setting.noise, rounds, rng)
    if pool.rows is None:
        return played
    return _on_nodes(pool, played, fit(pool, len(setting.theta), *_rounds(played), setting.ridge))


def logged(setting: Setting, rounds: int, rng: np.random.Generator) -> Pilot:
    """Take logged rounds with the chance of every arm, and correct the model by what they add to it (doubly robust)."""
    chance = propensities(setting)
    played = play(setting.pool(setting.theta), setting.noise, rounds, rng, chance)
    model = fit(setting.pool, len(setting.theta), *_rounds(played), setting.ridge)
    return _robust(setting, played, corrected(setting.pool, *_rounds(played), chance, model))


def cross_fitted(setting: Setting, rounds: int, rng: np.random.Generator) -> Pilot:
    """Take the same logged rounds, and correct in either half of them the model that the other half gives."""
    chance = propensities(setting)
    played = play(setting.pool(setting.theta), setting.noise, rounds, rng, chance)
    arms, rewards = _rounds(played)
    halves = [np.arange(start, rounds, 2) for start in (0, 1)]
    values = np.zeros(len(chance))
    for here, other in (halves, halves[::-1]):
        model = fit(setting.pool, len(setting.theta), arms[other], rewards[other], setting.ridge)
        values += corrected(setting.pool, arms[here], rewards[here], chance, model) / 2
    return _robust(setting, played, values)


SOURCES: dict[str, Callable[[Setting, int, np.random.Generator], Pilot]] = {
    f.__name__: f for f in (prefix, logged, cross_fitted)
}
PREFIX = prefix.__name__


def propensities(setting: Setting) -> np.ndarray:
    """Return the chance of every arm in a log: in half of the rounds uniform, else as popular as its nodes are."""
    popular = setting.pool(setting.popularity)
    return EXPLORED / len(popular) + (1 - EXPLORED) * popular / popular.sum()


def fit(pool: Pool, n: int, arms: np.ndarray, rewards: np.ndarray, penalty: float) -> np.ndarray:
    """Fit rewards of n nodes: their means, or a ridge regression where arms are contexts."""
    if pool.rows is None:
        return means(arms, rewards, n)
    pulls, sums = (np.bincount(arms, weights, pool.rows.shape[0]) for weights in (np.ones(len(arms)), rewards))
    return ridge(pool.rows, pulls, sums, penalty)


def ridge(rows: object, pulls: np.ndarray, sums: np.ndarray, penalty: float) -> np.ndarray:
    """Return (X^T N X + penalty I)^-1 X^T y for contexts X that were played N times, with rewards that sum up to y."""
    from scipy.linalg import cho_factor, cho_solve

    check_dense("a ridge regression", rows.shape[1])
    gram = (rows.T @ (rows * pulls[:, None])).toarray()
    gram[np.diag_indices_from(gram)] += penalty
    return cho_solve(cho_factor(gram, overwrite_a=True), rows.T @ sums)


def corrected(pool: Pool, arms: np.ndarray, rewards: np.ndarray, chance: np.ndarray, model: np.ndarray) -> np.ndarray:
    """Return the doubly robust reward of every arm: the model's, and what the rounds add to it by their chance."""
    predicted = pool(model)
    missed = (rewards - predicted[arms]) / chance[arms]
    return predicted + np.bincount(arms, missed, len(predicted)) / len(arms)


def _robust(setting: Setting, played: Pilot, values: np.ndarray) -> Pilot:
    """Bring doubly robust rewards of the arms back to the nodes."""
    pool = setting.pool
    if pool.rows is None:
        return played._replace(theta=values)
    each = len(played.rewards) / len(values)  # as many plays as uniform ones would have been
    return _on_nodes(pool, played, ridge(pool.rows, np.full(len(values), each), each * values, setting.ridge))


def _on_nodes(pool: Pool, played: Pilot, theta: np.ndarray) -> Pilot:
    """Return what rounds with contexts say of the nodes: a node is played with every context that holds it."""
    held = pool.rows.astype(bool).astype(float)
    return played._replace(
        theta=theta,
        pulls=held.T @ played.pulls,
        sums=pool.rows.T @ played.sums,
        sums_of_squares=pool.rows.T @ played.sums_of_squares,
    )


def _rounds(played: Pilot) -> tuple[np.ndarray, np.ndarray]:
    assert played.nodes is not None  # what was just played has its rounds
    assert played.rewards is not None
    return played.nodes, played.rewards
