"""Neighbours and condensed rows of a matrix of ratings, from the products of its rows (the Gram matrix).

With many items, the Gram matrix would cost more than it saves: both are then computed from the matrix itself.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from graphdr.core.compiled import kernel
from graphdr.graphs import from_data, pca
from graphdr.graphs.records import row_norms
from graphdr.graphs.spectral import canonical_signs

GRAM_UP_TO = 3000  # rows; with more, their products cost more than the rows
PLAIN, CENTRED = 0, 1  # entries as they are, and less the mean of the entries in their row


class RatingsGram(NamedTuple):
    """Ratings (items x users), and the products of all rows for plain and for centred entries."""

    matrix: sp.csr_array
    products: np.ndarray | None  # n x n x 2; None for many items


def ratings_gram(matrix: sp.csr_array) -> RatingsGram:
    """Compute the inner products of all rows of a matrix: of its entries, and of entries less the mean of their row.

    With more than ``GRAM_UP_TO`` rows there are no products, and whoever needs some computes them from the matrix.
    """
    if matrix.shape[0] > GRAM_UP_TO:
        return RatingsGram(matrix, None)
    centred = pca.centred_rows(matrix)
    by_row = matrix.indptr, matrix.indices, np.column_stack([matrix.data, centred.data])
    columns, centred_columns = matrix.tocsc(), centred.tocsc()
    by_column = columns.indptr, columns.indices, np.column_stack([columns.data, centred_columns.data])
    return RatingsGram(matrix, _products(*by_row, *by_column))


@kernel
def _products(starts, columns, data, column_starts, rows, column_data):
    """Return the products of all rows of a sparse matrix, given by row and by column, with two kinds of entries."""
    n = len(starts) - 1
    products, first = np.zeros((n, n, 2)), column_starts.copy()
    for i in range(n):
        product = products[i]
        for at in range(starts[i], starts[i + 1]):
            column, entry, other_entry = columns[at], data[at, 0], data[at, 1]
            for other in range(first[column], column_starts[column + 1]):
                pair = product[rows[other]]
                pair[0] += entry * column_data[other, 0]
                pair[1] += other_entry * column_data[other, 1]
            first[column] += 1  # further rows have met this one
        for j in range(i):
            product[j] = products[j, i]
    return products


def nearest(gram: RatingsGram, neighbours: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (i, j) for the nearest other rows j of every row i by cosine, as ``from_data.cosine_knn`` does."""
    if gram.products is None:
        return from_data.cosine_knn(gram.matrix, neighbours)[:2]
    norm, product = row_norms(gram.matrix), gram.products[..., PLAIN]
    cosine = np.divide(product, np.multiply.outer(norm, norm), out=np.zeros(product.shape), where=product > 0)
    np.fill_diagonal(cosine, 0.0)
    last = min(neighbours, len(cosine)) - 1  # the least that may be near, of which there can be several
    i, j = np.nonzero((cosine > 0) & (cosine >= -np.partition(-cosine, last, axis=1)[:, [last]]))
    order = np.lexsort((j, -cosine[i, j], i))
    i, j = i[order], j[order]
    kept = np.arange(len(i)) - np.searchsorted(i, i) < neighbours
    return i[kept], j[kept]


def condense(gram: RatingsGram, rank: int, kind: int = PLAIN) -> np.ndarray:
    """Return rows U S (n x rank) of a truncated decomposition, which approximate the products of the long rows best."""
    from scipy.linalg import eigh

    n = gram.matrix.shape[0]
    if gram.products is None:
        left, values, _ = pca.leading_svd(pca.centred_rows(gram.matrix) if kind else gram.matrix, rank)
        return canonical_signs(left) * values
    squares, vectors = eigh(gram.products[..., kind], lower=False, subset_by_index=[max(n - rank, 0), n - 1])
    kept = np.flatnonzero(squares > pca.NEGLIGIBLE * squares.max(initial=0.0))[::-1]
    return canonical_signs(vectors[:, kept]) * np.sqrt(squares[kept])
