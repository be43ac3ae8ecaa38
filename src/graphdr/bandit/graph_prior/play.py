"""Play with the graph prior: some rounds at random, then UCB or Thompson sampling, with weights fitted now and then.

Between two refits a round costs O(J^2). With x_i = (1, u_i), k_i = 1 / (1 + pulls residual) and q_i = x_i^T V^-1 x_i,
the posterior of f_i has mean k_i x_i^T m + residual k_i sum_i and variance noise (residual k_i + k_i^2 q_i).
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from graphdr.bandit.environment import by_candidate
from graphdr.bandit.graph_prior import model
from graphdr.bandit.graph_prior.evidence import fit
from graphdr.bandit.graph_prior.model import Statistics, Weights
from graphdr.bandit.graph_prior.posterior import normal_equations
from graphdr.bandit.linucb import Run
from graphdr.bandit.rank_one import WHOLE, dot, draw, multiply, subtract, through
from graphdr.core.compiled import inlined, kernel

# The rounds of the refits were chosen among eight schedules, BETA among 0.5, 1 and 2 (docs/graph_prior.md).
FIRST = 20  # random rounds before the first fit; after twice as many, the weights are fitted again, and so on
BETA = 1.0  # posterior standard deviations above the mean that UCB looks
SLACK = 1.0 + 1e-6  # an old width is a bound on the new one, whatever rounding did


class Choices(NamedTuple):
    """The arm of every round, and every refit: after how many rounds, and its weights."""

    arms: np.ndarray
    fits: list[tuple[int, Weights]]


def refits(horizon: int) -> Iterator[int]:
    """Yield the numbers of rounds after which the weights are fitted."""
    rounds = FIRST
    while rounds < horizon:
        yield rounds
        rounds *= 2


def play(run: Run, columns: np.ndarray, rng: np.random.Generator | None = None) -> Choices:
    """Play a run on its features and their roughness: UCB, or Thompson sampling with a generator of normal numbers.

    If the run has a basis beside them, every refit chooses among the first, the second and both.
    ``columns`` are those of the candidates that random play takes; the first rounds are as it plays them.
    """
    candidates = model.candidates((run.features, run.roughness), run.beside)
    arms, noise = run.stream.arms, by_candidate(run.stream)
    horizon, n = len(arms), len(run.theta)
    pulls, sums, chosen = np.zeros(n), np.zeros(n), np.empty(horizon, np.uint32)
    stops = [*refits(horizon), horizon]
    game = run.theta, arms, noise, pulls, sums, chosen
    within = _at_random(*game, columns, stops[0])
    fits = []
    for start, stop in pairwise(stops):
        seen = Statistics(pulls, sums, within)
        weights = fit(seen, *candidates)
        basis = candidates[weights.basis]
        fits.append((start, weights))
        v, right = (_padded(part) for part in normal_equations(weights, seen, basis))
        span = basis.features, 1 + weights.columns, weights.residual, weights.noise, start, stop
        if rng is None:
            inverse = np.linalg.inv(v + np.diag(np.diagonal(v) == 0))
            within += _ucb(*game, *span, 0.5 * (inverse + inverse.T), inverse @ right)
        else:
            half = np.linalg.inv(np.linalg.cholesky(v + np.diag(np.diagonal(v) == 0)))
            within += _thompson(*game, *span, half, half.T @ (half @ right), rng)
    return Choices(chosen, fits)


def _padded(part: np.ndarray) -> np.ndarray:
    """Add zeros up to whole blocks of a sum."""
    return np.pad(part, (0, -len(part) % WHOLE))


@inlined
def _record(arm, reward, pulls, sums):
    """Count a reward; return by how much it adds to the squares within arms."""
    count = pulls[arm]
    away = reward - sums[arm] / count if count > 0.0 else 0.0
    pulls[arm] = count + 1.0
    sums[arm] += reward
    return away * away * count / (count + 1.0)


@inlined
def _dot(x, y, k):
    """Sum x y in eight sums side by side, which hide their latency: ``dot`` may sum in any order, UCB in this one."""
    a = b = c = d = e = f = g = h = 0.0
    for i in range(0, k, 8):
        a += x[i] * y[i]
        b += x[i + 1] * y[i + 1]
        c += x[i + 2] * y[i + 2]
        d += x[i + 3] * y[i + 3]
        e += x[i + 4] * y[i + 4]
        f += x[i + 5] * y[i + 5]
        g += x[i + 6] * y[i + 6]
        h += x[i + 7] * y[i + 7]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel
def _at_random(theta, arms, noise, pulls, sums, chosen, columns, stop):
    within = 0.0
    for t in range(stop):
        arm = arms[t, columns[t]]
        chosen[t] = arm
        within += _record(arm, theta[arm] + noise[t, columns[t]], pulls, sums)
    return within


@kernel
def _ucb(theta, arms, noise, pulls, sums, chosen, features, size, residual, variance, start, stop, v, mean_of):
    # q_i never grows between two refits, so that the last one known bounds the score of an arm from above. Only while
    # a bound is the largest score is it replaced by the score itself: one or two candidates of a round.
    m, k = arms.shape[1], len(v)
    x, u, w = np.zeros((m, k)), np.empty((m, k)), np.empty(k)
    x[:, 0] = 1.0
    mean, kept, score, square = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    bound = np.full(len(pulls), np.inf)
    width = BETA * np.sqrt(variance)
    within = 0.0
    for t in range(start, stop):
        for c in range(m):
            arm = arms[t, c]
            row, z = x[c], features[arm]
            for i in range(1, size):
                row[i] = z[i - 1]
            keep = 1.0 / (1.0 + pulls[arm] * residual)
            mean[c] = keep * _dot(mean_of, row, k) + residual * keep * sums[arm]
            kept[c], square[c] = keep, -1.0
            score[c] = mean[c] + width * np.sqrt(residual * keep + keep * keep * bound[arm])
        while True:
            best = 0
            for c in range(1, m):
                if score[c] > score[best]:
                    best = c
            if square[best] >= 0.0:
                break
            multiply(v, x[best], u[best], k)
            q = max(_dot(x[best], u[best], k), 0.0)
            keep = kept[best]
            square[best], bound[arms[t, best]] = q, SLACK * q
            score[best] = mean[best] + width * np.sqrt(residual * keep + keep * keep * q)
        arm = arms[t, best]
        chosen[t] = arm
        reward = theta[arm] + noise[t, best]
        within += _record(arm, reward, pulls, sums)
        after = 1.0 / (1.0 + pulls[arm] * residual)
        change = kept[best] * after
        scale = 1.0 / (1.0 + change * square[best])
        step, root = after * (reward - mean[best]) * scale, np.sqrt(change * scale)
        for i in range(k):
            mean_of[i] += u[best, i] * step
            w[i] = u[best, i] * root
        subtract(v, w, k)
    return within


@kernel
def _thompson(
    theta, arms, noise, pulls, sums, chosen, features, size, residual, variance, start, stop, half, mean_of, rng
):
    # V^-1 = Q^T Q: (b, w) is drawn as its mean + Q^T z with normal numbers z of the noise's variance. What a play adds
    # to V and to the mean waits for the next round, which needs every row of Q anyway.
    m, k = arms.shape[1], len(half)
    x, p, u, z, drawn = np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(k), np.empty(k)
    sigma, own = np.sqrt(variance), np.empty(m)
    square = within = 0.0
    for t in range(start, stop):
        for i in range(size):
            z[i] = sigma * rng.standard_normal()
        for c in range(m):
            own[c] = sigma * rng.standard_normal()
        drawn[:] = mean_of
        draw(half, p, u, square, z, drawn, k)
        best, top = 0, -np.inf
        for c in range(m):
            arm = arms[t, c]
            graph = drawn[0] + dot(drawn[1:], features[arm], size - 1)
            keep = 1.0 / (1.0 + pulls[arm] * residual)
            score = keep * graph + (residual * keep * sums[arm] + np.sqrt(residual * keep) * own[c])
            if score > top:
                best, top = c, score
        arm = arms[t, best]
        chosen[t] = arm
        reward = theta[arm] + noise[t, best]
        keep, before = 1.0 / (1.0 + pulls[arm] * residual), sums[arm]
        within += _record(arm, reward, pulls, sums)
        after = 1.0 / (1.0 + pulls[arm] * residual)
        # V gains keep after x x^T, r gains after (reward - residual keep sum) x: a row and its reward.
        length = np.sqrt(keep * after)
        y = after * (reward - residual * keep * before) / length
        row = features[arm]
        x[0] = length
        for i in range(1, size):
            x[i] = length * row[i - 1]
        square = through(half, x, p, u, k)
        step = (y - dot(mean_of, x, k)) / (1.0 + square)
        for i in range(k):
            mean_of[i] += step * u[i]
    return within
