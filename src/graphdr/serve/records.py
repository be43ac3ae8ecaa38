"""Records that a policy hands out: looked-up candidates, a choice with its propensity, and what a worker learned."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from graphdr.serve.sources import Name


@dataclass(slots=True, eq=False)
class Candidates:
    """Arms or contexts of one policy, looked up once: where they are offered again, this spares names and products.

    Contexts are at places 0, 1, … and have rows of their own; those of arms are the policy's.
    """

    owner: object
    places: np.ndarray
    rows: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.places)


class Choice(NamedTuple):
    """An arm, or the number of a context, and the probability with which the policy took it."""

    arm: Name
    propensity: float


class Delta(NamedTuple):
    """What a worker learned since it was made: for every arm how many rewards, pulls, sums, and squares within it."""

    arms: list[tuple[Name | None, Name]]  # segment and name
    counts: np.ndarray
    pulls: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    context_v: np.ndarray
    context_right: np.ndarray
    rounds: int
