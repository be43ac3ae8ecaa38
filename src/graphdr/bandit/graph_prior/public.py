"""The Bayes factor of a graph from plain arrays, whose shapes are checked here."""

import numpy as np

from graphdr.bandit.graph_prior import evidence, model
from graphdr.core.errors import UserError


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
    check_columns(len(features), features, roughness)
    if arms.shape != rewards.shape or arms.ndim != 1 or not len(arms):
        raise UserError(f"one reward for every arm played: arms have shape {arms.shape}, rewards {rewards.shape}")
    if not np.issubdtype(arms.dtype, np.integer) or arms.min() < 0 or arms.max() >= len(features):
        raise UserError(f"arms are rows of the features, whole numbers from 0 to {len(features) - 1}")
    if not np.isfinite(rewards).all():
        raise UserError("rewards must be finite numbers")
    return evidence.log_bayes_factor(model.statistics(len(features), arms, rewards), model.columns(features, roughness))


def check_columns(n: int, features: np.ndarray, roughness: np.ndarray) -> None:
    """Refuse features that do not fit to the arms or to their roughness."""
    if np.ndim(features) != 2 or features.shape != (n, np.size(roughness)):
        shape = np.shape(features)
        raise UserError(f"features of {n} arms have a row for each, and a column for each roughness; not {shape}")
    if not (np.isfinite(features).all() and np.isfinite(roughness).all() and np.min(roughness, initial=0.0) >= 0):
        raise UserError("features must be finite numbers, and their roughness finite and at least zero")
