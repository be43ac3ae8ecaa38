"""Compute the facts of all problems of a batch that need no bandit run."""

from functools import partial

import numpy as np

from graphdr.bandit import pilot
from graphdr.cache import io
from graphdr.core.rng import stream
from graphdr.facts.declare import ProblemInstance
from graphdr.facts.registry import FACTS, budgets
from graphdr.panels import store


def main(input, output, params):
    thetas = store.read_thetas(input.theta)
    graphs = {name: store.read_graphs(input.nodes[name], input.edges[name]) for name in input.nodes}
    bases = {name: store.read_bases(path) for name, path in input.basis.items()}
    others = {
        basis: {name: store.read_bases(path) for name, path in files.items()} for basis, files in input.others.items()
    }
    items = {name: store.read_items(path) for name, path in input.nodes.items()}
    parts, pilots = [], []
    for problem in params.problems:
        for instance in range(problem["instances"]):
            clean, observed = (graphs[problem[role]][instance] for role in ("clean", "graph"))
            low, observed_low = (bases[problem[role]][instance, 0] for role in ("clean", "graph"))
            theta = thetas[problem["name"], instance]
            rng = stream(params.seed, "resamples", n=observed.n, instance=instance)
            further = {basis: panels[problem["graph"]].get((instance, 0)) for basis, panels in others.items()}
            popularity = items[problem["graph"]][instance].popularity
            play = partial(pilot.play, theta, problem.get("noise"))
            key = {"n": observed.n, "instance": instance}
            played = {
                pulls: play(pulls * observed.n, stream(params.seed, "pilot", **key))
                for pulls in budgets(params.facts, problem.get("pilot"))
            }
            besides = further, popularity, params.seed, instance, played, {}
            posed = ProblemInstance(problem, clean, observed, low, observed_low, theta, rng, *besides)
            values = np.array([float(FACTS[fact](posed)) for fact in params.facts])
            known = ~np.isnan(values)  # what the data do not have is no fact
            names = np.array(params.facts, str)[known]
            key = {"problem": problem["name"], "instance": instance}
            parts.append(key | {"quantity": names, "value": values[known]})
            pilots += [key | _seen(pulls, one) for pulls, one in played.items()]
        print(f"{problem['name']}: {len(params.facts)} facts on {problem['instances']} instances", flush=True)
    io.write("facts", store.stack(parts), output.facts)
    io.write("pilot", store.stack(pilots) if pilots else io.nothing("pilot"), output.pilots)


def _seen(pulls, pilot):
    """Return what a pilot of so many pulls a node found out about every node; one without any saw the true reward."""
    played = np.where(np.isfinite(pilot.pulls), pilot.pulls, np.nan)
    return {"budget": pulls, "node": np.arange(len(pilot.theta)), "pulls": played, "theta": pilot.theta}
