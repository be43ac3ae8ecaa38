"""What a fact is: a number about one instance of a problem, declared with all that it depends on."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from graphdr.bandit.pilot import Pilot
from graphdr.bandit.pool import NODES, Pool
from graphdr.graphs.arm_features import Basis
from graphdr.graphs.model import Graph

PROBLEM = "pilot"  # in place of a budget: the factor of a problem that says how many pulls per node its own pilot has


class ProblemInstance(NamedTuple):
    """One instance of a problem: what was observed, what lies behind it, the reward on its nodes, and pilots."""

    spec: dict
    clean: Graph
    observed: Graph
    low: Basis  # the lowest eigenvectors of the clean graph
    observed_low: Basis
    theta: np.ndarray
    rng: np.random.Generator
    others: Mapping[str, Basis | None]  # further bases by name, None where the data set has none
    popularity: np.ndarray
    seed: int  # of the streams
    index: int  # of the instance, in the keys of the streams
    pilots: Mapping[int, Pilot]  # by pulls per node
    memo: dict  # what facts of one instance share
    pool: Pool = NODES  # the arms


class Fact(NamedTuple):
    """A fact and what it depends on: a change of anything else does not change it."""

    function: Callable[[ProblemInstance], float]
    factors: tuple[str, ...] = ()  # of the problem
    basis: str | None = None  # besides laplacian_low; this one if it wants as many vectors as the problem stores
    favourable: int = 0  # what favours GraphDR according to the theory: large values (1) or small ones (-1)
    budget: int | str | None = None  # pulls per node of the pilot that it reads, or PROBLEM
    rounds: bool = False  # whether it reads the pilot's rounds, not only what they add up to
    streams: tuple[str, ...] = ()  # the purposes of the streams that it draws from

    def __call__(self, instance: ProblemInstance) -> float:
        return self.function(instance)


FACTS: dict[str, Fact] = {}  # complete once ``facts.registry`` is imported


def fact(*factors: str, **declared) -> Callable[..., Fact]:
    """Declare a function of a problem instance as the fact of its name, which depends on these factors."""

    def register(function: Callable[[ProblemInstance], float], name: str | None = None) -> Fact:
        FACTS[name or function.__name__] = new = Fact(function, factors, **declared)
        return new

    return register
