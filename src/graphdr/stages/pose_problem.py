"""Take the rewards of all problems of a batch from their data, or draw them from low frequencies of clean graphs."""

import numpy as np

from graphdr.bandit import rewards
from graphdr.cache import io
from graphdr.core.rng import stream
from graphdr.panels import store


def main(input, output, params):
    origins = {graph: _origins(path) for graph, path in input.nodes.items()}
    items = {graph: store.read_items(path) for graph, path in input.nodes.items()}
    bases = {graph: store.read_bases(path) for graph, path in input.basis.items()}
    parts = []
    for problem in params.problems:
        for instance in range(problem["instances"]):
            if problem["reward"] == "planted":
                low = bases[problem["clean"]][instance, 0].vectors
                key = {"n": len(low), "instance": instance}
                streams = (stream(params.seed, purpose, **key) for purpose in ("theta", "theta outside"))
                theta = rewards.tailed(low, problem["k_star"], problem["tail"], *streams)
                clean, observed = origins[problem["clean"]][instance], origins[problem["graph"]][instance]
                theta = rewards.unit(theta[np.searchsorted(clean, observed)])
            else:
                theta = rewards.centred(items[problem["graph"]][instance].reward)
            nodes = np.arange(len(theta))
            parts.append({"problem": problem["name"], "instance": instance, "node": nodes, "theta": theta})
    io.write("theta", store.stack(parts), output.theta)


def _origins(path):
    table = io.read("nodes", path)
    origin = io.values(table["origin"])
    return [origin[rows] for _, rows in store.groups(table, "instance")]
