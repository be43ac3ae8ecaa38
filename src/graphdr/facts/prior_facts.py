"""Facts about how far rewards speak for a graph: the Bayes factor of the graph prior, on the graph and shuffled copies.

Evidence is compiled; whoever needs no such fact does not load the compiler.
"""

import numpy as np

from graphdr.core.rng import stream
from graphdr.facts.declare import ProblemInstance, fact
from graphdr.graphs import arm_features

PULLS = 2000  # rewards of arms drawn at random
COPIES = 20  # of the graph, its nodes shuffled
CLEAR = 2.0  # ln B above which the rewards speak for the graph
BASIS = "laplacian_low"
of_bayes = fact("noise", basis=BASIS, streams=("bayes pulls", "bayes shuffles"))


@of_bayes
def log_bayes(instance: ProblemInstance) -> float:
    """Return ln B of the graph after 2,000 random pulls: graph and residual against independent arms."""
    return _factors(instance)[0]


@of_bayes
def log_bayes_shuffled(instance: ProblemInstance) -> float:
    """Return the largest ln B of 20 copies of the graph with shuffled nodes, after the same pulls."""
    return max(_factors(instance)[1:])


@of_bayes
def log_bayes_misled(instance: ProblemInstance) -> float:
    """Return the share of these copies that the rewards speak for: ln B above 2."""
    return float(np.mean([value > CLEAR for value in _factors(instance)[1:]]))


def _factors(instance: ProblemInstance) -> list[float]:
    """Return ln B of the graph, then of its copies."""
    from graphdr.bandit.graph_prior import model
    from graphdr.bandit.graph_prior.evidence import log_bayes_factor

    if "bayes" not in instance.memo:
        key = {"n": instance.observed.n, "instance": instance.index}
        theta = instance.pool(instance.theta)
        pulls, shuffles = (stream(instance.seed, purpose, **key) for purpose in ("bayes pulls", "bayes shuffles"))
        arms = pulls.integers(len(theta), size=PULLS)
        rewards = theta[arms] + instance.spec["noise"] * pulls.standard_normal(PULLS)
        seen = model.statistics(len(theta), arms, rewards)
        features, roughness = arm_features.graded(BASIS, instance.others[BASIS])
        orders = [np.arange(len(features)), *(shuffles.permutation(len(features)) for _ in range(COPIES))]
        copies = (model.columns(instance.pool(features[order]), roughness) for order in orders)
        instance.memo["bayes"] = [log_bayes_factor(seen, copy) for copy in copies]
    return instance.memo["bayes"]
