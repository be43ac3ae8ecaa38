"""Leading singular vectors of a matrix, and embeddings of items by ratings and texts."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds

from graphdr.graphs.arm_features import Basis
from graphdr.graphs.spectral import DECIMALS, DENSE_UP_TO, canonical_signs

Matrix = Any  # a NumPy array, a sparse array or a linear operator of SciPy

RANK = 50  # of the decomposition of the ratings, before their rows are scaled
NEGLIGIBLE = 1e-10  # relative to the largest: smaller values are rounding errors of zero


def leading_svd(matrix: Matrix, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return left vectors, values and right vectors (in columns) of the largest singular values that are not zero.

    A large matrix is used in products only.
    """
    size = min(matrix.shape)
    count = min(count, size)
    if size <= DENSE_UP_TO or count >= size // 4:
        if isinstance(matrix, LinearOperator):
            matrix = matrix @ np.eye(matrix.shape[1])
        dense = matrix.toarray() if sp.issparse(matrix) else matrix
        left, values, right = np.linalg.svd(dense, full_matrices=False)
    else:
        start = 1.0 + np.arange(size) / size  # fixed, so that reruns agree
        left, values, right = svds(matrix, k=count, ncv=min(4 * count, size), v0=start, solver="arpack")
    order = np.argsort(-values, kind="stable")[:count]
    order = order[values[order] > NEGLIGIBLE * values.max(initial=0.0)]
    return left[:, order], values[order], right[order].T


def left_components(matrix: Matrix, components: int) -> Basis:
    """Compute the leading left singular vectors, with their residuals as eigenvectors of M M^T over its norm."""
    left, values, _ = leading_svd(matrix, components)
    # Nodes with equal rows have equal entries; rounding must not break the tie.
    vectors = np.round(canonical_signs(left), DECIMALS)
    squares = values**2
    error = np.linalg.norm(matrix @ (matrix.T @ vectors) - vectors * squares, axis=0)
    return Basis(vectors, values, error / squares.max(initial=0.0))


def ratings_content(matrix: sp.csr_array, rank: int = RANK) -> np.ndarray:
    """Embed items by their ratings minus the item's mean: the leading principal components U S (n x rank).

    ``matrix`` is item by user; missing entries are unknown, not zero, and do not count in the mean.
    """
    centred = centred_rows(matrix)
    _, _, right = leading_svd(centred, rank)
    return centred @ canonical_signs(right)  # not U S, so that an item of equal ratings is exactly zero


def centred_rows(matrix: sp.csr_array) -> sp.csr_array:
    """Subtract from the stored entries of every row their mean."""
    counts = np.diff(matrix.indptr)
    mean = np.divide(matrix.sum(axis=1), counts, out=np.zeros(len(counts)), where=counts > 0)
    return sp.csr_array((matrix.data - np.repeat(mean, counts), matrix.indices, matrix.indptr), shape=matrix.shape)


def text_content(texts: list[str]) -> sp.csr_array:
    """Embed texts by TF-IDF (texts x words): a word's count times 1 + ln((1 + texts) / (1 + texts with it)).

    Words have two characters or more.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    split_words = TfidfVectorizer().build_analyzer()
    # In the order of first appearance: another order of the columns gives other last bits of the components.
    vocabulary = list(dict.fromkeys(word for text in texts for word in split_words(text)))
    if not vocabulary:
        return sp.csr_array((len(texts), 0))
    return sp.csr_array(TfidfVectorizer(norm=None, vocabulary=vocabulary).fit_transform(texts))
