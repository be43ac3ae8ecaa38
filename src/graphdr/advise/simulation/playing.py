"""One split, set up to be played, and the regret of methods on it."""

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from graphdr.advise.simulation import methods
from graphdr.advise.simulation.methods import Method
from graphdr.advise.simulation.problems import SimulatedProblem, draw_rounds, simulated_problem
from graphdr.advise.simulation.splits import Source
from graphdr.bandit.environment import Rounds
from graphdr.bandit.graph_prior import evidence, model
from graphdr.bandit.method import BanditProblem, GraphInputs
from graphdr.bandit.policies.graph_prior import GraphPrior
from graphdr.bandit.registry import POLICIES
from graphdr.bandit.simulate import simulate
from graphdr.core.rng import stream
from graphdr.graphs import arm_features
from graphdr.graphs.arm_features import Basis

PULLS = 2000  # random rewards behind the first look
POINTS = 100  # of a regret curve
Regrets = dict[str, np.ndarray]  # by method
Key = TypeVar("Key", bound=Hashable)


class SimulationConfig(NamedTuple):
    """Rounds of a run, candidates of a round and how they are drawn, splits of the data, and runs on each split."""

    horizon: int = 20_000
    arms: int = 10
    candidates: str = "uniform"
    splits: int = 8
    choosing: int = 1  # runs that choose settings
    comparing: int = 2  # runs that compare all methods
    deciding: int = 6  # at most so many further runs of the methods that may be the best
    judging_runs: int = 6  # runs that judge the best two; a single run depends on chance
    controls: int = 2  # of these, runs that controls play

    @property
    def every(self) -> int:
        """Return the rounds between two points of a curve."""
        return max(self.horizon // POINTS, 1)


class SplitSetup(NamedTuple):
    """One split: its problem, its bases, and the log evidence for its graph."""

    number: int
    problem: SimulatedProblem
    bases: dict[str, Basis]
    log_bayes: float


def set_up(source: Source, arms: int, seed: int, number: int) -> SplitSetup:
    """Make the problem of a split and its bases, and compute the log evidence of random rewards for its graph."""
    problem = simulated_problem(source, arms, seed, number)
    names = {basis for method in methods.available(source.data).values() for basis in method.bases}
    rng = stream(seed, "basis", split=number)
    bases = {name: methods.compute_basis(name, problem, rng) for name in sorted(names)}
    pulls = draw_rounds(problem, "uniform", PULLS, 1, stream(seed, "first look", split=number))
    pulled = pulls.arms[:, 0]
    paid = problem.theta[pulled] + pulls.noise.reshape(PULLS, -1)[:, 0]
    statistics = model.statistics(len(problem.theta), pulled, paid)
    columns = model.columns(*arm_features.graded(methods.GRAPH, bases[methods.GRAPH]))
    log_bayes = evidence.log_bayes_factor(statistics, columns)
    return SplitSetup(number, problem._replace(ratings=None, content=None), bases, log_bayes)


def play_run(
    setup: SplitSetup, config: SimulationConfig, seed: int, number: int, entries: Mapping[Key, Method]
) -> dict[Key, np.ndarray]:
    """Play methods on the same rounds of a split; return the regret of each along the rounds."""
    horizon = config.every * (config.horizon // config.every)
    key = {"split": setup.number, "number": number}
    rounds = draw_rounds(setup.problem, config.candidates, horizon, config.arms, stream(seed, "rounds", **key))
    return {
        name: play_method(method, setup, rounds, stream(seed, "policy", **key), config.every)
        for name, method in entries.items()
    }


def play_method(method: Method, setup: SplitSetup, rounds: Rounds, rng: np.random.Generator, every: int) -> np.ndarray:
    """Play a method through all rounds; return its regret after every so many of them."""
    theta, noise = setup.problem.theta, setup.problem.noise
    kind, settings, basis_name = POLICIES[method.policy], method.settings, method.basis
    first, second = (setup.bases[name] if name else None for name in (basis_name, method.second_basis))
    if first is None and issubclass(kind, GraphPrior):  # a prior of independent items
        basis_name, first = "user_columns", Basis(np.zeros((len(theta), 0)), np.zeros(0), np.zeros(0))
    values: Mapping[str, Any] = {
        "basis": basis_name,
        "second_basis": method.second_basis,
        "k": len(first.values) if settings.k is None and first else settings.k,  # without a k, all columns
        "ridge": settings.ridge,
        "alpha": None if settings.width is None else settings.width * noise,
    }
    policy = kind(**{name: value for name, value in values.items() if value is not None and hasattr(kind, name)})
    arms = policy.features(GraphInputs(first, second))
    problem = BanditProblem(theta, **arms._asdict(), noise=noise)
    return simulate(problem, policy, rounds, rng, checkpoint=every).regret
