"""Time a served policy: python -m benchmarks.policy prints median and 99 % quantile of recommend and update.

Among 1,000 candidates at k = 20, with 100,000 arms in memory; contexts, of three arms each, with 1,500 too. Every call
is timed on its own and has candidates of its own, so that the caches are as cold as a server's. Wall time is what a
caller waits for; processor time leaves out the moments in which a busy machine ran something else.
"""

import os
import tempfile
import time
from collections.abc import Callable
from typing import NamedTuple

if __name__ == "__main__":
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))  # before NumPy is imported

import numpy as np
import scipy.sparse as sp

from benchmarks import sparse
from benchmarks.timing import seconds
from graphdr.serve.policy import GraphDRLinUCB

ARMS, EDGES, K, CANDIDATES, ROUNDS, WARM = 100_000, 700_000, 20, 1000, 3000, 100
FEW, BUNDLE = 1500, 3  # arms of a small policy, arms of a context


class Latency(NamedTuple):
    """Microseconds of one kind of call."""

    name: str
    median: float
    p99: float
    cpu_median: float
    cpu_p99: float


def latency(name: str, call: Callable, arguments: list[tuple]) -> Latency:
    """Time every call but the first, which warm up."""
    times = np.empty((len(arguments), 2))
    for at, own in enumerate(arguments):
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        call(*own)
        times[at] = time.perf_counter_ns() - wall, time.thread_time_ns() - cpu
    return Latency(name, *np.quantile(times[WARM:], [0.5, 0.99], axis=0).T.ravel() / 1000)


def measure() -> tuple[list[Latency], str]:
    """Fit a policy to a planted partition; time its calls and its file."""
    rng = np.random.default_rng(5)
    graph = sparse.planted(ARMS, EDGES, rng)
    numbered = GraphDRLinUCB.fit(graph.adjacency, K)
    named = GraphDRLinUCB(map("item {}".format, numbered.names), numbered.state, numbered.settings)
    theta = numbered.state.features @ rng.standard_normal(K)
    numbers = [rng.integers(graph.n, size=CANDIDATES) for _ in range(ROUNDS)]
    names = [[f"item {number}" for number in own] for own in numbers[: ROUNDS // 5]]
    held = [named.candidates(map("item {}".format, own)) for own in numbers]
    told = [(arm, theta[arm]) for arm in rng.integers(graph.n, size=ROUNDS).tolist()]
    calls = [
        latency("update", numbered.update, told),
        latency("recommend, looked up before", named.recommend, [(own,) for own in held]),
        latency("recommend, arms are numbers", numbered.recommend, [(own,) for own in numbers]),
        latency("recommend, arms by name", named.recommend, [(own,) for own in names]),
        latency("recommend_many, 100 sets", named.recommend_many, [(held[:100],)] * (WARM + 20)),
        *contexts(numbered, rng),
        *contexts(GraphDRLinUCB.fit(sparse.planted(FEW, 7 * FEW, rng).adjacency, K), rng),
    ]
    return calls, f"{graph.n:,} arms, k = {K}, {CANDIDATES:,} candidates; {file_of(named)}"


def contexts(policy: GraphDRLinUCB, rng: np.random.Generator) -> list[Latency]:
    """Time contexts of a few arms each: sparse rows, looked up before, and as names and weights."""
    n, size = len(policy), (CANDIDATES, BUNDLE)
    weights, starts = np.full(CANDIDATES * BUNDLE, BUNDLE**-0.5), BUNDLE * np.arange(CANDIDATES + 1)
    # Sorted numbers, and then 0, 1, 2 added: three different arms.
    arms = [np.sort(rng.integers(n - BUNDLE, size=size)) + np.arange(BUNDLE) for _ in range(ROUNDS // 5)]
    rows = [sp.csr_array((weights, own.ravel(), starts), (CANDIDATES, n)) for own in arms]
    held = [policy.candidates(vectors=own) for own in rows]
    names = [[dict.fromkeys(own, BUNDLE**-0.5) for own in sets.tolist()] for sets in arms]
    of = f"contexts over {n:,} arms"
    return [
        latency(f"recommend, {of}", lambda own: policy.recommend(vectors=own), [(own,) for own in rows]),
        latency(f"recommend, {of}, looked up before", policy.recommend, [(own,) for own in held]),
        latency(f"recommend, {of}, by name", lambda own: policy.recommend(vectors=own), [(own,) for own in names]),
        latency(f"update, {of}", lambda own: policy.update(reward=0.1, vector=own), [(own[[0]],) for own in rows]),
    ]


def file_of(policy: GraphDRLinUCB) -> str:
    """Say how large the file of a policy is and how long it takes to write and read it."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/policy.parquet"
        saved, loaded = seconds(lambda: policy.save(path)), seconds(lambda: GraphDRLinUCB.load(path))
        return f"file of {os.path.getsize(path) / 1e6:.1f} MB, saved in {saved:.2f} s, loaded in {loaded:.2f} s"


def main() -> None:
    """Print the table."""
    print("| microseconds per call | median | p99 | processor, median | processor, p99 |\n|---|---:|---:|---:|---:|")
    calls, setting = measure()
    for name, *times in calls:
        print(f"| {name} | {' | '.join(f'{value:,.1f}' for value in times)} |")
    print(f"\n{setting}")


if __name__ == "__main__":
    main()
