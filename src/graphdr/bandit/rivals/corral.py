"""Corral (Agarwal et al., 2017) over LinUCB with every k of a grid: a master that learns which of them to follow.

Agarwal, A., Luo, H., Neyshabur, B. and Schapire, R. Corralling a band of bandit algorithms. COLT 2017. Only the learner
that played is told the reward, as it is, as in the stochastic form (Pacchiano, A. et al. Model selection in contextual
stochastic bandit problems. NeurIPS 2020), whose second, smoothing step is left out.
"""

from collections.abc import Sequence

import numpy as np

from graphdr.bandit.environment import by_candidate
from graphdr.bandit.linucb import Run
from graphdr.bandit.rank_one import multiply, subtract
from graphdr.core.compiled import inlined, kernel

HALVINGS = 100  # of the interval that the normalising constant is in: more than a float can tell apart


def play(run: Run, grid: Sequence[int], alpha: float, ridge: float, rng: np.random.Generator) -> np.ndarray:
    """Return the arm of every round, from learners on the first k columns of the features, for every k of a grid.

    The loss of a reward is its distance from the largest so far, over the range of the rewards so far: in [0, 1],
    whatever the unit. The first learning rate is sqrt(learners / rounds).
    """
    grid = np.unique(np.asarray(grid, np.int64))
    features = np.ascontiguousarray(run.features[:, : grid[-1]])
    game = run.theta, run.stream.arms, by_candidate(run.stream)
    return _master(features, grid, *game, float(alpha), float(ridge), rng)


@inlined
def _descend(chances, rates, player, loss):
    """Take a step of mirror descent with the log barrier: 1 / p_i grows by rate_i (loss_i - shift), and sum p_i = 1."""
    low, high = 0.0, loss
    for _ in range(HALVINGS):
        shift = 0.5 * (low + high)
        total = 0.0
        for i in range(len(chances)):
            own = 1.0 / chances[i] + rates[i] * ((loss if i == player else 0.0) - shift)
            total += 1.0 / own if own > 0.0 else np.inf
        if total > 1.0:
            high = shift
        else:
            low = shift
    for i in range(len(chances)):
        chances[i] = 1.0 / (1.0 / chances[i] + rates[i] * ((loss if i == player else 0.0) - low))


@kernel
def _master(features, grid, theta, arms, noise, alpha, ridge, rng):
    (rounds, m), learners, widest = arms.shape, len(grid), features.shape[1]
    v, estimate = np.zeros((learners, widest, widest)), np.zeros((learners, widest))
    for i in range(widest):
        v[:, i, i] = 1.0 / ridge
    u, w = np.empty(widest), np.empty(widest)
    chances, mixed = np.full(learners, 1.0 / learners), np.full(learners, 1.0 / learners)
    rates, least = np.full(learners, np.sqrt(learners / rounds)), np.full(learners, 0.5 / learners)
    explore, growth = 1.0 / rounds, np.exp(1.0 / np.log(max(rounds, 2)))
    smallest, largest = np.inf, -np.inf
    chosen = np.empty(rounds, np.uint32)
    for t in range(rounds):
        draw, player = rng.random(), 0
        while player < learners - 1 and draw >= mixed[player]:
            draw -= mixed[player]
            player += 1
        k, inverse, weights = grid[player], v[player], estimate[player]
        best, top, mean, square = 0, -np.inf, 0.0, 0.0
        for c in range(m):
            x = features[arms[t, c]]
            value = length = 0.0
            for i in range(k):
                row = 0.0
                for j in range(k):
                    row += inverse[i, j] * x[j]
                length += row * x[i]
                value += weights[i] * x[i]
            score = value + alpha * np.sqrt(max(length, 0.0))
            if score > top:
                best, top, mean, square = c, score, value, length
        arm = arms[t, best]
        chosen[t] = arm
        reward = theta[arm] + noise[t, best]
        multiply(inverse, features[arm], u, k)
        scale = 1.0 / (1.0 + square)
        for i in range(k):
            weights[i] += (reward - mean) * scale * u[i]
            w[i] = np.sqrt(scale) * u[i]
        subtract(inverse, w, k)
        smallest, largest = min(smallest, reward), max(largest, reward)
        loss = (largest - reward) / (largest - smallest) if largest > smallest else 0.5
        _descend(chances, rates, player, loss / mixed[player])
        for i in range(learners):
            mixed[i] = (1.0 - explore) * chances[i] + explore / learners
            if mixed[i] < least[i]:
                least[i] = 0.5 * mixed[i]
                rates[i] *= growth
    return chosen
