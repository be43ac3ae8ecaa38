"""Splits of a user's data into a training part, behind graph and features, and a holdout part, behind the rewards.

Interactions are split by user: one half of the users is for training, the other (the later one, where times are known)
is held out. Several rewards of a node are split at random. With one reward per node, nothing is held out.
"""

from typing import NamedTuple

import numpy as np

from graphdr.advise.data import Data, Interactions, Rewards, Rows, take
from graphdr.core.rng import stream
from graphdr.graphs import from_data, raters
from graphdr.graphs.records import TRANSFORMS

KEPT = 2 / 3  # share of the users on either side of the cut in time that each split takes
SEVERAL = 4  # rewards that most items need before some are held out
FEW = 0.5  # share of the items that random halves would leave; if a cut in time leaves fewer, it is not used
LEFT_OUT, TRAIN, HOLDOUT = -1, 0, 1  # the part of a row


class Split(NamedTuple):
    """What data are split by, and the variance of a result over data sets, in that between splits of one of them.

    Were the result a mean over users, splits with a share f of the data would vary by (1 - f) / f of what data sets do:
    so say Nadeau and Bengio (2003). Half of that factor is taken, which was set by trial on generated data; it is too
    little for a plain mean over users (docs/advise.md).
    """

    by: str
    spread: float


USERS, TIME = Split("users", 0.5), Split("time", 0.5 * KEPT / (1.0 - KEPT))
ROWS, NOTHING = Split("rewards", 0.5), Split("nothing", 0.0)  # with nothing, all splits are alike


class Source(NamedTuple):
    """The data on the selected items, and how to split them."""

    data: Data
    item: np.ndarray  # numbers of the items before the selection
    split: Split
    popularity: np.ndarray
    users: np.ndarray | None = None  # in the order of their mean time, where the split is by time


def select_source(data: Data, n: int | None) -> Source:
    """Take the n items with most interactions, or nodes with most neighbours, and decide how to split the data."""
    count = len(data.keys)
    popularity = _popularity(data, count)
    kept = np.sort(from_data.select_top(popularity, count if n is None else n))
    place = np.full(count, -1)
    place[kept] = np.arange(len(kept))
    rows = data.interactions and _renumber(data.interactions, place, "item")
    edges = data.edges and _renumber(data.edges, place, "source", "target")
    rewards = data.rewards and _renumber(data.rewards, place, "item")
    features = None if data.features is None else data.features[kept]
    selected = data._replace(interactions=rows, edges=edges, rewards=rewards, features=features)
    source = Source(selected, kept, USERS, popularity[kept])
    if rewards:
        several = np.median(np.bincount(rewards.item, minlength=len(kept))) >= SEVERAL
        return source._replace(split=ROWS if several else NOTHING)
    return source if rows is None or rows.time is None else _split_by_time(source, rows.user, rows.time)


def _renumber(rows: Rows, place: np.ndarray, *columns: str) -> Rows:
    """Put the places of items for their numbers; drop the rows of items without a place."""
    places: dict[str, np.ndarray] = {name: place[getattr(rows, name)] for name in columns}
    return take(rows._replace(**places), np.min([*places.values()], axis=0) >= 0)


def _popularity(data: Data, count: int) -> np.ndarray:
    """Return the number of rows of every item; of edges, both ends count."""
    if data.interactions is None and data.edges:
        return np.bincount(np.concatenate([data.edges.source, data.edges.target]), minlength=count)
    rows = data.interactions or data.rewards
    return np.bincount(rows.item, minlength=count) if rows else np.zeros(count, np.int64)


def _split_by_time(source: Source, user: np.ndarray, time: np.ndarray) -> Source:
    """Split users in the order of their mean time, where that leaves enough of the items that random halves leave."""
    sizes = np.bincount(user)
    mean_time = np.bincount(user, time - time.min()) / np.maximum(sizes, 1)
    order = np.argsort(mean_time, kind="stable")
    by_time = source._replace(split=TIME, users=order[sizes[order] > 0])
    late, random = (_enough(each, _assign_parts(each, np.random.default_rng(0))).sum() for each in (by_time, source))
    return by_time if late >= FEW * random else source


def _assign_parts(source: Source, rng: np.random.Generator) -> np.ndarray:
    """Return the part of every row: its user is for training, is held out, or is left out of this split."""
    user = source.data.required_interactions.user
    part = np.full(1 + user.max(), LEFT_OUT, np.int8)
    if source.users is None:
        train, holdout = raters.halves(len(part), rng)
    else:
        middle = len(source.users) // 2
        sides = source.users[:middle], source.users[middle:]
        train, holdout = (rng.permutation(side)[: int(np.ceil(KEPT * len(side)))] for side in sides)
    part[train], part[holdout] = TRAIN, HOLDOUT
    return part[user]


def _enough(source: Source, parts: np.ndarray) -> np.ndarray:
    """Tell of each item whether it has enough interactions in both parts."""
    item = source.data.required_interactions.item
    train, holdout = (np.bincount(item[parts == part], minlength=len(source.item)) for part in (TRAIN, HOLDOUT))
    return np.minimum(train, holdout) >= raters.FEWEST


class Part(NamedTuple):
    """One split: the interactions for training, and the held-out rewards.

    ``value`` is the mean reward of every item, nan where it is unknown, and ``pulls`` are the items and values of
    single rewards. Where interactions have no values, a reward is one or zero, and ``choosers`` is the number of users
    behind the shares.
    """

    train: Interactions | None
    value: np.ndarray
    pulls: Rewards | None = None
    choosers: int | None = None


def draw_part(source: Source, seed: int, number: int) -> Part:
    """Draw one split."""
    data, n, rng = source.data, len(source.item), stream(seed, "split", number=number)
    if data.rewards is None:
        return _split_users(source, rng)
    pulls = _draw_half(data.rewards, n, rng) if source.split == ROWS else None
    return Part(data.interactions, raters.node_means(*(pulls or data.rewards), n), pulls)


def _split_users(source: Source, rng: np.random.Generator) -> Part:
    rows, n, parts = source.data.required_interactions, len(source.item), _assign_parts(source, rng)
    kept = _enough(source, parts)
    train, holdout = (take(rows, np.flatnonzero(kept[rows.item] & (parts == part))) for part in (TRAIN, HOLDOUT))
    if rows.value is None:
        users = max(len(np.unique(rows.user[parts == HOLDOUT])), 1)
        return Part(train, np.where(kept, holdout.choosers(n) / users, np.nan), choosers=users)
    pulls = Rewards(holdout.item, TRANSFORMS[source.data.transform](holdout.value))
    return Part(train, raters.node_means(*pulls, n), pulls)


def _draw_half(rows: Rewards, n: int, rng: np.random.Generator) -> Rewards:
    """Draw half of the rewards of every item, at least one."""
    order = rng.permutation(len(rows.item))
    order = order[np.argsort(rows.item[order], kind="stable")]
    sizes = np.bincount(rows.item, minlength=n)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return take(rows, np.sort(order[rank < np.repeat((sizes + 1) // 2, sizes)]))
