"""Compute the facts of all problems of a batch that need no bandit run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from graphdr.cache import io, paths
from graphdr.facts.declare import ProblemInstance
from graphdr.facts.registry import FACTS
from graphdr.store.graphs import read_bases, read_graphs, read_items
from graphdr.store.pilots import read_pilots
from graphdr.store.problems import read_arm_sets, read_thetas


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


@dataclass(frozen=True)
class DescribedProblem:
    """A problem with the factors that its facts read."""

    name: str
    clean: str
    graph: str
    instances: int
    segments: int
    factors: Mapping[str, object]


class Params(NamedTuple):
    problems: list[DescribedProblem]
    facts: list[str]
    seed: int


def main(input: Input, output: Output, params: Params) -> None:
    thetas = read_thetas(input.theta)
    graphs = {name: read_graphs(path, input.edges[name]) for name, path in input.nodes.items()}
    bases = {name: read_bases(path) for name, path in input.basis.items()}
    others = {basis: {name: read_bases(path) for name, path in files.items()} for basis, files in input.others.items()}
    items = {name: read_items(path) for name, path in input.nodes.items()}
    pilots = read_pilots(input.pilot, input.pilot_rounds) if input.pilot else {}
    arm_sets = read_arm_sets(input.contexts, {problem.name: problem.segments for problem in params.problems}, thetas)
    parts = []
    for problem in params.problems:
        name, graph, clean = problem.name, problem.graph, problem.clean
        for instance in range(problem.instances):
            posed = ProblemInstance(
                clean=graphs[clean][instance],
                observed=graphs[graph][instance],
                low=bases[clean][instance, 0],
                observed_low=bases[graph][instance, 0],
                theta=thetas[name, instance],
                others={basis: by_graph[graph].get((instance, 0)) for basis, by_graph in others.items()},
                popularity=items[graph][instance].popularity,
                seed=params.seed,
                number=instance,
                memo={},
                pilots=pilots.get((name, instance), {}),
                arm_set=arm_sets[name, instance],
            )
            for fact in params.facts:
                value = float(FACTS[fact](posed, problem.factors))
                if not np.isnan(value):  # the data set lacks what the fact needs
                    parts.append({"problem": name, "instance": instance, "quantity": fact, "value": value})
        print(f"{name}: {len(params.facts)} facts on {problem.instances} instances", flush=True)
    io.write_parts("facts", parts, output.facts)
