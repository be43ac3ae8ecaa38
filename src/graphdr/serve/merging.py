"""Deltas: the rewards that a worker learned, separated from those it started with, and added to another policy."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from graphdr.serve.arms import IGNORE_ADVICE, Arms
from graphdr.serve.learning import Learner
from graphdr.serve.parameters import IGNORE
from graphdr.serve.posterior import Posterior, between
from graphdr.serve.tables import Name

NEEDS_ALL_REWARDS = "what a worker learned cannot be merged where rewards are forgotten: forget is below 1"


class Delta(NamedTuple):
    """The rewards that a worker learned since it was made.

    For every arm: the number of rewards, their total weight (pulls), their sum, and the sum of squares around its mean.
    """

    arms: list[tuple[Name | None, Name]]  # segment and name
    counts: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    context_v: np.ndarray
    context_right: np.ndarray
    rounds: int


class Start(NamedTuple):
    """The state of a worker when its delta was last asked for, and the deltas put aside since then."""

    posterior: Posterior
    rounds: int
    deltas: tuple[Delta, ...] = ()


def start_of(learner: Learner, deltas: tuple[Delta, ...] = ()) -> Start:
    """Return the present state as the start of the next delta."""
    return Start(learner.posterior.copied(), learner.rounds, deltas)


def since(start: Start, learner: Learner, arms: Arms) -> Delta:
    """Return the rewards learned after a start; arms may have been added since, but none removed."""
    old, now = start.posterior.copied(), learner.posterior
    old.grow(now.rows[len(old.rows) :])
    places = np.flatnonzero(now.pulls - old.pulls)
    pulls, sums = now.pulls[places] - old.pulls[places], now.sums[places] - old.sums[places]
    squares = now.squares[places] - old.squares[places]
    squares = squares - between(old.pulls[places], old.sums[places], pulls, sums)
    n, segments = len(arms.names), [*arms.segment] or [None]
    return Delta(
        arms=[(segments[place // n], arms.names[place % n]) for place in places.tolist()],
        counts=now.counts[places] - old.counts[places],
        pulls=pulls,
        sums=sums,
        squares=np.maximum(squares, 0.0),  # rounding may leave a negative difference
        context_v=now.context_v - old.context_v,
        context_right=now.context_right - old.context_right,
        rounds=learner.rounds - start.rounds,
    )


def join(deltas: Sequence[Delta]) -> Delta:
    """Return several deltas of a worker as one."""
    arms = [*dict.fromkeys(arm for delta in deltas for arm in delta.arms)]
    place = {arm: at for at, arm in enumerate(arms)}
    counts, pulls, sums, squares = np.zeros((4, len(arms)))
    v = np.sum([delta.context_v for delta in deltas], axis=0)
    right = np.sum([delta.context_right for delta in deltas], axis=0)
    joined = Delta(arms, counts, pulls, sums, squares, v, right, sum(delta.rounds for delta in deltas))
    for delta in deltas:
        _accumulate(joined, np.array([place[arm] for arm in delta.arms], int), delta)
    return joined


def check(deltas: Iterable[Delta], posterior: Posterior, arms: Arms, unknown: str) -> None:
    """Refuse unknown segments, unknown arms unless they are ignored, and contexts over other features."""
    for delta in deltas:
        if wrong := [segment for segment, _ in delta.arms if segment not in (arms.segment or {None: 0})]:
            raise ValueError(f"a worker learned of segment {wrong[0]!r}, which this policy does not have")
        if unknown != IGNORE and (wrong := [name for _, name in delta.arms if name not in arms.place]):
            raise ValueError(f"no arm {wrong[0]!r}; {IGNORE_ADVICE}")
        if delta.context_v.any() and delta.context_v.shape != posterior.context_v.shape:
            raise ValueError("what contexts taught a worker belongs to other features")


def add(delta: Delta, learner: Learner, arms: Arms) -> None:
    """Add the rewards of a delta, except those of unknown arms; rebuild the posterior afterwards."""
    present = np.array([name in arms.place for _, name in delta.arms], bool)
    learner.rounds += delta.rounds - round(delta.counts[~present].sum())
    there = [arm for arm, is_present in zip(delta.arms, present, strict=True) if is_present]
    places = [len(arms.names) * arms.segment.get(segment, 0) + arms.place[name] for segment, name in there]
    counts, pulls, sums, squares = (part[present] for part in (delta.counts, delta.pulls, delta.sums, delta.squares))
    kept = delta._replace(arms=there, counts=counts, pulls=pulls, sums=sums, squares=squares)
    posterior = learner.posterior
    posterior.within += _accumulate(posterior, np.array(places, int), kept)
    if delta.context_v.any():
        posterior.context_v += delta.context_v
        posterior.context_right += delta.context_right


def _accumulate(total: Posterior | Delta, places: np.ndarray, delta: Delta) -> float:
    """Add the rewards of a delta to those of the arms at some places; return by how much their squares grow."""
    squares = delta.squares + between(total.pulls[places], total.sums[places], delta.pulls, delta.sums)
    total.counts[places] += delta.counts
    total.pulls[places] += delta.pulls
    total.sums[places] += delta.sums
    total.squares[places] += squares
    return float(squares.sum())
