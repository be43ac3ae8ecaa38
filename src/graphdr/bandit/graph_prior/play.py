"""Play with the graph prior: some rounds at random, then UCB or Thompson sampling, with weights fitted now and then.

Between two refits a round costs O(J^2). With x_i = (1, u_i), k_i = 1 / (1 + pulls residual) and q_i = x_i^T V^-1 x_i,
the posterior of f_i has mean k_i x_i^T m + residual k_i sum_i and variance noise (residual k_i + k_i^2 q_i).
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from graphdr.bandit.environment import Rounds, bandit_of
from graphdr.bandit.graph_prior import model
from graphdr.bandit.graph_prior.evidence import fit
from graphdr.bandit.graph_prior.model import Columns, Statistics, Weights, normal_equations, shares
from graphdr.bandit.linucb_core import first_maximum, multiply, update
from graphdr.bandit.method import BanditProblem
from graphdr.bandit.rank_one import WHOLE, dot, draw, through
from graphdr.core.compiled import inlined, kernel
from graphdr.theory import gaussian
from graphdr.theory.results import Fit

# The rounds of the refits were chosen among eight schedules, BETA among 0.5, 1 and 2 (docs/graph_prior.md).
FIRST = 20  # random rounds before the first fit; after twice as many, the weights are fitted again, and so on
BETA = 1.0  # posterior standard deviations above the mean that UCB looks
SLACK = 1.0 + 1e-6  # an old width is a bound on the new one, whatever rounding did


class Choices(NamedTuple):
    """The arm of every round, and every refit: after how many rounds, and its weights."""

    arms: np.ndarray
    fits: list[tuple[int, Weights]]


def play(
    problem: BanditProblem, rounds: Rounds, columns: np.ndarray, rng: np.random.Generator | None = None
) -> Choices:
    """Play on features and their roughness: UCB, or Thompson sampling with a generator of normal numbers.

    With a second basis every refit chooses among the first, the second and both. ``columns`` are those of the
    candidates that random play takes, as the first rounds do.
    """
    candidates = model.candidates(problem.graded_features, problem.second_basis)
    horizon, n = len(rounds.arms), len(problem.theta)
    bandit = bandit_of(problem.theta, rounds)
    history = pulls, sums, chosen = np.zeros(n), np.zeros(n), np.empty(horizon, np.uint32)
    stops = [min(FIRST, horizon)]
    while stops[-1] < horizon:
        stops.append(min(2 * stops[-1], horizon))
    within = _at_random(bandit, history, columns, stops[0])
    fits = []
    for start, stop in pairwise(stops):
        seen = Statistics(pulls, sums, within)
        weights = fit(seen, *candidates)
        basis = candidates[weights.basis]
        fits.append((start, weights))
        v, right = normal_equations(weights, seen, basis)
        missing = 0, -len(right) % WHOLE  # zeros up to whole blocks of a sum
        v, right = np.pad(v, missing), np.pad(right, missing)
        span = basis.features, 1 + weights.columns, weights.residual, weights.noise, start, stop
        if rng is None:
            inverse = np.linalg.inv(v + np.diag(np.diagonal(v) == 0))
            within += _ucb(bandit, history, span, 0.5 * (inverse + inverse.T), inverse @ right)
        else:
            half = np.linalg.inv(np.linalg.cholesky(v + np.diag(np.diagonal(v) == 0)))
            within += _thompson(bandit, history, span, half, half.T @ (half @ right), rng)
    return Choices(chosen, fits)


def prior_columns(weights: Weights, basis: Columns) -> np.ndarray:
    """Return the fitted columns, each times the standard deviation of its weight over that of the noise."""
    fitted = slice(weights.columns)
    return basis.features[:, fitted] * np.sqrt(weights.scale * shares(basis, weights.rho)[fitted])


def describe(problem: BanditProblem, rounds: Rounds, choices: Choices, bound: Callable[..., float]) -> Fit | None:
    """Return the last fit of a run and what theory says if its weights are the true ones; None without a fit.

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


