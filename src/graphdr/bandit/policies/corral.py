"""Corral (Agarwal et al., 2017) over LinUCB with every k of a grid: a master that learns which of them to follow.

Agarwal, A., Luo, H., Neyshabur, B. and Schapire, R. Corralling a band of bandit algorithms. COLT 2017. Only the learner
that played is told the reward, as it is, as in the stochastic form (Pacchiano, A. et al. Model selection in contextual
stochastic bandit problems. NeurIPS 2020), whose second, smoothing step is left out.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphdr.bandit.environment import RandomNumbers, Rounds, bandit_of
from graphdr.bandit.linucb_core import multiply, update
from graphdr.bandit.method import (
    BASIS_NAMES,
    COUNTS,
    FLAG,
    NUMBER,
    POSITIVE,
    BanditProblem,
    BasisMethod,
    Choices,
    from_problem,
    grid_columns,
    setting,
)
from graphdr.core.compiled import inlined, kernel
from graphdr.core.errors import required

HALVINGS = 100  # of the interval that the normalising constant is in: more than a float can tell apart


@dataclass(frozen=True, kw_only=True)
class Corral(BasisMethod):
    """Follow one of several LinUCB learners per round: one on the first k columns for every k of a grid.

    The loss of a reward is its distance from the largest so far, over the range of the rewards so far: in [0, 1],
    whatever the unit. The first learning rate is sqrt(learners / rounds).
    """

    policy: str = "corral"
    citation: ClassVar[str] = "Agarwal, Luo, Neyshabur and Schapire. Corralling a band of bandit algorithms. COLT 2017."
    basis: str = setting(BASIS_NAMES, "laplacian_low")
    streams: ClassVar[tuple[str, ...]] = ("learners",)
    alpha: float | None = from_problem(NUMBER)
    ridge: float | None = from_problem(POSITIVE)
    k_grid: tuple[int, ...] | None = from_problem(COUNTS)
    noise_units: bool = setting(FLAG, False)  # alpha is in standard deviations of the noise, ridge in variances

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        grid, features = grid_columns(problem, required(self.k_grid, "k_grid"))
        bandit = bandit_of(problem.theta, rounds)
        return Choices(_master(features, grid, bandit, *self.numbers("alpha", "ridge"), rng.generator("learners")))


@inlined
def _descend(chances, rates, player, loss):
    """Take a step of mirror descent with the log barrier: 1 / p_i grows by rate_i (loss_i - shift), and sum p_i = 1."""
    low, high = 0.0, loss
    for _ in range(HALVINGS):
        shift = 0.5 * (low + high)
        total = 0.0
        for i in range(len(chances)):
            inverse = 1.0 / chances[i] + rates[i] * ((loss if i == player else 0.0) - shift)
            total += 1.0 / inverse if inverse > 0.0 else np.inf
        if total > 1.0:
            high = shift
        else:
            low = shift
    for i in range(len(chances)):
        chances[i] = 1.0 / (1.0 / chances[i] + rates[i] * ((loss if i == player else 0.0) - low))


@kernel
def _master(features, dimensions, bandit, alpha, ridge, rng):
    """Play Corral over LinUCB learners, of which the i-th sees the first ``dimensions[i]`` features.

    In the words of the paper ``chances`` are p, ``mixed`` the probabilities p-bar after mixing in gamma = 1 / rounds,
    ``rates`` eta, ``least`` 1 / rho, and ``growth`` beta. V^-1 and the estimate of the learner that played are updated.
    """
    theta, arms, noise = bandit  # expected reward of every arm, candidates (rounds x m), noise (rounds x m)
    (rounds, m), learners, widest = arms.shape, len(dimensions), features.shape[1]
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
        k, inverse, weights = dimensions[player], v[player], estimate[player]
        best, top, mean, square = 0, -np.inf, 0.0, 0.0
        for c in range(m):
            x = features[arms[t, c]]
            value = norm = 0.0  # x^T weights and x^T V^-1 x
            for i in range(k):
                row = 0.0
                for j in range(k):
                    row += inverse[i, j] * x[j]
                norm += row * x[i]
                value += weights[i] * x[i]
            score = value + alpha * np.sqrt(max(norm, 0.0))
            if score > top:
                best, top, mean, square = c, score, value, norm
        arm = arms[t, best]
        chosen[t] = arm
        reward = theta[arm] + noise[t, best]
        scale = 1.0 / (1.0 + square)
        multiply(inverse, features[arm], u, k)
        update(inverse, weights, u, w, (reward - mean) * scale, np.sqrt(scale), k)
        smallest, largest = min(smallest, reward), max(largest, reward)
        loss = (largest - reward) / (largest - smallest) if largest > smallest else 0.5
        _descend(chances, rates, player, loss / mixed[player])
        for i in range(learners):
            mixed[i] = (1.0 - explore) * chances[i] + explore / learners
            if mixed[i] < least[i]:
                least[i] = 0.5 * mixed[i]
                rates[i] *= growth
    return chosen
