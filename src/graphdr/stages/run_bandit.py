"""Play one method on all problems, instances, draws and seeds of a batch."""

import time
from functools import lru_cache, partial

import numpy as np

from graphdr import io, methods, store, streams


def main(input, output, params):
    method = params.method
    thetas = store.read_thetas(input.theta)
    bases = {graph: store.read_bases(path) for graph, path in getattr(input, "basis", {}).items()}
    facts = store.read_facts(input.facts) if method["k"] else {}
    laplacians, arenas = _from_graphs(input) if hasattr(input, "nodes") else ({}, {})

    @lru_cache(maxsize=1)  # problems on graphs of one size meet the same rounds
    def draw_stream(n, instance, seed, graph, **spec):
        return streams.draw(params.seed, spec, n, instance, seed, arenas[graph][instance] if graph else None)

    regrets = {}
    begin = time.perf_counter()
    panel = max(problem["instances"] for problem in params.problems)
    for instance in range(panel):
        games = []
        for number, problem in enumerate(params.problems):
            if instance >= problem["instances"]:
                continue
            theta, graph = thetas[problem["name"], instance], problem["graph"]
            k = int(facts[problem["name"], instance, method["k"]]) if method["k"] else problem["k"]
            laplacian = laplacians[graph][instance] if method["laplacian"] else None
            drawn = _draws(bases.get(graph), instance, problem["draws"])
            arms = {draw: methods.arms(method, problem, vectors, laplacian, k) for draw, vectors in drawn.items()}
            games += [(seed, number, problem, theta, arms) for seed in range(problem["seeds"])]
        for seed, number, problem, theta, arms in sorted(games, key=lambda game: game[:2]):
            spec = {name: problem[name] for name in ("arms", "candidates", "horizon", "noise")}
            graph = problem["graph"] if problem["candidates"] in streams.NEEDS_GRAPH else None
            stream = draw_stream(len(theta), instance, seed, graph, **spec)
            choices = partial(streams.random_choices, params.seed, problem, len(theta), instance, seed)
            for draw in arms:
                regret = methods.play(method, problem, theta, arms[draw], stream, choices)
                regrets[number, instance, draw, seed] = regret
        if 10 * (instance + 1) // panel > 10 * instance // panel:
            print(
                f"instance {instance + 1} of {panel}: {len(regrets)} runs, {time.perf_counter() - begin:.1f} s",
                flush=True,
            )
    io.write("runs", _table(params.problems, regrets), output.runs)


def _draws(panel, instance, most):
    """Return the vectors of every draw of an instance; node space and random play have one draw, without any."""
    if panel is None:
        return {0: None}
    return {draw: vectors for (at, draw), (_, vectors) in panel.items() if at == instance and draw <= most}


def _from_graphs(input):
    """Return the Laplacian of every graph, and where its candidates come from (popularity is the degree)."""
    from graphdr.graphs import laplacian

    panels = {name: store.read_graphs(input.nodes[name], input.edges[name]) for name in input.nodes}
    laplacians = {name: [laplacian(graph).toarray() for graph in panel] for name, panel in panels.items()}
    arenas = {
        name: [streams.Arena(a.sum(axis=1), a.indptr, a.indices) for a, _ in panel] for name, panel in panels.items()
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
