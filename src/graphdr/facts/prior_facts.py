"""Facts about the evidence for a graph: the Bayes factor of the graph prior, on the graph and on shuffled copies.

The evidence is compiled; functions import it, so that other facts do not load the compiler.
"""

import numpy as np

from graphdr.facts.declare import ProblemInstance, fact
from graphdr.graphs import arm_features

PULLS = 2000  # rewards of arms drawn at random
COPIES = 20  # of the graph, with shuffled nodes
CLEAR = 2.0  # ln B above which the rewards are evidence for the graph
BASIS = "laplacian_low"


@fact(basis=BASIS)
def log_bayes(instance: ProblemInstance, *, noise: float) -> float:
    """Return ln B of the graph after 2,000 random pulls: graph and residual against independent arms."""
    return _log_factors(instance, noise)[0]


@fact(basis=BASIS)
def log_bayes_shuffled(instance: ProblemInstance, *, noise: float) -> float:
    """Return the largest ln B of 20 copies of the graph with shuffled nodes, after the same pulls."""
    return max(_log_factors(instance, noise)[1:])


@fact(basis=BASIS)
def log_bayes_misled(instance: ProblemInstance, *, noise: float) -> float:
    """Return the share of these copies with evidence for them: ln B above 2."""
    return float(np.mean([value > CLEAR for value in _log_factors(instance, noise)[1:]]))


def _log_factors(instance: ProblemInstance, noise: float) -> list[float]:
    """Return ln B of the graph, then of its copies."""
    return instance.once("bayes", lambda: _compute_log_factors(instance, noise))


def _compute_log_factors(instance: ProblemInstance, noise: float) -> list[float]:
    from graphdr.bandit.graph_prior import model
    from graphdr.bandit.graph_prior.evidence import log_bayes_factor

    stored = instance.others[BASIS]
    assert stored is not None  # every graph has eigenvectors
    theta = instance.arm_set(instance.theta)
    pulls, shuffles = instance.stream("bayes pulls"), instance.stream("bayes shuffles")
    arms = pulls.integers(len(theta), size=PULLS)
    rewards = theta[arms] + noise * pulls.standard_normal(PULLS)
    statistics = model.statistics(len(theta), arms, rewards)
    features, roughness = arm_features.graded(BASIS, stored)
    orders = [np.arange(len(features)), *(shuffles.permutation(len(features)) for _ in range(COPIES))]
    copies = (model.columns(instance.arm_set(features[order]), roughness) for order in orders)
    return [log_bayes_factor(statistics, copy) for copy in copies]
