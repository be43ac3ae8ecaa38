"""Simulated problems: a graph and features from one part of the data, rewards with their noise from the other.

Each split of the data makes one problem. Where nothing is held out, all are alike, and rewards have normal noise.
"""

from typing import NamedTuple

import numpy as np

from graphdr.advise.data import Interactions, take
from graphdr.advise.simulation.ratings_gram import CENTRED, RatingsGram, condense, nearest, ratings_gram
from graphdr.advise.simulation.splits import Part, Source, draw_part
from graphdr.bandit import rewards
from graphdr.bandit.environment import (
    CandidateSource,
    EmpiricalNoise,
    Rounds,
    RoundsSpec,
    empirical_noise,
    offer,
    resample,
)
from graphdr.core.errors import UserError
from graphdr.graphs import from_data, raters
from graphdr.graphs.model import Graph, from_edges, induced
from graphdr.graphs.records import similarity_rows

NEIGHBOURS = 10  # of an item, by cosine
RANK = 50  # of the decomposition of centred ratings
COMPONENTS = 64  # columns of a basis
NOISE = 0.1  # standard deviation where the data tell none; all rewards together have length one


class RewardModel(NamedTuple):
    """How single rewards differ from the expected ones, and how reliable those are."""

    noise: float = NOISE  # standard deviation
    empirical: EmpiricalNoise | None = None  # in place of normal noise
    values: tuple[float, float] | None = None  # rewards of no and yes, where expected rewards are shares of users
    reliability: float | None = None  # share of the variance of theta that is signal; None: unknown


class SimulatedProblem(NamedTuple):
    """Items as nodes of a graph, the expected reward of each, and how single rewards differ from it."""

    graph: Graph
    theta: np.ndarray
    reward_model: RewardModel
    popularity: np.ndarray
    ratings: np.ndarray | None  # of the users behind the graph, condensed to short rows
    content: np.ndarray | None

    @property
    def item(self) -> np.ndarray:
        """Return the item of every node."""
        return self.graph.origin

    @property
    def user_columns(self) -> np.ndarray:
        """Return no columns, on which a prior takes items as independent."""
        return np.zeros((self.graph.n, 0))


def simulated_problem(source: Source, arms: int, seed: int, number: int) -> SimulatedProblem:
    """Make the problem of one split; a round offers so many arms."""
    fewest = max(arms, 4)
    part = draw_part(source, seed, number)
    nodes = np.flatnonzero(~np.isnan(part.value))
    if len(nodes) < fewest:
        each = "" if source.data.rewards else f" with {raters.FEWEST} interactions of either part of the users"
        raise UserError(f"{len(nodes)} items{each} are fewer than the {fewest} that a round needs; bring more data")
    gram = _gram(source, part.train, nodes)
    graph = _graph(source, gram, nodes)
    reward = part.value[graph.origin]
    if np.ptp(reward) == 0:
        raise UserError(f"all {len(reward):,} items have the reward {reward[0]:g}, so that there is nothing to learn")
    return SimulatedProblem(
        graph=graph,
        theta=rewards.centred(reward),
        reward_model=_reward_model(part, graph.origin),
        popularity=source.popularity[graph.origin],
        ratings=None if gram is None else condense(gram, COMPONENTS),
        content=_content(source, gram, graph.origin),
    )


def problem_of_all_data(source: Source, split: SimulatedProblem) -> SimulatedProblem:
    """Return a problem on all data, nothing held out, to compute bases from; its rewards are those of a split."""
    nodes = np.arange(len(source.item))
    gram = _gram(source, source.data.interactions, nodes)
    graph = _graph(source, gram, nodes)
    values = None if gram is None else gram.matrix
    return split._replace(graph=graph, content=_content(source, gram, graph.origin), ratings=values)


def _gram(source: Source, rows: Interactions | None, nodes: np.ndarray) -> RatingsGram | None:
    """Return the products of the ratings of some items, ones where interactions have no values."""
    if rows is None:
        return None
    value = np.ones(len(rows.item)) if rows.value is None else rows.value
    return ratings_gram(similarity_rows(rows.user, rows.item, value, nodes, source.data.transform))


