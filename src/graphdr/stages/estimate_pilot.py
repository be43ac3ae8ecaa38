"""Play the pilots of all problems of a batch: a few noisy rewards of every arm, before any method plays."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from graphdr.bandit.pilot import SOURCES, Setting
from graphdr.cache import paths
from graphdr.core.rng import stream
from graphdr.store.graphs import read_items
from graphdr.store.pilots import Pilots, write_pilots
from graphdr.store.problems import read_arm_sets, read_thetas


@dataclass(frozen=True)
class PilotProblem:
    """The factors that a pilot depends on."""

    name: str
    graph: str
    segments: int
    noise: float
    pilot: int
    pilot_source: str
    budgets: list[int]  # in pulls per node
    ridge: float  # of a pilot that is a regression


class Input(NamedTuple):
    theta: str
    contexts: str  # where arms are not single nodes
    nodes: dict[str, str]  # by graph, where logs show popular nodes more often


class Output(NamedTuple):
    estimates: str = paths.pilot
    rounds: str = paths.pilot_rounds


class Params(NamedTuple):
    problems: list[PilotProblem]
    rounds: bool  # whether to keep the rounds of the budget of a problem, for a bootstrap
    seed: int


def main(input: Input, output: Output, params: Params) -> None:
    problems = {problem.name: problem for problem in params.problems}
    pilots: Pilots = {}
    thetas = read_thetas(input.theta)
    arm_sets = read_arm_sets(input.contexts, {name: problem.segments for name, problem in problems.items()}, thetas)
    items = {graph: read_items(path) for graph, path in input.nodes.items()}
    for (name, number), theta in thetas.items():
        problem, n, instance = problems[name], len(theta), int(number)
        popularity = items[problem.graph][instance].popularity if problem.graph in items else np.ones(n)
        setting = Setting(arm_sets[name, instance], theta, problem.noise, problem.ridge, popularity)
        for budget in problem.budgets:
            rng = stream(params.seed, "pilot", n=n, instance=instance)
            pilot = SOURCES[problem.pilot_source](setting, budget * n, rng)
            pilots.setdefault((name, instance), {})[budget] = pilot
    budgets = {name: problem.pilot for name, problem in problems.items()} if params.rounds else {}
    write_pilots(pilots, output.estimates, output.rounds, budgets)
    print(f"{sum(map(len, pilots.values()))} pilots of {len(params.problems)} problems")
