"""Take the rewards of all problems of a batch from their data, or draw them from low frequencies of clean graphs."""

from typing import Any, NamedTuple

import numpy as np

from graphdr.bandit import rewards
from graphdr.cache import io, paths
from graphdr.core.rng import stream
from graphdr.panels.bases import read_bases
from graphdr.panels.items import read_items
from graphdr.panels.rows import groups, stack


class Input(NamedTuple):
    """Nodes by graph, and the lowest eigenvectors of the clean graphs that rewards are drawn from."""

    basis: dict[str, str]
    nodes: dict[str, str]


class Output(NamedTuple):
    theta: str = paths.theta


class Params(NamedTuple):
    problems: list[dict[str, Any]]
    seed: int


def main(input: Input, output: Output, params: Params) -> None:
    origins = {graph: _origins(path) for graph, path in input.nodes.items()}
    items = {graph: read_items(path) for graph, path in input.nodes.items()}
    bases = {graph: read_bases(path) for graph, path in input.basis.items()}
    parts = []
    for problem in params.problems:
        for instance in range(problem["instances"]):
            if problem["reward"] == "planted":
                low = bases[problem.get("items", problem["clean"])][instance, 0].vectors
                theta = _planted(problem, low, params.seed, instance)
                clean, observed = origins[problem["clean"]][instance], origins[problem["graph"]][instance]
                theta = rewards.unit(theta[np.searchsorted(clean, observed)])
            else:
                theta = rewards.centred(items[problem["graph"]][instance].reward)
            nodes = np.arange(len(theta))
            parts.append({"problem": problem["name"], "instance": instance, "node": nodes, "theta": theta})
    io.write("theta", stack(parts), output.theta)


def _planted(problem: dict[str, Any], low: np.ndarray, seed: int, instance: int) -> np.ndarray:
    """Draw a reward from the lowest eigenvectors of the clean graph, or of that of its items for every segment."""
    rng, outside, between = (
        stream(seed, purpose, n=len(low), instance=instance) for purpose in ("theta", "theta outside", "theta between")
    )
    if problem.get("segments", 1) == 1:
        return rewards.tailed(low, problem["k_star"], problem["tail"], rng, outside)
    from graphdr.graphs.contexts import ring

    inside = low[:, 1 : problem["k_star"] + 1]
    rough = problem["differences"] == "rough"
    return rewards.segmented(inside, ring(problem["segments"]), problem["differ"], rough, rng, between)


def _origins(path: str) -> list[np.ndarray]:
    table = io.read("nodes", path)
    origin = io.values(table["origin"])
    return [origin[rows] for _, rows in groups(table, "instance")]
