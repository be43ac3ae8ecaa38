"""Play GraphDR end to end on growing graphs, each in a process of its own: seconds of each part and peak memory."""

import json
import subprocess
import sys
from collections.abc import Callable

from benchmarks.report import Row
from benchmarks.sections import TINY

GRAPHS = [(10_000, 70_000), (170_000, 1_200_000), (1_000_000, 7_000_000)]  # nodes, edges
SIZES = {TINY: [(300, 2_100), (600, 4_200)]}
K = 10
SECTION = "GraphDR end to end"
GROWING = {"graph", "eigenbasis", "total"}  # parts whose growth is of interest; the others take no time


def parts(n: int, edges: int) -> dict:
    """Play one size; return nodes, edges, seconds of every part, facts, and peak memory in bytes."""
    import numpy as np

    from benchmarks import sparse
    from benchmarks.timing import seconds
    from graphdr.bandit import environment, rewards
    from graphdr.bandit.method import BanditProblem
    from graphdr.bandit.policies.linucb import LinUCB
    from graphdr.bandit.simulate import simulate
    from graphdr.core.cpu_time import peak_memory
    from graphdr.graphs import arm_features, spectral

    rng = np.random.default_rng(7)
    made, times = {}, {}

    def part(name: str, make: Callable) -> None:
        times[name] = seconds(lambda: made.update({name: make()}))

    part("graph", lambda: sparse.planted(n, edges, rng))
    graph = made["graph"]
    part("eigenbasis", lambda: spectral.low_eigenpairs(graph, K + 2))
    vectors, values, residuals = made["eigenbasis"]
    part("features", lambda: arm_features.select("laplacian_low", vectors, K) * np.sqrt(graph.n))
    theta = made["features"] @ rng.standard_normal(K) / K + 0.05 * rng.standard_normal(graph.n)
    part("stream", lambda: environment.draw_rounds(1, environment.RoundsSpec(20_000, 10, noise=0.1), graph.n, 0, 0))
    part("rounds", lambda: simulate(BanditProblem(theta, made["features"]), LinUCB(), made["stream"]))
    low, unit = vectors[:, 1 : K + 1], rewards.unit(theta)
    part("facts", lambda: (arm_features.tail(unit, low), spectral.shifted_eigengaps(values)[K - 1]))
    return {
        "nodes": graph.n,
        "edges": graph.adjacency.nnz // 2,
        "seconds": times,
        "zeta": made["facts"][0],
        "eigengap": made["facts"][1],
        "residual": residuals.max(),
        "peak": peak_memory(),
    }


def fresh(n: int, edges: int) -> dict:
    """Play one size in a fresh process, so that its peak memory is its own."""
    command = [sys.executable, "-m", "benchmarks.scale", str(n), str(edges)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def rows_of(size: dict, smallest: dict) -> list[Row]:
    """Return a row for every part, with its cost per edges x log n relative to the smallest size."""
    import numpy as np

    work = size["edges"] * np.log(size["nodes"]) / (smallest["edges"] * np.log(smallest["nodes"]))
    times, first = ({**s["seconds"], "total": sum(s["seconds"].values())} for s in (size, smallest))
    setting = f"n={size['nodes']:,} edges={size['edges']:,}"
    notes = {
        "facts": f"zeta {size['zeta']:.3g}, eigengap {size['eigengap']:.3g}",
        "eigenbasis": f"residual at most {size['residual']:.0e}",
        "stream": "most of it loads compiled code",
        "total": f"peak memory {size['peak'] / 1e9:.2f} GB",
    }
    growth = {
        name: f"x{time / first[name] / work:.2f} per edges log n" for name, time in times.items() if name in GROWING
    }
    return [
        Row(SECTION, name, setting, time, note="; ".join(filter(None, [growth.get(name), notes.get(name)])))
        for name, time in times.items()
    ]


def measure(size: str) -> list[Row]:
    """Play all graphs, one after the other."""
    sizes = [fresh(*graph) for graph in SIZES.get(size, GRAPHS)]
    return [row for size in sizes for row in rows_of(size, sizes[0])]


if __name__ == "__main__":
    json.dump(parts(*map(int, sys.argv[1:])), sys.stdout, default=float)
