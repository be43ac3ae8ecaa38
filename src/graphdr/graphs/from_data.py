"""Graphs from data: the most popular nodes, joined to their nearest neighbours by cosine or by their links."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphdr.core.errors import UserError
from graphdr.graphs.model import Graph, from_edges, induced, largest_component
from graphdr.graphs.neighbours import EXACT, nearest, recall, sides
from graphdr.graphs.records import Records, similarity_rows, unit_rows

ALL = "all"  # in place of a number of nodes


def most(n: int | str) -> float:
    """Return the largest possible number of nodes, which for all of a data set is infinite."""
    return np.inf if isinstance(n, str) else n


def select_top(popularity: np.ndarray, n: int | str, ties: np.ndarray | None = None) -> np.ndarray:
    """Return the n most popular nodes (all if there are fewer), the most popular first.

    Of equally popular ones the first by ``ties`` comes first, or that of the lower index.
    """
    popular = -np.asarray(popularity, float)
    order = np.argsort(popular, kind="stable") if ties is None else np.lexsort((ties[: len(popular)], popular))
    return order if isinstance(n, str) else order[:n]


def cosine_knn(matrix: sp.csr_array, neighbours: int, search: str = EXACT) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (i, j, cosine) for the nearest other rows j of every row i, nearest first, ties by lower index.

    Only rows with a positive cosine are neighbours, so that rows without a common column never are and an
    empty row has none. The cosine is the inner product over the product of the norms: for whole-number
    weights it is the same on every machine, and equal rows tie exactly. Besides the result, memory grows only with
    the entries of the matrix. A search that is not exact prints its recall.
    """
    both = sides(matrix)
    neighbour, cosine = nearest(both, neighbours, search)
    if search != EXACT:
        print(f"search {search}: recall {recall(both, neighbour):.4f} of the exact neighbours, on a sample of nodes")
    filled = neighbour >= 0
    return np.nonzero(filled)[0], neighbour[filled], cosine[filled]


def union(n: int, i: np.ndarray, j: np.ndarray) -> Graph:
    """Build the unweighted graph of pairs (i, j), which may repeat in any order."""
    code = np.unique(np.minimum(i, j).astype(np.int64) * n + np.maximum(i, j))
    low, high = code // n, code % n
    return from_edges(n, low[low != high], high[low != high])


def with_groups(rows: sp.csr_array, groups: np.ndarray, weights: Sequence[float]) -> sp.csr_array:
    """Append weighted indicators of each kind of group to rows of norm one; a negative code is no group."""
    parts = [unit_rows(rows)]
    for codes, weight in zip(groups.T, weights, strict=True):
        member = np.flatnonzero(codes >= 0)
        names, column = np.unique(codes[member], return_inverse=True)
        entries = (np.full(len(member), float(weight)), (member, column))
        parts.append(sp.coo_array(entries, shape=(len(groups), len(names))).tocsr())
    return sp.csr_array(sp.hstack(parts))


def connected(whole: Callable[..., Graph]) -> Callable[..., Graph]:
    """Make a function return the largest component of its graph; the function itself remains as ``__wrapped__``."""

    @wraps(whole)
    def family(*arguments: Any, **parameters: Any) -> Graph:
        return largest_component(whole(*arguments, **parameters))

    return family


@connected
def knn(
    n: int | str,
    records: Records,
    *,
    neighbours: int,
    transform: str = "identity",
    group_weights: Sequence[float] = (),
    support: int = 0,
    search: str = EXACT,
) -> Graph:
    """Join each of the n most popular nodes to its nearest neighbours by cosine, and take the largest component.

    Nodes are compared by their rows over the sources; with ``group_weights`` (one per kind of group) by these
    rows at norm one, next to weighted indicators of their groups, if the data have any. Nodes whose popularity
    is below ``support`` are left out. ``search`` is one of ``neighbours.SEARCHES``.
    """
    selected = select_top(records.popularity, n, records.ties)
    selected = selected[records.popularity[selected] >= support]
    rows = similarity_rows(records.source, records.node, records.weight, selected, transform)
    if len(group_weights) and records.groups is not None:
        kinds = records.groups.shape[1]
        if len(group_weights) != kinds:
            raise UserError(f"group_weights: {len(group_weights)} given, the data have {kinds} kinds of groups")
        rows = with_groups(rows, records.groups[selected], group_weights)
    if records.ties is None:
        i, j, _ = cosine_knn(rows, neighbours, search)
    else:  # equally near neighbours in that order, too
        order = np.argsort(records.ties[selected])
        i, j = (order[ends] for ends in cosine_knn(rows[order], neighbours, search)[:2])
    return union(len(selected), i, j)._replace(origin=selected)


@connected
def citation(n: int | str, records: Records) -> Graph:
    """Take the links among the n nodes of largest degree, both ways and unweighted, and the largest component."""
    whole = union(_reached(records), records.source, records.node)
    return induced(whole, select_top(np.diff(whole.adjacency.indptr), n, records.ties))


@connected
def cited(n: int | str, records: Records) -> Graph:
    """Take the links among the n nodes that most links lead to, both ways and unweighted, and the largest component."""
    selected = select_top(received(records), n, records.ties)
    place = np.full(_reached(records), -1)
    place[selected] = np.arange(len(selected))
    i, j = place[records.source], place[records.node]
    among = (i >= 0) & (j >= 0)
    return union(len(selected), i[among], j[among])._replace(origin=selected)


@connected
def nearest_by_features(features: np.ndarray, neighbours: int) -> Graph:
    """Join each node to its nearest by cosine between rows of features, each column centred and of unit variance.

    Categories fall apart: the number of neighbours is doubled until the graph is connected, if it can be.
    """
    n, spread = len(features), features.std(axis=0)
    scaled = sp.csr_array((features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
    while True:
        i, j, _ = cosine_knn(scaled, neighbours)
        graph = union(n, i, j)
        if neighbours >= n or largest_component(graph).n == n:
            return graph
        neighbours *= 2


def received(records: Records) -> np.ndarray:
    """Count the links that lead to every node."""
    return np.bincount(records.node, minlength=_reached(records))


def _reached(records: Records) -> int:
    """Count the nodes up to the last that has a link."""
    return 1 + max(records.source.max(initial=-1), records.node.max(initial=-1))


@connected
def network(n: int | str, records: Records) -> Graph:
    """Take the weighted links among the n nodes of largest degree, repeats added up, and the largest component."""
    ends = np.sort([records.source, records.node], axis=0)
    apart = ends[0] != ends[1]
    (low, high), weight = ends[:, apart], np.asarray(records.weight, float)[apart]
    size = len(records.popularity)
    code, place = np.unique(low.astype(np.int64) * size + high, return_inverse=True)
    whole = from_edges(size, code // size, code % size, np.bincount(place, weight, minlength=len(code)))
    return induced(whole, select_top(np.diff(whole.adjacency.indptr), n, records.ties))


FAMILIES = {f.__name__: f for f in (knn, citation, cited, network)}


def modal_group(groups: np.ndarray) -> np.ndarray:
    """Return 1 for the members of the most frequent group (the first to appear on a tie), 0 for all others.

    Groups are codes; a negative one is no group.
    """
    member = groups >= 0
    names, first, count = np.unique(groups[member], return_index=True, return_counts=True)
    return (groups == names[np.lexsort((first, -count))[0]]).astype(float)
