"""Build the graphs of all instances: random ones, those of a data set, changed copies of others, or products."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from graphdr.cache import io, paths
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.graphs.model import Graph, induced, largest_component
from graphdr.graphs.raters import EVERYONE, SPLIT, node_means, paying, rated_enough, ratings, with_links
from graphdr.panels.graphs import read_graphs, read_records, write_graphs
from graphdr.panels.items import Items, random_items, read_items

FILE_ORDER = 1  # the instance of a data set whose ties are broken by the order of its nodes in the data


class Input(NamedTuple):
    """The graph that is changed, or the tables of the data set, or both where its users have segments, or nothing."""

    nodes: str = ""
    edges: str = ""
    data_nodes: str = ""
    data_links: str = ""
    data_users: str = ""


class Output(NamedTuple):
    nodes: str = paths.nodes
    edges: str = paths.edges


class Params(NamedTuple):
    maker: str  # module that draws, observes, changes or multiplies graphs
    dataset: str | None
    family: str
    n: int | str
    parameters: dict[str, Any]
    reward: str
    instances: int
    change: dict[str, Any] | None
    min_nodes: int  # that must be left
    seed: int
    users: str = EVERYONE  # all make the graph and pay rewards, or half of them each


def main(input: Input, output: Output, params: Params) -> None:
    observed = params.dataset and not params.change
    if "segments" in (params.change or {}):
        made = list(_segment(input, params))
    else:
        made = list(_observe(input, params) if observed else _draw(input, params))
    panel, items = zip(*made, strict=True)
    for instance, graph in enumerate(panel):
        if graph.n < params.min_nodes:
            size = f"the largest component of instance {instance} has {graph.n} of {params.n} nodes"
            need = f"{params.min_nodes} are needed for components and arms; make the graph denser or these smaller"
            raise UserError(f"{output.nodes}: {size}, {need}")
    write_graphs(panel, items, output.nodes, output.edges)
    sizes = [graph.n for graph in panel]
    print(f"{len(panel)} graphs of {min(sizes)} to {max(sizes)} nodes")


def _draw(input: Input, params: Params) -> Iterator[tuple[Graph, Items]]:
    """Draw random graphs, or sample, shuffle, flip, swap or perturb other ones, whose nodes keep what they are."""
    maker, settings = import_module(params.maker), dict(params.change or {})
    key = {"family": params.family, "n": params.n} | ({"dataset": params.dataset} if params.dataset else {})
    if not params.change:
        for instance in range(params.instances):
            rng = stream(params.seed, "graph", **key, instance=instance)
            graph = largest_component(maker.FAMILIES[params.family](params.n, rng, **params.parameters))
            yield graph, random_items(graph)
        return
    (kind,) = set(settings) & set(maker.CHANGES)
    size = settings.pop(kind)
    panels = read_graphs(input.nodes, input.edges), read_items(input.nodes)
    for instance, (parent, items) in enumerate(zip(*panels, strict=True)):
        rng = stream(params.seed, kind, **key, instance=instance)
        graph = largest_component(maker.CHANGES[kind](parent, size, rng, **settings))
        kept = np.searchsorted(parent.origin, graph.origin)
        same = params.dataset or kind == "shuffle"  # else a node is as popular as its edges are now
        yield graph, Items(*(column[kept] for column in items)) if same else random_items(graph)


def _segment(input: Input, params: Params) -> Iterator[tuple[Graph, Items]]:
    """Join every graph with one of segments of users: its nodes are pairs of a segment and an item."""
    segments, settings = import_module(params.maker), dict(params.change or {})
    panels = zip(read_graphs(input.nodes, input.edges), read_items(input.nodes), strict=True)
    for instance, (parent, items) in enumerate(panels):
        if not input.data_users:
            graph = segments.product(parent, segments.ring(settings["segments"]), settings["coupling"])
            yield graph, random_items(graph)
            continue
        rng = stream(params.seed, "segments", dataset=str(params.dataset), by=settings["segmented"], instance=instance)
        weights, reward, popularity = _of_users(input, params, items.item, rng)
        pairs = Items(np.tile(items.item, len(weights)), popularity.ravel(), reward.ravel())
        yield segments.product(parent, weights, settings["coupling"]), pairs


def _of_users(
    input: Input, params: Params, item: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the graph of the segments of users, and how each segment rates each item, and how often."""
    from graphdr.graphs.records import TRANSFORMS
    from graphdr.panels.users import read_users

    segments = import_module(params.maker)
    records, change = read_records(input.data_nodes, input.data_links), dict(params.change or {})
    weight = TRANSFORMS[params.parameters.get("transform", "identity")](records.weight)
    by, count = change["segmented"], change["segments"]
    found, paying = segments.segment(by, read_users(input.data_users), records._replace(weight=weight), count, rng)
    if len(found.names) != count:
        raise UserError(f"{params.dataset}: segments = {count}, but by {by} there are {len(found.names)}")
    pairs = paying.source, paying.node, paying.weight
    reward, popularity = segments.pair_means(found.label, *pairs, item, count)
    for number, name in enumerate(found.names):
        print(f"{name}: {np.sum(found.label == number)} users, {popularity[number].sum():.0f} ratings")
    return found.weights, reward, popularity


