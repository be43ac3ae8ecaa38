"""The model of the graph prior, what is kept of the rewards seen, and the grid that its weights are chosen from.

The expected reward of arm i is f_i = b + u_i^T w + e_i: a mean b of unknown size, a part on the first J columns of a
basis with w_j ~ N(0, scale s_j noise), and a part of its own with e_i ~ N(0, residual noise); ``noise`` is the variance
of a reward around f_i. docs/graph_prior.md derives all formulas.
"""

from typing import NamedTuple

import numpy as np

# No user sets the grid. COLUMNS was changed once after a full run, on its seeds; the other rows were tried with one set
# of values. Variances are in units of the noise: of an arm's own part below 1e-4, nothing would show before some 10,000
# pulls of that arm.
RESIDUALS = np.array([0.0, *10.0 ** np.arange(-4.0, 1.1, 0.5)])
SCALES = 10.0 ** np.arange(-4.0, 2.1, 0.5)  # mean over the arms of the variance on all columns; none is "no graph"
RHOS = np.array([0.0, 10.0, 100.0, 1000.0])  # of the filter 1 / (1 + rho roughness)
COLUMNS = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 60)  # J, by factors of about sqrt(2), as far as the basis goes
CHUNK = 4096  # arms whose rows are gathered at a time: memory does not grow with the arms


Graded = tuple[np.ndarray, np.ndarray]  # n x J features, and how rough each column is


class Columns(NamedTuple):
    """The columns of a basis: n x J features, how rough each column is, and its squared length."""

    features: np.ndarray
    roughness: np.ndarray
    lengths: np.ndarray


class Groups(NamedTuple):
    """The rewards of arms of which only sums are kept, over groups of arms of about equal pulls.

    An arm counts in V with pulls / (1 + pulls residual), and the residual changes with every fit. Arms of equal pulls
    share this factor, so that a sum over them is enough. A group uses the factor of its mean pulls.
    """

    arms: np.ndarray  # number of arms in every group
    # Groups x (columns + 2) x (columns + 2): the sum of pulls z z^T with z = (x, 1, mean reward less the centre).
    products: np.ndarray
    centre: float  # a typical reward: differences from it are small and keep their digits

    @property
    def pulls(self) -> np.ndarray:
        """Return the mean pulls of an arm in every group."""
        return self.products[:, -2, -2] / self.arms

    def centred(self, columns: int, mean: float) -> "Groups":
        """Keep the first columns only, and centre the rewards at a mean."""
        kept, shift = [*range(columns), -2, -1], mean - self.centre
        products = self.products[:, kept][:, :, kept]
        products[:, :, -1] -= shift * products[:, :, -2]
        products[:, -1] -= shift * products[:, -2]
        return Groups(self.arms, products, mean)


class Statistics(NamedTuple):
    """What is kept of the rewards: pulls and sum by arm, and the sum of squares within arms, around their means.

    ``groups`` are further arms, whose squares are in ``within`` too.
    """

    pulls: np.ndarray
    sums: np.ndarray
    within: float
    groups: Groups | None = None

    def pulls_and_mean(self) -> tuple[float, float]:
        """Return the pulls of all arms and the mean of all rewards."""
        pulls, total = self.pulls[self.pulls > 0].sum(), self.sums.sum()
        if self.groups is not None:
            more = self.groups.products[:, -2, -2].sum()
            pulls, total = pulls + more, total + self.groups.products[:, -2, -1].sum() + self.groups.centre * more
        return pulls, total / pulls


class Weights(NamedTuple):
    """One point of the grid: J columns (0 without graph), rho, both variances over the noise, and the noise itself.

    ``basis`` is the place of the columns among the candidates of the fit.
    """

    columns: int
    rho: float
    scale: float
    residual: float
    noise: float
    basis: int = 0


def columns(features: np.ndarray, roughness: np.ndarray) -> Columns:
    """Return as many columns of a basis as the grid can take, with their lengths."""
    features = np.ascontiguousarray(features[:, : COLUMNS[-1]], float)
    return Columns(features, np.asarray(roughness[: COLUMNS[-1]], float), np.einsum("ij,ij->j", features, features))


def candidates(first: Graded, second: Graded | None = None) -> list[Columns]:
    """Return the columns that a fit chooses among: those of one basis or, of two, the first, the second and both."""
    bases = [first, second, in_turn(first, second)] if second else [first]
    return [columns(*basis) for basis in bases]


def in_turn(first: Graded, second: Graded) -> Graded:
    """Return the columns of two bases and their roughness, one of each in turn; the longer basis ends alone."""
    order = np.argsort(np.concatenate([np.arange(len(rough)) for _, rough in (first, second)]), kind="stable")
    return np.column_stack([first[0], second[0]])[:, order], np.concatenate([first[1], second[1]])[order]


def statistics(n: int, arms: np.ndarray, rewards: np.ndarray) -> Statistics:
    """Return what is kept of rewards, given the arm of each."""
    pulls, sums = np.bincount(arms, minlength=n).astype(float), np.bincount(arms, rewards, minlength=n)
    means = sums / np.maximum(pulls, 1)
    return Statistics(pulls, sums, float(np.sum((rewards - means[arms]) ** 2)))


def grid_of_columns(available: int) -> list[int]:
    """Return the J of the grid on a basis of so many columns."""
    return sorted({min(columns, available) for columns in COLUMNS} - {0})


def shares(basis: Columns, rho: float) -> np.ndarray:
    """Return s_j, the prior variance of w_j at scale and noise one.

    With all columns, the variance of u_i^T w is one on average over the arms.
    """
    filtered = 1.0 / (1.0 + rho * basis.roughness)
    return len(basis.features) * filtered / (filtered.sum() * np.where(basis.lengths > 0, basis.lengths, 1.0))
