"""What a user brings, as arrays: items have numbers, their places among the keys."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from graphdr.graphs.raters import node_means
from graphdr.graphs.records import TRANSFORMS, similarity_rows


class Interactions(NamedTuple):
    """Rows of a file of interactions: numbers of user and item, and value and time where the file has them.

    Without values, a row says that the user chose the item.
    """

    user: np.ndarray
    item: np.ndarray
    value: np.ndarray | None = None
    time: np.ndarray | None = None  # any number that grows with it

    def choosers(self, count: int) -> np.ndarray:
        """Return for each of so many items how many users chose it; a user who did so twice is one."""
        pairs = np.unique(self.user.astype(np.int64) * count + self.item)
        return np.bincount(pairs % count, minlength=count)


class Edges(NamedTuple):
    """The edges of a graph of the user's own, each once and none from a node to itself."""

    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray | None = None


class Rewards(NamedTuple):
    """Rows of a file of rewards: numbers of items and what each paid; an item may have several rows."""

    item: np.ndarray
    value: np.ndarray


class Data(NamedTuple):
    """All that a user brings: interactions, or a graph with rewards, or features with rewards, or several of these."""

    keys: pa.Array  # names of the items
    interactions: Interactions | None = None
    edges: Edges | None = None
    rewards: Rewards | None = None
    features: np.ndarray | None = None  # a row of numbers for every item
    titles: pa.Array | None = None
    transform: str = "identity"  # of the values of interactions: as they are, or log1p
    users: pa.Array | None = None  # names of the users
    notes: list[str] = []  # noqa: RUF012 - never changed; what was assumed, with the option that changes it


def ratings(rows: Interactions, item: np.ndarray, transform: str) -> sp.csr_array:
    """Return what users say about some items (items x users); that they chose one is a 1."""
    value = np.ones(len(rows.item)) if rows.value is None else rows.value
    return similarity_rows(rows.user, rows.item, value, item, transform)


def single_rewards(data: Data) -> np.ndarray:
    """Return all single rewards: those of a file of rewards, or the values of users, a 1 where they chose an item."""
    if data.rewards is not None:
        return data.rewards.value
    rows = data.interactions
    return np.ones(len(rows.item)) if rows.value is None else TRANSFORMS[data.transform](rows.value)


def mean_reward(data: Data) -> np.ndarray:
    """Return the mean reward of every item: its own rewards, the mean value, or the share of users who chose it."""
    count, rows = len(data.keys), data.interactions
    if data.rewards is not None:
        return node_means(*data.rewards, count)
    if rows.value is None:
        return rows.choosers(count) / (1 + rows.user.max())
    return node_means(rows.item, TRANSFORMS[data.transform](rows.value), count)
