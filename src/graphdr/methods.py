"""Methods: LinUCB with a basis and a penalty, or random play, as their line in config.yaml says."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphdr import features, linucb


class Arms(NamedTuple):
    """What LinUCB works with: n x k features (None for one-hot arms) and V_0^-1 (None for ridge times identity)."""

    features: np.ndarray | None
    v0_inverse: np.ndarray | None


def arms(method: dict, problem: dict, vectors: np.ndarray | None, laplacian: np.ndarray | None, k: int) -> Arms:
    """Set the two knobs: features from the basis, V_0 = ridge I + weight L restricted to them."""
    chosen = None if vectors is None else features.select(method["basis"], vectors, k)
    if not method["laplacian"]:
        return Arms(chosen, None)
    restricted = laplacian if chosen is None else chosen.T @ laplacian @ chosen
    return Arms(chosen, np.linalg.inv(problem["ridge"] * np.eye(len(restricted)) + method["laplacian"] * restricted))


def play(method: dict, problem: dict, games: list[linucb.Game], choices: list[Callable]) -> list[np.ndarray]:
    """Play games of one shape and return their regrets at the checkpoints; ``choices`` are those of random play."""
    every = problem["checkpoint"]
    if method["policy"] == "random":
        return [_random(game, choose(), every) for game, choose in zip(games, choices, strict=True)]
    return [path.regret for path in linucb.run(games, problem["alpha"], ridge=problem["ridge"], every=every)]


def _random(game: linucb.Game, columns: np.ndarray, every: int) -> np.ndarray:
    arms = game.stream.arms
    return linucb.regret(game.theta, arms, np.take_along_axis(arms, columns[:, None], axis=1)[:, 0], every)
