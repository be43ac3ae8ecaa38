"""Instances of small problems, as the facts take them."""

import numpy as np

from graphdr.bandit import pilot, rewards
from graphdr.facts.declare import ProblemInstance
from graphdr.facts.registry import FACTS
from graphdr.facts.selection_facts import BUDGETS
from graphdr.graphs import arm_features, model, perturb
from graphdr.graphs.spectral import low_eigenpairs

SPEC = {"k": 3, "k_min": 1, "k_max": 8, "resamples": 5, "keep": 0.9}
SPEC |= {"pilot": 16, "noise": 0.1, "ridge": 1.0, "candidates": "uniform", "arms": 5, "pilot_source": "prefix"}
SPEC |= {"delta": 0.05, "horizon": 100}


def pose(
    clean: model.Graph, flip: float = 0, tail: float = 0, seed: int = 0, observed=None, **factors
) -> ProblemInstance:
    """Pose one instance: flipped pairs, and a reward, an embedding and pilots of the nodes that are left."""
    if observed is None:
        observed = model.largest_component(perturb.flip_pairs(clean, flip, np.random.default_rng(seed)))
    low, observed_low = low_eigenpairs(clean, 12), low_eigenpairs(observed, 12)
    theta = rewards.tailed(low.vectors, SPEC["k"], tail, np.random.default_rng(seed), np.random.default_rng(seed + 1))
    theta = rewards.unit(theta[np.isin(clean.origin, observed.origin)])
    source = arm_features.Source(observed.n, observed, embedding=embed(observed.n))
    others = {name: arm_features.compute(name, source, 12, None) for name in ("content_pca", "graph_pca")}
    factors = SPEC | factors
    pilots = {
        pulls: pilot.play(theta, factors["noise"], pulls * observed.n, np.random.default_rng(seed + 2))
        for pulls in {factors["pilot"], *BUDGETS}
    }
    return ProblemInstance(
        clean,
        observed,
        low,
        observed_low,
        theta,
        others=others | {"laplacian_low": observed_low},
        popularity=observed.adjacency.sum(axis=1),
        seed=seed,
        number=0,
        pilots=pilots,
        memo={},
    )


def value(name: str, instance: ProblemInstance, **factors: object) -> float:
    """Compute a fact of an instance, with the usual factors but for those given."""
    return FACTS[name](instance, SPEC | factors)


def permute_nodes(graph: model.Graph, permutation: np.ndarray) -> model.Graph:
    """Relabel the nodes: node i of the result is node ``permutation[i]``, under the old names."""
    return model.Graph(graph.adjacency[permutation][:, permutation], graph.origin)


def embed(n: int) -> np.ndarray:
    """Know something about nodes that has nothing to do with their graph."""
    return np.random.default_rng(99).standard_normal((n, 20))
