"""CLUB (Gentile et al., 2014) on arms: a graph loses edges between arms that differ; connected arms pool their rewards.

Gentile, C., Li, S. and Zappella, G. Online clustering of bandits. ICML 2014.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphdr.bandit.environment import RandomNumbers, Rounds, bandit_of
from graphdr.bandit.method import FLAG, GRAPH, NUMBER, BanditProblem, Choices, Method, from_problem, setting
from graphdr.core.compiled import inlined, kernel
from graphdr.core.errors import required


@dataclass(frozen=True, kw_only=True)
class Club(Method):
    """Play the first candidate whose component has the largest mean + alpha cb(N) of its rewards.

    With cb(N) = sqrt((1 + ln(1 + N)) / (1 + N)), an edge is dropped when the means of its two arms differ by more than
    alpha times the sum of their cb.
    """

    policy: str = "club"
    citation: ClassVar[str] = "Gentile, Li and Zappella. Online clustering of bandits. ICML 2014."
    space: ClassVar[str] = GRAPH
    alpha: float | None = from_problem(NUMBER)
    noise_units: bool = setting(FLAG, False)  # alpha is in standard deviations of the noise

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        starts, neighbours, _ = required(problem.edges, "edges")
        rows = np.repeat(np.arange(len(problem.theta)), np.diff(starts))
        graph = starts, neighbours, np.lexsort((rows, neighbours))  # and the place of j-i for every i-j
        return Choices(_cluster(graph, bandit_of(problem.theta, rounds), *self.numbers("alpha")))


@inlined
def _width(pulls):
    return np.sqrt((1.0 + np.log(1.0 + pulls)) / (1.0 + pulls))


@inlined
def _reach(seed, number, graph, search, left):
    """Write the arms connected to a seed into the queue; return how many, 0 once ``left`` awaited arms were met.

    Every arm that is met gets the number of this search. Scratch of the searches: edges left, the last search that met
    an arm, arms in order, arms to be met.
    """
    starts, neighbours, _ = graph
    kept, met_in, queue, awaited = search
    queue[0], size, at = seed, 1, 0
    met_in[seed] = number
    while at < size:
        for e in range(starts[queue[at]], starts[queue[at] + 1]):
            arm = neighbours[e]
            if kept[e] and met_in[arm] != number:
                met_in[arm] = number
                queue[size] = arm
                size += 1
                if awaited[arm]:
                    left -= 1
        at += 1
        if left == 0:
            size = at = 0
    return size


@inlined
def _join(component, queue, size, clusters):
    """Make the arms of the queue one component.

    Clusters are pulls and sums of rewards of every arm, its component, and the pulls and sums of components.
    """
    pulls, sums, component_of, pooled_pulls, pooled_sums = clusters
    pooled_pulls[component] = pooled_sums[component] = 0.0
    for i in range(size):
        component_of[queue[i]] = component
        pooled_pulls[component] += pulls[queue[i]]
        pooled_sums[component] += sums[queue[i]]


@kernel
def _cluster(graph, bandit, alpha):
    starts, neighbours, reverse = graph
    theta, arms, noise = bandit
    (rounds, m), n = arms.shape, len(theta)
    kept, awaited = np.ones(len(neighbours), np.bool_), np.zeros(n, np.bool_)
    met_in, queue = np.full(n, -1), np.empty(n, np.int64)
    search = kept, met_in, queue, awaited
    pulls, sums, component_of = np.zeros(n), np.zeros(n), np.full(n, -1)
    pooled_pulls, pooled_sums = np.zeros(n), np.zeros(n)
    clusters = pulls, sums, component_of, pooled_pulls, pooled_sums
    chosen = np.empty(rounds, np.uint32)
    components = searches = 0
    for seed in range(n):
        if component_of[seed] < 0:
            _join(components, queue, _reach(seed, searches, graph, search, -1), clusters)
            components += 1
            searches += 1
    for t in range(rounds):
        best, top = 0, -np.inf
        for c in range(m):
            component = component_of[arms[t, c]]
            count = pooled_pulls[component]
            score = pooled_sums[component] / max(count, 1.0) + alpha * _width(count)
            if score > top:
                best, top = c, score
        arm = arms[t, best]
        chosen[t] = arm
        reward = theta[arm] + noise[t, best]
        component = component_of[arm]
        pulls[arm] += 1.0
        sums[arm] += reward
        pooled_pulls[component] += 1.0
        pooled_sums[component] += reward
        # Drop the edges to arms whose means are too far away.
        mean, width = sums[arm] / pulls[arm], _width(pulls[arm])
        dropped = 0
        for e in range(starts[arm], starts[arm + 1]):
            other = neighbours[e]
            distance = abs(mean - sums[other] / max(pulls[other], 1.0))
            if kept[e] and distance > alpha * (width + _width(pulls[other])):
                kept[e] = kept[reverse[e]] = False
                awaited[other] = True
                dropped += 1
        if dropped == 0:
            continue
        size = _reach(arm, searches, graph, search, dropped)
        first_search = searches
        searches += 1
        if size:  # an arm whose edge was dropped is no longer connected; the arms around this one keep their number
            _join(component, queue, size, clusters)
        for e in range(starts[arm], starts[arm + 1]):
            other = neighbours[e]
            if size and awaited[other] and met_in[other] < first_search:
                _join(components, queue, _reach(other, searches, graph, search, -1), clusters)
                components += 1
                searches += 1
            awaited[other] = False
    return chosen
