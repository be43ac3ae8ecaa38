"""The paper's protocol without a build: the same numbers as the stages compute, for an answer beside the other one."""

import os
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np

from graphdr.advise.data import Data, mean_reward, ratings
from graphdr.advise.paper import block, decision
from graphdr.advise.short_rows import CENTRED, condensed, nearest, said
from graphdr.bandit import environment, methods
from graphdr.bandit.linucb import Run
from graphdr.bandit.rewards import centred
from graphdr.core.rng import stream
from graphdr.graphs import bases, from_data
from graphdr.graphs.model import Graph, largest_component
from graphdr.graphs.records import Records, places

LEAST = 0.5  # share of the items that the largest component must hold


class Problem(NamedTuple):
    """The graph of all data, the mean reward of its items, and what is known about them."""

    graph: Graph
    theta: np.ndarray
    content: object


def problem(data: Data, config: dict, n: int) -> Problem | None:
    """Build the graph as the stages do, on the n items of most interactions or nodes of most neighbours.

    The paper's protocol plays the largest component alone. None says that it cannot be played: the component holds
    less than half of the items, or all its rewards are equal.
    """
    count, rows = len(data.keys), data.interactions
    if data.edges is not None:
        source, target, weight = data.edges
        weight = np.ones(len(source)) if weight is None else weight
        graph = from_data.network(n, Records(source, target, weight, np.zeros(count)))
    elif rows is not None:
        selected = from_data.select_top(np.bincount(rows.item, minlength=count), n)
        told = said(ratings(rows, selected, data.transform))
        near = nearest(told, config["observed"]["neighbours"])
        graph = largest_component(from_data.union(len(selected), *near)._replace(origin=selected))
    else:  # the stages know no such graph: it is that of the other protocol, on the items whose reward is known
        known = np.flatnonzero(~np.isnan(mean_reward(data)))
        features = data.features[known]
        graph = from_data.nearest_by_features(features, config["observed"]["neighbours"])
        graph = graph._replace(origin=known[graph.origin])
    item = graph.origin
    reward = mean_reward(data)[item]
    if graph.n < LEAST * min(n, count) or np.ptp(reward) == 0:
        return None
    if data.features is not None:
        content = np.asarray(data.features[item], np.float32).astype(float)
    elif data.edges is None and rows is not None and rows.value is not None:
        content = condensed(told.about(places(item, selected)), config["protocol"]["rank"], CENTRED)
    else:
        content = None
    return Problem(graph, centred(reward), content)


def regrets(
    posed: Problem, config: dict, grid: tuple[int, ...], names: Collection[str] = block.METHODS
) -> dict[str, dict[int, np.ndarray]]:
    """Play methods at every k; return final regrets by method and k, draws x seeds.

    Methods on content are left out where there is none.
    """
    n, components = posed.graph.n, min(max(*grid, 10) + 2, posed.graph.n)
    spec = config["protocol"] | {"candidates": "uniform"}
    streams = [environment.draw(config["seed"], spec, n, instance=0, seed=seed) for seed in range(block.SEEDS)]

    def of(name: str) -> dict[int, np.ndarray]:
        method = config["methods"][name]
        drawn = _bases(method["basis"], posed, components, config["seed"])
        found = {}
        for k in grid if method["basis"] != "identity" else grid[:1]:
            runs, lucks = [], []
            for basis, seed in product(drawn, range(block.SEEDS)):
                given = methods.arms(method, spec, basis, None, k)
                runs.append(Run(posed.theta, streams[seed], given.features))
                lucks.append(environment.Luck(config["seed"], spec, n, 0, seed))
            final = [outcome.regret[-1] for outcome in methods.play(method, spec, runs, lucks)]
            found[k] = np.reshape(final, (len(drawn), block.SEEDS))
        return found | {k: found[grid[0]] for k in grid if k not in found}

    there = [name for name in names if posed.content is not None or decision.CONTENT not in name]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(there, pool.map(of, there), strict=True))


def _bases(name: str, posed: Problem, components: int, seed: int) -> list:
    if name == "identity":
        return [None]
    source = bases.Source(posed.graph.n, posed.graph, embedding=posed.content)
    key = {"n": posed.graph.n, "instance": 0}
    if name in bases.MADE_OF:
        made_of = bases.stored(name)
        original = bases.BASES[made_of](source, components, stream(seed, "basis", basis=made_of, **key, draw=0))
        source = source._replace(original=original)
    return [
        bases.BASES[name](source, components, stream(seed, "basis", basis=name, **key, draw=draw))
        for draw in range(1 + block.DRAWS if name in bases.REDRAWN else 1)
    ]


def advice(posed: Problem, config: dict, grid: tuple[int, ...] = block.GRID) -> decision.Advice:
    """Return what the paper's protocol advises; of the controls only those play that it looks at."""
    fitting = tuple(k for k in grid if k + 2 <= posed.graph.n)
    found = regrets(posed, config, fitting, (decision.RANDOM, decision.FULL, decision.CONTENT, *decision.GRAPH))
    graph = decision.order(found, block.CHOOSING, decision.GRAPH)[0]
    controls = decision.CONTROLS[graph], decision.CONTROLS[decision.CONTENT], decision.LONGEST[graph]
    return decision.weigh(found | regrets(posed, config, fitting, controls), block.CHOOSING)
