"""Methods: LinUCB with a basis and a penalty, or random play, as their line in config.yaml says."""

from typing import NamedTuple

import numpy as np

from graphdr import features, linucb, streams


class Arms(NamedTuple):
    """What LinUCB works with: n x k features (None for one-hot arms) and V_0 (None for ridge times identity)."""

    features: np.ndarray | None
    v0: np.ndarray | None


def arms(method: dict, problem: dict, vectors: np.ndarray | None, laplacian: np.ndarray | None, k: int) -> Arms:
    """Set the two knobs: features from the basis, V_0 = ridge I + weight L restricted to them."""
    chosen = None if vectors is None else features.select(method["basis"], vectors, k)
    if not method["laplacian"]:
        return Arms(chosen, None)
    restricted = laplacian if chosen is None else chosen.T @ laplacian @ chosen
    return Arms(chosen, problem["ridge"] * np.eye(len(restricted)) + method["laplacian"] * restricted)


def play(method: dict, problem: dict, theta: np.ndarray, arms: Arms, stream: streams.Stream, choices) -> np.ndarray:
    """Play one seed and return the regret at the checkpoints; ``choices`` are those of the random policy."""
    every = problem["checkpoint"]
    if method["policy"] == "random":
        played = np.take_along_axis(stream.arms, choices()[:, None], axis=1)[:, 0]
        return linucb.regret(theta, stream.arms, played, every)
    path = linucb.run(theta, stream, problem["alpha"], **arms._asdict(), ridge=problem["ridge"], every=every)
    return path.regret
