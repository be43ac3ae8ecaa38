"""Pilots of all problems, instances and budgets, in and out of tables."""

import numpy as np

from graphdr.bandit.pilot import Pilot
from graphdr.cache import io
from graphdr.store.problems import KEYS, ProblemInstance

Pilots = dict[ProblemInstance, dict[int, Pilot]]  # pilots by their budget, in pulls per node


def write_pilots(pilots: Pilots, estimates_path: str, rounds_path: str, rounds_of: dict[str, int]) -> None:
    """Write the estimates of all pilots, and the rounds of those that a bootstrap needs.

    ``rounds_of`` has the budget of the pilot of a problem whose rounds are written.
    """
    estimates, rounds = [], []
    for (problem, instance), by_budget in pilots.items():
        for budget, pilot in sorted(by_budget.items()):
            key = {"problem": problem, "instance": instance, "budget": budget}
            columns = {"pulls": pilot.pulls, "sum": pilot.sums, "sum_squares": pilot.sums_of_squares}
            estimates.append(key | {"node": np.arange(len(pilot.theta)), "theta": pilot.theta} | columns)
            if rounds_of.get(problem) == budget and pilot.nodes is not None:
                played = {"node": pilot.nodes, "reward": pilot.rewards}
                rounds.append(key | {"round": np.arange(len(pilot.nodes))} | played)
    io.write_parts("pilot", estimates, estimates_path)
    io.write_parts("pilot_rounds", rounds, rounds_path)


def read_pilots(estimates_path: str, rounds_path: str | None = None) -> Pilots:
    """Read pilots; their rounds are None unless ``rounds_path`` has them."""
    keys = (*KEYS, "budget")
    rounds = io.read_parts("pilot_rounds", rounds_path, keys, "node", "reward") if rounds_path else {}
    estimates = io.read_parts("pilot", estimates_path, keys, "theta", "pulls", "sum", "sum_squares")
    pilots: Pilots = {}
    for key, (theta, pulls, sums, squares) in estimates.items():
        problem, instance, budget = key
        pilot = Pilot(theta, pulls.astype(float), sums, squares, *rounds.get(key, (None, None)))
        pilots.setdefault((problem, int(instance)), {})[int(budget)] = pilot
    return pilots
