"""Play the pilots of all problems of a batch: a few noisy rewards of every arm, before any method plays."""

from typing import Any, NamedTuple

import numpy as np

from graphdr.bandit.pilot_sources import PREFIX, SOURCES, Setting
from graphdr.cache import paths
from graphdr.core.rng import stream
from graphdr.panels.contexts import read_pools
from graphdr.panels.items import read_items
from graphdr.panels.pilots import Panel, write_pilots
from graphdr.panels.problems import read_thetas


class Input(NamedTuple):
    """Rewards, contexts where arms are no nodes, and nodes by graph where logs show the popular ones more often."""

    theta: str
    contexts: str
    nodes: dict[str, str]


class Output(NamedTuple):
    estimates: str = paths.pilot
    rounds: str = paths.pilot_rounds


class Params(NamedTuple):
    problems: list[dict[str, Any]]  # with the budgets wanted, in pulls per node
    rounds: bool  # whether the rounds of a problem's own budget are kept, for a bootstrap
    seed: int


def main(input: Input, output: Output, params: Params) -> None:
    problems = {problem["name"]: problem for problem in params.problems}
    panel: Panel = {}
    thetas = read_thetas(input.theta)
    pools = read_pools(input.contexts, params.problems, thetas)
    items = {graph: read_items(path) for graph, path in input.nodes.items()}
    for (name, number), theta in thetas.items():
        problem, n, instance = problems[name], len(theta), int(number)
        known = items.get(problem["graph"])
        popularity = known[instance].popularity if known else np.ones(n)
        setting = Setting(pools[name, instance], theta, problem["noise"], problem.get("ridge", 1.0), popularity)
        for budget in problem["budgets"]:
            rng = stream(params.seed, "pilot", n=n, instance=instance)
            played = SOURCES[problem.get("pilot_from", PREFIX)](setting, budget * n, rng)
            panel.setdefault((name, instance), {})[budget] = played
    rounds_of = {problem["name"]: problem["pilot"] for problem in params.problems} if params.rounds else {}
    write_pilots(panel, output.estimates, output.rounds, rounds_of)
    print(f"{sum(map(len, panel.values()))} pilots of {len(params.problems)} problems")
