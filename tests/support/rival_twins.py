"""Slow, obvious twins of the rivals: their papers' formulas, with fresh inverses and fresh components every round."""

import numpy as np
from scipy.optimize import brentq

from tests.support import twins


def thompson(features, v0, theta, arms, noise, alpha, rng) -> np.ndarray:
    """Play LinTS with a square root of the covariance that is checked in every round."""
    v, b = np.array(v0, float), np.zeros(len(v0))
    half = np.linalg.cholesky(np.linalg.inv(v)).T
    chosen = []
    for t, candidates in enumerate(arms):
        assert np.allclose(half.T @ half, np.linalg.inv(v), atol=1e-7)
        w = np.linalg.solve(v, b) + alpha * half.T @ rng.standard_normal(len(b))
        best = np.argmax(features[candidates] @ w)  # the first maximum
        x = features[candidates[best]]
        v, b = v + np.outer(x, x), b + x * (theta[candidates[best]] + noise[t, best])
        half = twins.narrowed(half, x)
        chosen.append(candidates[best])
    return np.array(chosen)


def graph_ucb(adjacency, theta, arms, noise, alpha, weight, sigma, delta) -> np.ndarray:
    """Play GraphUCB with the random-walk Laplacian; a tiny ridge times degrees is the symmetric form's own."""
    n, degree = len(theta), adjacency.sum(axis=1)
    laplacian = np.eye(n) - adjacency / degree[:, None]
    pulls, sums, chosen = np.zeros(n), np.zeros(n), []
    for t, candidates in enumerate(arms):
        estimate = np.linalg.solve(np.diag(pulls + 1e-6) + weight * laplacian, sums)
        least = np.maximum(pulls, 1)
        scores = []
        for i in candidates:
            others = np.arange(n) != i
            count = pulls[i] + weight**2 * np.sum(laplacian[i, others] ** 2 / least[others])
            count += 2 * weight * laplacian[i, i]
            beta = np.sqrt(weight) * abs(laplacian[i] @ (sums / least))
            beta += sigma * np.sqrt(2 * np.log(np.sqrt((weight + pulls[i]) / weight) / delta))
            scores.append(estimate[i] + alpha * beta / np.sqrt(count))
        best = np.argmax(scores)
        arm = candidates[best]
        pulls[arm] += 1
        sums[arm] += theta[arm] + noise[t, best]
        chosen.append(arm)
    return np.array(chosen)


def club(adjacency, theta, arms, noise, alpha) -> np.ndarray:
    """Play CLUB with the components of the graph that is left, found anew in every round."""
    n, edges = len(theta), adjacency > 0
    pulls, sums, chosen = np.zeros(n), np.zeros(n), []
    for t, candidates in enumerate(arms):
        label = _components(edges)
        scores = []
        for arm in candidates:
            members = label == label[arm]
            count = pulls[members].sum()
            scores.append(sums[members].sum() / max(count, 1) + alpha * _cb(count))
        best = np.argmax(scores)
        arm = candidates[best]
        pulls[arm] += 1
        sums[arm] += theta[arm] + noise[t, best]
        means = sums / np.maximum(pulls, 1)
        for other in np.flatnonzero(edges[arm]):
            if abs(means[arm] - means[other]) > alpha * (_cb(pulls[arm]) + _cb(pulls[other])):
                edges[arm, other] = edges[other, arm] = False
        chosen.append(arm)
    return np.array(chosen)


def _cb(count):
    return np.sqrt((1 + np.log(1 + count)) / (1 + count))


def _components(edges):
    """Label every node with the smallest node that it is connected to."""
    label = np.arange(len(edges))
    while True:
        smallest = np.minimum(label, np.where(edges, label, len(label)).min(axis=1))
        if np.array_equal(smallest, label):
            return label
        label = smallest


def corral(features, grid, theta, arms, noise, alpha, ridge, rng) -> np.ndarray:
    """Play Corral as its paper prints it, each learner a LinUCB that is told its own rewards alone."""
    rounds, learners = len(arms), len(grid)
    v, b = [ridge * np.eye(k) for k in grid], [np.zeros(k) for k in grid]
    p, rates = np.full(learners, 1 / learners), np.full(learners, np.sqrt(learners / rounds))
    mixed, least = p.copy(), np.full(learners, 1 / (2 * learners))
    rewards, chosen = [], []
    for t, candidates in enumerate(arms):
        player = min(np.searchsorted(np.cumsum(mixed), rng.random(), side="right"), learners - 1)
        inverse, z = np.linalg.inv(v[player]), features[candidates, : grid[player]]
        scores = z @ inverse @ b[player] + [alpha * twins.norm(row, inverse) for row in z]
        best = np.argmax(scores)
        rewards.append(theta[candidates[best]] + noise[t, best])
        v[player], b[player] = v[player] + np.outer(z[best], z[best]), b[player] + z[best] * rewards[-1]
        spread = np.ptp(rewards)
        losses = np.zeros(learners)
        losses[player] = ((max(rewards) - rewards[-1]) / spread if spread else 0.5) / mixed[player]
        p = _log_barrier(p, losses, rates)
        mixed = (1 - 1 / rounds) * p + 1 / rounds / learners
        low = mixed < least
        least = np.where(low, mixed / 2, least)
        rates = np.where(low, rates * np.exp(1 / np.log(max(rounds, 2))), rates)
        chosen.append(candidates[best])
    return np.array(chosen)


def _log_barrier(p, losses, rates):
    """Return the chances of mirror descent: 1 / p grows by rate (loss - shift), with the shift that keeps their sum."""
    if not losses.any():
        return p
    pole = (1 / p + rates * losses) / rates
    shift = brentq(lambda s: np.sum(1 / (1 / p + rates * (losses - s))) - 1, 0, min(pole) * (1 - 1e-12), xtol=1e-15)
    return 1 / (1 / p + rates * (losses - shift))


def worst(theta, arms, noise, rng) -> np.ndarray:
    """Play the candidate of the least expected reward."""
    return np.array([min(candidates, key=lambda arm: theta[arm]) for candidates in arms])


def random_play(theta, arms, noise, rng) -> np.ndarray:
    """Play a random candidate."""
    return twins.random_policy(arms.shape[1], arms, theta, rng("random")).arms


# Of policies that need only the rounds, and random numbers by purpose: (theta, arms, noise, rng) -> arms.
TWINS = {"worst": worst, "random": random_play}
