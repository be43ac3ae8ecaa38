"""Compute the facts of all problems of a batch that need no bandit run."""

from typing import Any, NamedTuple

import numpy as np

from graphdr.cache import io, paths
from graphdr.core.rng import stream
from graphdr.facts.declare import ProblemInstance
from graphdr.facts.registry import FACTS
from graphdr.panels.bases import read_bases
from graphdr.panels.contexts import read_pools
from graphdr.panels.graphs import read_graphs
from graphdr.panels.items import read_items
from graphdr.panels.pilots import Panel, read_pilots
from graphdr.panels.problems import read_thetas
from graphdr.panels.rows import stack


class Input(NamedTuple):
    """Rewards; graphs, with their lowest eigenvectors and other bases; and pilots and contexts, where there are any."""

    theta: str
    basis: dict[str, str]
    nodes: dict[str, str]
    edges: dict[str, str]
    others: dict[str, dict[str, str]]  # by basis and graph
    pilot: str = ""
    pilot_rounds: str = ""
    contexts: str = ""


class Output(NamedTuple):
    facts: str = paths.facts


class Params(NamedTuple):
    problems: list[dict[str, Any]]
    facts: list[str]
    seed: int


def main(input: Input, output: Output, params: Params) -> None:
    thetas = read_thetas(input.theta)
    graphs = {name: read_graphs(input.nodes[name], input.edges[name]) for name in input.nodes}
    bases = {name: read_bases(path) for name, path in input.basis.items()}
    others = {basis: {name: read_bases(path) for name, path in files.items()} for basis, files in input.others.items()}
    items = {name: read_items(path) for name, path in input.nodes.items()}
    pilots: Panel = read_pilots(input.pilot, input.pilot_rounds) if input.pilot else {}
    pools = read_pools(input.contexts, params.problems, thetas)
    parts = []
    for problem in params.problems:
        name, graph, clean = problem["name"], problem["graph"], problem["clean"]
        for instance in range(problem["instances"]):
            posed = ProblemInstance(
                spec=problem,
                clean=graphs[clean][instance],
                observed=graphs[graph][instance],
                low=bases[clean][instance, 0],
                observed_low=bases[graph][instance, 0],
                theta=thetas[name, instance],
                rng=stream(params.seed, "resamples", n=graphs[graph][instance].n, instance=instance),
                others={basis: panels[graph].get((instance, 0)) for basis, panels in others.items()},
                popularity=items[graph][instance].popularity,
                seed=params.seed,
                index=instance,
                memo={},
                pilots=pilots.get((name, instance), {}),
                pool=pools[name, instance],
            )
            values = np.array([float(FACTS[fact](posed)) for fact in params.facts])
            there = ~np.isnan(values)  # what the data do not have is no fact
            names = np.array(params.facts, str)[there]
            parts.append({"problem": name, "instance": instance, "quantity": names, "value": values[there]})
        print(f"{name}: {len(params.facts)} facts on {problem['instances']} instances", flush=True)
    io.write("facts", stack(parts), output.facts)
