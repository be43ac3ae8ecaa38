"""What a fact is: a number about one instance of a problem, declared with everything that it depends on."""

from collections.abc import Callable, Hashable, Mapping
from inspect import Parameter, signature
from typing import Any, NamedTuple, TypeVar

import numpy as np

from graphdr.bandit.arm_set import NODES, ArmSet
from graphdr.bandit.pilot import Pilot
from graphdr.core.rng import stream
from graphdr.graphs.arm_features import Basis
from graphdr.graphs.model import Graph

# As a budget: the pilot of the problem, whose pulls per node are the factor of this name. Facts get a pilot by it, too.
PROBLEM = "pilot"
Result = TypeVar("Result")


class ProblemInstance(NamedTuple):
    """One instance of a problem: its clean and observed graph, their bases, the reward of every node, and pilots."""

    clean: Graph
    observed: Graph
    low: Basis  # the lowest eigenvectors of the clean graph
    observed_low: Basis
    theta: np.ndarray
    others: Mapping[str, Basis | None]  # further bases by name, None where the data set has none
    popularity: np.ndarray
    seed: int  # of the streams
    number: int  # of the instance, in the keys of the streams
    pilots: Mapping[int, Pilot]  # by pulls per node
    memo: dict[Hashable, Any]  # results that several facts of the instance share
    arm_set: ArmSet = NODES

    def stream(self, purpose: str) -> np.random.Generator:
        """Return a random stream of the instance."""
        return stream(self.seed, purpose, n=self.observed.n, instance=self.number)

    def once(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """Compute a result that several facts share, or return it if it was computed before."""
        if key not in self.memo:
            self.memo[key] = compute()
        result: Result = self.memo[key]
        return result


class Fact(NamedTuple):
    """A fact and everything that it depends on: no other change can change it."""

    function: Callable[..., float]
    factors: tuple[str, ...]  # of the problem
    basis: str | None = None  # besides laplacian_low; or laplacian_low with as many vectors as the problem stores
    favourable: int = 0  # the theory favours GraphDR where it is large (1) or small (-1)
    budget: int | str | None = None  # pulls per node of the pilot that it reads, or PROBLEM
    rounds: bool = False  # whether it reads the rounds of the pilot, not only their sums

    def __call__(self, instance: ProblemInstance, factors: Mapping[str, object]) -> float:
        """Compute the fact of an instance of a problem with these factors."""
        arguments: dict[str, object] = {name: factors[name] for name in _parameters(self.function)}
        if self.budget is not None:
            budget = factors[PROBLEM] if self.budget == PROBLEM else self.budget
            arguments[PROBLEM] = instance.pilots[budget]  # type: ignore[index]
        return self.function(instance, **arguments)


FACTS: dict[str, Fact] = {}  # complete once ``facts.registry`` is imported
Function = TypeVar("Function", bound=Callable[..., float])


def fact(name: str = "", **declared: Any) -> Callable[[Function], Function]:
    """Declare a function as the fact of its name, or of another one.

    Its keyword-only parameters without a default are the factors of the problem that it reads, but for ``pilot``: the
    pilot of the budget. Fields of ``Fact`` declare the rest. What a pilot observes depends on the noise.
    """

    def register(function: Function) -> Function:
        budget = declared.get("budget")
        of_pilot = [*([PROBLEM] if budget == PROBLEM else []), *(["noise"] if budget else [])]
        factors = dict.fromkeys([*_parameters(function), *of_pilot])
        FACTS[name or function.__name__] = Fact(function, tuple(factors), **declared)
        return function

    return register


def _parameters(function: Callable[..., float]) -> list[str]:
    """Return the names of the factors that a function reads."""
    parameters = [p for p in signature(function).parameters.values() if p.kind is Parameter.KEYWORD_ONLY]
    return [p.name for p in parameters if p.default is Parameter.empty and p.name != PROBLEM]
