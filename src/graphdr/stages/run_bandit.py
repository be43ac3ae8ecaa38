"""Play one method on all problems, instances, draws and seeds of a batch."""

import time
from functools import partial

import numpy as np

from graphdr import io, methods, store, streams


def main(input, output, params):
    method = params.method
    thetas = store.read_thetas(input.theta)
    bases = {graph: store.read_bases(path) for graph, path in getattr(input, "basis", {}).items()}
    laplacians = _laplacians(input) if method["laplacian"] else {}
    facts = store.read_facts(input.facts) if method["k"] else {}
    parts = []
    begin = time.perf_counter()
    for problem in params.problems:
        for instance in range(problem["instances"]):
            theta = thetas[problem["name"], instance]
            k = int(facts[problem["name"], instance, method["k"]]) if method["k"] else problem["k"]
            laplacian = laplacians[problem["graph"]][instance] if laplacians else None
            drawn = _draws(bases.get(problem["graph"]), instance, problem["draws"])
            arms = {draw: methods.arms(method, problem, vectors, laplacian, k) for draw, vectors in drawn.items()}
            for seed in range(problem["seeds"]):
                key = (params.seed, problem, len(theta), instance, seed)
                stream, choices = streams.draw(*key), partial(streams.random_choices, *key)
                for draw in arms:
                    regret = methods.play(method, problem, theta, arms[draw], stream, choices)
                    t = problem["checkpoint"] * np.arange(1, 1 + len(regret))
                    part = {"problem": problem["name"], "instance": instance, "draw": draw, "seed": seed}
                    parts.append(part | {"t": t, "regret": regret})
        print(f"{problem['name']}: {len(parts)} runs, {time.perf_counter() - begin:.1f} s", flush=True)
    io.write("runs", store.stack(parts), output.runs)


def _draws(panel, instance, most):
    """Return the vectors of every draw of an instance; node space and random play have one draw, without any."""
    if panel is None:
        return {0: None}
    return {draw: vectors for (at, draw), (_, vectors) in panel.items() if at == instance and draw <= most}


def _laplacians(input):
    from graphdr.graphs import laplacian

    return {
        name: [laplacian(graph).toarray() for graph in store.read_graphs(input.nodes[name], input.edges[name])]
        for name in input.nodes
    }
