"""Build the graphs of all instances: random ones, those of a data set, changed copies of others, or products."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

import numpy as np

from graphdr.cache import io, paths
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.graphs.model import Graph, induced, largest_component
from graphdr.graphs.raters import EVERYONE, SPLIT, node_means, rated_enough, ratings, reward_links, with_links
from graphdr.graphs.records import TRANSFORMS, Records
from graphdr.store.datasets import group_codes, read_records, read_users
from graphdr.store.graphs import Items, random_items, read_graphs, read_items, write_graphs

FactorValue = int | float | str | list[int] | list[float]
FILE_ORDER = 1  # the instance of a data set whose ties are broken by the order of its nodes in the data


class Input(NamedTuple):
    """The graph to change, the tables of the data set, both (segments of users), or nothing (a random graph)."""

    nodes: str = ""
    edges: str = ""
    data_nodes: str = ""
    data_links: str = ""
    data_users: str = ""


class Output(NamedTuple):
    nodes: str = paths.nodes
    edges: str = paths.edges


@dataclass(frozen=True)
class GraphChange:
    """A change of a graph: the name of a function in ``graphs.perturb.CHANGES``, and how large the change is."""

    kind: str
    size: int | float
    k: int | None = None  # of the subspace whose gap the size of a perturbation is relative to


@dataclass(frozen=True)
class UserSegments:
    """Segments of users, each with its own nodes: how many, how users are divided, and the weight of their edges."""

    segments: int
    segment_by: str
    segment_coupling: float


class Params(NamedTuple):
    maker: str  # module with the functions that draw, observe, change or multiply graphs
    dataset: str | None
    family: str
    n: int | str
    parameters: dict[str, FactorValue]
    reward: str
    instances: int
    change: GraphChange | None
    user_segments: UserSegments | None
    min_nodes: int  # fewer are an error
    seed: int
    holdout: str = EVERYONE  # whether half of the users is held out


def main(input: Input, output: Output, params: Params) -> None:
    if params.user_segments:
        instances = _segment(input, params, params.user_segments)
    elif params.change:
        instances = _change(input, params, params.change)
    else:
        instances = _observe(input, params) if params.dataset else _draw(params)
    graphs, items = zip(*instances, strict=True)
    for instance, graph in enumerate(graphs):
        if graph.n < params.min_nodes:
            size = f"the largest component of instance {instance} has {graph.n} of {params.n} nodes"
            need = f"{params.min_nodes} are needed for components and arms; make the graph denser or these smaller"
            raise UserError(f"{output.nodes}: {size}, {need}")
    write_graphs(graphs, items, output.nodes, output.edges)
    sizes = [graph.n for graph in graphs]
    print(f"{len(graphs)} graphs of {min(sizes)} to {max(sizes)} nodes")


def _draw(params: Params) -> Iterator[tuple[Graph, Items]]:
    """Draw random graphs."""
    family = import_module(params.maker).FAMILIES[params.family]
    for instance in range(params.instances):
        rng = stream(params.seed, "graph", family=params.family, n=params.n, instance=instance)
        graph = largest_component(family(params.n, rng, **params.parameters))
        yield graph, random_items(graph)


def _parents(input: Input) -> Iterator[tuple[int, Graph, Items]]:
    """Yield the graphs to change, each with the number of its instance and its items."""
    graphs, items = read_graphs(input.nodes, input.edges), read_items(input.nodes)
    return zip(range(len(graphs)), graphs, items, strict=True)


def _change(input: Input, params: Params, change: GraphChange) -> Iterator[tuple[Graph, Items]]:
    """Sample, shuffle, flip, swap or perturb other graphs; nodes of a data set keep their items."""
    function = import_module(params.maker).CHANGES[change.kind]
    settings = {} if change.k is None else {"k": change.k}
    key = {"family": params.family, "n": params.n} | ({"dataset": params.dataset} if params.dataset else {})
    for instance, parent, items in _parents(input):
        rng = stream(params.seed, change.kind, **key, instance=instance)
        graph = largest_component(function(parent, change.size, rng, **settings))
        if params.dataset or change.kind == "shuffle":
            kept = np.searchsorted(parent.origin, graph.origin)
            yield graph, Items(*(column[kept] for column in items))
        else:  # the popularity of a node follows its edges
            yield graph, random_items(graph)


def _segment(input: Input, params: Params, spec: UserSegments) -> Iterator[tuple[Graph, Items]]:
    """Join every graph with one of segments of users: its nodes are pairs of a segment and an item.

    In a data set, the reward of a pair is the mean rating of the item by the users of the segment.
    """
    segments = import_module(params.maker)
    by, count, segment_weight = spec.segment_by, spec.segments, spec.segment_coupling
    if not input.data_users:
        for _, parent, _ in _parents(input):
            graph = segments.product(parent, segments.ring(count), segment_weight)
            yield graph, random_items(graph)
        return
    records, users = read_records(input.data_nodes, input.data_links), read_users(input.data_users)
    transform = TRANSFORMS[str(params.parameters.get("transform", "identity"))]
    records = records._replace(weight=transform(records.weight))
    for instance, parent, items in _parents(input):
        rng = stream(params.seed, "segments", dataset=str(params.dataset), by=by, instance=instance)
        cut, holdout = segments.segment(by, users, records, count, rng)
        if len(cut.names) != count:
            raise UserError(f"{params.dataset}: segments = {count}, but by {by} there are {len(cut.names)}")
        rated = holdout.source, holdout.node, holdout.weight
        reward, popularity = segments.pair_means(cut.label, *rated, items.item, count)
        for number, name in enumerate(cut.names):
            print(f"{name}: {np.sum(cut.label == number)} users, {popularity[number].sum():.0f} ratings")
        pairs = Items(np.tile(items.item, count), popularity.ravel(), reward.ravel())
        yield segments.product(parent, cut.weights, segment_weight), pairs


def _observe(input: Input, params: Params) -> Iterator[tuple[Graph, Items]]:
    """Build the graph of a data set on its most popular nodes, which keep that order.

    Instance 0 takes the first of equally popular nodes in the data, and the most popular of equally near neighbours;
    instance 1 takes the first in the data of both, every other one a random one. If half of the users is held out,
    their ratings are the rewards and the graph is built from the others. Popularity counts both halves, and nodes that
    one of them rated too seldom are left out.
    """
    family = import_module(params.maker).FAMILIES[params.family]
    records = read_records(input.data_nodes, input.data_links)
    n = len(records.popularity)
    for instance in range(params.instances):
        if instance:
            rng = stream(params.seed, "ties", dataset=str(params.dataset), instance=instance)
            records = records._replace(ties=np.arange(n) if instance == FILE_ORDER else rng.permutation(n))
        reward = _reward(input, params, records)
        if params.holdout == SPLIT:
            value = ratings(records, reward)
            if value is None:
                there = "those of this data set are no means of ratings or of log(1 + plays)"
                raise UserError(f"{input.data_nodes}: holdout = {SPLIT!r} needs rewards by users, and {there}")
            held_out = reward_links(records, params.holdout, params.seed, str(params.dataset), instance)
            enough = rated_enough(records, held_out, n)
            reward = np.where(enough, node_means(records.node[held_out], value[held_out], n), np.nan)
            train = with_links(records, ~held_out & enough[records.node])
            graph = family(params.n, train, **params.parameters)
            graph = largest_component(induced(graph, np.flatnonzero(~np.isnan(reward[graph.origin]))))
        else:
            graph = family(params.n, records, **params.parameters)
        item = graph.origin
        if not params.reward.startswith("planted") and (np.isnan(reward[item]).any() or np.ptp(reward[item]) == 0):
            raise UserError(f"{input.data_nodes}: rewards of the selected nodes are missing or all equal")
        items = Items(item, records.popularity[item].astype(float), reward[item])
        yield graph._replace(origin=np.arange(graph.n)), items


def _reward(input: Input, params: Params, records: Records) -> np.ndarray:
    """Return the reward of every node; ``modal_group`` is 1 in the most frequent selected group, 0 elsewhere."""
    table = io.read("dataset_nodes", input.data_nodes)
    if params.reward != "modal_group":
        return io.values(table["reward"])
    from_data = import_module(params.maker)
    popularity = from_data.received(records) if params.family == "cited" else records.popularity
    selected = from_data.select_top(popularity, params.n, records.ties)
    codes = group_codes(table, "group")
    reward = np.zeros(len(codes))
    reward[selected] = from_data.modal_group(codes[selected])
    return reward
