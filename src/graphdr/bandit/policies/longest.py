"""A control: the candidate with the longest features, whatever its reward."""

from dataclasses import dataclass

import numpy as np

from graphdr.bandit.environment import RandomNumbers, Rounds
from graphdr.bandit.method import BASIS_NAMES, COUNT, POSITIVE, BanditProblem, BasisMethod, Choices, setting
from graphdr.core.errors import required


@dataclass(frozen=True, kw_only=True)
class Longest(BasisMethod):
    """Play the candidate whose features are the longest, the first of several; learn nothing."""

    policy: str = "longest"
    basis: str = setting(BASIS_NAMES, "laplacian_low")
    k: int | None = setting(COUNT)
    ridge: float | None = setting(POSITIVE)  # V starts as ridge I, for the leverage of a residual

    @property
    def inherited(self) -> tuple[str, ...]:
        return "k", "ridge"

    @property
    def tunable(self) -> tuple[str, ...]:
        return self._tunable_filter

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        lengths = np.linalg.norm(required(problem.features, "features"), axis=1)
        return Choices(rounds.arms[np.arange(len(rounds.arms)), lengths[rounds.arms].argmax(axis=1)])