def _graph(source: Source, gram: RatingsGram | None, nodes: np.ndarray) -> Graph:
    """Return the graph on some items with all its components, as a served policy keeps them."""
    data = source.data
    if data.edges is not None:
        graph = induced(from_edges(len(source.item), *data.edges), nodes)
    elif gram is not None:
        graph = from_data.union(len(nodes), *nearest(gram, NEIGHBOURS))._replace(origin=nodes)
    else:
        all_components = from_data.nearest_by_features.__wrapped__  # type: ignore[attr-defined]
        graph = all_components(data.features[nodes], NEIGHBOURS)._replace(origin=nodes)  # type: ignore[index]
    if not graph.adjacency.nnz:
        raise UserError(f"no edge joins two of the {graph.n:,} items that can be played: bring edges between them")
    return graph


def _content(source: Source, gram: RatingsGram | None, item: np.ndarray) -> np.ndarray | None:
    """Return the user's features of the items, or else condensed values, centred by item."""
    data = source.data
    if data.features is not None:
        return data.features[item]
    has_values = data.interactions is not None and data.interactions.value is not None
    return condense(gram, RANK, CENTRED) if gram and has_values else None


def _reward_model(part: Part, item: np.ndarray) -> RewardModel:
    """Derive the noise from single held-out rewards, or from the shares of users who chose an item."""
    reward = part.value[item]
    theta = rewards.centred(reward)
    if part.choosers is not None:
        no, yes = values = tuple(rewards.in_units(np.array([0.0, 1.0]), reward))
        variance = (yes - theta) * (theta - no)
        noise = float(np.sqrt(np.mean(variance)))
        return RewardModel(noise or NOISE, None, values, reliability(theta, variance, part.choosers - 1))
    if part.pulls is None:
        return RewardModel()
    place = np.full(len(part.value), -1)
    place[item] = np.arange(len(item))
    pulls = take(part.pulls, np.argsort(place[part.pulls.item], kind="stable"))
    pulls = take(pulls, place[pulls.item] >= 0)
    single = rewards.in_units(pulls.value, reward)
    empirical = empirical_noise(theta, place[pulls.item], single, np.ones(len(single), np.int64))
    # The variance of a reward of each item; an item with a single reward gets the pooled one.
    count = np.diff(empirical.starts)
    squares = np.add.reduceat(empirical.values**2, empirical.starts[:-1])
    pooled = squares.sum() / max(np.sum(count - 1), 1)
    variance = np.divide(squares, count - 1, out=np.full(len(count), pooled), where=count > 1)
    signal = reliability(theta, variance, count)
    return RewardModel(empirical.size or NOISE, empirical if empirical.size else None, None, signal)


def reliability(means: np.ndarray, variance: np.ndarray, count: np.ndarray | int) -> float:
    """Return the share of the variance of observed means that is signal: 1 minus the share of sampling noise.

    ``variance`` is that of a single reward of each item, and ``count`` the rewards behind its mean. Both variance
    estimates are unbiased, so the result can be negative.
    """
    return float(1.0 - np.mean(variance / count) / means.var(ddof=1))


def draw_rounds(
    problem: SimulatedProblem, candidates: str, horizon: int, arms: int, rng: np.random.Generator
) -> Rounds:
    """Draw the candidates of all rounds, and the noise of each one's reward."""
    matrix, model = problem.graph.adjacency, problem.reward_model
    candidate_source = CandidateSource(problem.popularity.astype(float), matrix.indptr, matrix.indices)
    offered = offer(RoundsSpec(horizon, arms, candidates), problem.graph.n, rng, rng, candidate_source)
    if model.empirical is not None:
        return Rounds(offered, resample(model.empirical, offered, rng))
    if model.values is not None:
        no, yes = model.values
        theta = problem.theta[offered]
        drawn = np.where(rng.random(offered.shape) * (yes - no) < theta - no, yes, no)
        return Rounds(offered, drawn - theta)
    return Rounds(offered, model.noise * rng.standard_normal(horizon))
