"""GraphUCB (Yang et al., 2020): estimates that a Laplacian ties together, with a width for each node of its own.

Yang, K., Dong, X. and Toni, L. Laplacian-regularized graph bandits: algorithms and theoretical analysis. AISTATS 2020.

With N and S, the pulls and summed rewards of every node, L = I - D^-1 A and a weight w, the estimate solves
(diag N + w L) theta = S. It is kept as z = D^1/2 theta, which solves the symmetric (diag N + w L_sym) z = D^1/2 S:
LinUCB in node space on rewards times D^1/2, of which this takes the estimate alone.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphdr.bandit.environment import Edges, RandomNumbers, Rounds, bandit_of
from graphdr.bandit.linucb_core import dense_inverse, enter, learn_one_hot, play_in_blocks
from graphdr.bandit.method import (
    FLAG,
    GRAPH,
    NUMBER,
    POSITIVE,
    SHARE,
    ArmFeatures,
    BanditProblem,
    Choices,
    GraphInputs,
    Method,
    from_problem,
    penalised_inverse,
    setting,
)
from graphdr.core.compiled import kernel
from graphdr.core.errors import required

# L is singular: before the first pull, any constant would do for theta. So small a ridge says zero, and nothing later.
RIDGE = 1e-6


@dataclass(frozen=True, kw_only=True)
class GraphUCB(Method):
    """Play the largest estimate + alpha times the width of the paper."""

    policy: str = "graph_ucb"
    citation: ClassVar[str] = "Yang, Dong and Toni. Laplacian-regularized graph bandits. AISTATS 2020."
    space: ClassVar[str] = GRAPH
    laplacian: float = setting(POSITIVE, 1)  # weight of the Laplacian
    alpha: float | None = from_problem(NUMBER)
    delta: float | None = from_problem(SHARE)
    noise_units: bool = setting(FLAG, False)  # alpha is in standard deviations of the noise

    def features(self, inputs: GraphInputs) -> ArmFeatures:
        inverse = penalised_inverse(None, required(inputs.laplacian, "laplacian"), self.laplacian, RIDGE)
        return ArmFeatures(None, inverse, edges=inputs.edges)

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        n, horizon = len(problem.theta), len(rounds.arms)
        state = np.zeros(n), np.zeros(n), np.zeros(n), np.empty(horizon, np.uint32)
        inverse = dense_inverse(required(problem.v0_inverse, "v0_inverse"))
        bandit, graph = bandit_of(problem.theta, rounds), _graph_arrays(required(problem.edges, "edges"))
        settings = *self.numbers("alpha", "laplacian", "delta"), float(problem.noise)
        play_in_blocks(inverse, horizon, lambda start: _until_full(start, inverse, bandit, graph, state, settings))
        return Choices(state[-1])


def _graph_arrays(edges: Edges) -> tuple[np.ndarray, ...]:
    """Return the graph in CSR form, with links = weight / degree (row i of D^-1 A), and D^1/2."""
    starts, neighbours, weights = edges
    degree = np.add.reduceat(np.append(weights, 0.0), starts[:-1]) * (np.diff(starts) > 0)
    degree = np.where(degree > 0, degree, 1.0)
    return starts, neighbours, weights / np.repeat(degree, np.diff(starts)), np.sqrt(degree)


@kernel
def _until_full(start, inverse, bandit, graph, state, settings):
    """Play rounds until another distinct arm would overflow the block; return (round, size of the block)."""
    theta, arms, noise = bandit
    starts, neighbours, links, root_degrees = graph
    estimate, pulls, means, chosen = state  # the estimate is z
    alpha, weight, delta, sigma = settings
    slot, n, (rounds, m) = inverse.slot, len(theta), arms.shape
    h, u = np.empty(len(inverse.rows)), np.empty(n)
    size = 0
    for t in range(start, rounds):
        best, top = 0, -np.inf
        for c in range(m):
            arm = arms[t, c]
            rough, shared = means[arm], 0.0  # (L means)_i, and the sum of L_ij^2 / N_j
            for e in range(starts[arm], starts[arm + 1]):
                rough -= links[e] * means[neighbours[e]]
                shared += links[e] * links[e] / max(pulls[neighbours[e]], 1.0)
            # sqrt(w) |(L means)_i| + sigma sqrt(2 ln(sqrt((w + N_i) / w) / delta)), over sqrt of a count.
            count = pulls[arm] + 2.0 * weight + weight * weight * shared
            grown = 2.0 * np.log(np.sqrt((weight + pulls[arm]) / weight) / delta)
            width = (np.sqrt(weight) * abs(rough) + sigma * np.sqrt(grown)) / np.sqrt(count)
            score = estimate[arm] / root_degrees[arm] + alpha * width
            if score > top:
                best, top = c, score
        arm = arms[t, best]
        if slot[arm] < 0:
            if size == len(h):
                return t, size
            enter(inverse, size, arm)
            size += 1
        reward = theta[arm] + noise[t, best]
        learn_one_hot(inverse, size, estimate, arm, root_degrees[arm] * reward, h, u)
        pulls[arm] += 1.0
        means[arm] += (reward - means[arm]) / pulls[arm]
        chosen[t] = arm
    return rounds, size
