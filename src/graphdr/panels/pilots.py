"""Pilots of all problems, instances and budgets, in and out of tables."""

import numpy as np

from graphdr.bandit.pilot import Pilot
from graphdr.cache import io
from graphdr.panels.rows import groups, stack

Panel = dict[tuple[str, int], dict[int, Pilot]]  # problem and instance to pilots by their budget, in pulls per node


def write_pilots(panel: Panel, estimates_path: str, rounds_path: str, rounds_of: dict[str, int]) -> None:
    """Write what every pilot found out about every node, and the rounds of those that a bootstrap needs."""
    estimates, rounds = [], []
    for (problem, instance), pilots in panel.items():
        for budget, pilot in sorted(pilots.items()):
            key = {"problem": problem, "instance": instance, "budget": budget}
            columns = {"pulls": pilot.pulls, "sum": pilot.sums, "sum_squares": pilot.sums_of_squares}
            estimates.append(key | {"node": np.arange(len(pilot.theta)), "theta": pilot.theta} | columns)
            if rounds_of.get(problem) == budget and pilot.nodes is not None:
                played = {"node": pilot.nodes, "reward": pilot.rewards}
                rounds.append(key | {"round": np.arange(len(pilot.nodes))} | played)
    io.write("pilot", stack(estimates) if estimates else io.nothing("pilot"), estimates_path)
    io.write("pilot_rounds", stack(rounds) if rounds else io.nothing("pilot_rounds"), rounds_path)


def read_pilots(estimates_path: str, rounds_path: str | None = None) -> Panel:
    """Read pilots; those whose rounds were not written, or not asked for, have none."""
    panel: Panel = {}
    table = io.read("pilot", estimates_path)
    columns = [io.values(table[name]) for name in ("theta", "pulls", "sum", "sum_squares")]
    rounds: dict[tuple, tuple[np.ndarray, np.ndarray]] = {}
    if rounds_path:
        played = io.read("pilot_rounds", rounds_path)
        nodes, rewards = io.values(played["node"]), io.values(played["reward"])
        rounds = {key: (nodes[rows], rewards[rows]) for key, rows in groups(played, "problem", "instance", "budget")}
    for (problem, instance, budget), rows in groups(table, "problem", "instance", "budget"):
        theta, pulls, sums, squares = (column[rows] for column in columns)
        nodes_and_rewards = rounds.get((problem, instance, budget), (None, None))
        pilot = Pilot(theta, pulls.astype(float), sums, squares, *nodes_and_rewards)
        panel.setdefault((problem, int(instance)), {})[int(budget)] = pilot
    return panel
