"""How a policy learns: it updates its posterior, tunes its prior to the rewards, and discounts old rewards.

The prior is tuned after the first rewards and again whenever their number has doubled. Until the first time, there are
no estimates.
"""

import sys
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from graphdr.bandit.graph_prior.model import Statistics
from graphdr.bandit.graph_prior.play import FIRST
from graphdr.core.threads import one_thread
from graphdr.serve import tuning
from graphdr.serve.arms import Arms, Candidates
from graphdr.serve.basis import Extender
from graphdr.serve.posterior import Posterior, Prior

PENDING = 0.01  # share of the memory that is learned before old rewards are discounted, and V^-1 is rebuilt


@dataclass(slots=True)
class Learner:
    """A posterior, and the rounds after which it is tuned and old rewards are discounted.

    In the methods, ``prior`` is the kind of prior to tune, None where all settings are given, and ``forget`` is the
    share of old rewards that is kept with every new one.
    """

    posterior: Posterior
    roughness: np.ndarray  # of the columns of features that tuning chooses from
    intercept: bool  # whether a column of ones comes before the features
    ridge_prior: Prior | None  # where the ridge is given
    rounds: int = 0
    pending: int = 0  # rewards since old ones were last discounted
    next_tuning: int = FIRST  # rounds after which the prior is tuned

    @property
    def has_prior(self) -> bool:
        """Whether a prior was found under which arms differ."""
        return self.posterior.noise is not None and self.posterior.tells_arms_apart

    def copied(self) -> "Learner":
        """Return a copy that learns independently."""
        other = copy(self)
        other.posterior = self.posterior.copied()
        return other

    def learn(
        self, batch: Candidates, rewards: np.ndarray, weights: np.ndarray, prior: str | None, forget: float
    ) -> None:
        """Learn the rewards of arms or contexts in their order; tune and discount whenever it is time."""
        start = 0
        while start < len(rewards):
            part = slice(start, start + self._rewards_until_change(prior, forget))
            if batch.rows is None:
                self.posterior.learn(batch.places[part], rewards[part], weights[part])
            else:
                self.posterior.learn_contexts(batch.rows[part], rewards[part], weights[part])
            count = min(part.stop, len(rewards)) - start
            self.rounds += count
            self._discount(count, forget)
            self.tune_if_due(prior, forget)
            start += count

    def tune_if_due(self, prior: str | None, forget: float) -> None:
        """Tune the prior if enough rewards came since the last time."""
        if prior is not None and self.rounds >= self.next_tuning:
            self.tune(prior, forget)

    def tune(self, prior: str, forget: float) -> None:
        """Estimate the prior from all rewards; while these do not differ, wait for more."""
        statistics: Statistics = self.posterior.statistics
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

    def _rewards_until_change(self, prior: str | None, forget: float) -> int:
        """Return how many rewards to learn before the prior is tuned or old rewards are discounted."""
        count = sys.maxsize if prior is None else self.next_tuning - self.rounds
        if forget != 1:
            count = min(count, _block(forget) - self.pending)
        return max(1, count)

    def _discount(self, count: int, forget: float) -> None:
        if forget == 1:
            return
        self.pending += count
        if self.pending >= _block(forget):
            self.posterior.decay(forget**self.pending)
            self.pending = 0


class State(NamedTuple):
    """The state of a policy: all that fit makes of a graph, that rewards change, and that a file holds."""

    arms: Arms
    learner: Learner
    extender: Extender | None  # of features to new arms
    rng: np.random.Generator
    nodes: int  # of the fitted graph


def memory(forget: float) -> int:
    """Return for how many rewards a reward is remembered on average."""
    return int(np.ceil(1.0 / (1.0 - forget)))


def _block(forget: float) -> int:
    """Return after how many rewards old ones are discounted."""
    return max(1, int(PENDING * memory(forget)))
