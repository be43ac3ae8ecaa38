"""LinUCB that finds its k: one learner for every k of a grid, all on the first columns of one basis.

Every learner learns from every reward, whoever chose the arm. Their features are nested, so V_k is the leading block
of the largest V, and one Cholesky factor V = R^T R serves them all: with y = R^-T z and c = R^-T sum z r, learner k
estimates y_1 c_1 + … + y_k c_k and its squared width is y_1^2 + … + y_k^2.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from graphdr.bandit.environment import Rounds, bandit_of
from graphdr.bandit.method import BanditProblem, grid_columns
from graphdr.core.compiled import kernel

SIZE = 1.0  # S of the confidence radius: rewards have unit norm


class Choices(NamedTuple):
    """The arm of every round, the k of the learner that chose it, and the smallest k left after it."""

    arms: np.ndarray
    k: np.ndarray
    smallest_k: np.ndarray


def play(
    problem: BanditProblem, rounds: Rounds, k_grid: Sequence[int], alpha: float, ridge: float, delta: float
) -> Choices:
    """Play with learners on the first k columns of n x K features, for every k of a grid up to K.

    The learner with the smallest sum of widths over its choices plays; ties go to the smaller k. A learner is
    eliminated when its estimate leaves the confidence ellipsoid of a larger one, which holds for all of them at once
    with probability 1 - delta under the noise of the problem.
    """
    grid, features = grid_columns(problem, k_grid)
    constants = float(alpha), float(ridge), float(problem.noise), 2.0 * np.log(len(grid) / delta)
    chosen, player, smallest = _balanced(features, grid, bandit_of(problem.theta, rounds), constants)
    return Choices(chosen, grid[player], grid[smallest])


@kernel
def _balanced(features, grid, bandit, constants):
    theta, arms, noise = bandit
    alpha, ridge, sigma, chance = constants  # chance is 2 ln(learners / delta)
    rounds, m = arms.shape
    widest, learners = features.shape[1], len(grid)
    root, right, x = np.zeros((widest, widest)), np.zeros(widest), np.empty(widest)
    for i in range(widest):
        root[i, i] = np.sqrt(ridge)
    width_sums, volume, energy = np.zeros(learners), np.empty(learners), np.empty(learners)
    chosen = np.empty(rounds, np.uint32)
    player, smallest = np.empty(rounds, np.int64), np.empty(rounds, np.int64)
    first = 0  # the smallest learner left; those eliminated are all below it
    for t in range(rounds):
        learner = first
        for other in range(first + 1, learners):
            if width_sums[other] < width_sums[learner]:
                learner = other
        best, top, width = 0, -np.inf, 0.0
        for c in range(m):
            x[:] = features[arms[t, c]]
            mean = square = 0.0
            for i in range(grid[learner]):  # x becomes y = R^-T z, from above
                y = x[i] / root[i, i]
                mean += y * right[i]
                square += y * y
                for j in range(i + 1, grid[learner]):
                    x[j] -= root[i, j] * y
            score = mean + alpha * np.sqrt(square)
            if score > top:
                best, top, width = c, score, np.sqrt(square)
        arm = arms[t, best]
        width_sums[learner] += width
        chosen[t], player[t] = arm, learner
        # R and c = R^-T sum z r (``right``) after this reward: (x, y) is a further row below (R, right). Rotation i
        # mixes it with row i such that x_i becomes zero.
        x[:] = features[arm]
        y = theta[arm] + noise[t, best]
        for i in range(widest):
            norm = np.sqrt(root[i, i] * root[i, i] + x[i] * x[i])
            cosine, sine = root[i, i] / norm, x[i] / norm
            root[i, i] = norm
            for j in range(i + 1, widest):
                before = root[i, j]
                root[i, j] = cosine * before + sine * x[j]
                x[j] = cosine * x[j] - sine * before
            before = right[i]
            right[i] = cosine * before + sine * y
            y = cosine * y - sine * before
        # log det V / ridge^k, and c_1^2 + … + c_k^2: its difference is the squared distance of two estimates.
        grown = squares = 0.0
        at = 0
        for i in range(widest):
            grown += 2.0 * np.log(root[i, i]) - np.log(ridge)
            squares += right[i] * right[i]
            if i + 1 == grid[at]:
                volume[at], energy[at] = grown, squares
                at += 1
        for other in range(first + 1, learners):
            reach = sigma * np.sqrt(volume[other] + chance) + np.sqrt(ridge) * SIZE
            while first < other and energy[other] - energy[first] > reach * reach:
                first += 1
        smallest[t] = first
    return chosen, player, smallest
