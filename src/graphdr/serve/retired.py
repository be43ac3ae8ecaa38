"""What removed arms taught about others: sums over groups of arms, in place of a row for each of them."""

from dataclasses import dataclass

import numpy as np

from graphdr.bandit.graph_prior.model import CHUNK, Groups

STEP = np.sqrt(2.0)  # by which pulls in a group may differ: 1, 2 and 3 pulls are kept apart


@dataclass(frozen=True, slots=True, eq=False)
class Retired:
    """Removed arms in groups of about equal pulls. It never changes, and copies of a policy share it.

    A removed arm counts in V with pulls / (1 + pulls residual), and the residual is found again from time to time. Arms
    of equal pulls have this factor in common, so that the sum over them is enough. In a group, it is that of the mean.
    """

    arms: np.ndarray  # in every group
    # Groups x (columns + 2) x (columns + 2): the sum of pulls z z^T with z = (x, 1, mean reward less the centre).
    products: np.ndarray
    centre: float  # about what rewards are: small numbers keep digits

    @classmethod
    def nothing(cls, columns: int) -> "Retired":
        """Return that of no arms."""
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
        """Return those of the squares within arms."""
        return float(np.maximum(self.products[:, -2, -2] - self.arms, 0.0).sum())

    @property
    def groups(self) -> Groups | None:
        """Return what the evidence of a prior counts of these arms; their first column is the intercept's."""
        return Groups(self.arms, self.pulls, self.products[:, 1:, 1:], self.centre) if self else None

    def precision(self, residual: float, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what these arms add to V and to V m in the first columns."""
        kept = 1.0 / (1.0 + self.pulls * residual)
        sums = self.products[:, :size, -1] + self.centre * self.products[:, :size, -2]
        return np.tensordot(kept, self.products[:, :size, :size], 1), kept @ sums

    def joined_by(self, rows: np.ndarray, pulls: np.ndarray, sums: np.ndarray) -> "Retired":
        """Return this with more arms; one without rewards taught nothing."""
        arms: dict[int, float] = {}
        products: dict[int, np.ndarray] = {}

        def add(level: int, count: float, product: np.ndarray) -> None:
            arms[level] = arms.get(level, 0.0) + count
            products[level] = products[level] + product if level in products else product

        for level, count, product in zip(_levels(self.pulls), self.arms, self.products, strict=True):
            add(level, count, product)
        pulled = np.flatnonzero(pulls)
        if not len(pulled):
            return self
        centre = self.centre if self else float(sums[pulled].sum() / pulls[pulled].sum())
        levels = np.array(_levels(pulls[pulled]), int)
        for level in np.unique(levels).tolist():
            group = pulled[levels == level]
            for start in range(0, len(group), CHUNK):
                part = group[start : start + CHUNK]
                z = np.column_stack([rows[part], np.ones(len(part)), sums[part] / pulls[part] - centre])
                add(level, len(part), (z * pulls[part][:, None]).T @ z)
        return Retired(np.array([*arms.values()]), np.array([*products.values()]), centre)

    def decayed(self, share: float, least: float) -> "Retired":
        """Return this with a share of its rewards, without groups of fewer pulls than ``least``."""
        kept = self.pulls * share >= least
        return Retired(self.arms[kept], self.products[kept] * share, self.centre)


def _levels(pulls: np.ndarray) -> list[int]:
    """Return which pulls belong to one group."""
    return np.floor(np.log(pulls) / np.log(STEP) + 1e-9).astype(int).tolist()
