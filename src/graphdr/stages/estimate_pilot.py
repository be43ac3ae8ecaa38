"""Play the pilots of all problems of a batch: a few noisy rewards of every node, before any method plays."""

from typing import Any, NamedTuple

from graphdr.bandit import pilot
from graphdr.cache import paths
from graphdr.core.rng import stream
from graphdr.panels.pilots import write_pilots
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
    panel = {}
    for (name, instance), theta in read_thetas(input.theta).items():
        problem = next(problem for problem in params.problems if problem["name"] == name)
        panel[name, int(instance)] = {
            budget: pilot.play(
                theta,
                problem["noise"],
                budget * len(theta),
                stream(params.seed, "pilot", n=len(theta), instance=int(instance)),
            )
            for budget in problem["budgets"]
        }
    rounds_of = {problem["name"]: problem["pilot"] for problem in params.problems} if params.rounds else {}
    write_pilots(panel, output.estimates, output.rounds, rounds_of)
    print(f"{sum(map(len, panel.values()))} pilots of {len(params.problems)} problems")
