"""The state of a policy: what fit makes of a graph, what rewards change, and what a file holds.

The prior is tuned after the first rewards and again whenever their number has doubled. Until the first time, there are
no estimates. Old rewards are discounted whenever a small share of the memory is new. What a
worker learned is separated from what it started with, and merged into another state.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from graphdr.bandit.graph_prior.play import FIRST
from graphdr.serve import tuning
from graphdr.serve.arms import IGNORE_ADVICE, Arms, Candidates
from graphdr.serve.basis import Extender, one_thread
from graphdr.serve.posterior import BY_ARM, Posterior, Prior, between
from graphdr.serve.sources import Name

PENDING = 0.01  # share of the memory that is learned before old rewards are discounted, and V^-1 is rebuilt

NEEDS_ALL_REWARDS = "what a worker learned cannot be merged where rewards are forgotten: forget is below 1"


class DeltaPart(NamedTuple):
    """The rewards that a worker learned while no arm was removed.

    ``rewards`` has a column for each arm: the number of its rewards, their total weight (pulls), their sum, and the sum
    of squares around their mean.
    """

    arms: list[tuple[Name | None, Name]]  # segment and name
    rewards: np.ndarray
    context_v: np.ndarray
    context_right: np.ndarray
    rounds: int


Delta = tuple[DeltaPart, ...]


@dataclass(slots=True)
class State:
    """What a policy knows, and the rounds after which its prior is tuned and old rewards are discounted.

    In the methods, ``prior`` is the kind of prior to tune, None where all settings are given, and ``forget`` is the
    share of old rewards that is kept with every new one.
    """

    arms: Arms
    posterior: Posterior
    roughness: np.ndarray  # of the columns of features that tuning chooses from
    intercept: bool  # whether a column of ones comes before the features
    ridge_prior: Prior | None  # where the ridge is given
    extender: Extender | None  # of features to new arms
    rng: np.random.Generator
    nodes: int  # of the fitted graph
    rounds: int = 0
    pending: int = 0  # rewards since old ones were last discounted
    next_tuning: int = FIRST  # rounds after which the prior is tuned

    def copied(self) -> "State":
        """Return a copy that learns independently, with the same generator."""
        return replace(self, posterior=self.posterior.copied())

    def learn(
        self, batch: Candidates, rewards: np.ndarray, weights: np.ndarray, prior: str | None, forget: float
    ) -> None:
        """Learn the rewards of arms or contexts in their order; tune and discount whenever it is time."""
        block = 0 if forget == 1 else max(1, int(PENDING * memory(forget)))  # rewards between two discounts
        start = 0
        while start < len(rewards):
            count = len(rewards) - start
            if prior is not None:
                count = min(count, max(1, self.next_tuning - self.rounds))
            if block:
                count = min(count, max(1, block - self.pending))
            part = slice(start, start + count)
            if batch.rows is None:
                self.posterior.learn(batch.places[part], rewards[part], weights[part])
            else:
                self.posterior.learn_contexts(batch.rows[part], rewards[part], weights[part])
            self.rounds += count
            start += count
            if block:
                self.pending += count
                if self.pending >= block:
                    self.posterior.decay(forget**self.pending)
                    self.pending = 0
            self.tune_if_due(prior, forget)

    def tune_if_due(self, prior: str | None, forget: float) -> None:
        """Tune the prior if enough rewards came since the last time."""
        if prior is not None and self.rounds >= self.next_tuning:
            self.tune(prior, forget)

    def tune(self, prior: str, forget: float) -> None:
        """Estimate the prior from all rewards; while these do not differ, wait for more."""
        statistics = self.posterior.statistics
        if not len(statistics.pulls):
            return
        step = FIRST
        if tuning.varied(statistics):
            columns = tuning.columns(self.posterior.rows, int(self.intercept), self.roughness)
            with one_thread():
                estimate = tuning.PRIORS[prior](statistics, columns)
                if self.ridge_prior is not None:
                    estimate = self.ridge_prior._replace(noise=estimate.noise)
                self.posterior.take(estimate)
            step = max(self.rounds, FIRST)
        self.next_tuning = self.rounds + (step if forget == 1 else min(step, memory(forget)))

    def since(self, start: "State") -> DeltaPart:
        """Return the rewards learned after a start; arms may have been added since, but none removed."""
        now, before = self.posterior, start.posterior
        present = np.array([getattr(now, name) for name in BY_ARM])
        old = np.zeros(present.shape)
        old[:, : len(before.pulls)] = [getattr(before, name) for name in BY_ARM]
        places = np.flatnonzero(present[1] - old[1])
        rewards, old = present[:, places] - old[:, places], old[:, places]
        # Rounding may leave a negative difference.
        rewards[3] = np.maximum(rewards[3] - between(*old[1:3], *rewards[1:3]), 0.0)
        names, segments = self.arms.names, [*self.arms.segment] or [None]
        return DeltaPart(
            arms=[(segments[place // len(names)], names[place % len(names)]) for place in places.tolist()],
            rewards=rewards,
            context_v=now.context_v - before.context_v,
            context_right=now.context_right - before.context_right,
            rounds=self.rounds - start.rounds,
        )

    def merge(self, parts: list[DeltaPart], ignore_unknown: bool) -> None:
        """Learn what workers learned; with a wrong part among them, nothing."""
        for part in parts:
            for segment, name in part.arms:
                if segment not in (self.arms.segment or [None]):
                    raise ValueError(f"a worker learned of segment {segment!r}, which this policy does not have")
                if not ignore_unknown and name not in self.arms.place:
                    raise ValueError(f"no arm {name!r}; {IGNORE_ADVICE}")
            if part.context_v.any() and part.context_v.shape != self.posterior.context_v.shape:
                raise ValueError("what contexts taught a worker belongs to other features")
        for part in parts:
            self._add(part)
        self.posterior.rebuild()

    def _add(self, part: DeltaPart) -> None:
        """Add rewards, except those of unknown arms."""
        posterior, arms = self.posterior, self.arms
        starts = [len(arms.names) * arms.segment.get(segment, 0) for segment, _ in part.arms]
        places = np.array([arms.place.get(name, -1) for _, name in part.arms], int)
        present = places >= 0
        self.rounds += part.rounds - round(part.rewards[0, ~present].sum())
        places, rewards = (places + np.array(starts, int))[present], part.rewards[:, present]
        rewards[3] += between(posterior.pulls[places], posterior.sums[places], *rewards[1:3])
        posterior.within += float(rewards[3].sum())
        for name, more in zip(BY_ARM, rewards, strict=True):
            getattr(posterior, name)[places] += more
        if part.context_v.any():
            posterior.context_v += part.context_v
            posterior.context_right += part.context_right


def memory(forget: float) -> int:
    """Return for how many rewards a reward is remembered on average."""
    return int(np.ceil(1.0 / (1.0 - forget)))
