"""Neighbours and short rows from the products of rows, which are all that a graph and a basis need of many users.

Where there are many items, their products would cost more than they save, and both come from the long rows.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from graphdr.core.compiled import kernel
from graphdr.graphs import from_data, pca
from graphdr.graphs.records import row_lengths
from graphdr.graphs.spectral import canonical_signs

GRAM_UP_TO = 3000  # rows whose products with each other are cheaper than the rows are
PLAIN, CENTRED = 0, 1  # entries as they are, and around the mean of those that a row holds


class Said(NamedTuple):
    """What users say about items, items x users, and the products of all rows, for both kinds of entries."""

    matrix: sp.csr_array
    products: np.ndarray | None  # n x n x 2

    def about(self, items: np.ndarray) -> "Said":
        """Return what is said about some of the items."""
        return Said(self.matrix[items], None if self.products is None else self.products[np.ix_(items, items)])


def said(matrix: sp.csr_array) -> Said:
    """Multiply the rows of a matrix, both kinds of entries in one pass, unless there are many of them."""
    if matrix.shape[0] > GRAM_UP_TO:
        return Said(matrix, None)
    kinds = matrix, pca.centred_rows(matrix)
    forms = kinds, [kind.tocsc() for kind in kinds]
    parts = ((form.indptr, form.indices, np.column_stack([form.data, other.data])) for form, other in forms)
    return Said(matrix, _products(*(array for part in parts for array in part)))


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


def nearest(given: Said, neighbours: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (i, j) for the nearest other rows j of every row i by cosine, as ``from_data.cosine_knn`` does."""
    if given.products is None:
        return from_data.cosine_knn(given.matrix, neighbours)[:2]
    length, product = row_lengths(given.matrix), given.products[..., PLAIN]
    cosine = np.divide(product, np.multiply.outer(length, length), out=np.zeros(product.shape), where=product > 0)
    np.fill_diagonal(cosine, 0.0)
    last = min(neighbours, len(cosine)) - 1  # the least that may be near, of which there can be several
    i, j = np.nonzero((cosine > 0) & (cosine >= -np.partition(-cosine, last, axis=1)[:, [last]]))
    order = np.lexsort((j, -cosine[i, j], i))
    i, j = i[order], j[order]
    near = np.arange(len(i)) - np.searchsorted(i, i) < neighbours
    return i[near], j[near]


def condensed(given: Said, rank: int, kind: int = PLAIN) -> np.ndarray:
    """Return short rows U S (n x rank) in place of long ones, whose products they keep best."""
    from scipy.linalg import eigh

    n = given.matrix.shape[0]
    if given.products is None:
        left, values, _ = pca.leading_svd(pca.centred_rows(given.matrix) if kind else given.matrix, rank)
        return canonical_signs(left) * values
    squares, vectors = eigh(given.products[..., kind], lower=False, subset_by_index=[max(n - rank, 0), n - 1])
    kept = np.flatnonzero(squares > pca.NOTHING * squares.max(initial=0.0))[::-1]
    return canonical_signs(vectors[:, kept]) * np.sqrt(squares[kept])
