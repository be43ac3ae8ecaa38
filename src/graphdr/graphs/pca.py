"""Feature maps from data: principal components of ratings, embeddings and texts, and of the adjacency matrix."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds

from graphdr.graphs.arm_features import Basis
from graphdr.graphs.spectral import DECIMALS, DENSE_UP_TO, canonical_signs

RANK = 50  # of the ratings' own decomposition, before their rows are scaled
NOTHING = 1e-10  # relative to the largest: what is smaller is a rounding error of zero


def leading_svd(matrix, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return left vectors, values and right vectors (in columns) of the largest singular values that are not zero.

    ``matrix`` is dense, sparse or a linear operator; a large one is met in products alone.
    """
    size = min(matrix.shape)
    count = min(count, size)
    if size <= DENSE_UP_TO or count >= size // 4:
        left, values, right = np.linalg.svd(_dense(matrix), full_matrices=False)
    else:
        start = 1.0 + np.arange(size) / size  # fixed, so that reruns agree
        left, values, right = svds(matrix, k=count, ncv=min(4 * count, size), v0=start, solver="arpack")
    order = np.argsort(-values, kind="stable")[:count]
    order = order[values[order] > NOTHING * values.max(initial=0.0)]
    return left[:, order], values[order], right[order].T


def _dense(matrix) -> np.ndarray:
    """Return a small matrix of any form as an array."""
    if isinstance(matrix, LinearOperator):
        return matrix @ np.eye(matrix.shape[1])
    return matrix.toarray() if sp.issparse(matrix) else matrix


def left_components(matrix, components: int) -> Basis:
    """Compute the leading left singular vectors, with their residuals as eigenvectors of M M^T over its norm."""
    left, values, _ = leading_svd(matrix, components)
    # Nodes with equal rows have equal entries; what rounding makes of them must not break the tie.
    vectors = np.round(canonical_signs(left), DECIMALS)
    squares = values**2
    error = np.linalg.norm(matrix @ (matrix.T @ vectors) - vectors * squares, axis=0)
    return Basis(vectors, values, error / squares.max(initial=0.0))


def ratings_content(matrix: sp.csr_array, rank: int = RANK) -> np.ndarray:
    """Embed items by their ratings less the item's mean: the leading principal components U S (n x rank).

    ``matrix`` is item by user; entries that it does not hold are unknown, not zero, and stay out of the mean.
    """
    centred = centred_rows(matrix)
    _, _, right = leading_svd(centred, rank)
    return centred @ canonical_signs(right)  # and not U S, so that an item of equal ratings is zero exactly


def centred_rows(matrix: sp.csr_array) -> sp.csr_array:
    """Subtract from the entries that a row holds their mean."""
    held = np.diff(matrix.indptr)
    mean = np.divide(matrix.sum(axis=1), held, out=np.zeros(len(held)), where=held > 0)
    return sp.csr_array((matrix.data - np.repeat(mean, held), matrix.indices, matrix.indptr), shape=matrix.shape)


def embedding_pca(embedding: np.ndarray | sp.csr_array, components: int) -> Basis:
    """Compute the leading left singular vectors of an embedding (n x d), its rows at unit length and not centred.

    A row of zeros, which has no direction, stays zero.
    """
    length = np.sqrt((embedding * embedding).sum(axis=1))
    scale = np.divide(1.0, length, out=np.zeros(len(length)), where=length > NOTHING * length.max(initial=0.0))
    rows = sp.csr_array(sp.diags_array(scale) @ embedding) if sp.issparse(embedding) else scale[:, None] * embedding
    return left_components(rows, components)


def text_content(texts: list[str]) -> sp.csr_array:
    """Embed texts by TF-IDF (texts x words): a word's count times 1 + ln((1 + texts) / (1 + texts that have it)).

    Words have two characters or more.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    words_of = TfidfVectorizer().build_analyzer()
    # In the order of first appearance: another order of the columns gives other last bits of the components.
    vocabulary = list(dict.fromkeys(word for text in texts for word in words_of(text)))
    if not vocabulary:
        return sp.csr_array((len(texts), 0))
    return sp.csr_array(TfidfVectorizer(norm=None, vocabulary=vocabulary).fit_transform(texts))


def graph_pca(adjacency: sp.csr_array, components: int) -> Basis:
    """Compute the leading right singular vectors of the column-centred adjacency matrix of an undirected graph.

    They are the left ones of its transpose A - mean 1^T, which is met in products alone and never filled.
    """
    n = adjacency.shape[0]
    mean = adjacency.sum(axis=0) / n

    def times(x):
        return adjacency @ x - np.multiply.outer(mean, x.sum(axis=0))

    def transposed_times(x):
        return adjacency @ x - mean @ x

    products = {"matvec": times, "matmat": times, "rmatvec": transposed_times, "rmatmat": transposed_times}
    return left_components(LinearOperator((n, n), **products, dtype=float), components)
