"""The records of a data set about nodes and users, and the rows of nodes over the users."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from graphdr.core.errors import UserError, no_such

# Of the weights, which are positive.
TRANSFORMS: dict[str, Callable[..., np.ndarray]] = {"identity": np.asarray, "log1p": np.log1p, "presence": np.sign}
NONE = np.empty(0)


class Records(NamedTuple):
    """The records of a data set about its nodes: source–node pairs with weights, popularities, and group codes.

    Pairs are interactions of a user with an item, or links from one node to another. ``popularity`` has
    a value per node, ``groups`` a code per node and kind of group (nodes x kinds). Equally popular nodes, and
    equally near neighbours, come in the order of ``ties``; else by number and by popularity.
    """

    source: np.ndarray
    node: np.ndarray
    weight: np.ndarray = NONE
    popularity: np.ndarray = NONE
    groups: np.ndarray | None = None
    ties: np.ndarray | None = None


class Users(NamedTuple):
    """The users of a data set, an entry each: age (-1: unknown), gender and occupation ("": unknown).

    ``friends`` has a column (i, j) with i < j for every friendship (2 x E).
    """

    age: np.ndarray
    gender: np.ndarray
    occupation: np.ndarray
    friends: np.ndarray


def similarity_rows(
    source: np.ndarray, node: np.ndarray, weight: np.ndarray, selected: np.ndarray, transform: str = "identity"
) -> sp.csr_array:
    """Return the selected nodes' rows over all sources, in the order of the selection.

    Weights of repeated pairs are added before the transform: plays of a song on two days are plays.
    """
    if transform not in TRANSFORMS:
        raise no_such("transform", "transform", transform, TRANSFORMS)
    place = places(node, selected)
    kept = place >= 0
    pairs = (np.asarray(weight, float)[kept], (place[kept], source[kept]))
    matrix = sp.coo_array(pairs, shape=(len(selected), 1 + source.max(initial=-1))).tocsr()
    if transform == "log1p" and matrix.data.min(initial=0.0) < 0:
        raise UserError(f"transform: log1p needs weights from 0, the data have {matrix.data.min():g}")
    matrix.data = TRANSFORMS[transform](matrix.data)
    return matrix


def places(node: np.ndarray, selected: np.ndarray) -> np.ndarray:
    """Return the position of each node among the selected ones, -1 for the others."""
    place = np.full(1 + max(node.max(initial=-1), selected.max(initial=-1)), -1)
    place[selected] = np.arange(len(selected))
    return place[node]


def row_norms(matrix: sp.csr_array) -> np.ndarray:
    """Return the Euclidean norm of every row."""
    return np.sqrt((matrix * matrix).sum(axis=1))


def unit_rows(matrix: sp.csr_array) -> sp.csr_array:
    """Scale every row to norm one; empty rows stay empty."""
    norm = row_norms(matrix)
    return sp.csr_array(sp.diags_array(np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)) @ matrix)
