"""What a worker learned on its own: taken apart from what it started with, and added to what another policy knows."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from graphdr.serve.knobs import IGNORE
from graphdr.serve.learned import Learned, between
from graphdr.serve.lookup import SKIPS, Lookup
from graphdr.serve.records import Delta

KEPT = "what a worker learned cannot be merged where rewards are forgotten: forget is below 1"


class Start(NamedTuple):
    """What a worker knew when its delta was last asked for, and deltas that it took apart since then."""

    learned: Learned
    rounds: int
    deltas: tuple[Delta, ...] = ()


def learned_since(start: Start, own: Learned, arms: Lookup, rounds: int) -> Delta:
    """Return what was learned after a start; arms may have been appended since, and none removed."""
    n, segments = len(arms.names), list(arms.segment) or [None]
    new = np.zeros(len(own.pulls) - len(start.learned.pulls))
    before = {name: np.append(getattr(start.learned, name), new) for name in ("counts", "pulls", "sums", "squares")}
    places = np.flatnonzero(own.pulls - before["pulls"])
    counts, pulls, sums, squares = (getattr(own, name)[places] - before[name][places] for name in before)
    squares = squares - between(before["pulls"][places], before["sums"][places], pulls, sums)
    return Delta(
        arms=[(segments[place // n], arms.names[place % n]) for place in places.tolist()],
        counts=counts,
        pulls=pulls,
        sums=sums,
        squares=np.maximum(squares, 0.0),  # of a difference, rounding may leave less than nothing
        context_v=own.context_v - start.learned.context_v,
        context_right=own.context_right - start.learned.context_right,
        rounds=rounds - start.rounds,
    )


def joined(deltas: Sequence[Delta]) -> Delta:
    """Return several deltas of a worker as one."""
    arms = [*dict.fromkeys(arm for delta in deltas for arm in delta.arms)]
    place = {arm: at for at, arm in enumerate(arms)}
    counts, pulls, sums, squares = np.zeros((4, len(arms)))
    for delta in deltas:
        at = [place[arm] for arm in delta.arms]
        squares[at] += delta.squares + between(pulls[at], sums[at], delta.pulls, delta.sums)
        counts[at] += delta.counts
        pulls[at] += delta.pulls
        sums[at] += delta.sums
    v, right = sum(delta.context_v for delta in deltas), sum(delta.context_right for delta in deltas)
    return Delta(arms, counts, pulls, sums, squares, v, right, sum(delta.rounds for delta in deltas))


def check(deltas: Iterable[Delta], learned: Learned, arms: Lookup, unknown: str) -> None:
    """Refuse what cannot be added: unknown segments, arms unless they are ignored, and contexts over other features."""
    for delta in deltas:
        if wrong := [segment for segment, _ in delta.arms if segment not in (arms.segment or {None: 0})]:
            raise ValueError(f"a worker learned of segment {wrong[0]!r}, which this policy does not have")
        if unknown != IGNORE and (wrong := [name for _, name in delta.arms if name not in arms.place]):
            raise ValueError(f"no arm {wrong[0]!r}; {SKIPS}")
        if delta.context_v.any() and delta.context_v.shape != learned.context_v.shape:
            raise ValueError("what contexts taught a worker belongs to other features")


def of_known(delta: Delta, arms: Lookup) -> Delta:
    """Return a delta without the arms that are not there, and without their rewards."""
    known = np.array([name in arms.place for _, name in delta.arms], bool)
    if known.all():
        return delta
    counts, pulls, sums, squares = (part[known] for part in (delta.counts, delta.pulls, delta.sums, delta.squares))
    there = [arm for arm, is_known in zip(delta.arms, known, strict=True) if is_known]
    rounds = delta.rounds - round(delta.counts[~known].sum())
    return Delta(there, counts, pulls, sums, squares, delta.context_v, delta.context_right, rounds)


def add(delta: Delta, learned: Learned, arms: Lookup) -> None:
    """Add what was learned elsewhere; V^-1 and the mean are to be rebuilt after it."""
    places = [len(arms.names) * arms.segment.get(segment, 0) + arms.place[name] for segment, name in delta.arms]
    learned.add_rewards(np.array(places, int), delta)
    if delta.context_v.any():
        learned.context_v += delta.context_v
        learned.context_right += delta.context_right
