"""What a worker learned on its own: taken apart from what it started with, and added to what another policy knows."""

from collections.abc import Iterable

import numpy as np

from graphdr.serve.learned import Learned, between
from graphdr.serve.lookup import Lookup
from graphdr.serve.records import Delta

KEPT = "what a worker learned cannot be merged where rewards are forgotten: forget is below 1"


def learned_since(base: Learned, own: Learned, arms: Lookup, rounds: int) -> Delta:
    """Return what was learned after ``base``, a copy from before; arms may have been appended since."""
    n, segments = len(arms.names), list(arms.segment) or [None]
    new = np.zeros(len(own.pulls) - len(base.pulls))
    pulls_before, sums_before = np.append(base.pulls, new), np.append(base.sums, new)
    places = np.flatnonzero(own.pulls - pulls_before)
    pulls, sums = (own.pulls - pulls_before)[places], (own.sums - sums_before)[places]
    within = own.within - base.within - between(pulls_before[places], sums_before[places], pulls, sums)
    return Delta(
        arms=[(segments[place // n], arms.names[place % n]) for place in places.tolist()],
        pulls=pulls,
        sums=sums,
        within=max(within, 0.0),  # of a difference, rounding may leave less than nothing
        context_v=own.context_v - base.context_v,
        context_right=own.context_right - base.context_right,
        rounds=rounds,
    )


def check(deltas: Iterable[Delta], learned: Learned, arms: Lookup) -> None:
    """Refuse what cannot be added: unknown arms or segments, and contexts over other features."""
    for delta in deltas:
        if unknown := [segment for segment, _ in delta.arms if segment not in (arms.segment or {None: 0})]:
            raise ValueError(f"a worker learned of segment {unknown[0]!r}, which this policy does not have")
        if unknown := [name for _, name in delta.arms if name not in arms.place]:
            raise ValueError(f"no arm {unknown[0]!r}")
        if delta.context_v.any() and delta.context_v.shape != learned.context_v.shape:
            raise ValueError("what contexts taught a worker belongs to other features")


def add(delta: Delta, learned: Learned, arms: Lookup) -> None:
    """Add what was learned elsewhere; V^-1 and the mean are to be rebuilt after it."""
    places = [len(arms.names) * arms.segment.get(segment, 0) + arms.place[name] for segment, name in delta.arms]
    learned.add_rewards(np.array(places, int), delta.pulls, delta.sums, delta.within)
    if delta.context_v.any():
        learned.context_v += delta.context_v
        learned.context_right += delta.context_right
