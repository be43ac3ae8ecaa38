"""Bases: the subspaces that a method may project its arms onto.

What only some of them need is imported there: most are drawn in less time than SciPy is imported.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphdr.core.errors import check_dense
from graphdr.graphs.arm_features import LENGTH, SHUFFLED, Basis


class Source(NamedTuple):
    """What a basis may be computed from: n nodes and, where it is needed, their graph or the basis that it is made of.

    The embedding (n x d, dense or sparse) is what a data set or a user says about the nodes besides.
    """

    n: int
    graph: object = None  # a ``graphs.model.Graph``
    original: Basis | None = None
    embedding: object = None
    segments: int = 1  # of users, for each of which every item is a node
    solver: str = "exact"  # of eigenvectors, one of ``spectral.SOLVERS``


def laplacian_low(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Compute the lowest-frequency Laplacian eigenvectors u_1, u_2, …."""
    from graphdr.graphs.spectral import low_eigenpairs

    return low_eigenpairs(source.graph, components, solver=source.solver)


def regularised_low(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Compute the lowest eigenvectors of the Laplacian with the mean degree added to all degrees."""
    from graphdr.graphs import embeddings

    return embeddings.regularised_low(source.graph, components, source.solver)


def laplacian_first(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Take u_1, u_2, … once more, for features that begin with u_1."""
    return source.original


def unit_rows(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Take u_1, u_2, … once more, for features whose rows have length one."""
    return source.original


def regularised_unit(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Take the vectors of the regularised Laplacian once more, for features whose rows have length one."""
    return source.original


def pooled_low(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Compute the eigenvectors of the items' own graph, alike in every segment of users: a model for all of them.

    Inside of a segment, the graph of pairs is that of the items.
    """
    from graphdr.graphs.model import induced
    from graphdr.graphs.spectral import low_eigenpairs

    items = induced(source.graph, np.arange(source.n // source.segments))
    low = low_eigenpairs(items, components, solver=source.solver)
    return low._replace(vectors=np.tile(low.vectors, (source.segments, 1)) / np.sqrt(source.segments))


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


def interaction_svd(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Compute the leading left singular vectors of the item x user ratings, neither centred nor scaled."""
    from graphdr.graphs import embeddings

    return embeddings.interaction_svd(source.embedding, components)


def netmf(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Compute the leading left singular vectors of the logarithm of how often short random walks join two nodes."""
    from graphdr.graphs import embeddings

    return embeddings.netmf(source.graph, components)


def given(source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Take the columns of a user as they are, with their lengths as values."""
    vectors = np.asarray(source.embedding, float)[:, :components]
    return Basis(vectors, np.linalg.norm(vectors, axis=0), np.zeros(vectors.shape[1]))


def with_shuffled_rows(basis: Basis, rng: np.random.Generator) -> Basis:
    """Give the rows of a basis to other nodes: the same vectors, no alignment.

    Permuting the nodes of a graph permutes the rows of its eigenvectors: these are the eigenvectors of a permuted copy.
    """
    return basis._replace(vectors=basis.vectors[rng.permutation(len(basis.vectors))])


def with_random_columns(basis: Basis, rng: np.random.Generator) -> Basis:
    """Put a random column after every one of a basis: ``select`` makes of them rows of the same length elsewhere."""
    n, count = basis.vectors.shape
    drawn = rng.standard_normal((count, n)).T  # column by column: a larger k extends a smaller
    vectors = np.stack([basis.vectors, drawn], axis=2).reshape(n, -1)
    return Basis(vectors, np.repeat(basis.values, 2), np.zeros(vectors.shape[1]))


def _control(change: Callable) -> Callable:
    """Make a control of a stored basis, whatever it is."""
    return lambda source, components, rng: change(source.original, rng)


FUNCTIONS = (
    laplacian_low, regularised_low, laplacian_first, unit_rows, regularised_unit, pooled_low, onehot_pca, gaussian,
    content_pca, graph_pca, interaction_svd, netmf, given,
)  # fmt: skip
BASES = {f.__name__: f for f in FUNCTIONS}
BASES |= dict.fromkeys(SHUFFLED, _control(with_shuffled_rows)) | dict.fromkeys(LENGTH, _control(with_random_columns))
REDRAWN = {"gaussian", *SHUFFLED, *LENGTH}  # bases that are drawn
LOW = {"laplacian_low", "regularised_low", "pooled_low"}  # bases of eigenvectors, which a solver computes
FROM_GRAPH = {"laplacian_low", "regularised_low", "pooled_low", "graph_pca", "netmf"}  # bases that look at edges
FROM_DATA = {"content_pca", "interaction_svd", "given"}  # bases that need more than the graph, else they are empty
# Bases that are made of a stored one; a control of such a basis is made of the same, which has all that it needs.
COPIES = {"laplacian_first": "laplacian_low", "unit_rows": "laplacian_low", "regularised_unit": "regularised_low"}
MADE_OF = COPIES | {control: COPIES.get(name, name) for control, name in (SHUFFLED | LENGTH).items()}
OWN, PAPER = "this package", "the paper that this package reproduces"
CITATIONS = {  # where each comes from; docs/bases.md shows them
    "laplacian_low": "Belkin and Niyogi (2003), doi:10.1162/089976603321780317",
    "regularised_low": "Qin and Rohe (2013), arXiv:1309.4111",
    "laplacian_first": PAPER,
    "unit_rows": "Ng, Jordan and Weiss (2002), NeurIPS 14",
    "regularised_unit": "Qin and Rohe (2013), arXiv:1309.4111",
    "pooled_low": OWN,
    "onehot_pca": PAPER,
    "gaussian": "Johnson and Lindenstrauss (1984), doi:10.1090/conm/026/737400",
    "content_pca": "Jolliffe (2002), doi:10.1007/b98835",
    "graph_pca": PAPER,
    "interaction_svd": "Sarwar et al. (2000), WebKDD",
    "netmf": "Qiu et al. (2018), arXiv:1710.02971",
    "given": "the user",
}


def stored(basis: str) -> str:
    """Return the basis that another is made of, or itself."""
    return MADE_OF.get(basis, basis)


def compute(basis: str, source: Source, components: int, rng: np.random.Generator) -> Basis:
    """Compute a basis from scratch, with the one that it is made of where there is one; that one draws nothing."""
    if basis in MADE_OF:
        source = source._replace(original=BASES[MADE_OF[basis]](source, components, rng))
    return BASES[basis](source, components, rng)
