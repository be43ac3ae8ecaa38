"""The model of the graph prior, what is kept of the rewards seen, the grid of its weights, and the posterior of one.

The expected reward of arm i is f_i = b + u_i^T w + e_i: a mean b of unknown size, a part on the first J columns of a
basis with w_j ~ N(0, scale s_j noise), and a part of its own with e_i ~ N(0, residual noise); ``noise`` is the variance
of a reward around f_i. docs/graph_prior.md derives all formulas.
"""

from collections.abc import Callable
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


def normal_equations(weights: Weights, seen: Statistics, basis: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Return V and r: given the rewards seen, (b, w) is normal with mean V^-1 r and covariance noise V^-1.

    V = diag(0, 1 / (scale s)) + sum c_i x_i x_i^T and r = sum c_i x_i mean_i, with x_i = (1, u_i) and
    c_i = pulls / (1 + pulls residual). The zero is the flat prior of b.
    """
    columns = weights.columns
    precision = np.zeros(1 + columns)
    if columns:
        precision[1:] = 1.0 / (weights.scale * shares(basis, weights.rho)[:columns])
    v, right = np.diag(precision), np.zeros(1 + columns)

    def rows_of(part: np.ndarray) -> np.ndarray:
        return np.column_stack([np.ones(len(part)), basis.features[part, :columns]])

    add_arms(v, right, rows_of, seen, weights.residual)
    return v, right


def add_arms(
    v: np.ndarray,
    right: np.ndarray,
    rows_of: Callable[[np.ndarray], np.ndarray],
    seen: Statistics,
    residual: float,
) -> None:
    """Add sum c_i x_i x_i^T to V and sum c_i x_i mean_i to r, over the arms pulled; c_i = pulls / (1 + pulls residual).

    ``rows_of`` returns the rows x_i of some arms: memory does not grow with their number.
    """
    pulled = np.flatnonzero(seen.pulls)
    for start in range(0, len(pulled), CHUNK):
        part = pulled[start : start + CHUNK]
        rows = rows_of(part)
        kept = rows / (1.0 + seen.pulls[part] * residual)[:, None]
        v += (kept * seen.pulls[part][:, None]).T @ rows
        right += kept.T @ seen.sums[part]


def predict(weights: Weights, seen: Statistics, basis: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of the expected reward of every arm, given the rewards seen."""
    v, right = normal_equations(weights, seen, basis)
    rows = np.column_stack([np.ones(len(seen.pulls)), basis.features[:, : weights.columns]])
    kept = 1.0 / (1.0 + seen.pulls * weights.residual)
    mean = kept * (rows @ np.linalg.solve(v, right)) + weights.residual * kept * seen.sums
    square = np.einsum("ij,ij->i", rows, np.linalg.solve(v, rows.T).T)
    return mean, weights.noise * (weights.residual * kept + kept**2 * square)
