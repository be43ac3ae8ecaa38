"""The evidence of the rewards seen for every point of the grid, the best point, and the Bayes factor of the graph.

The mean b has a flat prior and the noise the prior 1 / noise, both integrated out, so that neither the zero nor the
unit of the rewards matters.
"""

from typing import NamedTuple

import numpy as np

from graphdr.bandit.graph_prior.model import (
    CHUNK,
    RESIDUALS,
    RHOS,
    SCALES,
    Statistics,
    Weights,
    grid_of_columns,
    shares,
)

FLOOR = 1e-12  # of the squares that are left, in those around the mean: rewards without noise end there


class Evidence(NamedTuple):
    """Log evidence, up to a constant of all, and estimated noise: (residuals,) without a graph, with one
    (residuals, rhos, scales, columns).
    """

    independent: np.ndarray
    independent_noise: np.ndarray
    graph: np.ndarray
    graph_noise: np.ndarray


def evidence(seen: Statistics, features: np.ndarray, roughness: np.ndarray) -> Evidence:
    """Return the evidence on the whole grid, from n x J features and the roughness of their columns.

    One Cholesky factor of I + scale s^1/2 U^T D^-1 U s^1/2 serves all J: that of a leading block leads it. Bordered by
    U^T D^-1 1 and U^T D^-1 y it also holds what these two lose to the graph.
    """
    widest = grid_of_columns(features.shape[1])[-1]
    pulled = np.flatnonzero(seen.pulls)
    rewards = seen.sums[pulled] / seen.pulls[pulled]
    rewards -= seen.sums.sum() / seen.pulls.sum()  # the mean is free, and small numbers lose no digits
    squares = seen.within + np.sum(seen.pulls[pulled] * rewards**2)
    products = _products(features[:, :widest], seen.pulls[pulled], pulled, rewards)
    logs = np.log(1.0 / seen.pulls[pulled] + RESIDUALS[:, None]).sum(axis=1) + np.log(seen.pulls[pulled]).sum()

    def judged(log_determinant, ones, cross, left):
        ones = np.maximum(ones, np.finfo(float).tiny)
        quad = np.maximum(seen.within + left - cross**2 / ones, max(FLOOR * squares, np.finfo(float).tiny))
        free = max(seen.pulls.sum() - 1, 1)
        return -0.5 * (log_determinant + np.log(ones) + free * np.log(quad)), quad / free

    corners = products[:, widest, widest], products[:, widest, -1], products[:, -1, -1]
    at = np.array(grid_of_columns(features.shape[1])) - 1
    every = [shares(features, roughness, rho) for rho in RHOS]
    roots = np.sqrt(np.multiply.outer(SCALES, every)).swapaxes(0, 1)  # rhos x scales x columns
    roots = np.concatenate([roots, np.ones((*roots.shape[:2], 2))], axis=2)
    unit = np.diag([*np.ones(widest), 0.0, 0.0])
    graph = []
    for place, product in enumerate(products):
        # What is added to the corner keeps it positive, and nothing above it feels it.
        border = unit + np.diag([*np.zeros(widest), product[widest, widest], product[-1, -1] + 1.0])
        factor = np.linalg.cholesky(roots[..., :, None] * roots[..., None, :] * product + border)
        grown = 2 * np.log(np.diagonal(factor, axis1=2, axis2=3)[..., :widest]).cumsum(axis=2)[..., at]
        one, reward = factor[..., widest, :widest], factor[..., -1, :widest]
        lost = [pair.cumsum(axis=2)[..., at] for pair in (one * one, one * reward, reward * reward)]
        kept = [corner[place] - less for corner, less in zip(corners, lost, strict=True)]
        graph.append(judged(logs[place] + grown, *kept))
    return Evidence(*judged(logs, *corners), *(np.array(part) for part in zip(*graph, strict=True)))


def _products(features: np.ndarray, pulls: np.ndarray, pulled: np.ndarray, rewards: np.ndarray) -> np.ndarray:
    """Return [U 1 y]^T D^-1 [U 1 y] over the arms pulled, for every residual: d_i = 1 / pulls + residual."""
    size = features.shape[1] + 2
    products = np.zeros((len(RESIDUALS), size, size))
    for start in range(0, len(pulled), CHUNK):
        part = slice(start, start + CHUNK)
        rows = np.column_stack([features[pulled[part]], np.ones(len(pulled[part])), rewards[part]])
        for product, residual in zip(products, RESIDUALS, strict=True):
            product += (rows / (1.0 / pulls[part] + residual)[:, None]).T @ rows
    return products


def fit(seen: Statistics, features: np.ndarray, roughness: np.ndarray) -> Weights:
    """Return the point of the largest evidence, of equal ones the first; without a graph comes before with one."""
    found = evidence(seen, features, roughness)
    residual = int(found.independent.argmax())
    if found.independent[residual] >= found.graph.max():
        return Weights(0, 0.0, 0.0, float(RESIDUALS[residual]), float(found.independent_noise[residual]))
    best = np.unravel_index(found.graph.argmax(), found.graph.shape)
    residual, rho, scale, columns = best
    parts = float(RHOS[rho]), float(SCALES[scale]), float(RESIDUALS[residual]), float(found.graph_noise[best])
    return Weights(grid_of_columns(features.shape[1])[columns], *parts)


def log_bayes_factor(seen: Statistics, features: np.ndarray, roughness: np.ndarray) -> float:
    """Return ln B of the graph: evidence for graph and residual, a mean over the grid, over that for arms alone."""
    found = evidence(seen, features, roughness)
    return _log_mean_exp(found.graph) - _log_mean_exp(found.independent)


def _log_mean_exp(values: np.ndarray) -> float:
    top = values.max()
    return float(top + np.log(np.mean(np.exp(values - top))))
