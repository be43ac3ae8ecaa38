"""Nearest rows by cosine: of all that share a column, or of candidates that pynndescent proposes."""

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from graphdr.core.compiled import inlined, kernel
from graphdr.core.errors import UserError, needed_for, no_such
from graphdr.core.rng import stream
from graphdr.graphs.records import row_norms

EXACT = "exact"
SEARCHES = (EXACT, "approximate")
PROPOSED = 1.2  # candidates for every neighbour that is wanted
SAMPLED = 1000  # rows that a recall is measured on
PYNNDESCENT_UP_TO = 2**31 - 1  # entries of a matrix
AT_ONCE = 100_000  # rows whose norms are computed together


class Sides(NamedTuple):
    """A sparse matrix by rows and by columns, both as CSR with sorted indices, in memory or on disk."""

    rows: sp.csr_array
    columns: sp.csr_array


def sides(matrix: sp.csr_array) -> Sides:
    """Return both sides of a matrix in memory, repeated entries added up."""
    rows = sp.csr_array(matrix, dtype=float, copy=True)
    rows.sum_duplicates()
    return Sides(rows, sp.csr_array(rows.T))


@inlined
def _insert(nearest, cosine, filled, j, value):
    """Put row j at its place among the nearest so far, equally near ones by index; return how many there are."""
    at = min(filled, len(nearest))  # the place behind all that are nearer
    while at > 0 and (value > cosine[at - 1] or (value == cosine[at - 1] and j < nearest[at - 1])):
        at -= 1
    if at == len(nearest):
        return filled
    filled = min(filled + 1, len(nearest))
    for after in range(filled - 1, at, -1):
        nearest[after], cosine[after] = nearest[after - 1], cosine[after - 1]
    nearest[at], cosine[at] = j, value
    return filled


@kernel
def _nearest(starts, columns, data, column_starts, rows, column_data, norm, queries, neighbours):
    """Return the nearest others of some rows and their cosines, queries x neighbours, -1 where there are no more."""
    n = len(norm)
    nearest, cosine = np.full((len(queries), neighbours), -1), np.zeros((len(queries), neighbours))
    product, met, seen = np.zeros(n), np.empty(n, np.int64), np.full(n, -1)
    for place in range(len(queries)):
        i, count = queries[place], 0
        for at in range(starts[i], starts[i + 1]):  # row i times the matrix, all of it that is not zero
            column, entry = columns[at], np.float64(data[at])
            for other in range(column_starts[column], column_starts[column + 1]):
                j = rows[other]
                if seen[j] != i:
                    seen[j] = i
                    product[j] = 0.0
                    met[count] = j
                    count += 1
                product[j] += entry * column_data[other]
        filled, near, values = 0, nearest[place], cosine[place]
        for j in met[:count]:
            if j != i and product[j] > 0.0:
                filled = _insert(near, values, filled, j, product[j] / (norm[i] * norm[j]))
    return nearest, cosine


@kernel
def _ranked(starts, columns, data, width, norm, queries, candidates, neighbours):
    """Return the nearest of the candidates of some rows (queries x any, -1 for none) as ``_nearest`` does of all."""
    nearest, cosine = np.full((len(queries), neighbours), -1), np.zeros((len(queries), neighbours))
    row = np.zeros(width)
    for place in range(len(queries)):
        i, filled, near, values = queries[place], 0, nearest[place], cosine[place]
        filled_columns = columns[starts[i] : starts[i + 1]]
        for at in range(len(filled_columns)):
            row[filled_columns[at]] += data[starts[i] + at]
        for j in candidates[place]:
            if j < 0 or j == i:
                continue
            product = 0.0
            for at in range(starts[j], starts[j + 1]):
                product += row[columns[at]] * data[at]
            if product > 0.0:
                filled = _insert(near, values, filled, j, product / (norm[i] * norm[j]))
        row[filled_columns] = 0.0
    return nearest, cosine


def _parts(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return starts, indices and entries, of one type each whatever the size of the matrix."""
    return matrix.indptr.astype(np.int64, copy=False), np.asarray(matrix.indices), np.asarray(matrix.data)


def nearest(
    of: Sides, neighbours: int, search: str = EXACT, seed: int = 0, queries: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest other rows of all or some rows, and their cosines; -1 where there are no more.

    Nearest come first, equally near ones by lower index. Only rows with a positive cosine are neighbours. The exact
    search compares every row with all that share a column, in as many steps as the sum of the squared sizes of the
    columns; the approximate one with candidates by pynndescent. Cosines and ties are always those of the whole rows.
    """
    if search not in SEARCHES:
        raise no_such("search", "search", search, SEARCHES)
    queries = np.arange(of.rows.shape[0]) if queries is None else queries
    starts = range(0, max(1, of.rows.shape[0]), AT_ONCE)  # some rows at a time, so that a matrix on disk stays there
    norm = np.concatenate([row_norms(of.rows[at : at + AT_ONCE].astype(float, copy=False)) for at in starts])
    rows = _parts(of.rows)
    if search == EXACT:
        return _nearest(*rows, *_parts(of.columns), norm, queries, neighbours)
    candidates = _candidates(of.rows, neighbours, seed)[queries].astype(np.int64)
    return _ranked(*rows, of.rows.shape[1], norm, queries, candidates, neighbours)


def _candidates(matrix: sp.csr_array, neighbours: int, seed: int) -> np.ndarray:
    """Return rows that may be near to every row by pynndescent: neighbours of neighbours, until these do not change."""
    with needed_for("search: approximate", "scale"):
        from pynndescent import NNDescent
    if matrix.nnz > PYNNDESCENT_UP_TO:
        raise UserError(f"search: approximate takes {PYNNDESCENT_UP_TO} entries, not {matrix.nnz}; exact takes any")
    wanted = min(matrix.shape[0], 1 + round(PROPOSED * neighbours))
    kinds = {"data": np.float32, "indices": np.int32, "indptr": np.int32}  # it is compiled for one type each
    parts = (np.array(getattr(matrix, part), kind) for part, kind in kinds.items())
    compact = sp.csr_matrix(tuple(parts), shape=matrix.shape)
    random = int(stream(seed, "neighbours").integers(2**31))
    with warnings.catch_warnings(action="ignore"):  # rows may have too few neighbours
        # The order of its work, and so its result, depends on the number of threads.
        index = NNDescent(compact, metric="cosine", n_neighbors=wanted, random_state=random, n_jobs=1)
        candidates: np.ndarray = index.neighbor_graph[0]
    return candidates


def recall(of: Sides, neighbour: np.ndarray, seed: int = 0) -> float:
    """Return the share of the exact neighbours of a sample of rows that are in ``neighbour`` (n x neighbours)."""
    n, neighbours = neighbour.shape
    sample = np.sort(stream(seed, "recall").choice(n, min(n, SAMPLED), replace=False))
    wanted = nearest(of, neighbours, queries=sample)[0]
    hits = [np.isin(row[row >= 0], neighbour[i]) for i, row in zip(sample, wanted, strict=True)]
    return float(np.mean(np.concatenate(hits))) if any(map(len, hits)) else 1.0
