"""Bases: the subspaces that a method may project its arms onto.

What only some of them need is imported there: most are drawn in less time than SciPy is imported.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphdr.core.errors import check_dense
from graphdr.graphs.arm_features import Basis


class Source(NamedTuple):
    """What a basis may be computed from: n nodes and, where it is needed, their graph and its lowest eigenvectors.

    The embedding (n x d, dense or sparse) is made of what a data set says about the nodes besides.
    """

    n: int
    graph: object = None  # a ``graphs.model.Graph``
    low: Basis | None = None
    embedding: object = None
    segments: int = 1  # of users, for each of which every item is a node


def laplacian_low(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Compute the lowest-frequency Laplacian eigenvectors u_1, u_2, …."""
    from graphdr.graphs.spectral import low_eigenpairs

    return low_eigenpairs(source.graph, components)


def laplacian_first(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Take u_1, u_2, … once more, for features that begin with u_1."""
    return source.low


def pooled_low(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Compute the eigenvectors of the items' own graph, alike in every segment of users: a model for all of them.

    Inside of a segment, the graph of pairs is that of the items.
    """
    from graphdr.graphs.model import induced
    from graphdr.graphs.spectral import low_eigenpairs

    low = low_eigenpairs(induced(source.graph, np.arange(source.n // source.segments)), components)
    return low._replace(vectors=np.tile(low.vectors, (source.segments, 1)) / np.sqrt(source.segments))


def shuffled(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Take the eigenvectors of a node-permuted copy of the graph: same spectrum, no alignment.

    Permuting the nodes of a graph permutes the rows of its eigenvectors, so the decomposition of the
    graph itself serves every permutation.
    """
    return source.low._replace(vectors=source.low.vectors[rng.permutation(source.n)])


def length(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Put a random column after every eigenvector: ``with_lengths`` makes of them rows of the same length elsewhere."""
    low = source.low.vectors
    drawn = rng.standard_normal((low.shape[1], source.n)).T  # column by column: a larger k extends a smaller
    vectors = np.stack([low, drawn], axis=2).reshape(source.n, -1)
    return Basis(vectors, np.repeat(source.low.values, 2), np.zeros(vectors.shape[1]))


def onehot_pca(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Compute the principal directions of one-hot features: the SVD of the centred identity.

    All its nonzero singular values are equal, so the directions are arbitrary: they depend on LAPACK
    and on the order of the nodes.
    """
    n = source.n
    check_dense("basis onehot_pca", n)
    _, values, rows = np.linalg.svd(np.eye(n) - 1.0 / n)
    vectors = rows[: min(components, n - 1)].T
    return Basis(vectors, values[: vectors.shape[1]], np.zeros(vectors.shape[1]))


def gaussian(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Draw the columns of a Johnson-Lindenstrauss projection, before the scale 1/sqrt(k)."""
    vectors = rng.standard_normal((components, source.n)).T  # column by column: a larger k extends a smaller
    return Basis(vectors, np.ones(components), np.zeros(components))


def content_pca(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Compute the principal components of what is known about the nodes, their embeddings at unit length."""
    from graphdr.graphs import pca

    return pca.embedding_pca(source.embedding, components)


def graph_pca(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Compute the principal components of the rows of the adjacency matrix."""
    from graphdr.graphs import pca

    return pca.graph_pca(source.graph.adjacency, components)


def with_shuffled_rows(basis: Callable) -> Callable:
    """Make a control of a basis: the same vectors, their rows given to other nodes."""

    def control(source: Source, components: int, rng: np.random.Generator) -> Basis:
        original = basis(source, components, rng)
        return original._replace(vectors=original.vectors[rng.permutation(source.n)])

    control.__name__ = f"{basis.__name__}_shuffled"
    return control


CONTROLS = tuple(map(with_shuffled_rows, (laplacian_first, content_pca, graph_pca)))
FUNCTIONS = (
    laplacian_low, laplacian_first, pooled_low, shuffled, length, onehot_pca, gaussian, content_pca, graph_pca,
    *CONTROLS,
)  # fmt: skip
BASES = {f.__name__: f for f in FUNCTIONS}
REDRAWN = {"shuffled", "length", "gaussian", *(f.__name__ for f in CONTROLS)}  # bases that are drawn
FROM_GRAPH = {"laplacian_low", "pooled_low", "graph_pca", "graph_pca_shuffled"}  # bases that look at edges
# bases that are made of the laplacian_low one
FROM_LOW = {"shuffled", "length", "laplacian_first", "laplacian_first_shuffled"}
FROM_DATA = {"content_pca", "content_pca_shuffled"}  # bases that need more than the graph; without it, they are empty
