"""The worst policy: the candidate of the least expected reward, which a learner cannot know."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphdr.bandit.environment import RandomNumbers, Rounds
from graphdr.bandit.method import BanditProblem, Choices, Method


@dataclass(frozen=True, kw_only=True)
class Worst(Method):
    """Play the candidate of the least expected reward: no policy has more regret."""

    policy: str = "worst"
    sees_theta: ClassVar[bool] = True

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        return Choices(rounds.arms[np.arange(len(rounds.arms)), problem.theta[rounds.arms].argmin(axis=1)])
