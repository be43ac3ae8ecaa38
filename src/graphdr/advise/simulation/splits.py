"""Splits of a user's data: who makes the graph and the features, and what the others pay.

Where the data have users, one half of them makes the graph and the other pays: the later half, where times are known.
Several rewards of a node are split in the same way. Where there is one reward for each node, nothing is held out.
"""

from typing import NamedTuple

import numpy as np

from graphdr.advise.data import Data, Edges, Interactions, Rewards
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.graphs import from_data, raters
from graphdr.graphs.records import TRANSFORMS

KEPT = 2 / 3  # of the users of either side of the cut in time that each split takes
SEVERAL = 4  # rewards that most items need, if some of them are to be held out and the others to differ
FEW = 0.5  # of the items that random halves would leave: fewer, and time is not used


class Split(NamedTuple):
    """How data are split: by what, and the part of each side that a split draws (None: all worlds are alike)."""

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
    """The data on the items that are asked for, and how to split them; ``item`` has the old numbers of the items."""

    data: Data
    item: np.ndarray
    split: Split
    popularity: np.ndarray
    available: int
    users: np.ndarray | None = None  # in the order of their mean time, where the split is by time


def source(data: Data, n: int | None) -> Source:
    """Take the n items of most interactions, or nodes of most neighbours, and decide how to split the data."""
    count = len(data.keys)
    popularity = _popularity(data, count)
    kept = np.sort(from_data.select_top(popularity, count if n is None else n))
    place = np.full(count, -1)
    place[kept] = np.arange(len(kept))
    fewer = data._replace(
        interactions=data.interactions and _only(data.interactions, place),
        edges=data.edges and _between(data.edges, place),
        rewards=data.rewards and _of(data.rewards, place),
        features=None if data.features is None else data.features[kept],
    )
    users = None
    if fewer.interactions and fewer.interactions.time is not None:
        users = _in_time(fewer.interactions)
    found = Source(fewer, kept, TIME if users is not None else USERS, popularity[kept], count, users)
    return found._replace(split=_how(found))


def _popularity(data: Data, count: int) -> np.ndarray:
    if data.interactions:
        return np.bincount(data.interactions.item, minlength=count)
    if data.edges:
        ends = np.concatenate([data.edges.source, data.edges.target])
        return np.bincount(ends, minlength=count)
    return np.bincount(data.rewards.item, minlength=count)


def _only(rows: Interactions, place: np.ndarray) -> Interactions:
    there = place[rows.item] >= 0
    if there.all():
        return rows._replace(item=place[rows.item])
    columns = (None if column is None else column[there] for column in rows)
    rows = Interactions(*columns)
    return rows._replace(item=place[rows.item])


def _between(edges: Edges, place: np.ndarray) -> Edges:
    i, j = place[edges.source], place[edges.target]
    there = (i >= 0) & (j >= 0)
    return edges._replace(
        source=i[there], target=j[there], weight=None if edges.weight is None else edges.weight[there]
    )


def _of(paid: Rewards, place: np.ndarray) -> Rewards:
    there = place[paid.item] >= 0
    return paid._replace(item=place[paid.item[there]], value=paid.value[there])


def _in_time(rows: Interactions) -> np.ndarray:
    """Return the users who have rows, in the order of their mean time."""
    sizes = np.bincount(rows.user)
    when = np.bincount(rows.user, rows.time - rows.time.min()) / np.maximum(sizes, 1)
    order = np.argsort(when, kind="stable")
    return order[sizes[order] > 0]


def _how(given: Source) -> Split:
    """Decide how to split the data: by time only where that leaves enough of the items."""
    data, n = given.data, len(given.item)
    if data.rewards is not None:
        several = np.median(np.bincount(data.rewards.item, minlength=n)) >= SEVERAL
        return ROWS if several else NOTHING
    if given.users is None:
        return USERS
    by_time, at_random = (
        _enough(data.interactions, _roles(given._replace(split=split), np.random.default_rng(0)), n).sum()
        for split in (TIME, USERS)
    )
    return TIME if by_time >= FEW * at_random else USERS


def _roles(given: Source, rng: np.random.Generator) -> np.ndarray:
    """Return for every row whether its user makes the graph (0), pays (1), or is left out of this split (-1)."""
    user = given.data.interactions.user
    count = 1 + user.max()
    role = np.full(count, -1, np.int8)
    if given.split == USERS:
        makes, pays = raters.halves(count, rng)
    else:
        middle = len(given.users) // 2
        sides = given.users[:middle], given.users[middle:]
        makes, pays = (rng.permutation(side)[: int(np.ceil(KEPT * len(side)))] for side in sides)
    role[makes], role[pays] = 0, 1
    return role[user]


def _enough(rows: Interactions, role: np.ndarray, n: int) -> np.ndarray:
    """Tell of each item whether both sides met it often enough."""
    return np.minimum(*(np.bincount(rows.item[role == side], minlength=n) for side in (0, 1))) >= raters.FEWEST


class Part(NamedTuple):
    """One split: the interactions that make graph and features, and what the rest pays.

    ``value`` is the mean reward of every item, nan where it is not known, and ``pulls`` are the items and values of
    single rewards. Where users say no more than that they chose an item, it pays one or zero, and ``choosers`` is the
    number of users behind the shares.
    """

    making: Interactions | None
    value: np.ndarray
    pulls: tuple[np.ndarray, np.ndarray] | None = None
    choosers: int | None = None


def part(given: Source, fewest: int, seed: int, number: int) -> Part:
    """Draw one split; refuse it if fewer than ``fewest`` items are left."""
    data, n, rng = given.data, len(given.item), stream(seed, "split", number=number)
    if data.rewards is None:
        return _by_users(given, fewest, rng)
    pulls = _half(data.rewards, n, rng) if given.split == ROWS else None
    return Part(data.interactions, raters.node_means(*(pulls or data.rewards), n), pulls)


def _by_users(given: Source, fewest: int, rng: np.random.Generator) -> Part:
    rows, n, role = given.data.interactions, len(given.item), _roles(given, rng)
    kept = _enough(rows, role, n)
    if kept.sum() < fewest:
        met = f"{kept.sum()} items have {raters.FEWEST} interactions with either part of the users"
        raise UserError(f"{met}; a round needs {fewest}; bring more data")
    paying, making = (_rows(rows, kept[rows.item] & (role == side)) for side in (1, 0))
    if rows.value is None:
        users = len(np.unique(rows.user[role == 1]))
        return Part(making, np.where(kept, paying.choosers(n) / users, np.nan), choosers=users)
    pulls = paying.item, TRANSFORMS[given.data.transform](paying.value)
    return Part(making, raters.node_means(*pulls, n), pulls)


def _rows(rows: Interactions, kept: np.ndarray) -> Interactions:
    """Take some rows, without their times."""
    at = np.flatnonzero(kept)
    return Interactions(rows.user[at], rows.item[at], None if rows.value is None else rows.value[at])


def _half(rows: Rewards, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw half of the rewards of every item, at least one."""
    order = rng.permutation(len(rows.item))
    order = order[np.argsort(rows.item[order], kind="stable")]
    sizes = np.bincount(rows.item, minlength=n)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    order = np.sort(order[rank < np.repeat((sizes + 1) // 2, sizes)])
    return rows.item[order], rows.value[order]
