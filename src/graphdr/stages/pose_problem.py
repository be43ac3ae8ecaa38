"""Pose the problems of a batch: draw rewards or take them from data, and draw the contexts.

Where the noise is resampled, also list the rewards that a pull of every node can return.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

import numpy as np

from graphdr.bandit import rewards
from graphdr.bandit.arm_set import ArmSet, ContextSpec
from graphdr.cache import io, paths
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.store.graphs import Items, read_bases, read_graphs, read_items
from graphdr.store.problems import write_arm_sets

Columns = dict[str, np.ndarray | int | str]  # a scalar stands for all rows


@dataclass(frozen=True)
class SegmentRewards:
    """How planted rewards differ between segments of users."""

    segments: int
    segment_scale: float
    segment_pattern: str
    items: str  # graph whose low frequencies the rewards of a segment are drawn from


@dataclass(frozen=True)
class Ratings:
    """The ratings that rewards are resampled from."""

    noise: str
    dataset: str
    holdout: str


@dataclass(frozen=True)
class PosedProblem:
    """The factors that rewards and contexts depend on; parts that a problem does not need are None."""

    name: str
    graph: str
    clean: str
    instances: int
    reward: str
    k_star: int
    tail: float
    ratings: Ratings | None = None  # where noise is resampled
    segment_rewards: SegmentRewards | None = None  # where rewards are drawn for several segments
    contexts: ContextSpec | None = None  # where arms are not single nodes


class Input(NamedTuple):
    """Files by graph."""

    basis: dict[str, str]  # lowest eigenvectors of the graphs that rewards are drawn from
    nodes: dict[str, str]
    edges: dict[str, str]  # where arms are not single nodes
    data_links: dict[str, str]  # where bundles or rewards are taken from ratings
    data_nodes: dict[str, str]  # where rewards are resampled


class Output(NamedTuple):
    theta: str = paths.theta
    contexts: str = paths.contexts
    rewards: str = paths.rewards


class Params(NamedTuple):
    problems: list[PosedProblem]
    seed: int
    drawer: str = ""  # module that draws contexts, where arms are not single nodes


def main(input: Input, output: Output, params: Params) -> None:
    items = {graph: read_items(path) for graph, path in input.nodes.items()}
    thetas = list(_draw_thetas(input, params, items))
    arm_sets = dict(_draw_contexts(input, params, items)) if params.drawer else {}
    resampled: list[Columns] = []
    for problem in params.problems:
        if problem.ratings:
            resampled += _resampled_rewards(input, problem, problem.ratings, items[problem.graph], params.seed)
    io.write_parts("theta", thetas, output.theta)
    write_arm_sets(arm_sets, output.contexts)
    io.write_parts("rewards", resampled, output.rewards)


def _draw_thetas(input: Input, params: Params, items: dict[str, list[Items]]) -> Iterator[Columns]:
    """Yield the reward of every node, problem by problem and instance by instance."""
    origins = {graph: io.read_parts("nodes", path, ["instance"], "origin") for graph, path in input.nodes.items()}
    bases = {graph: read_bases(path) for graph, path in input.basis.items()}
    for problem in params.problems:
        source = problem.segment_rewards.items if problem.segment_rewards else problem.clean
        for instance in range(problem.instances):
            if problem.reward in rewards.PLANTED:
                theta = _planted(problem, bases[source][instance, 0].vectors, params.seed, instance)
                (clean,), (observed,) = (origins[graph][instance] for graph in (problem.clean, problem.graph))
                theta = rewards.unit(theta[np.searchsorted(clean, observed)])
            else:
                theta = rewards.centred(items[problem.graph][instance].reward)
            yield {"problem": problem.name, "instance": instance, "node": np.arange(len(theta)), "theta": theta}


def _planted(problem: PosedProblem, low: np.ndarray, seed: int, instance: int) -> np.ndarray:
    """Draw a reward from the lowest eigenvectors of the clean graph, or for every segment from those of the items."""
    key, first = {"n": len(low), "instance": instance}, rewards.PLANTED[problem.reward]
    rng = stream(seed, "theta", **key)
    spec = problem.segment_rewards
    if spec is None:
        outside = stream(seed, "theta outside", **key)
        return rewards.tailed(low, problem.k_star, problem.tail, rng, outside, first)
    from graphdr.graphs.contexts import ring

    inside = low[:, first : first + problem.k_star]
    between = stream(seed, "theta between", **key)
    rough = spec.segment_pattern == "rough"
    return rewards.segment_rewards(inside, ring(spec.segments), spec.segment_scale, rough, rng, between)


def _resampled_rewards(
    input: Input, problem: PosedProblem, ratings: Ratings, items: list[Items], seed: int
) -> Iterator[Columns]:
    """Yield for every instance the rewards that its nodes can return, in the units of theta."""
    from graphdr.graphs import raters
    from graphdr.store.datasets import read_records

    links, nodes = input.data_links[problem.graph], input.data_nodes[problem.graph]
    records, reward = read_records(nodes, links), io.values(io.read("dataset_nodes", nodes)["reward"])
    refused = f"{links}: noise = {rewards.RESAMPLED!r}"
    for instance, selected in enumerate(items[: problem.instances]):
        pays = raters.reward_links(records, ratings.holdout, seed, ratings.dataset, instance)
        outcomes = raters.outcomes(records, reward, pays, selected.item)
        if outcomes is None:
            needed = "ratings or counts of clicks behind the rewards, which these data do not have"
            raise UserError(f"{refused} needs {needed}; set a number")
        node, value, count = outcomes
        if len(node) == len(selected.item):
            raise UserError(f"{refused}: users agree on every node, so that there is no noise to draw; set a number")
        scaled = rewards.in_units(value, selected.reward)
        yield {"problem": problem.name, "instance": instance, "node": node, "value": scaled, "count": count}


def _draw_contexts(
    input: Input, params: Params, items: dict[str, list[Items]]
) -> Iterator[tuple[tuple[str, int], ArmSet]]:
    """Draw the contexts of every problem whose arms are not single nodes."""
    from graphdr.graphs.records import similarity_rows

    contexts = import_module(params.drawer)
    graphs = {name: read_graphs(input.nodes[name], path) for name, path in input.edges.items()}
    for problem in params.problems:
        spec = problem.contexts
        if spec is None:
            continue
        for instance in range(problem.instances):
            graph, nodes = graphs[problem.graph][instance], items[problem.graph][instance]
            choices = None
            if links := input.data_links.get(problem.graph):  # the nodes that every user has chosen, each once
                source, node = io.arrays(io.read("dataset_links", links), "source", "node")
                chosen = similarity_rows(source, node, np.ones(len(node)), nodes.item).T.tocsr()
                chosen.sort_indices()
                choices = contexts.Choices(chosen.indptr, chosen.indices)
            key: dict[str, int | str] = {"context": spec.context, "bundle": spec.bundle}
            key |= {"bundled": spec.bundle_sampling, "pool": spec.bundle_count}  # names in the key of the stream
            rng = stream(params.seed, "contexts", n=graph.n, instance=instance, **key)
            candidates = contexts.CandidateSource(nodes.popularity, graph.adjacency.indptr, graph.adjacency.indices)
            arm_set = contexts.CONTEXTS[spec.context](spec, graph.n, rng, candidates, choices)
            yield (problem.name, instance), arm_set
        size = graph.n if arm_set.rows is None else arm_set.rows.shape[0]
        print(f"{problem.name}: {size} contexts in {arm_set.blocks} segments", flush=True)
