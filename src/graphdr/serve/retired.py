"""The rewards of removed arms: sums over groups of arms, in place of a row for each of them."""

from dataclasses import dataclass

import numpy as np

from graphdr.bandit.graph_prior.model import CHUNK, Groups

STEP = np.sqrt(2.0)  # factor by which pulls in a group may differ: 1, 2 and 3 pulls are in different groups


@dataclass(frozen=True, slots=True, eq=False)
class Retired:
    """Removed arms in groups of about equal pulls. Instances never change, and copies of a policy share them.

    A removed arm counts in V with pulls / (1 + pulls residual), and the residual changes whenever the prior is tuned.
    Arms of equal pulls share this factor, so that a sum over them is enough. A group uses the factor of its mean pulls.
    """

    arms: np.ndarray  # number of arms in every group
    # Groups x (columns + 2) x (columns + 2): the sum of pulls z z^T with z = (x, 1, mean reward less the centre).
    products: np.ndarray
    centre: float  # a typical reward: differences from it are small and keep their digits

    @classmethod
    def empty(cls, columns: int) -> "Retired":
        """Return a record of no arms."""
        return cls(np.zeros(0), np.zeros((0, columns + 2, columns + 2)), 0.0)

    def __bool__(self) -> bool:
        return bool(len(self.arms))

    @property
    def pulls(self) -> np.ndarray:
        """Return the mean pulls of an arm in every group."""
        return self.products[:, -2, -2] / self.arms

    @property
    def total_pulls(self) -> float:
        """Return the pulls of all arms."""
        return float(self.products[:, -2, -2].sum())

    @property
    def total_sum(self) -> float:
        """Return the sum of the rewards of all arms."""
        return float(self.products[:, -2, -1].sum()) + self.centre * self.total_pulls

    @property
    def degrees_of_freedom(self) -> float:
        """Return the degrees of freedom of the squares within arms."""
        return float(np.maximum(self.products[:, -2, -2] - self.arms, 0.0).sum())

    @property
    def groups(self) -> Groups | None:
        """Return the statistics for the evidence of a prior, without the intercept's column."""
        return Groups(self.arms, self.pulls, self.products[:, 1:, 1:], self.centre) if self else None

    def precision(self, residual: float, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the part of these arms in V and in V m, for the first ``size`` columns."""
        kept = 1.0 / (1.0 + self.pulls * residual)
        sums = self.products[:, :size, -1] + self.centre * self.products[:, :size, -2]
        return np.tensordot(kept, self.products[:, :size, :size], 1), kept @ sums

    def joined_by(self, rows: np.ndarray, pulls: np.ndarray, sums: np.ndarray) -> "Retired":
        """Return this with more arms; those without rewards do not count."""
        pulled = np.flatnonzero(pulls)
        if not len(pulled):
            return self
        centre = self.centre if self else float(sums[pulled].sum() / pulls[pulled].sum())
        # Decay may have moved two groups to the same level: they are joined here.
        parts = [*zip(_levels(self.pulls), self.arms, self.products, strict=True)]
        levels = np.array(_levels(pulls[pulled]), int)
        for level in np.unique(levels).tolist():
            group = pulled[levels == level]
            for start in range(0, len(group), CHUNK):
                chunk = group[start : start + CHUNK]
                z = np.column_stack([rows[chunk], np.ones(len(chunk)), sums[chunk] / pulls[chunk] - centre])
                parts.append((level, len(chunk), (z * pulls[chunk][:, None]).T @ z))
        arms: dict[int, float] = {}
        products: dict[int, np.ndarray] = {}
        for level, count, product in parts:
            arms[level] = arms.get(level, 0.0) + count
            products[level] = products[level] + product if level in products else product
        return Retired(np.array([*arms.values()]), np.array([*products.values()]), centre)

    def decayed(self, share: float, least: float) -> "Retired":
        """Return this with a share of its rewards; groups of fewer mean pulls than ``least`` are dropped."""
        kept = self.pulls * share >= least
        return Retired(self.arms[kept], self.products[kept] * share, self.centre)


def _levels(pulls: np.ndarray) -> list[int]:
    """Return the number of the group that pulls belong to."""
    return np.floor(np.log(pulls) / np.log(STEP) + 1e-9).astype(int).tolist()
