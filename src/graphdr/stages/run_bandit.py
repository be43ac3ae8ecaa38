"""Play one method on all problems, instances, draws and seeds of a batch."""

import time
from functools import lru_cache, partial
from itertools import groupby

import numpy as np

from graphdr import io, methods, store, streams
from graphdr.lanes import LANES
from graphdr.linucb import Game

SHAPE = ("horizon", "arms", "checkpoint", "ridge", "alpha")  # with k, what runs must share to be played together


def main(input, output, params):
    method = params.method
    thetas = store.read_thetas(input.theta)
    laplacians, arenas = _from_graphs(input) if hasattr(input, "nodes") else ({}, {})
    arms = _arms(input, params, laplacians)

    @lru_cache(maxsize=LANES)  # problems on graphs of one size meet the same rounds, one after the other
    def draw_stream(n, instance, seed, graph, **spec):
        return streams.draw(params.seed, spec, n, instance, seed, arenas[graph][instance] if graph else None)

    def seat(number, instance, draw, seed):
        problem = params.problems[number]
        theta = thetas[problem["name"], instance]
        spec = {name: problem[name] for name in ("arms", "candidates", "horizon", "noise")}
        graph = problem["graph"] if problem["candidates"] in streams.NEEDS_GRAPH else None
        stream = draw_stream(len(theta), instance, seed, graph, **spec)
        choices = partial(streams.random_choices, params.seed, problem, len(theta), instance, seed)
        return Game(theta, stream, *arms[number, instance, draw]), choices

    runs = [(*key, seed) for key in arms for seed in range(params.problems[key[0]]["seeds"])]
    regrets, begin = {}, time.perf_counter()
    for group in _together(runs, params.problems, arms):
        games, choices = zip(*(seat(*run) for run in group), strict=True)
        played = methods.play(method, params.problems[group[0][0]], list(games), list(choices))
        regrets |= dict(zip(group, played, strict=True))
        if 10 * len(regrets) // len(runs) > 10 * (len(regrets) - len(group)) // len(runs):
            print(f"{len(regrets)} of {len(runs)} runs, {time.perf_counter() - begin:.1f} s", flush=True)
    io.write("runs", _table(params.problems, regrets) if runs else io.nothing("runs"), output.runs)


def _arms(input, params, laplacians):
    """Return what LinUCB works with, by (problem, instance, draw)."""
    method, arms = params.method, {}
    bases = {graph: store.read_bases(path) for graph, path in getattr(input, "basis", {}).items()}
    facts = store.read_facts(input.facts) if method["k"] else {}
    for number, problem in enumerate(params.problems):
        name, graph = problem["name"], problem["graph"]
        for instance in range(problem["instances"]):
            k = int(facts[name, instance, method["k"]]) if method["k"] else problem["k"]
            laplacian = laplacians[graph][instance] if method["laplacian"] else None
            for draw, vectors in _draws(bases.get(graph), instance, problem["draws"]).items():
                arms[number, instance, draw] = methods.arms(method, problem, vectors, laplacian, k)
    return arms


def _together(runs, problems, arms):
    """Yield runs of one shape in groups, those of one instance and seed next to each other."""

    def shape(run):
        features = arms[run[:3]].features
        return 0 if features is None else features.shape[1], *(problems[run[0]][factor] for factor in SHAPE)

    def order(run):
        number, instance, draw, seed = run
        return shape(run), instance, seed, number, draw

    for _, alike in groupby(sorted(runs, key=order), key=shape):
        alike = list(alike)
        for start in range(0, len(alike), LANES):
            yield alike[start : start + LANES]


def _draws(panel, instance, most):
    """Return the vectors of every draw of an instance; node space and random play have one draw, without any.

    A basis that the data set has no data for has no draw at all.
    """
    if panel is None:
        return {0: None}
    return {draw: basis.vectors for (at, draw), basis in panel.items() if at == instance and draw <= most}


def _from_graphs(input):
    """Return the Laplacian of every graph, and where its candidates come from."""
    from graphdr.graphs import laplacian

    panels = {name: store.read_graphs(input.nodes[name], input.edges[name]) for name in input.nodes}
    laplacians = {name: [laplacian(graph).toarray() for graph in panel] for name, panel in panels.items()}
    items = {name: store.read_items(input.nodes[name]) for name in input.nodes}
    arenas = {
        name: [
            streams.Arena(own.popularity, graph.adjacency.indptr, graph.adjacency.indices)
            for graph, own in zip(panel, items[name], strict=True)
        ]
        for name, panel in panels.items()
    }
    return laplacians, arenas


def _table(problems, regrets):
    parts = []
    for number, instance, draw, seed in sorted(regrets):
        problem, regret = problems[number], regrets[number, instance, draw, seed]
        t = problem["checkpoint"] * np.arange(1, 1 + len(regret))
        keys = {"problem": problem["name"], "instance": instance, "draw": draw, "seed": seed}
        parts.append(keys | {"t": t, "regret": regret})
    return store.stack(parts)
