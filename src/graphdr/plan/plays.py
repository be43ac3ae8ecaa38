"""Which runs are played where: every method once on every problem, in the first experiment that asks.

Two experiments that ask for the same runs, under whatever names, share them. Runs are the same if their protocol, the
resolved method and all that its rewards, contexts and facts depend on are equal.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from graphdr.bandit.method import Method
from graphdr.cache import paths
from graphdr.facts.registry import FACTORS
from graphdr.plan import blocks
from graphdr.plan.job import fill
from graphdr.plan.problem import Problem, posed_problem
from graphdr.stages.pose_problem import PosedProblem
from graphdr.stages.run_bandit import Protocol


class Played(NamedTuple):
    """Where the runs of a method on a problem are, and what both are called there."""

    path: str
    problem: str
    method: str


KINDS = PLAIN, INFORMED = "plain", "informed"  # a fact or a pilot that changes makes only the latter play again


def kind_of(method: Method) -> str:
    """Tell methods that take their k or radius from facts or a pilot from others."""
    return INFORMED if method.facts else PLAIN


class Identity(NamedTuple):
    """What runs depend on: equal identities give equal runs."""

    protocol: Protocol
    posed: PosedProblem
    method: Method
    factors_of_facts: str


def _identity(problem: Problem, method: Method) -> Identity:
    names = sorted({factor for fact in method.facts for factor in FACTORS.get(fact, ())})
    factors = repr([getattr(problem, name) for name in names])
    posed = replace(posed_problem(problem), name="")
    return Identity(fill(Protocol, problem), posed, method.resolve(problem), factors)


def assign(
    requests: Iterable[tuple[str, str, str]], problems: Mapping[str, Problem], methods: Mapping[str, blocks.Method]
) -> dict[tuple[str, str], Played]:
    """Return where the runs of every problem and method are, from (batch, problem, method) in order of precedence."""
    first: dict[Identity, Played] = {}
    played: dict[tuple[str, str], Played] = {}
    for batch, problem, name in requests:
        method = methods[name].method
        path = paths.runs(batch, kind_of(method))
        played[problem, name] = first.setdefault(_identity(problems[problem], method), Played(path, problem, name))
    return played
