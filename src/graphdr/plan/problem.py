"""A problem with all of its factors, and the records of those that its rewards and contexts depend on."""

from dataclasses import is_dataclass

from graphdr.bandit.arm_set import NODE, ContextSpec
from graphdr.bandit.rewards import PLANTED, RESAMPLED
from graphdr.plan.blocks import Factors
from graphdr.plan.job import fill
from graphdr.stages.pose_problem import PosedProblem, Ratings, SegmentRewards


class Problem(Factors):
    """A problem with a value for every factor that it needs, and the names of its graphs."""

    name: str
    title: str
    items: str  # graph of the items
    clean: str  # graph with every item once per segment of users
    graph: str  # the observed graph: the clean one after a change, if there is one


def has_contexts(problem: Factors) -> bool:
    """Tell whether the arms of a problem are something else than single nodes."""
    return problem.context != NODE


def contexts_of(problem: Factors) -> ContextSpec | None:
    """Return what the contexts of a problem depend on, None where its arms are single nodes."""
    return fill(ContextSpec, problem) if has_contexts(problem) else None


def posed_problem(problem: Problem) -> PosedProblem:
    """Return the factors that the rewards and contexts of a problem depend on."""
    by_segment = problem.segments > 1 and problem.reward in PLANTED
    return fill(
        PosedProblem,
        problem,
        ratings=fill(Ratings, problem) if problem.noise == RESAMPLED else None,
        segment_rewards=fill(SegmentRewards, problem) if by_segment else None,
        contexts=contexts_of(problem),
    )


def flat(record: object) -> dict[str, object]:
    """Return the fields of a record by name, those of records inside it included, without parts that are None."""
    values: dict[str, object] = {}
    for name, value in vars(record).items():
        if is_dataclass(value):
            values |= flat(value)
        elif value is not None:
            values[name] = value
    return values
