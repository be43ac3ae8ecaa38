"""The posterior of the graph prior at one point of the grid: of (b, w), and of the expected reward of every arm."""

from collections.abc import Callable

import numpy as np

from graphdr.bandit.graph_prior import model
from graphdr.bandit.graph_prior.model import Columns, Statistics, Weights, shares


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
    for start in range(0, len(pulled), model.CHUNK):
        part = pulled[start : start + model.CHUNK]
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
