"""Reward vectors theta over the nodes of a graph, always of unit norm."""

import numpy as np

from graphdr.graphs.arm_features import residual


def unit(vector: np.ndarray) -> np.ndarray:
    """Scale a vector to Euclidean norm one."""
    return vector / np.linalg.norm(vector)


def centred(values: np.ndarray) -> np.ndarray:
    """Make a reward of observed values: centred, and of norm one."""
    return unit(values - values.mean())


def smooth(vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a reward in the span of the given orthonormal columns: theta = U g / ||U g|| with g from N(0, I).

    >>> theta = graphdr.smooth_reward(np.eye(4)[:, :2], graphdr.stream(0, "theta"))
    >>> float(np.linalg.norm(theta).round(6)), theta[2:].tolist()
    (1.0, [0.0, 0.0])
    """
    return unit(vectors @ rng.standard_normal(vectors.shape[1]))


def outside(vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a unit reward, uniform in the orthogonal complement of the given orthonormal columns."""
    return unit(residual(rng.standard_normal(len(vectors)), vectors))


def tailed(low: np.ndarray, k_star: int, weight: float, rng_low, rng_high) -> np.ndarray:
    """Mix a smooth reward with one outside the low frequencies: unit((1 - w) smooth + w outside).

    ``low`` holds u_1, …, u_{k_star+1} at least; the smooth part lives in u_2..u_{k_star+1}, the other
    part in the span of the remaining nontrivial eigenvectors.
    """
    inside = smooth(low[:, 1 : k_star + 1], rng_low)
    if weight == 0:
        return inside
    return unit((1 - weight) * inside + weight * outside(low[:, : k_star + 1], rng_high))