def _observe(input: Input, params: Params) -> Iterator[tuple[Graph, Items]]:
    """Build the graph of a data set on its most popular nodes, which keep that order.

    Instance 0 takes the first of equally popular nodes in the data, and the most popular of equally near neighbours;
    instance 1 takes the first in the data of both, every other one a random one. Where users are split, one half of
    them makes the graph and the other pays; popularity counts both, and nodes that one of them rated too seldom are
    left out.
    """
    from_data = import_module(params.maker)
    records = read_records(input.data_nodes, input.data_links)
    for instance in range(params.instances):
        if instance:
            rng, n = (
                stream(params.seed, "ties", dataset=str(params.dataset), instance=instance),
                len(records.popularity),
            )
            records = records._replace(ties=np.arange(n) if instance == FILE_ORDER else rng.permutation(n))
        making, reward = records, _reward(input, params, records)
        if params.users == SPLIT:
            making, reward = _split(input, params, records, reward, instance)
        graph = from_data.FAMILIES[params.family](params.n, making, **params.parameters)
        if params.users == SPLIT:
            graph = largest_component(induced(graph, np.flatnonzero(~np.isnan(reward[graph.origin]))))
        item = graph.origin
        if not params.reward.startswith("planted") and (np.isnan(reward[item]).any() or np.ptp(reward[item]) == 0):
            raise UserError(f"{input.data_nodes}: rewards of the selected nodes are missing or all equal")
        items = Items(item, records.popularity[item].astype(float), reward[item])
        yield graph._replace(origin=np.arange(graph.n)), items


def _split(input: Input, params: Params, records: Any, reward: np.ndarray, instance: int) -> tuple[Any, np.ndarray]:
    """Return the records of the users who make the graph, and the rewards by the others; nan for nodes left out."""
    value = ratings(records, reward)
    if value is None:
        there = "those of this data set are no means of ratings or of log(1 + plays)"
        raise UserError(f"{input.data_nodes}: users = {SPLIT!r} needs rewards by users, and {there}")
    pays = paying(records, params.users, params.seed, str(params.dataset), instance)
    enough = rated_enough(records, pays, len(reward))
    means = node_means(records.node[pays], value[pays], len(reward))
    return with_links(records, ~pays & enough[records.node]), np.where(enough, means, np.nan)


def _reward(input: Input, params: Params, records: Any) -> np.ndarray:
    """Return the reward of every node of a data set: its own, or 1 in the most frequent group of those selected."""
    table = io.read("dataset_nodes", input.data_nodes)
    if params.reward != "modal_group":
        return io.values(table["reward"])
    from_data = import_module(params.maker)
    popularity = from_data.received(records) if params.family == "cited" else records.popularity
    selected = from_data.select_top(popularity, params.n, records.ties)
    codes = io.values(table["group"].combine_chunks().dictionary_encode().indices.fill_null(-1))
    reward = np.zeros(len(codes))
    reward[selected] = from_data.modal_group(codes[selected])
    return reward
