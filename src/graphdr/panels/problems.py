"""Rewards, what pulls may pay, facts and pilots' estimates of all problems and instances, out of tables."""

import numpy as np

from graphdr.cache import io
from graphdr.panels.rows import groups


def read_thetas(path: str) -> dict[tuple[str, int], np.ndarray]:
    """Read rewards: (problem, instance) to theta."""
    table = io.read("theta", path)
    theta = io.values(table["theta"])
    return {key: theta[rows] for key, rows in groups(table, "problem", "instance")}


def read_rewards(path: str) -> dict[tuple[str, int], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Read what pulls may pay: (problem, instance) to nodes, values and how many ratings or clicks say so."""
    table = io.read("rewards", path)
    columns = [io.values(table[name]) for name in ("node", "value", "count")]
    return {key: tuple(column[rows] for column in columns) for key, rows in groups(table, "problem", "instance")}


def read_facts(path: str) -> dict[tuple[str, int, str], float]:
    """Read facts: (problem, instance, quantity) to value."""
    table = io.read("facts", path)
    keys = zip(*(io.values(table[name]).tolist() for name in ("problem", "instance", "quantity")), strict=True)
    return dict(zip(keys, io.values(table["value"]).tolist(), strict=True))


def read_estimates(path: str) -> dict[tuple[str, int, int], np.ndarray]:
    """Read what pilots estimate: (problem, instance, budget) to theta-hat."""
    table = io.read("pilot", path)
    theta = io.values(table["theta"])
    return {key: theta[rows] for key, rows in groups(table, "problem", "instance", "budget")}
