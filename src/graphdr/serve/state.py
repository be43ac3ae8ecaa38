"""The state of a policy: what fit makes of a graph, what rewards change, and what a file holds.

The prior is tuned after the first rewards and again whenever their number has doubled. Until the first time, there are
no estimates. Old rewards are discounted whenever a small share of the memory is new.
"""

from dataclasses import dataclass, replace

import numpy as np

from graphdr.bandit.graph_prior.play import FIRST
from graphdr.serve import tuning
from graphdr.serve.arms import Arms, Candidates
from graphdr.serve.basis import Extender, one_thread
from graphdr.serve.posterior import Posterior, Prior

PENDING = 0.01  # share of the memory that is learned before old rewards are discounted, and V^-1 is rebuilt


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


def memory(forget: float) -> int:
    """Return for how many rewards a reward is remembered on average."""
    return int(np.ceil(1.0 / (1.0 - forget)))
