"""The data of a user as arrays; items are numbered by their places among the keys."""

from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from graphdr.graphs.records import TRANSFORMS


class Interactions(NamedTuple):
    """Rows of a file of interactions; without values, a row says that the user chose the item."""

    user: np.ndarray
    item: np.ndarray
    value: np.ndarray | None = None
    time: np.ndarray | None = None  # in any unit

    def choosers(self, count: int) -> np.ndarray:
        """Count the distinct users of each of so many items."""
        pairs = np.unique(self.user.astype(np.int64) * count + self.item)
        return np.bincount(pairs % count, minlength=count)


class Edges(NamedTuple):
    """The edges of a user's graph, each once and none from a node to itself."""

    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray | None = None


class Rewards(NamedTuple):
    """Rows of a file of rewards; an item may have several."""

    item: np.ndarray
    value: np.ndarray


class Data(NamedTuple):
    """Interactions, or a graph with rewards, or features with rewards, or several of these."""

    keys: pa.Array  # names of the items
    interactions: Interactions | None = None
    edges: Edges | None = None
    rewards: Rewards | None = None
    features: np.ndarray | None = None  # a row of numbers for every item
    transform: str = "identity"  # of the values of interactions, or log1p
    notes: list[str] = []  # noqa: RUF012 - never changed; assumptions, each with the option that changes it

    @property
    def required_interactions(self) -> Interactions:
        """Return the interactions, which data without a file of rewards always have."""
        if self.interactions is None:
            raise ValueError("neither rewards nor interactions")
        return self.interactions


Rows = TypeVar("Rows", Interactions, Edges, Rewards)


def take(rows: Rows, kept: np.ndarray) -> Rows:
    """Return some rows, by number or by a mask."""
    columns: list[Any] = [None if column is None else column[kept] for column in rows]
    return type(rows)(*columns)


def single_rewards(data: Data) -> np.ndarray:
    """Return all single rewards: of a file of rewards, or the values of interactions, or ones."""
    if data.rewards is not None:
        return data.rewards.value
    rows = data.required_interactions
    return np.ones(len(rows.item)) if rows.value is None else TRANSFORMS[data.transform](rows.value)
