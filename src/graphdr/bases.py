"""Bases: the subspaces that a method may project its arms onto."""

from typing import NamedTuple

import numpy as np

from graphdr.graphs import Graph
from graphdr.spectral import low_eigenpairs


class Basis(NamedTuple):
    """Component vectors in columns (n x components), with a value and a residual for each."""

    vectors: np.ndarray
    values: np.ndarray
    residuals: np.ndarray


def laplacian_low(graph: Graph, components: int, rng: np.random.Generator) -> Basis:
    """Compute the lowest-frequency Laplacian eigenvectors u_1, u_2, …."""
    pairs = low_eigenpairs(graph, components)
    return Basis(pairs.vectors, pairs.values, pairs.residuals)


def shuffled(graph: Graph, components: int, rng: np.random.Generator) -> Basis:
    """Compute the eigenvectors of a node-permuted copy of the graph: same spectrum, no alignment.

    Permuting the nodes of a graph permutes the rows of its eigenvectors, so one decomposition serves
    every permutation.
    """
    pairs = low_eigenpairs(graph, components)
    return Basis(pairs.vectors[rng.permutation(graph.n)], pairs.values, pairs.residuals)


def onehot_pca(graph: Graph, components: int, rng: np.random.Generator) -> Basis:
    """Compute the principal directions of one-hot features: the SVD of the centred identity.

    All its nonzero singular values are equal, so the directions are arbitrary: they depend on LAPACK
    and on the order of the nodes.
    """
    centred = np.eye(graph.n) - 1.0 / graph.n
    _, values, rows = np.linalg.svd(centred)
    vectors = rows[: min(components, graph.n - 1)].T
    return Basis(vectors, values[: vectors.shape[1]], np.zeros(vectors.shape[1]))


def gaussian(graph: Graph, components: int, rng: np.random.Generator) -> Basis:
    """Draw the columns of a Johnson-Lindenstrauss projection, before the scale 1/sqrt(k)."""
    vectors = rng.standard_normal((components, graph.n)).T  # column by column: a larger k extends a smaller
    return Basis(vectors, np.ones(components), np.zeros(components))


BASES = {f.__name__: f for f in (laplacian_low, shuffled, onehot_pca, gaussian)}
REDRAWN = {"shuffled", "gaussian"}  # bases that depend on their random stream
