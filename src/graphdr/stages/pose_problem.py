"""Pose the problems of a batch: take rewards from data or draw them from low frequencies, and draw the contexts.

Where the noise is resampled, also list what every pull of a node may pay.
"""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from graphdr.bandit import rewards
from graphdr.bandit.pool import NODE, Pool
from graphdr.cache import io, paths
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.panels.bases import read_bases
from graphdr.panels.contexts import write_pools
from graphdr.panels.items import Items, read_items
from graphdr.panels.rows import groups, stack


class Input(NamedTuple):
    """Nodes by graph, and the lowest eigenvectors of the clean graphs that rewards are drawn from.

    Of the graphs whose nodes are not the arms themselves, also the edges, and what users have chosen where that counts;
    where noise is resampled, the tables of the data set.
    """

    basis: dict[str, str]
    nodes: dict[str, str]
    edges: dict[str, str]
    data_links: dict[str, str]
    data_nodes: dict[str, str]


class Output(NamedTuple):
    theta: str = paths.theta
    contexts: str = paths.contexts
    rewards: str = paths.rewards


class Params(NamedTuple):
    problems: list[dict[str, Any]]
    seed: int
    drawer: str = ""  # module that draws contexts, where arms are no nodes


def main(input: Input, output: Output, params: Params) -> None:
    origins = {graph: _origins(path) for graph, path in input.nodes.items()}
    items = {graph: read_items(path) for graph, path in input.nodes.items()}
    bases = {graph: read_bases(path) for graph, path in input.basis.items()}
    parts = []
    for problem in params.problems:
        for instance in range(problem["instances"]):
            if problem["reward"] in rewards.PLANTED:
                low = bases[problem.get("items", problem["clean"])][instance, 0].vectors
                theta = _planted(problem, low, params.seed, instance)
                clean, observed = origins[problem["clean"]][instance], origins[problem["graph"]][instance]
                theta = rewards.unit(theta[np.searchsorted(clean, observed)])
            else:
                theta = rewards.centred(items[problem["graph"]][instance].reward)
            nodes = np.arange(len(theta))
            parts.append({"problem": problem["name"], "instance": instance, "node": nodes, "theta": theta})
    pools = _pools(input, params, items)
    rows = [row for problem in params.problems for row in _paid(input, problem, items[problem["graph"]], params.seed)]
    io.write("theta", stack(parts), output.theta)
    write_pools(pools, output.contexts)
    io.write("rewards", stack(rows) if rows else io.nothing("rewards"), output.rewards)


def _planted(problem: dict[str, Any], low: np.ndarray, seed: int, instance: int) -> np.ndarray:
    """Draw a reward from the lowest eigenvectors of the clean graph, or of that of its items for every segment."""
    key, first = {"n": len(low), "instance": instance}, rewards.PLANTED[problem["reward"]]
    rng = stream(seed, "theta", **key)
    if problem.get("segments", 1) == 1:
        outside = stream(seed, "theta outside", **key)
        return rewards.tailed(low, problem["k_star"], problem["tail"], rng, outside, first)
    from graphdr.graphs.contexts import ring

    inside = low[:, first : first + problem["k_star"]]
    rough = problem["differences"] == "rough"
    between = stream(seed, "theta between", **key)
    return rewards.segmented(inside, ring(problem["segments"]), problem["differ"], rough, rng, between)


def _paid(input: Input, problem: dict[str, Any], panel: list[Items], seed: int) -> Iterator[dict[str, Any]]:
    """Yield for every instance what users paid for its nodes, in the units of theta, where the noise is resampled."""
    if problem.get("noise") != rewards.RESAMPLED:
        return
    from graphdr.graphs import raters
    from graphdr.panels.graphs import read_records

    links, nodes = input.data_links[problem["graph"]], input.data_nodes[problem["graph"]]
    records, reward = read_records(nodes, links), io.values(io.read("dataset_nodes", nodes)["reward"])
    for instance in range(problem["instances"]):
        items = panel[instance]
        pays = raters.paying(records, problem["users"], seed, problem["dataset"], instance)
        found = raters.outcomes(records, reward, pays, items.item)
        if found is None:
            needed = "ratings or counts of clicks behind the rewards, which these data do not have"
            raise UserError(f"{links}: noise = {rewards.RESAMPLED!r} needs {needed}; set a number")
        node, value, count = found
        if len(node) == len(items.item):
            same = "users agree on every node, so that there is no noise to draw"
            raise UserError(f"{links}: noise = {rewards.RESAMPLED!r}: {same}; set a number")
        key = {"problem": problem["name"], "instance": instance}
        yield key | {"node": node, "value": rewards.in_units(value, items.reward), "count": count}


def _origins(path: str) -> list[np.ndarray]:
    table = io.read("nodes", path)
    origin = io.values(table["origin"])
    return [origin[rows] for _, rows in groups(table, "instance")]


def _pools(input: Input, params: Params, items: dict[str, list[Items]]) -> dict[tuple[str, int], Pool]:
    """Draw the contexts of every problem whose arms are no nodes."""
    if not params.drawer:
        return {}
    from graphdr.panels.graphs import read_graphs

    pools, contexts = {}, import_module(params.drawer)
    posed = [problem for problem in params.problems if problem.get("context", NODE) != NODE]
    graphs = {name: read_graphs(input.nodes[name], path) for name, path in input.edges.items()}
    for problem in posed:
        for instance in range(problem["instances"]):
            graph, nodes = graphs[problem["graph"]][instance], items[problem["graph"]][instance]
            links = input.data_links.get(problem["graph"])
            choices = contexts.Choices(*_chosen(links, nodes.item)) if links else None
            told = {name: problem[name] for name in contexts.FACTORS}
            rng = stream(params.seed, "contexts", n=graph.n, instance=instance, **told)
            arena = contexts.Arena(nodes.popularity, graph.adjacency.indptr, graph.adjacency.indices)
            pool = contexts.CONTEXTS[problem["context"]](problem, graph.n, rng, arena, choices)
            pools[problem["name"], instance] = pool
        size = graph.n if pool.rows is None else pool.rows.shape[0]
        print(f"{problem['name']}: {size} contexts in {pool.blocks} segments", flush=True)
    return pools


def _chosen(links_path: str, item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which nodes of the graph every user of the data set has met, each once, in CSR form."""
    from graphdr.graphs.records import similarity_rows

    links = io.read("dataset_links", links_path)
    source, node = io.values(links["source"]), io.values(links["node"])
    met = similarity_rows(source, node, np.ones(len(node)), item).T.tocsr()
    met.sort_indices()
    return met.indptr, met.indices
