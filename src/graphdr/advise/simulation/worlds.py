"""Worlds to play in: a graph and features from one part of the data, rewards with their own noise from the other.

Each split of the data makes a world. Where nothing is held out, all worlds are alike, and pulls have normal noise.
"""

from typing import NamedTuple

import numpy as np

from graphdr.advise.data import ratings
from graphdr.advise.short_rows import CENTRED, Said, condensed, nearest, said
from graphdr.advise.simulation.splits import Source, part
from graphdr.bandit import rewards
from graphdr.bandit.environment import Arena, Deviations, Stream, deviations, offer, resample
from graphdr.core.errors import UserError
from graphdr.graphs import from_data
from graphdr.graphs.model import Graph, from_edges, induced

NEIGHBOURS = 10  # of an item, by cosine
RANK = 50  # of the ratings' own decomposition
COMPONENTS = 64  # columns of a basis
NOISE = 0.1  # standard deviation where nothing is known about it; all rewards together have length one


class World(NamedTuple):
    """Items as nodes of a graph, what each is expected to pay, and how pulls differ from that."""

    graph: Graph
    item: np.ndarray
    theta: np.ndarray
    noise: float  # standard deviation
    paid: Deviations | None  # in place of normal noise
    chance: tuple[float, float] | None  # what no and yes pay, where rewards are shares of users
    reliability: float | None  # of theta: the share of its variance that is no sampling noise; None: not known
    popularity: np.ndarray
    ratings: np.ndarray | None  # of the users who make the graph, in short rows
    content: np.ndarray | None
    described: bool  # by features of the user's own, not by ratings


def world(given: Source, arms: int, seed: int, number: int) -> World:
    """Make the world of one split, of which a round offers so many arms."""
    fewest = max(arms, 4)
    found = part(given, fewest, seed, number)
    nodes = np.flatnonzero(~np.isnan(found.value))
    told = None if found.making is None else said(ratings(found.making, nodes, given.data.transform))
    if len(nodes) < fewest:
        raise UserError(f"{len(nodes)} items are fewer than the {fewest} that a round needs; bring more data")
    graph = graph_on(given, told, nodes)
    item, reward = graph.origin, found.value[graph.origin]
    if np.ptp(reward) == 0:
        same = f"all {len(item):,} items have the reward {reward[0]:g}"
        raise UserError(f"{same}, so that there is nothing to learn")
    theta, noise, paid, chance, reliable = rewards.centred(reward), NOISE, None, None, None
    if found.pulls is not None:
        paid = _deviations(theta, reward, item, *found.pulls)
        noise = paid.size
        reliable = reliability(theta, *_item_variances(paid))
    if found.choosers is not None:
        chance = no, yes = tuple(rewards.in_units(np.array([0.0, 1.0]), reward))
        variance = (yes - theta) * (theta - no)
        noise = float(np.sqrt(np.mean(variance)))
        reliable = reliability(theta, variance, found.choosers - 1)
    values = found.making is not None and found.making.value is not None
    return World(
        graph=graph,
        item=item,
        theta=theta,
        noise=noise or NOISE,
        paid=paid if noise else None,
        chance=chance,
        reliability=reliable,
        popularity=given.popularity[item],
        ratings=None if told is None else condensed(told, COMPONENTS),
        content=content(given, told if values else None, item),
        described=given.data.features is not None,
    )


def reliability(means: np.ndarray, variance: np.ndarray, count: np.ndarray | int) -> float:
    """Return the share of the variance of observed means that is signal: 1 minus the share of sampling noise.

    ``variance`` is that of a single reward of each item, and ``count`` the rewards behind its mean. Both variance
    estimates are unbiased, so the result can be negative.
    """
    return float(1.0 - np.mean(variance / count) / means.var(ddof=1))


def _item_variances(paid: Deviations) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance of a reward of each item and how many there are; a single one has the variance of all."""
    count = np.diff(paid.starts)
    squares = np.add.reduceat(paid.values**2, paid.starts[:-1])
    pooled = squares.sum() / max(np.sum(count - 1), 1)
    return np.divide(squares, count - 1, out=np.full(len(count), pooled), where=count > 1), count


def content(given: Source, told: Said | None, item: np.ndarray) -> np.ndarray | None:
    """Return what is known about the items: the user's features, or else how values differ from an item's mean."""
    if given.data.features is not None:
        return given.data.features[item]
    return None if told is None else condensed(told, RANK, CENTRED)


def _deviations(
    theta: np.ndarray, reward: np.ndarray, item: np.ndarray, of: np.ndarray, values: np.ndarray
) -> Deviations:
    """Return how far from its expected reward a pull of every item may pay."""
    place = np.full(1 + max(of.max(), item.max()), -1)
    place[item] = np.arange(len(item))
    there = place[of] >= 0
    arms, paid = place[of[there]], rewards.in_units(values[there], reward)
    order = np.argsort(arms, kind="stable")
    return deviations(theta, arms[order], paid[order], np.ones(len(order), np.int64))


def graph_on(given: Source, told: Said | None, nodes: np.ndarray) -> Graph:
    """Return the graph on some items, in all its components, as a served policy keeps them."""
    data = given.data
    if data.edges is not None:
        graph = induced(from_edges(len(given.item), *data.edges), nodes)
    elif told is not None:
        graph = from_data.union(len(nodes), *nearest(told, NEIGHBOURS))._replace(origin=nodes)
    else:
        graph = from_data.nearest_by_features.__wrapped__(data.features[nodes], NEIGHBOURS)._replace(origin=nodes)
    if not graph.adjacency.nnz:
        raise UserError(f"no edge joins two of the {graph.n:,} items that can be played: bring edges between them")
    return graph


def whole_graph(given: Source) -> tuple[Graph, Said | None]:
    """Return the graph of all data, with nothing held out, and what all users say about its items."""
    nodes, rows = np.arange(len(given.item)), given.data.interactions
    told = None if rows is None else said(ratings(rows, nodes, given.data.transform))
    return graph_on(given, told, nodes), told


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
