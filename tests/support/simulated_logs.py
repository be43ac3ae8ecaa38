"""Simulated logs of a bandit whose truth is known, and every estimate of what another policy would earn."""

from typing import NamedTuple

import numpy as np

from graphdr.scores.offpolicy import doubly_robust, ips, snips

ROUNDS, CANDIDATES = 400, 4


class Log(NamedTuple):
    """Rounds that a logging policy played among four candidates, what a target policy would do, and the truth."""

    rewards: np.ndarray
    propensities: np.ndarray
    target: np.ndarray  # rounds x candidates
    played: np.ndarray
    truth: np.ndarray  # expected rewards, rounds x candidates

    @property
    def single(self):
        """What the estimates without a model take."""
        return self.rewards, self.propensities, self.target[np.arange(len(self.played)), self.played]

    def robust(self, model, **options):
        return doubly_robust(self.rewards, self.propensities, self.target, self.played, model, **options)


def distributions(rng, rounds=ROUNDS, sharpness=1.0):
    scores = np.exp(sharpness * rng.standard_normal((rounds, CANDIDATES)))
    return scores / scores.sum(axis=1, keepdims=True)


FIXED = np.random.default_rng(0)  # one problem for all simulations: only draws and noise vary
LOGGING, TARGET = distributions(FIXED), distributions(FIXED)
TRUTH = 1.0 + FIXED.standard_normal((ROUNDS, CANDIDATES))


def draw(seed: int, on_policy=False) -> Log:
    """Draw a log whose target policy is worth the mean of sum_a pi(a) truth(a)."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(ROUNDS, size=ROUNDS)  # contexts are drawn, too: intervals are about a population
    logging, truth = LOGGING[rows], TRUTH[rows]
    played = np.argmax(rng.random((ROUNDS, 1)) < np.cumsum(logging, axis=1), axis=1)
    at = np.arange(ROUNDS), played
    rewards = truth[at] + 0.5 * rng.standard_normal(ROUNDS)
    return Log(rewards, logging[at], logging if on_policy else TARGET[rows], played, truth)


VALUE = float(np.sum(TARGET * TRUTH) / ROUNDS)
WRONG_MODEL = 0.5 * TRUTH[::-1] + 0.3  # in no round the right one
ESTIMATES = {
    "ips": lambda log, **options: ips(*log.single, **options),
    "snips": lambda log, **options: snips(*log.single, **options),
    "doubly robust, true model": lambda log, **options: log.robust(log.truth, **options),
    "doubly robust, wrong model": lambda log, **options: log.robust(WRONG_MODEL, **options),
}
