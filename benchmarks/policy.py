"""Time a served policy: python -m benchmarks.policy prints median and 99 % quantile of its calls.

Among 1,000 candidates at k = 20, with 100,000 arms in memory; contexts, of three arms each, with 1,500 too. Every call
is timed separately and has other candidates, so that the caches are as cold as a server's. Wall time is what a
caller waits for; processor time leaves out the moments in which a busy machine ran something else.
"""

import argparse
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
from graphdr.graphs.model import Graph
from graphdr.serve.policy import GraphDRLinUCB

K, WARM, BUNDLE = 20, 100, 3  # dimensions, calls that warm up, arms of a context


class Size(NamedTuple):
    """Arms of a large and of a small policy, candidates and rounds of the calls, and rewards before the first call."""

    arms: int = 100_000
    few: int = 1500
    candidates: int = 1000
    rounds: int = 1500
    rewards: int = 20_000


TINY = Size(300, 150, 20, 330, 400)
GIVEN = {"prior": "ridge", "ridge": 1.0, "radius": 1.0}
TUNED = {"prior": "graph"}


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
    for at, values in enumerate(arguments):
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        call(*values)
        times[at] = time.perf_counter_ns() - wall, time.thread_time_ns() - cpu
    return Latency(name, *np.quantile(times[WARM:], [0.5, 0.99], axis=0).T.ravel() / 1000)


def taught(policy: GraphDRLinUCB, rewards: int, rng: np.random.Generator) -> GraphDRLinUCB:
    """Tell a policy clicks that are part graph, part each arm's own."""
    n = len(policy)
    theta = 0.3 + 0.1 * np.sqrt(n) * policy._posterior.rows[:, -K] + 0.05 * rng.standard_normal(n)
    places = rng.integers(n, size=rewards)
    arms = [policy.names[place] for place in places] if isinstance(policy.names[0], str) else places
    policy.update_many(arms, (rng.random(rewards) < theta[places]).astype(float))
    return policy


def measure(size: Size) -> tuple[list[Latency], str]:
    """Fit policies to a planted partition; time their calls and their files."""
    rng = np.random.default_rng(5)
    graph = sparse.planted(size.arms, 7 * size.arms, rng)
    calls, files = [], []
    for setting, parameters in (("given", GIVEN), ("found", TUNED)):
        latencies, file = of_arms(graph, setting, parameters, size, rng)
        calls += latencies
        files.append(file)
    few = sparse.planted(size.few, 7 * size.few, rng)
    for source in (graph, few):
        calls += contexts(GraphDRLinUCB(K, **GIVEN, intercept=False).fit(source.adjacency), size, rng)
    setting = f"{graph.n:,} arms, k = {K}, {size.candidates:,} candidates, {size.rewards:,} rewards before"
    return calls, f"{setting}; {'; '.join(files)}"


def of_arms(
    graph: Graph, setting: str, parameters: dict, size: Size, rng: np.random.Generator
) -> tuple[list[Latency], str]:
    """Time the calls for arms, by number and by name, with settings that are given or found."""
    texts = [f"item {number}" for number in range(graph.n)]
    numbered = taught(GraphDRLinUCB(K, random_state=0, **parameters).fit(graph.adjacency), size.rewards, rng)
    named = taught(GraphDRLinUCB(K, random_state=0, **parameters).fit(graph.adjacency, names=texts), size.rewards, rng)
    numbers = [rng.integers(graph.n, size=size.candidates) for _ in range(size.rounds)]
    held = [named.candidates([texts[number] for number in item]) for item in numbers]
    # Every call has new text objects, as in a request: their hashes are not computed yet.
    names = [[f"item {number}" for number in item] for item in numbers]
    plays = [*zip(rng.integers(graph.n, size=size.rounds).tolist(), rng.random(size.rounds), strict=True)]
    news = [(f"item {number}", reward) for number, reward in plays]
    sampling = named.worker().set_params(explore="ts")
    calls = [
        latency(f"recommend, looked up before, {setting}", named.recommend, [(item,) for item in held]),
        latency(f"recommend, arms are numbers, {setting}", numbered.recommend, [(item,) for item in numbers]),
        latency(f"recommend, arms by name, {setting}", named.recommend, [(item,) for item in names]),
        latency(f"recommend, Thompson sampling, {setting}", sampling.recommend, [(item,) for item in held]),
        latency(f"choose, looked up before, {setting}", named.choose, [(item,) for item in held]),
        latency(f"choose, Thompson sampling, {setting}", sampling.choose, [(item,) for item in held[: WARM + 10]]),
        latency(f"recommend_many, 100 sets, {setting}", named.recommend_many, [(held[:100],)] * (WARM + 20)),
        latency(f"update, arms are numbers, {setting}", numbered.update, plays),
        latency(f"update, arms by name, {setting}", named.update, news),
    ]
    return calls, f"{setting}: {file_of(named)}"


def contexts(policy: GraphDRLinUCB, size: Size, rng: np.random.Generator) -> list[Latency]:
    """Time contexts of a few arms each: sparse rows, looked up before, and as names and weights."""
    n, candidates = len(policy), size.candidates
    weights, starts = np.full(candidates * BUNDLE, BUNDLE**-0.5), BUNDLE * np.arange(candidates + 1)
    # Sorted numbers, and then 0, 1, 2 added: three different arms.
    places = [np.sort(rng.integers(n - BUNDLE, size=(candidates, BUNDLE))) for _ in range(size.rounds // 3)]
    arms = [item + np.arange(BUNDLE) for item in places]
    rows = [sp.csr_array((weights, item.ravel(), starts), (candidates, n)) for item in arms]
    held = [policy.candidates(vectors=item) for item in rows]
    names = [[dict.fromkeys(item, BUNDLE**-0.5) for item in sets.tolist()] for sets in arms]
    of = f"contexts over {n:,} arms"
    return [
        latency(f"recommend, {of}", lambda item: policy.recommend(vectors=item), [(item,) for item in rows]),
        latency(f"recommend, {of}, looked up before", policy.recommend, [(item,) for item in held]),
        latency(f"recommend, {of}, by name", lambda item: policy.recommend(vectors=item), [(item,) for item in names]),
        latency(f"update, {of}", lambda item: policy.update(reward=0.1, vector=item), [(item[[0]],) for item in rows]),
    ]


def file_of(policy: GraphDRLinUCB) -> str:
    """Say how large the file of a policy is and how long it takes to write and read it."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/policy.parquet"
        saved, loaded = seconds(lambda: policy.save(path)), seconds(lambda: GraphDRLinUCB.load(path))
        return f"file of {os.path.getsize(path) / 1e6:.1f} MB, saved in {saved:.2f} s, loaded in {loaded:.2f} s"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.policy", description=__doc__.splitlines()[0])
    parser.add_argument("--tiny", action="store_true", help="300 arms and 20 candidates")
    asked = parser.parse_args()
    print("| microseconds per call | median | p99 | processor, median | processor, p99 |\n|---|---:|---:|---:|---:|")
    calls, setting = measure(TINY if asked.tiny else Size())
    for name, *times in calls:
        print(f"| {name} | {' | '.join(f'{value:,.1f}' for value in times)} |")
    print(f"\n{setting}")


if __name__ == "__main__":
    main()
