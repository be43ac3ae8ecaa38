"""Families of random graphs."""

import numpy as np

from graphdr.graphs.model import Graph, from_edges


def sbm(n: int, rng: np.random.Generator, *, blocks: int, p_in: float, p_out: float) -> Graph:
    """Draw a stochastic block model (Holland, Laskey and Leinhardt, 1983) with equal blocks, nodes sorted by block.

    Parameters
    ----------
    n : int
        The number of nodes.
    rng : Generator
        The random generator.
    blocks : int
        The number of blocks.
    p_in, p_out : float
        The probability that two nodes of one block, or of two blocks, are joined.

    Returns
    -------
    Graph
        It may have several components.

    Examples
    --------
    >>> graphdr.sbm(6, graphdr.stream(0, "graph"), blocks=2, p_in=1.0, p_out=0.0).adjacency.sum(axis=1).tolist()
    [2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    """
    block = np.arange(n) * blocks // n
    i, j = np.triu_indices(n, k=1)
    keep = rng.random(len(i)) < np.where(block[i] == block[j], p_in, p_out)
    return from_edges(n, i[keep], j[keep])


def rgg(n: int, rng: np.random.Generator, *, radius: float) -> Graph:
    """Draw a random geometric graph (Gilbert, 1961): uniform points in the unit square, joined within the radius.

    Parameters
    ----------
    n : int
        The number of nodes.
    rng : Generator
        The random generator.
    radius : float
        The largest distance of two points that are joined.

    Returns
    -------
    Graph
        It may have several components.

    Examples
    --------
    >>> graphdr.rgg(4, graphdr.stream(0, "graph"), radius=1.5).adjacency.sum(axis=1).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """
    points = rng.random((n, 2))
    i, j = np.triu_indices(n, k=1)
    keep = np.sum((points[i] - points[j]) ** 2, axis=1) <= radius**2
    return from_edges(n, i[keep], j[keep])


FAMILIES = {f.__name__: f for f in (sbm, rgg)}
