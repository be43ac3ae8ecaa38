"""Play the pilots of all problems of a batch: a few noisy rewards of every node, before any method plays."""

from typing import Any, NamedTuple

from graphdr.bandit import pilot
from graphdr.cache import paths
from graphdr.core.rng import stream
from graphdr.panels.pilots import Panel, write_pilots
from graphdr.panels.problems import read_thetas


class Input(NamedTuple):
    theta: str


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
    for (name, number), theta in read_thetas(input.theta).items():
        n, instance = len(theta), int(number)
        for budget in problems[name]["budgets"]:
            rng = stream(params.seed, "pilot", n=n, instance=instance)
            played = pilot.play(theta, problems[name]["noise"], budget * n, rng)
            panel.setdefault((name, instance), {})[budget] = played
    rounds_of = {problem["name"]: problem["pilot"] for problem in params.problems} if params.rounds else {}
    write_pilots(panel, output.estimates, output.rounds, rounds_of)
    print(f"{sum(map(len, panel.values()))} pilots of {len(params.problems)} problems")
