"""Splits of a user's data into a training part, behind graph and features, and a holdout part, behind the rewards.

Interactions are split by user: one half of the users is for training, the other (the later one, where times are known)
is held out. Several rewards of a node are split at random. With one reward per node, nothing is held out.
"""

from typing import NamedTuple

import numpy as np

from graphdr.advise.data import Data, Edges, Interactions, Rewards
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.graphs import from_data, raters
from graphdr.graphs.records import TRANSFORMS

KEPT = 2 / 3  # share of the users on either side of the cut in time that each split takes
SEVERAL = 4  # rewards that most items need before some are held out
FEW = 0.5  # share of the items that random halves would leave; if a cut in time leaves fewer, it is not used
LEFT_OUT, TRAIN, HOLDOUT = -1, 0, 1  # the part of a row


class Split(NamedTuple):
    """What data are split by, and the share of each side that a split draws (None: all splits are alike)."""

    by: str
    part: float | None

    @property
    def spread(self) -> float:
        """Return the variance of a result over data sets, in that between splits of one of them.

        Were the result a mean over users, splits with a share f of the data would vary by (1 - f) / f of what data sets
        do: so say Nadeau and Bengio (2003). Half of that factor is taken, which was set by trial on generated data; it
        is too little for a plain mean over users (docs/advise.md).
        """
        return 0.0 if self.part is None else 0.5 * self.part / (1.0 - self.part)


USERS, TIME, ROWS, NOTHING = Split("users", 0.5), Split("time", KEPT), Split("rewards", 0.5), Split("nothing", None)


class Source(NamedTuple):
    """The data on the selected items, and how to split them."""

    data: Data
    item: np.ndarray  # numbers of the items before the selection
    split: Split
    popularity: np.ndarray
    available: int
    users: np.ndarray | None = None  # in the order of their mean time, where the split is by time


def select_source(data: Data, n: int | None) -> Source:
    """Take the n items with most interactions, or nodes with most neighbours, and decide how to split the data."""
    count = len(data.keys)
    popularity = _popularity(data, count)
    kept = np.sort(from_data.select_top(popularity, count if n is None else n))
    place = np.full(count, -1)
    place[kept] = np.arange(len(kept))
    selected = data._replace(
        interactions=data.interactions and _select_interactions(data.interactions, place),
        edges=data.edges and _select_edges(data.edges, place),
        rewards=data.rewards and _select_rewards(data.rewards, place),
        features=None if data.features is None else data.features[kept],
    )
    users = None
    if selected.interactions and selected.interactions.time is not None:
        users = _users_by_time(selected.interactions.user, selected.interactions.time)
    source = Source(selected, kept, TIME if users is not None else USERS, popularity[kept], count, users)
    return source._replace(split=_choose_split(source))


def _popularity(data: Data, count: int) -> np.ndarray:
    if data.interactions:
        return np.bincount(data.interactions.item, minlength=count)
    if data.edges:
        ends = np.concatenate([data.edges.source, data.edges.target])
        return np.bincount(ends, minlength=count)
    return np.bincount(data.rewards.item, minlength=count) if data.rewards else np.zeros(count, np.int64)


def _select_interactions(rows: Interactions, place: np.ndarray) -> Interactions:
    kept = place[rows.item] >= 0
    if not kept.all():
        value, time = (None if column is None else column[kept] for column in (rows.value, rows.time))
        rows = Interactions(rows.user[kept], rows.item[kept], value, time)
    return rows._replace(item=place[rows.item])


def _select_edges(edges: Edges, place: np.ndarray) -> Edges:
    i, j = place[edges.source], place[edges.target]
    kept = (i >= 0) & (j >= 0)
    return Edges(i[kept], j[kept], None if edges.weight is None else edges.weight[kept])


def _select_rewards(rewards: Rewards, place: np.ndarray) -> Rewards:
    kept = place[rewards.item] >= 0
    return Rewards(place[rewards.item[kept]], rewards.value[kept])


