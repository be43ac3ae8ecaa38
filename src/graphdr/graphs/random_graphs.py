"""Families of random graphs."""

import numpy as np

from graphdr.graphs.model import Graph, from_edges


def sbm(n: int, rng: np.random.Generator, *, blocks: int, p_in: float, p_out: float) -> Graph:
    """Draw a stochastic block model with equal blocks, nodes sorted by block."""
    block = np.arange(n) * blocks // n
    i, j = np.triu_indices(n, k=1)
    keep = rng.random(len(i)) < np.where(block[i] == block[j], p_in, p_out)
    return from_edges(n, i[keep], j[keep])


def rgg(n: int, rng: np.random.Generator, *, radius: float) -> Graph:
    """Draw a random geometric graph: uniform points in the unit square, joined within the radius."""
    points = rng.random((n, 2))
    i, j = np.triu_indices(n, k=1)
    keep = np.sum((points[i] - points[j]) ** 2, axis=1) <= radius**2
    return from_edges(n, i[keep], j[keep])


FAMILIES = {f.__name__: f for f in (sbm, rgg)}
