"""CLUB (Gentile et al., 2014) on arms: a graph loses edges between arms that differ; connected arms pool their rewards.

Gentile, C., Li, S. and Zappella, G. Online clustering of bandits. ICML 2014.
"""

import numpy as np

from graphdr.bandit.environment import by_candidate
from graphdr.bandit.linucb import Run
from graphdr.core.compiled import inlined, kernel


def play(run: Run, alpha: float) -> np.ndarray:
    """Return the arm of every round: the first whose component has the largest mean + alpha cb(N) of its rewards.

    With cb(N) = sqrt((1 + ln(1 + N)) / (1 + N)), an edge is dropped when the means of its two arms differ by more than
    alpha times the sum of their cb.
    """
    starts, neighbours, _ = run.edges
    rows = np.repeat(np.arange(len(run.theta)), np.diff(starts))
    reverse = np.lexsort((rows, neighbours))  # where j-i is, for every i-j
    game = run.theta, run.stream.arms, by_candidate(run.stream), float(alpha)
    return _cluster(starts, neighbours, reverse, *game)


@inlined
def _width(pulls):
    return np.sqrt((1.0 + np.log(1.0 + pulls)) / (1.0 + pulls))


@inlined
def _reach(seed, label, starts, neighbours, kept, reached, queue, awaited, left):
    """Write the arms connected to a seed into the queue; return how many, 0 once as many as are left were met.

    The arms that are awaited have a positive mark. Every arm that was met has this label in ``reached``.
    """
    queue[0], size, at = seed, 1, 0
    reached[seed] = label
    while at < size:
        for e in range(starts[queue[at]], starts[queue[at] + 1]):
            arm = neighbours[e]
            if kept[e] and reached[arm] != label:
                reached[arm] = label
                queue[size] = arm
                size += 1
                if awaited[arm]:
                    left -= 1
        at += 1
        if left == 0:
            size = at = 0
    return size


@inlined
def _pool(component, queue, size, pulls, sums, component_of, pooled, total):
    """Make the arms of the queue one component."""
    pooled[component] = total[component] = 0.0
    for i in range(size):
        component_of[queue[i]] = component
        pooled[component] += pulls[queue[i]]
        total[component] += sums[queue[i]]


@kernel
def _cluster(starts, neighbours, reverse, theta, arms, noise, alpha):
    (rounds, m), n = arms.shape, len(theta)
    pulls, sums, pooled, total = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    kept, awaited = np.ones(len(neighbours), np.bool_), np.zeros(n, np.bool_)
    component_of, reached, queue = np.full(n, -1), np.full(n, -1), np.empty(n, np.int64)
    chosen = np.empty(rounds, np.uint32)
    components = searches = 0
    for seed in range(n):
        if component_of[seed] < 0:
            size = _reach(seed, searches, starts, neighbours, kept, reached, queue, awaited, -1)
            _pool(components, queue, size, pulls, sums, component_of, pooled, total)
            components += 1
            searches += 1
    for t in range(rounds):
        best, top = 0, -np.inf
        for c in range(m):
            own = component_of[arms[t, c]]
            score = total[own] / max(pooled[own], 1.0) + alpha * _width(pooled[own])
            if score > top:
                best, top = c, score
        arm = arms[t, best]
        chosen[t] = arm
        reward = theta[arm] + noise[t, best]
        own = component_of[arm]
        pulls[arm] += 1.0
        sums[arm] += reward
        pooled[own] += 1.0
        total[own] += reward
        mean, width = sums[arm] / pulls[arm], _width(pulls[arm])
        fell = 0
        for e in range(starts[arm], starts[arm + 1]):
            other = neighbours[e]
            away = abs(mean - sums[other] / max(pulls[other], 1.0))
            if kept[e] and away > alpha * (width + _width(pulls[other])):
                kept[e] = kept[reverse[e]] = False
                awaited[other] = True
                fell += 1
        if fell == 0:
            continue
        size = _reach(arm, searches, starts, neighbours, kept, reached, queue, awaited, fell)
        here = searches
        searches += 1
        if size:  # some arm that fell is no longer connected: what is left keeps the number of the component
            _pool(own, queue, size, pulls, sums, component_of, pooled, total)
        for e in range(starts[arm], starts[arm + 1]):
            other = neighbours[e]
            if size and awaited[other] and reached[other] < here:
                split = _reach(other, searches, starts, neighbours, kept, reached, queue, awaited, -1)
                _pool(components, queue, split, pulls, sums, component_of, pooled, total)
                components += 1
                searches += 1
            awaited[other] = False
    return chosen