def _users_by_time(user: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return the users who have rows, in the order of their mean time."""
    sizes = np.bincount(user)
    mean_time = np.bincount(user, time - time.min()) / np.maximum(sizes, 1)
    order = np.argsort(mean_time, kind="stable")
    return order[sizes[order] > 0]


def _choose_split(source: Source) -> Split:
    """Choose how to split the data: by time only where that leaves enough of the items."""
    data, n = source.data, len(source.item)
    if data.rewards is not None:
        several = np.median(np.bincount(data.rewards.item, minlength=n)) >= SEVERAL
        return ROWS if several else NOTHING
    if source.users is None:
        return USERS
    counts = {}
    for split in (TIME, USERS):
        parts = _assign_parts(source._replace(split=split), np.random.default_rng(0))
        counts[split] = _enough(data.required_interactions, parts, n).sum()
    return TIME if counts[TIME] >= FEW * counts[USERS] else USERS


def _assign_parts(source: Source, rng: np.random.Generator) -> np.ndarray:
    """Return the part of every row: its user is for training, is held out, or is left out of this split."""
    user = source.data.required_interactions.user
    count = 1 + user.max()
    part = np.full(count, LEFT_OUT, np.int8)
    if source.split == USERS or source.users is None:
        train, holdout = raters.halves(count, rng)
    else:
        middle = len(source.users) // 2
        sides = source.users[:middle], source.users[middle:]
        train, holdout = (rng.permutation(side)[: int(np.ceil(KEPT * len(side)))] for side in sides)
    part[train], part[holdout] = TRAIN, HOLDOUT
    return part[user]


def _enough(rows: Interactions, parts: np.ndarray, n: int) -> np.ndarray:
    """Tell of each item whether it has enough interactions in both parts."""
    train, holdout = (np.bincount(rows.item[parts == part], minlength=n) for part in (TRAIN, HOLDOUT))
    return np.minimum(train, holdout) >= raters.FEWEST


class Part(NamedTuple):
    """One split: the interactions for training, and the held-out rewards.

    ``value`` is the mean reward of every item, nan where it is unknown, and ``pulls`` are the items and values of
    single rewards. Where interactions have no values, a reward is one or zero, and ``choosers`` is the number of users
    behind the shares.
    """

    train: Interactions | None
    value: np.ndarray
    pulls: tuple[np.ndarray, np.ndarray] | None = None
    choosers: int | None = None


def draw_part(source: Source, fewest: int, seed: int, number: int) -> Part:
    """Draw one split; refuse it if fewer than ``fewest`` items are left."""
    data, n, rng = source.data, len(source.item), stream(seed, "split", number=number)
    if data.rewards is None:
        return _split_users(source, fewest, rng)
    pulls = _draw_half(data.rewards, n, rng) if source.split == ROWS else None
    return Part(data.interactions, raters.node_means(*(pulls or data.rewards), n), pulls)


def _split_users(source: Source, fewest: int, rng: np.random.Generator) -> Part:
    rows, n, parts = source.data.required_interactions, len(source.item), _assign_parts(source, rng)
    kept = _enough(rows, parts, n)
    if kept.sum() < fewest:
        few = f"{kept.sum()} items have {raters.FEWEST} interactions with either part of the users"
        raise UserError(f"{few}; a round needs {fewest}; bring more data")
    holdout, train = (_take_rows(rows, kept[rows.item] & (parts == part)) for part in (HOLDOUT, TRAIN))
    if rows.value is None:
        users = len(np.unique(rows.user[parts == HOLDOUT]))
        return Part(train, np.where(kept, holdout.choosers(n) / users, np.nan), choosers=users)
    pulls = holdout.item, TRANSFORMS[source.data.transform](holdout.value)
    return Part(train, raters.node_means(*pulls, n), pulls)


def _take_rows(rows: Interactions, kept: np.ndarray) -> Interactions:
    """Take some rows, without their times."""
    at = np.flatnonzero(kept)
    return Interactions(rows.user[at], rows.item[at], None if rows.value is None else rows.value[at])


def _draw_half(rows: Rewards, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw half of the rewards of every item, at least one."""
    order = rng.permutation(len(rows.item))
    order = order[np.argsort(rows.item[order], kind="stable")]
    sizes = np.bincount(rows.item, minlength=n)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    order = np.sort(order[rank < np.repeat((sizes + 1) // 2, sizes)])
    return rows.item[order], rows.value[order]
