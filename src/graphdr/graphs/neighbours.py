"""Nearest rows by cosine: of all that share a column, or of candidates that pynndescent proposes."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from graphdr.core.compiled import inlined, kernel
from graphdr.core.errors import UserError, no_such
from graphdr.core.extras import needed_for
from graphdr.core.rng import stream
from graphdr.graphs.records import row_lengths

EXACT = "exact"
PROPOSED = 1.2  # candidates for every neighbour that is wanted
SAMPLED = 1000  # rows that a recall is measured on
PYNNDESCENT_UP_TO = 2**31 - 1  # entries of a matrix
AT_ONCE = 100_000  # rows whose lengths are computed together


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
def _nearest(starts, columns, data, column_starts, rows, column_data, length, queries, neighbours):
    """Return the nearest others of some rows and their cosines, queries x neighbours, -1 where there are no more."""
    n = len(length)
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
                filled = _insert(near, values, filled, j, product[j] / (length[i] * length[j]))
    return nearest, cosine


@kernel
def _ranked(starts, columns, data, width, length, queries, candidates, neighbours):
    """Return the nearest of the candidates of some rows (queries x any, -1 for none) as ``_nearest`` does of all."""
    nearest, cosine = np.full((len(queries), neighbours), -1), np.zeros((len(queries), neighbours))
    row = np.zeros(width)
    for place in range(len(queries)):
        i, filled, near, values = queries[place], 0, nearest[place], cosine[place]
        own = columns[starts[i] : starts[i + 1]]
        for at in range(len(own)):
            row[own[at]] += data[starts[i] + at]
        for j in candidates[place]:
            if j < 0 or j == i:
                continue
            product = 0.0
            for at in range(starts[j], starts[j + 1]):
                product += row[columns[at]] * data[at]
            if product > 0.0:
                filled = _insert(near, values, filled, j, product / (length[i] * length[j]))
        row[own] = 0.0
    return nearest, cosine


def _parts(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return starts, indices and entries, of one type each whatever the size of the matrix."""
    return matrix.indptr.astype(np.int64, copy=False), np.asarray(matrix.indices), np.asarray(matrix.data)


def _lengths(matrix: sp.csr_array) -> np.ndarray:
    """Return the lengths of all rows in double precision, of some at a time: a matrix on disk stays there."""
    some = (matrix[at : at + AT_ONCE] for at in range(0, max(1, matrix.shape[0]), AT_ONCE))
    return np.concatenate([row_lengths(rows.astype(float, copy=False)) for rows in some])


def exact(of: Sides, neighbours: int, queries: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Compare every row with all that share a column: as many steps as the squared lengths of the columns add up to."""
    return _nearest(*_parts(of.rows), *_parts(of.columns), _lengths(of.rows), queries, neighbours)


def approximate(of: Sides, neighbours: int, queries: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Take as candidates what pynndescent finds: neighbours of neighbours, until these change no more."""
    with needed_for("search: approximate", "scale"):
        from pynndescent import NNDescent
    if of.rows.nnz > PYNNDESCENT_UP_TO:
        raise UserError(f"search: approximate takes {PYNNDESCENT_UP_TO} entries, not {of.rows.nnz}; exact takes any")
    n = of.rows.shape[0]
    wanted = min(n, 1 + round(PROPOSED * neighbours))
    kinds = {"data": np.float32, "indices": np.int32, "indptr": np.int32}  # it compiles for one type each, in memory
    parts = (np.array(getattr(of.rows, part), kind) for part, kind in kinds.items())
    matrix = sp.csr_matrix(tuple(parts), shape=of.rows.shape)
    random = int(stream(seed, "neighbours").integers(2**31))
    with warnings.catch_warnings(action="ignore"):  # that rows have too few neighbours: they may
        # Its order of work, and so what it finds, depends on the number of threads.
        graph = NNDescent(matrix, metric="cosine", n_neighbors=wanted, random_state=random, n_jobs=1).neighbor_graph
    found = graph[0][queries].astype(np.int64)
    return _ranked(*_parts(of.rows), of.rows.shape[1], _lengths(of.rows), queries, found, neighbours)


SEARCHES: dict[str, Callable] = {search.__name__: search for search in (exact, approximate)}


def nearest(
    of: Sides, neighbours: int, search: str = EXACT, seed: int = 0, queries: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest other rows of all or some rows, and their cosines; -1 where there are no more.

    Nearest come first, equally near ones by lower index. Only rows with a positive cosine are neighbours. Searches
    differ in which rows they compare; cosines and ties are always those of the whole rows.
    """
    if search not in SEARCHES:
        raise no_such("search", "search", search, SEARCHES)
    return SEARCHES[search](of, neighbours, np.arange(of.rows.shape[0]) if queries is None else queries, seed)


def recall(of: Sides, found: np.ndarray, seed: int = 0) -> float:
    """Return the share of the exact neighbours of a sample of rows that are among those found (n x neighbours)."""
    n, neighbours = found.shape
    sample = np.sort(stream(seed, "recall").choice(n, min(n, SAMPLED), replace=False))
    wanted = nearest(of, neighbours, queries=sample)[0]
    met = [np.isin(row[row >= 0], found[i]) for i, row in zip(sample, wanted, strict=True)]
    return float(np.mean(np.concatenate(met))) if any(map(len, met)) else 1.0
