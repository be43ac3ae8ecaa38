"""Rewards, facts and pilots' estimates of all problems and instances, out of tables."""

from typing import NamedTuple

import numpy as np

from graphdr.cache import io
from graphdr.store.rows import ProblemInstance, split

KEYS = ("problem", "instance")


class RewardValues(NamedTuple):
    """The rewards that were observed: nodes, values, and how many ratings or clicks each value has."""

    nodes: np.ndarray
    values: np.ndarray
    counts: np.ndarray


def read_thetas(path: str) -> dict[ProblemInstance, np.ndarray]:
    """Read the expected rewards of the nodes."""
    thetas = split(io.read("theta", path), KEYS, ["theta"])
    return {key: theta for key, (theta,) in thetas.items()}


def read_rewards(path: str) -> dict[ProblemInstance, RewardValues]:
    """Read the observed rewards of the nodes."""
    rewards = split(io.read("rewards", path), KEYS, ["node", "value", "count"])
    return {key: RewardValues(*columns) for key, columns in rewards.items()}


def read_facts(path: str) -> dict[tuple[str, int, str], float]:
    """Read facts by problem, instance and quantity."""
    table = io.read("facts", path)
    keys = zip(*(io.values(table[name]).tolist() for name in (*KEYS, "quantity")), strict=True)
    return dict(zip(keys, io.values(table["value"]).tolist(), strict=True))


def read_estimates(path: str) -> dict[tuple[str, int, int], np.ndarray]:
    """Read the rewards that pilots estimate, by problem, instance and budget."""
    estimates = split(io.read("pilot", path), (*KEYS, "budget"), ["theta"])
    return {key: theta for key, (theta,) in estimates.items()}
