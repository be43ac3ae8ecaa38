"""Policies that learn nothing: random play, the worst policy, and the control that plays the longest features."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphdr.bandit.environment import RandomNumbers, Rounds
from graphdr.bandit.method import (
    BASIS_NAMES,
    COUNT,
    POSITIVE,
    BanditProblem,
    BasisMethod,
    Choices,
    Method,
    from_problem,
    setting,
)
from graphdr.core.errors import required


@dataclass(frozen=True, kw_only=True)
class Random(Method):
    """Play a uniformly random candidate."""

    policy: str = "random"
    citation: ClassVar[str] = "a control"
    streams: ClassVar[tuple[str, ...]] = ("random",)

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        return Choices(rounds.arms[np.arange(len(rounds.arms)), rng.columns(rounds)])


@dataclass(frozen=True, kw_only=True)
class Worst(Method):
    """Play the candidate of the least expected reward, which a learner cannot know: no policy has more regret."""

    policy: str = "worst"
    citation: ClassVar[str] = "a control"
    sees_theta: ClassVar[bool] = True

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        return Choices(rounds.arms[np.arange(len(rounds.arms)), problem.theta[rounds.arms].argmin(axis=1)])


@dataclass(frozen=True, kw_only=True)
class Longest(BasisMethod):
    """Play the candidate whose features are the longest, the first of several."""

    policy: str = "longest"
    citation: ClassVar[str] = "a control"
    basis: str = setting(BASIS_NAMES, "laplacian_low")
    k: int | None = from_problem(COUNT)
    ridge: float | None = from_problem(POSITIVE)  # V starts as ridge I, for the leverage of a residual

    @property
    def tunable(self) -> tuple[str, ...]:
        return tuple(name for name in super().tunable if name == "rho")

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        lengths = np.linalg.norm(required(problem.features, "features"), axis=1)
        return Choices(rounds.arms[np.arange(len(rounds.arms)), lengths[rounds.arms].argmax(axis=1)])
