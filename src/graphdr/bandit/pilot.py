"""What a short pilot says beforehand: an estimated reward per node."""

from typing import NamedTuple

import numpy as np

from graphdr.graphs import arm_features


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
