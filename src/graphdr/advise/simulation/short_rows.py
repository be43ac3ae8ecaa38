"""Short rows in place of the long ones of many users: what their products say is all that a basis needs."""

import numpy as np
import scipy.sparse as sp

from graphdr.core.compiled import kernel
from graphdr.graphs import pca
from graphdr.graphs.spectral import canonical_signs

GRAM_UP_TO = 3000  # rows whose products with each other are cheaper to decompose than the rows are


def condensed(matrix: sp.csr_array, rank: int) -> np.ndarray:
    """Return short rows U S (n x rank) in place of the long ones of a matrix, whose products they keep best.

    They come from the products themselves, unless there are many rows.
    """
    from scipy.linalg import eigh

    n = matrix.shape[0]
    if n > GRAM_UP_TO:
        left, values, _ = pca.leading_svd(matrix, rank)
        return canonical_signs(left) * values
    by_row, by_column = sp.csr_array(matrix), sp.csc_array(matrix)
    parts = [getattr(form, part) for form in (by_row, by_column) for part in ("indptr", "indices", "data")]
    squares, vectors = eigh(_products(*parts), lower=False, subset_by_index=[max(n - rank, 0), n - 1])
    kept = np.flatnonzero(squares > pca.NOTHING * squares.max(initial=0.0))[::-1]
    return canonical_signs(vectors[:, kept]) * np.sqrt(squares[kept])


@kernel
def _products(starts, columns, data, column_starts, rows, column_data):
    """Return the products of all rows of a sparse matrix, on and above the diagonal, given by row and by column."""
    n = len(starts) - 1
    products, first = np.zeros((n, n)), column_starts.copy()
    for i in range(n):
        product = products[i]
        for at in range(starts[i], starts[i + 1]):
            column, entry = columns[at], data[at]
            for other in range(first[column], column_starts[column + 1]):
                product[rows[other]] += entry * column_data[other]
            first[column] += 1  # further rows have met this one
    return products
