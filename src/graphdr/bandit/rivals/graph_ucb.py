"""GraphUCB (Yang et al., 2020): estimates that a Laplacian ties together, with a width for each node of its own.

Yang, K., Dong, X. and Toni, L. Laplacian-regularized graph bandits: algorithms and theoretical analysis. AISTATS 2020.

With N and S, the pulls and summed rewards of every node, L = I - D^-1 A and a weight w, the estimate solves
(diag N + w L) theta = S. It is kept as z = D^1/2 theta, which solves the symmetric (diag N + w L_sym) z = D^1/2 S:
LinUCB in node space on rewards times D^1/2, of which this takes the estimate alone.
"""

import numpy as np

from graphdr.bandit.environment import by_candidate
from graphdr.bandit.linucb import Run
from graphdr.bandit.rank_one import blocked, column, enter, flush, fold
from graphdr.core.compiled import kernel

# L is singular: before the first pull, any constant would do for theta. So small a ridge says zero, and nothing later.
RIDGE = 1e-6


def play(run: Run, alpha: float, weight: float, sigma: float, delta: float) -> np.ndarray:
    """Return the arm of every round, with ``alpha`` times the width of the paper for noise of deviation sigma.

    V_0^-1 of the run is that of weight L_sym + RIDGE I.
    """
    starts, neighbours, weights = run.edges
    degree = np.add.reduceat(np.append(weights, 0.0), starts[:-1]) * (np.diff(starts) > 0)
    degree = np.where(degree > 0, degree, 1.0)
    graph = starts, neighbours, weights / np.repeat(degree, np.diff(starts)), np.sqrt(degree)
    n, (rounds, _) = len(run.theta), run.stream.arms.shape
    state = np.zeros(n), np.zeros(n), np.zeros(n)
    game = run.theta, run.stream.arms, by_candidate(run.stream), np.empty(rounds, np.uint32)
    knobs = float(alpha), float(weight), float(sigma), float(delta)
    block = blocked(run.v0_inverse)
    t, size = _until_full(0, *block, *state, *graph, *game, *knobs)
    while t < rounds:
        flush(block, size)
        t, size = _until_full(t, *block, *state, *graph, *game, *knobs)
    return game[-1]


@kernel
def _until_full(
    start, lower, rows, core, slot, members, estimate, pulls, means,
    starts, neighbours, links, roots, theta, arms, noise, chosen, alpha, weight, sigma, delta,
):  # fmt: skip
    """Play rounds until another distinct arm would overflow the block; return (round, size of the block)."""
    rounds, m = arms.shape
    n, size = len(theta), 0
    h, u = np.empty(len(rows)), np.empty(n)
    for t in range(start, rounds):
        best, top = 0, -np.inf
        for c in range(m):
            arm = arms[t, c]
            rough, shared = means[arm], 0.0  # row i of L times the means, and the sum of L_ij^2 / N_j
            for e in range(starts[arm], starts[arm + 1]):
                rough -= links[e] * means[neighbours[e]]
                shared += links[e] * links[e] / max(pulls[neighbours[e]], 1.0)
            count = pulls[arm] + 2.0 * weight + weight * weight * shared
            grown = 2.0 * np.log(np.sqrt((weight + pulls[arm]) / weight) / delta)
            width = (np.sqrt(weight) * abs(rough) + sigma * np.sqrt(grown)) / np.sqrt(count)
            score = estimate[arm] / roots[arm] + alpha * width
            if score > top:
                best, top = c, score
        arm = arms[t, best]
        if slot[arm] < 0:
            if size == len(rows):
                return t, size
            enter(lower, rows, core, slot, members, size, arm)
            size += 1
        column(rows, core, slot, size, arm, h, u)
        scale = 1.0 / (1.0 + u[arm])
        reward = theta[arm] + noise[t, best]
        step = (roots[arm] * reward - estimate[arm]) * scale
        fold(core, h, scale, size)
        for j in range(n):
            estimate[j] += step * u[j]
        pulls[arm] += 1.0
        means[arm] += (reward - means[arm]) / pulls[arm]
        chosen[t] = arm
    return rounds, size
