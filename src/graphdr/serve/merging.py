"""Deltas: the rewards that a worker learned, separated from those it started with, and added to another policy."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from graphdr.serve.arms import IGNORE_ADVICE
from graphdr.serve.parameters import IGNORE
from graphdr.serve.posterior import BY_ARM, between
from graphdr.serve.state import State
from graphdr.serve.tables import Name

NEEDS_ALL_REWARDS = "what a worker learned cannot be merged where rewards are forgotten: forget is below 1"


class Learned(NamedTuple):
    """The rewards that a worker learned while no arm was removed.

    ``rewards`` has a column for each arm: the number of its rewards, their total weight (pulls), their sum, and the sum
    of squares around their mean.
    """

    arms: list[tuple[Name | None, Name]]  # segment and name
    rewards: np.ndarray
    context_v: np.ndarray
    context_right: np.ndarray
    rounds: int


Delta = tuple[Learned, ...]


def since(start: State, state: State) -> Learned:
    """Return the rewards learned after a start; arms may have been added since, but none removed."""
    now, before = state.posterior, start.posterior
    present = np.array([getattr(now, name) for name in BY_ARM])
    old = np.zeros(present.shape)
    old[:, : len(before.pulls)] = [getattr(before, name) for name in BY_ARM]
    places = np.flatnonzero(present[1] - old[1])
    rewards, old = present[:, places] - old[:, places], old[:, places]
    # Rounding may leave a negative difference.
    rewards[3] = np.maximum(rewards[3] - between(*old[1:3], *rewards[1:3]), 0.0)
    names, segments = state.arms.names, [*state.arms.segment] or [None]
    return Learned(
        arms=[(segments[place // len(names)], names[place % len(names)]) for place in places.tolist()],
        rewards=rewards,
        context_v=now.context_v - before.context_v,
        context_right=now.context_right - before.context_right,
        rounds=state.rounds - start.rounds,
    )


def check(parts: Iterable[Learned], state: State, unknown: str) -> None:
    """Refuse unknown segments, unknown arms unless they are ignored, and contexts over other features."""
    for part in parts:
        for segment, name in part.arms:
            if segment not in (state.arms.segment or [None]):
                raise ValueError(f"a worker learned of segment {segment!r}, which this policy does not have")
            if unknown != IGNORE and name not in state.arms.place:
                raise ValueError(f"no arm {name!r}; {IGNORE_ADVICE}")
        if part.context_v.any() and part.context_v.shape != state.posterior.context_v.shape:
            raise ValueError("what contexts taught a worker belongs to other features")


def add(part: Learned, state: State) -> None:
    """Add rewards, except those of unknown arms; rebuild the posterior afterwards."""
    posterior, arms = state.posterior, state.arms
    starts = [len(arms.names) * arms.segment.get(segment, 0) for segment, _ in part.arms]
    places = np.array([arms.place.get(name, -1) for _, name in part.arms], int)
    known = places >= 0
    state.rounds += part.rounds - round(part.rewards[0, ~known].sum())
    places, rewards = (places + np.array(starts, int))[known], part.rewards[:, known]
    rewards[3] += between(posterior.pulls[places], posterior.sums[places], *rewards[1:3])
    posterior.within += float(rewards[3].sum())
    for name, more in zip(BY_ARM, rewards, strict=True):
        getattr(posterior, name)[places] += more
    if part.context_v.any():
        posterior.context_v += part.context_v
        posterior.context_right += part.context_right
