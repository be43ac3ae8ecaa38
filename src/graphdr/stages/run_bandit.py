"""Play one method on all problems, instances, draws and seeds of a batch."""

import time

import numpy as np

from graphdr import features, io, linucb, store, streams


def main(input, output, params):
    method = params.method
    thetas = store.read_thetas(input.theta)
    bases = {graph: store.read_bases(path) for graph, path in getattr(input, "basis", {}).items()}
    laplacians = _laplacians(input) if method["laplacian"] else {}
    facts = store.read_facts(input.facts) if method["k"] else {}
    parts = []
    begin, done = time.perf_counter(), 0
    for problem in params.problems:
        for instance in range(problem["instances"]):
            theta = thetas[problem["name"], instance]
            k = int(facts[problem["name"], instance, method["k"]]) if method["k"] else problem["k"]
            arms = _arms(method, bases.get(problem["graph"]), instance, problem["draws"], k)
            v0 = None
            if method["laplacian"]:
                v0 = (
                    problem["ridge"] * np.eye(len(theta)) + method["laplacian"] * laplacians[problem["graph"]][instance]
                )
            for seed in range(problem["seeds"]):
                met = streams.draw(params.seed, problem, len(theta), instance, seed)
                for draw, matrix in arms.items():
                    regret = _play(params.seed, method, problem, theta, instance, seed, met, matrix, v0)
                    t = problem["checkpoint"] * np.arange(1, 1 + len(regret))
                    part = {"problem": problem["name"], "instance": instance, "draw": draw, "seed": seed}
                    parts.append(part | {"t": t, "regret": regret})
                    done += 1
        print(f"{problem['name']}: {done} runs, {time.perf_counter() - begin:.1f} s", flush=True)
    io.write("runs", store.stack(parts), output.runs)


def _arms(method, panel, instance, draws, k):
    """Return the features of every draw to be played; node space and random play have one, without features."""
    if panel is None:
        return {0: None}
    return {
        draw: features.select(method["basis"], vectors, k)
        for (at, draw), (_, vectors) in panel.items()
        if at == instance and draw <= draws
    }


def _play(root, method, problem, theta, instance, seed, met, matrix, v0):
    every = problem["checkpoint"]
    if method["policy"] == "random":
        choices = streams.random_choices(root, problem, len(theta), instance, seed)
        return linucb.uniform_play(choices, theta, met.arms, every)
    radius = problem["alpha"]
    return linucb.run(theta, met, radius, features=matrix, v0=v0, ridge=problem["ridge"], every=every).regret


def _laplacians(input):
    from graphdr.graphs import laplacian

    return {
        name: [laplacian(graph).toarray() for graph in store.read_graphs(input.nodes[name], input.edges[name])]
        for name in input.nodes
    }
