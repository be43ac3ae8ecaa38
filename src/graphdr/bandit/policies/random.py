"""Random play: a uniformly random candidate in every round."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphdr.bandit.environment import RandomNumbers, Rounds
from graphdr.bandit.method import BanditProblem, Choices, Method


@dataclass(frozen=True, kw_only=True)
class Random(Method):
    """Play a uniformly random candidate."""

    policy: str = "random"
    streams: ClassVar[tuple[str, ...]] = ("random",)

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        return Choices(rounds.arms[np.arange(len(rounds.arms)), rng.columns(rounds)])
