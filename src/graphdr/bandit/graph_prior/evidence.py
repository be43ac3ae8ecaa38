"""The evidence of the rewards seen for every point of the grid, the best point, and the Bayes factor of the graph.

The mean b has a flat prior and the noise the prior 1 / noise, both integrated out, so that neither the zero nor the
unit of the rewards matters.
"""

from typing import NamedTuple

import numpy as np

from graphdr.bandit.graph_prior import model
from graphdr.bandit.graph_prior.model import (
    RESIDUALS,
    RHOS,
    SCALES,
    Columns,
    Statistics,
    Weights,
    grid_of_columns,
    shares,
)
from graphdr.core.compiled import kernel

# Residuals in the Bayes factor. Many pulls tell a residual more exactly than the grid of the fits does, and a graph of
# many columns, which is nearly a residual, would be praised for values in between.
FINE = np.array([0.0, *10.0 ** np.arange(-4.0, 1.1, 0.125)])
LANES = len(RHOS) * len(SCALES)  # points of the grid that one factorisation serves, side by side
FLOOR = 1e-12  # of the squares that are left, in those around the mean: rewards without noise end there


class Evidence(NamedTuple):
    """Log evidence, up to a constant of all, and estimated noise: (residuals,) without a graph, with one
    (residuals, rhos, scales, columns).
    """

    independent: np.ndarray
    independent_noise: np.ndarray
    graph: np.ndarray
    graph_noise: np.ndarray


def evidence(seen: Statistics, basis: Columns, residuals: np.ndarray = RESIDUALS) -> Evidence:
    """Return the evidence on the whole grid."""
    widest = len(basis.lengths)
    columns = np.array(grid_of_columns(widest), int)
    pulled = np.flatnonzero(seen.pulls)
    pulls = seen.pulls[pulled]
    rewards = seen.sums[pulled] / pulls - seen.sums.sum() / pulls.sum()  # the mean is free; small numbers keep digits
    floor = max(FLOOR * (seen.within + pulls @ rewards**2), np.finfo(float).tiny)
    free = max(pulls.sum() - 1, 1)

    def judged(log_determinant, ones, cross, squares):
        """Return log evidence and noise, from ln |M| and the products of 1 and y with M^-1."""
        ones = np.maximum(ones, np.finfo(float).tiny)
        quad = np.maximum(seen.within + squares - cross**2 / ones, floor)
        return -0.5 * (log_determinant + np.log(ones) + free * np.log(quad)), quad / free

    logs = np.log(1.0 + pulls * residuals[:, None]).sum(axis=1)
    products = _products(basis.features, pulls, pulled, rewards, residuals)
    corners = products[:, -2, -2], products[:, -2, -1], products[:, -1, -1]
    prior = np.multiply.outer([shares(basis, rho) for rho in RHOS], SCALES)  # rhos x columns x scales
    roots = np.ones((widest + 2, LANES))
    roots[:-2] = np.sqrt(prior.swapaxes(0, 1)).reshape(widest, LANES)
    if widest % 2:  # columns are factored by two: another one, of zeros, changes nothing
        products, roots = (np.insert(part, widest, 0.0, axis=-2) for part in (products, roots))
        products = np.insert(products, widest, 0.0, axis=-1)
    inverse, one, reward = _factor(products, roots)
    sums = (-2 * np.log(inverse), -one * one, -one * reward, -reward * reward)
    starts = (start[:, None, None] for start in (logs, *corners))
    with_graph = judged(
        *(start + part.cumsum(axis=1)[:, columns - 1] for start, part in zip(starts, sums, strict=True))
    )
    shape = len(residuals), len(columns), len(RHOS), len(SCALES)
    return Evidence(*judged(logs, *corners), *(np.moveaxis(part.reshape(shape), 1, -1) for part in with_graph))


