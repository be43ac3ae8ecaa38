"""Short ways to make runs and to play LinUCB on them with any radius."""

import numpy as np

from graphdr.bandit.environment import OneGenerator, Rounds
from graphdr.bandit.method import BanditProblem, Run
from graphdr.bandit.policies.linucb import play_with_radius
from graphdr.bandit.radii import Radius
from graphdr.bandit.simulate import measure
from graphdr.theory.results import RunResult


def run_of(theta: np.ndarray, rounds: Rounds, features: np.ndarray | None = None, **others) -> Run:
    """Return a run, with the random numbers of a fixed seed."""
    return Run(BanditProblem(theta, features, **others), rounds, OneGenerator(np.random.default_rng(0)))


def play_linucb(
    runs: list[Run], radius: float | np.ndarray, *, ridge: float = 1.0, inflation: float = 0.0, every: int = 100
) -> list[RunResult]:
    """Play LinUCB with a radius, one number or one per round, whose inflation follows the residual of the problem."""
    runs = [run._replace(checkpoint=every) for run in runs]
    widths = np.broadcast_to(np.asarray(radius, float), len(runs[0].rounds.arms))
    chosen = play_with_radius(runs, Radius(widths, inflation, None), ridge)
    return [measure(run, choices, ridge) for run, choices in zip(runs, chosen, strict=True)]
