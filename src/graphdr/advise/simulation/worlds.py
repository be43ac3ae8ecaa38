"""Worlds to play in: a graph and features from one part of the data, rewards with their own noise from the other.

Each split of the data makes a world. Where the data have users, one half of them makes the graph and the other pays:
the later half, where times are known. Several rewards of a node are split in the same way. Where there is one reward
for each node, all worlds are alike, and pulls have normal noise.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from graphdr.advise.data import Data, Interactions
from graphdr.bandit import rewards
from graphdr.bandit.environment import Arena, Deviations, Stream, deviations, offer, resample
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.graphs import from_data, pca, raters
from graphdr.graphs.model import Graph, from_edges, induced, largest_component
from graphdr.graphs.records import TRANSFORMS, similarity_rows

NEIGHBOURS = 10  # of an item, by cosine
RANK = 50  # of the ratings' own decomposition
NOISE = 0.1  # standard deviation where nothing is known about it; all rewards together have length one
LEAST = 0.5  # share of the items that must be connected
EARLY = 2 / 3  # of the users of either side of the cut in time that each split takes
FEW = 0.5  # of the items that random halves would leave: fewer, and time is not used


class World(NamedTuple):
    """Items as nodes of a graph, what each is expected to pay, and how pulls differ from that."""

    graph: Graph
    item: np.ndarray
    theta: np.ndarray
    noise: float  # standard deviation
    paid: Deviations | None  # in place of normal noise
    chance: tuple[float, float] | None  # what no and yes pay, where rewards are shares of users
    popularity: np.ndarray
    ratings: sp.csr_array | None  # items x users who make the graph
    content: np.ndarray | None
    described: bool  # by features of the user's own, not by ratings


class Split(NamedTuple):
    """How data are split: by what, and the part of each side that a split draws (None: all worlds are alike)."""

    by: str
    part: float | None

    @property
    def spread(self) -> float:
        """Return the variance of a result over data sets, in that between splits of one of them.

        Were the result a sum over users, splits with a share f of the data would vary by (1 - f) / f of what data sets
        do. A simulation is no such sum: most of what differs between splits averages out. Half of that was enough in
        trials on generated data (docs/advise.md).
        """
        return 0.0 if self.part is None else 0.5 * self.part / (1.0 - self.part)


USERS, TIME, ROWS, NOTHING = Split("users", 0.5), Split("time", EARLY), Split("rewards", 0.5), Split("nothing", None)


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


def _between(edges, place: np.ndarray):
    i, j = place[edges.source], place[edges.target]
    there = (i >= 0) & (j >= 0)
    return edges._replace(
        source=i[there], target=j[there], weight=None if edges.weight is None else edges.weight[there]
    )


def _of(paid, place: np.ndarray):
    there = place[paid.item] >= 0
    return paid._replace(item=place[paid.item[there]], value=paid.value[there])


def _in_time(rows: Interactions) -> np.ndarray:
    """Return the users in the order of their mean time."""
    sizes = np.bincount(rows.user)
    return np.argsort(np.bincount(rows.user, rows.time - rows.time.min()) / np.maximum(sizes, 1), kind="stable")


def _how(given: Source) -> Split:
    """Decide how to split the data: by time only where that leaves enough of the items."""
    data, n = given.data, len(given.item)
    if data.rewards is not None:
        several = np.median(np.bincount(data.rewards.item, minlength=n)) > 1
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
        sides = given.users[: count // 2], given.users[count // 2 :]
        makes, pays = (rng.permutation(side)[: int(np.ceil(EARLY * len(side)))] for side in sides)
    role[makes], role[pays] = 0, 1
    return role[user]


def _enough(rows: Interactions, role: np.ndarray, n: int) -> np.ndarray:
    """Tell of each item whether both sides met it often enough."""
    return np.minimum(*(np.bincount(rows.item[role == side], minlength=n) for side in (0, 1))) >= raters.FEWEST


def world(given: Source, arms: int, seed: int, number: int) -> World:
    """Make the world of one split."""
    data, n, rng = given.data, len(given.item), stream(seed, "split", number=number)
    value, chance, deviates = np.full(n, np.nan), None, None
    making, kept = data.interactions, np.ones(n, bool)
    if data.interactions and data.rewards is None:
        rows = data.interactions
        role = _roles(given, rng)
        kept = _enough(rows, role, n)
        if kept.sum() < max(arms, 4):
            raise UserError(
                f"{kept.sum()} items have {raters.FEWEST} interactions with either part of the users; "
                f"a round needs {max(arms, 4)}; bring more data"
            )
        paying, making = (_rows(rows, kept[rows.item] & (role == side)) for side in (1, 0))
        if rows.value is None:
            payers = len(np.unique(rows.user[role == 1]))
            value = paying.choosers(n) / payers
            chance = (0.0, 1.0)
        else:
            deviates = paying.item, TRANSFORMS[data.transform](paying.value)
            value = raters.node_means(*deviates, n)
    else:
        item, paid = data.rewards
        if given.split == ROWS:  # half of the rewards of every node, at least one
            order = rng.permutation(len(item))
            order = order[np.argsort(item[order], kind="stable")]
            sizes = np.bincount(item, minlength=n)
            rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            order = np.sort(order[rank < np.repeat((sizes + 1) // 2, sizes)])
            deviates = item[order], paid[order]
        value = raters.node_means(item, paid, n) if deviates is None else raters.node_means(*deviates, n)
        kept = ~np.isnan(value)
    graph = _connected(given, making, kept)
    item = graph.origin
    reward = value[item]
    if len(item) < max(arms, 4):
        raise UserError(
            f"{len(item)} connected items are fewer than the {max(arms, 4)} that a round needs; bring more data"
        )
    if np.ptp(reward) == 0:
        raise UserError(
            f"all {len(item):,} connected items have the reward {reward[0]:g}, so that there is nothing to learn"
        )
    theta = rewards.centred(reward)
    paid = noise = None
    if deviates is not None:
        paid, noise = _deviations(theta, reward, item, *deviates)
    if chance is not None:
        chance = tuple(rewards.in_units(np.array(chance), reward))
        noise = float(np.sqrt(np.mean((chance[1] - theta) * (theta - chance[0]))))
    ratings = content = None
    if making is not None:
        weight = np.ones(len(making.item)) if making.value is None else making.value
        ratings = similarity_rows(making.user, making.item, weight, item, data.transform)
    if data.features is not None:
        content = data.features[item]
    elif ratings is not None and making.value is not None:
        content = pca.ratings_content(ratings, RANK)
    return World(
        graph=graph,
        item=item,
        theta=theta,
        noise=noise or NOISE,
        paid=paid if noise else None,
        chance=chance,
        popularity=given.popularity[item],
        ratings=ratings,
        content=content,
        described=data.features is not None,
    )


def _rows(rows: Interactions, kept: np.ndarray) -> Interactions:
    """Take some rows, without their times."""
    at = np.flatnonzero(kept)
    return Interactions(rows.user[at], rows.item[at], None if rows.value is None else rows.value[at])


def _deviations(theta, reward, item, of, values) -> tuple[Deviations | None, float]:
    place = np.full(1 + max(of.max(), item.max()), -1)
    place[item] = np.arange(len(item))
    there = place[of] >= 0
    arms, paid = place[of[there]], rewards.in_units(values[there], reward)
    order = np.argsort(arms, kind="stable")
    found = deviations(theta, arms[order], paid[order], np.ones(len(order), np.int64))
    return found, found.size


def _connected(given: Source, making: Interactions | None, kept: np.ndarray) -> Graph:
    """Return the largest component of the graph on the items that are kept."""
    data, nodes = given.data, np.flatnonzero(kept)
    if data.edges is not None:
        whole = induced(from_edges(len(kept), *data.edges), nodes)
    elif making is not None:
        weight = np.ones(len(making.item)) if making.value is None else making.value
        rows = similarity_rows(making.user, making.item, weight, nodes, data.transform)
        whole = _nearest(rows, nodes)
    else:
        whole = from_data.nearest_by_features.__wrapped__(data.features[nodes], NEIGHBOURS)._replace(origin=nodes)
    graph = largest_component(whole)
    if graph.n < LEAST * whole.n:
        part = f"its largest component holds {graph.n:,} of {whole.n:,} items, less than half"
        raise UserError(f"the graph falls apart: {part}; bring more edges or interactions, or fewer items (--nodes N)")
    return graph


def _nearest(rows: sp.csr_array, nodes: np.ndarray) -> Graph:
    i, j, _ = from_data.cosine_knn(rows, NEIGHBOURS)
    return from_data.union(len(nodes), i, j)._replace(origin=nodes)


def rounds(world: World, candidates: str, horizon: int, arms: int, rng: np.random.Generator) -> Stream:
    """Draw the candidates of all rounds, and how far from its expected reward each would pay."""
    matrix = world.graph.adjacency
    arena = Arena(world.popularity.astype(float), matrix.indptr, matrix.indices)
    drawn = offer(candidates, world.graph.n, horizon, arms, rng, rng, arena, 1)
    if world.paid is not None:
        return Stream(drawn, resample(world.paid, drawn, rng))
    if world.chance is not None:
        no, yes = world.chance
        theta = world.theta[drawn]
        paid = np.where(rng.random(drawn.shape) * (yes - no) < theta - no, yes, no)
        return Stream(drawn, paid - theta)
    return Stream(drawn, world.noise * rng.standard_normal(horizon))
