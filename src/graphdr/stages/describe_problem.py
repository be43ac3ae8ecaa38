"""Compute the facts of all problems of a batch that need no bandit run."""

import numpy as np

from graphdr import diagnostics, io, store
from graphdr.rng import stream


def main(input, output, params):
    thetas = store.read_thetas(input.theta)
    graphs = {name: store.read_graphs(input.nodes[name], input.edges[name]) for name in input.nodes}
    bases = {name: store.read_bases(path) for name, path in input.basis.items()}
    contents = {name: store.read_bases(path) for name, path in getattr(input, "content", {}).items()}
    parts = []
    for problem in params.problems:
        for instance in range(problem["instances"]):
            clean, observed = (graphs[problem[role]][instance] for role in ("clean", "graph"))
            low, observed_low = (bases[problem[role]][instance, 0] for role in ("clean", "graph"))
            theta = thetas[problem["name"], instance]
            rng = stream(params.seed, "resamples", n=observed.n, instance=instance)
            content = contents.get(problem["graph"], {}).get((instance, 0))
            setting = diagnostics.Setting(problem, clean, observed, low, observed_low, theta, rng, content)
            values = np.array([float(diagnostics.FACTS[fact](setting)) for fact in params.facts])
            known = ~np.isnan(values)  # what the data do not have is no fact
            names = np.array(params.facts, str)[known]
            parts.append({"problem": problem["name"], "instance": instance, "quantity": names, "value": values[known]})
        print(f"{problem['name']}: {len(params.facts)} facts on {problem['instances']} instances", flush=True)
    io.write("facts", store.stack(parts), output.facts)