@inlined
def _record(arm, reward, pulls, sums):
    """Count a reward; return by how much it adds to the squares within arms."""
    count = pulls[arm]
    distance = reward - sums[arm] / count if count > 0.0 else 0.0
    pulls[arm] = count + 1.0
    sums[arm] += reward
    return distance * distance * count / (count + 1.0)


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
def _at_random(bandit, history, columns, stop):
    theta, arms, noise = bandit
    pulls, sums, chosen = history
    within = 0.0
    for t in range(stop):
        arm = arms[t, columns[t]]
        chosen[t] = arm
        within += _record(arm, theta[arm] + noise[t, columns[t]], pulls, sums)
    return within


@kernel
def _ucb(bandit, history, span, v, estimate):
    # q_i never grows between two refits, so that the last one computed bounds the score of an arm from above. Only
    # while a bound is the largest score is it replaced by the score itself: one or two candidates of a round.
    theta, arms, noise = bandit
    pulls, sums, chosen = history
    features, size, residual, variance, start, stop = span
    m, k = arms.shape[1], len(v)
    x, u, w = np.zeros((m, k)), np.empty((m, k)), np.empty(k)
    x[:, 0] = 1.0
    mean, kept, score, square = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    bound = np.full(len(pulls), np.inf)
    width = BETA * np.sqrt(variance)
    within = 0.0
    for t in range(start, stop):
        for c in range(m):  # mean = k_i x_i^T estimate + residual k_i sum_i; the width is that of the bound on q_i
            arm = arms[t, c]
            row, z = x[c], features[arm]
            for i in range(1, size):
                row[i] = z[i - 1]
            keep = 1.0 / (1.0 + pulls[arm] * residual)
            mean[c] = keep * _dot(estimate, row, k) + residual * keep * sums[arm]
            kept[c], square[c] = keep, -1.0
            score[c] = mean[c] + width * np.sqrt(residual * keep + keep * keep * bound[arm])
        while True:
            best = first_maximum(score, m)
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
        # V gains k_i k_i' x x^T, with k_i before the reward and k_i' after it.
        after = 1.0 / (1.0 + pulls[arm] * residual)
        change = kept[best] * after
        scale = 1.0 / (1.0 + change * square[best])
        update(v, estimate, u[best], w, after * (reward - mean[best]) * scale, np.sqrt(change * scale), k)
    return within


@kernel
def _thompson(bandit, history, span, half, estimate, rng):
    # V^-1 = Q^T Q, and half is Q: (b, w) is drawn as its mean + Q^T z with normal numbers z of the noise's variance.
    # Q is updated for a play while the next (b, w) is drawn: both need all of its rows.
    theta, arms, noise = bandit
    pulls, sums, chosen = history
    features, size, residual, variance, start, stop = span
    m, k = arms.shape[1], len(half)
    x, p, u, z, drawn = np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(k), np.empty(k)
    sigma, arm_parts = np.sqrt(variance), np.empty(m)
    square = within = 0.0
    for t in range(start, stop):
        for i in range(size):
            z[i] = sigma * rng.standard_normal()
        for c in range(m):
            arm_parts[c] = sigma * rng.standard_normal()
        drawn[:] = estimate
        draw(half, p, u, square, z, drawn, k)
        best, top = 0, -np.inf
        for c in range(m):
            arm = arms[t, c]
            graph = drawn[0] + dot(drawn[1:], features[arm], size - 1)
            keep = 1.0 / (1.0 + pulls[arm] * residual)
            score = keep * graph + (residual * keep * sums[arm] + np.sqrt(residual * keep) * arm_parts[c])
            if score > top:
                best, top = c, score
        arm = arms[t, best]
        chosen[t] = arm
        reward = theta[arm] + noise[t, best]
        keep, before = 1.0 / (1.0 + pulls[arm] * residual), sums[arm]
        within += _record(arm, reward, pulls, sums)
        after = 1.0 / (1.0 + pulls[arm] * residual)
        # V gains keep after x x^T, r gains after (reward - residual keep sum) x: those of a row root x with reward y.
        root = np.sqrt(keep * after)
        y = after * (reward - residual * keep * before) / root
        row = features[arm]
        x[0] = root
        for i in range(1, size):
            x[i] = root * row[i - 1]
        square = through(half, x, p, u, k)
        step = (y - dot(estimate, x, k)) / (1.0 + square)
        for i in range(k):
            estimate[i] += step * u[i]
    return within
