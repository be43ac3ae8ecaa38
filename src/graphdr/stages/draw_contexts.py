"""Draw the contexts of all problems of a batch: what their arms are, where these are more than single nodes."""

from typing import Any, NamedTuple

import numpy as np

from graphdr.bandit import contexts
from graphdr.bandit.environment import Arena
from graphdr.cache import io, paths
from graphdr.core.rng import stream
from graphdr.panels.contexts import write_pools
from graphdr.panels.graphs import read_graphs
from graphdr.panels.items import read_items


class Input(NamedTuple):
    """Graphs and, where contexts are what users have chosen, the links of their data sets."""

    nodes: dict[str, str]
    edges: dict[str, str]
    data_links: dict[str, str]  # by graph


class Output(NamedTuple):
    contexts: str = paths.contexts


class Params(NamedTuple):
    problems: list[dict[str, Any]]
    seed: int


def main(input: Input, output: Output, params: Params) -> None:
    pools = {}
    graphs = {name: read_graphs(path, input.edges[name]) for name, path in input.nodes.items()}
    items = {name: read_items(path) for name, path in input.nodes.items()}
    for problem in params.problems:
        for instance in range(problem["instances"]):
            graph, nodes = graphs[problem["graph"]][instance], items[problem["graph"]][instance]
            links = input.data_links.get(problem["graph"])
            choices = _choices(links, nodes.item) if links else None
            told = {name: problem[name] for name in contexts.FACTORS}
            rng = stream(params.seed, "contexts", n=graph.n, instance=instance, **told)
            arena = Arena(nodes.popularity, graph.adjacency.indptr, graph.adjacency.indices)
            pool = contexts.CONTEXTS[problem["context"]](problem, graph.n, rng, arena, choices)
            pools[problem["name"], instance] = pool
        size = graph.n if pool.rows is None else pool.rows.shape[0]
        print(f"{problem['name']}: {size} contexts in {pool.blocks} segments", flush=True)
    write_pools(pools, output.contexts)


def _choices(links_path: str, item: np.ndarray) -> contexts.Choices:
    """Return which nodes of the graph every user of the data set has met, each once."""
    links = io.read("dataset_links", links_path)
    source, node = io.values(links["source"]), io.values(links["node"])
    place = np.full(1 + max(node.max(initial=-1), item.max(initial=-1)), -1)
    place[item] = np.arange(len(item))
    met = place[node] >= 0
    pairs = np.unique(source[met].astype(np.int64) * len(item) + place[node[met]])
    users, nodes = np.divmod(pairs, len(item))
    return contexts.Choices(np.searchsorted(users, np.arange(users[-1] + 2 if len(users) else 1)), nodes)
