"""Reward vectors theta over the nodes of a graph, always of unit norm."""

import numpy as np

from graphdr.graphs.arm_features import residual

RESAMPLED = "resampled"  # in place of the noise: every pull pays a random one of the values behind the reward
PLANTED = {"planted": 1, "planted_first": 0}  # rewards that are drawn, from u_2, u_3, … on or from u_1 on


def unit(vector: np.ndarray) -> np.ndarray:
    """Scale a vector to Euclidean norm one."""
    return vector / np.linalg.norm(vector)


def centred(values: np.ndarray) -> np.ndarray:
    """Make a reward of observed values: centred, and of norm one."""
    return unit(values - values.mean())


def in_units(values: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Centre and scale values as ``centred`` does the observed ones: their mean on a node is then its reward."""
    return (values - observed.mean()) / np.linalg.norm(observed - observed.mean())


def smooth(vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a reward in the span of the given orthonormal columns: theta = U g / ||U g|| with g from N(0, I).

    Parameters
    ----------
    vectors : ndarray of shape (n, k)
        The columns U.
    rng : Generator
        What g is drawn with.

    Returns
    -------
    ndarray of shape (n,)
        The expected reward of every arm, of length one.

    Examples
    --------
    >>> theta = graphdr.smooth_reward(np.eye(4)[:, :2], graphdr.stream(0, "theta"))
    >>> float(np.linalg.norm(theta).round(6)), theta[2:].tolist()
    (1.0, [0.0, 0.0])
    """
    return unit(vectors @ rng.standard_normal(vectors.shape[1]))


def outside(vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a unit reward, uniform in the orthogonal complement of the given orthonormal columns."""
    return unit(residual(rng.standard_normal(len(vectors)), vectors))


def tailed(
    low: np.ndarray,
    k_star: int,
    weight: float,
    rng_low: np.random.Generator,
    rng_high: np.random.Generator,
    first: int = 1,
) -> np.ndarray:
    """Mix a smooth reward with one outside the low frequencies: unit((1 - w) smooth + w outside).

    ``low`` holds u_1, …, u_{k_star+1} at least; the smooth part lives in u_2..u_{k_star+1} (in k_star columns from
    ``first`` on), the other part in the span of the remaining nontrivial eigenvectors.
    """
    inside = smooth(low[:, first : first + k_star], rng_low)
    if weight == 0:
        return inside
    return unit((1 - weight) * inside + weight * outside(low[:, : first + k_star], rng_high))


def segment_rewards(
    vectors: np.ndarray,
    weights: np.ndarray,
    segment_scale: float,
    rough: bool,
    rng: np.random.Generator,
    between: np.random.Generator,
) -> np.ndarray:
    """Draw a unit reward for every segment of users in the span of the given columns, one segment below the other.

    Coefficients are those of a reward that all share, plus ``segment_scale`` times the deviation of a segment:
    independent of the others' if ``rough``, else a mixture of the two smoothest ways to vary along their graph.
    """
    count, k = len(weights), vectors.shape[1]
    shared = rng.standard_normal(k)
    if rough:
        deviations = between.standard_normal((count, k))
    else:
        _, ways = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)
        smooth_ways = ways[:, 1:3] * np.sqrt(count / ways[:, 1:3].shape[1])
        deviations = smooth_ways @ between.standard_normal((smooth_ways.shape[1], k))
    deviations -= deviations.mean(axis=0)
    return unit(((shared + segment_scale * deviations) @ vectors.T).ravel())