@kernel
def _factor(products, roots):
    """Factor I + s^1/2 U^T D^-1 U s^1/2, with s a point of the grid in every lane, bordered by U^T D^-1 [1 y].

    For each product return the inverse diagonal of the Cholesky factor and its last two rows, which hold what 1 and y
    lose to the graph. One factor serves all J: that of a leading block leads it.
    """
    many, size = len(products), len(roots)
    columns = size - 2
    factor, sums = np.empty((size, columns, LANES)), np.empty((4, LANES))
    found = np.empty((3, many, columns, LANES))
    for place in range(many):
        product, inverse = products[place], found[0, place]
        # Two rows and two columns at a time: every number that is loaded serves two of the four sums.
        for i in range(0, size, 2):
            a, b = factor[i], factor[i + 1]
            for j in range(0, min(i + 1, columns), 2):
                x, y, start = factor[j], factor[j + 1], 1.0 if i == j else 0.0
                for c in range(LANES):
                    sums[0, c] = start + roots[i, c] * roots[j, c] * product[i, j]
                    sums[1, c] = roots[i, c] * roots[j + 1, c] * product[i, j + 1]
                    sums[2, c] = roots[i + 1, c] * roots[j, c] * product[i + 1, j]
                    sums[3, c] = start + roots[i + 1, c] * roots[j + 1, c] * product[i + 1, j + 1]
                for k in range(0, j, 2):
                    for c in range(LANES):
                        a0, b0, x0, y0 = a[k, c], b[k, c], x[k, c], y[k, c]
                        a1, b1, x1, y1 = a[k + 1, c], b[k + 1, c], x[k + 1, c], y[k + 1, c]
                        sums[0, c] = sums[0, c] - a0 * x0 - a1 * x1
                        sums[1, c] = sums[1, c] - a0 * y0 - a1 * y1
                        sums[2, c] = sums[2, c] - b0 * x0 - b1 * x1
                        sums[3, c] = sums[3, c] - b0 * y0 - b1 * y1
                if i == j:
                    for c in range(LANES):
                        inverse[i, c] = 1.0 / np.sqrt(sums[0, c])
                        b[i, c] = sums[2, c] * inverse[i, c]
                        inverse[i + 1, c] = 1.0 / np.sqrt(sums[3, c] - b[i, c] * b[i, c])
                else:
                    for c in range(LANES):
                        a[j, c] = sums[0, c] * inverse[j, c]
                        a[j + 1, c] = (sums[1, c] - a[j, c] * y[j, c]) * inverse[j + 1, c]
                        b[j, c] = sums[2, c] * inverse[j, c]
                        b[j + 1, c] = (sums[3, c] - b[j, c] * y[j, c]) * inverse[j + 1, c]
        found[1:, place] = factor[columns:]
    return found


def _products(
    features: np.ndarray, pulls: np.ndarray, pulled: np.ndarray, rewards: np.ndarray, residuals: np.ndarray
) -> np.ndarray:
    """Return [U 1 y]^T D^-1 [U 1 y] over the arms pulled, for every residual: d_i = 1 / pulls + residual."""
    size = features.shape[1] + 2
    products = np.zeros((len(residuals), size, size))
    for start in range(0, len(pulled), model.CHUNK):
        part = slice(start, start + model.CHUNK)
        rows = np.column_stack([features[pulled[part]], np.ones(len(pulled[part])), rewards[part]])
        for product, residual in zip(products, residuals, strict=True):
            product += (rows / (1.0 / pulls[part] + residual)[:, None]).T @ rows
    return products


def fit(seen: Statistics, *candidates: Columns) -> Weights:
    """Return the point of the largest evidence over all candidates, of equal ones the first; without a graph first."""
    every = [evidence(seen, basis) for basis in candidates]
    basis = int(np.argmax([found.graph.max(initial=-np.inf) for found in every]))
    alone, found = every[0], every[basis]
    residual = int(alone.independent.argmax())
    if alone.independent[residual] >= found.graph.max(initial=-np.inf):
        return Weights(0, 0.0, 0.0, float(RESIDUALS[residual]), float(alone.independent_noise[residual]))
    best = np.unravel_index(found.graph.argmax(), found.graph.shape)
    residual, rho, scale, columns = best
    parts = float(RHOS[rho]), float(SCALES[scale]), float(RESIDUALS[residual]), float(found.graph_noise[best])
    return Weights(grid_of_columns(len(candidates[basis].lengths))[columns], *parts, basis)


def log_bayes_factor(seen: Statistics, basis: Columns) -> float:
    """Return ln B of the graph: evidence for graph and residual, a mean over the grid, over that for arms alone."""
    found = evidence(seen, basis, FINE)
    return _log_mean_exp(found.graph) - _log_mean_exp(found.independent)


def _log_mean_exp(values: np.ndarray) -> float:
    top = values.max()
    return float(top + np.log(np.mean(np.exp(values - top))))
