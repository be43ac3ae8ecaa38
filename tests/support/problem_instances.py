"""One instance of a problem, as the facts take it."""

import numpy as np

from graphdr.bandit import rewards
from graphdr.facts.graph_facts import Setting
from graphdr.graphs import model, pca, perturb
from graphdr.graphs.spectral import low_eigenpairs

SPEC = {"k": 3, "k_min": 1, "k_max": 8, "resamples": 5, "keep": 0.9}
PILOT_SPEC = {"pilot": 16, "noise": 0.1, "ridge": 1.0, "candidates": "uniform", "arms": 5}


def pose(clean: model.Graph, flip: float = 0, tail: float = 0, seed: int = 0, observed=None, **spec) -> Setting:
    """Set up one instance: flipped pairs, and a reward and an embedding of the nodes that are still there."""
    if observed is None:
        observed = model.largest_component(perturb.flip_pairs(clean, flip, np.random.default_rng(seed)))
    pairs, seen = low_eigenpairs(clean, 12), low_eigenpairs(observed, 12)
    theta = rewards.tailed(pairs.vectors, SPEC["k"], tail, np.random.default_rng(seed), np.random.default_rng(seed + 1))
    theta = rewards.unit(theta[np.isin(clean.origin, observed.origin)])
    rng = np.random.default_rng(seed)
    others = {"content_pca": pca.embedding_pca(embed(observed.n), 12)}
    others["graph_pca"] = pca.graph_pca(observed.adjacency, 12)
    popularity = observed.adjacency.sum(axis=1)
    return Setting(SPEC | spec, clean, observed, pairs, seen, theta, rng, others, popularity, seed, 0, {}, {})


def embed(n: int) -> np.ndarray:
    """Know something about nodes that has nothing to do with their graph."""
    return np.random.default_rng(99).standard_normal((n, 20))


def setting_of(graph: model.Graph, **spec) -> Setting:
    """Set up an instance with an uncaptured part and all that a pilot needs."""
    return pose(graph, tail=0.3, **(PILOT_SPEC | spec))
