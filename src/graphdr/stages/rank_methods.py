"""Rank the methods of the leaderboard on every problem and over all of them, and time a round of each."""

import time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from graphdr.bandit import environment, methods, rewards
from graphdr.bandit.linucb import Run
from graphdr.bandit.radii import SPECTRAL
from graphdr.cache import io, paths
from graphdr.core.atomic import write_text
from graphdr.core.rng import stream
from graphdr.graphs import model
from graphdr.graphs.arm_features import IDENTITY, Basis
from graphdr.scores import leaderboard
from graphdr.show.leaderboard import markdown

NODES, COLUMNS, NEIGHBOURS = 1500, 64, 10  # of the made-up problem that every method is timed on …
TIMED = {
    "arms": 10, "candidates": "uniform", "horizon": 20000, "noise": 0.1, "ridge": 1.0, "alpha": 0.1, "k": 10,
    "delta": 0.05, "k_grid": [1, 2, 3, 5, 8, 12, 20], "checkpoint": 20000,
}  # fmt: skip
FEW = 200  # … after so many rounds, which compile what it needs


class Input(NamedTuple):
    runs: list[str]


class Output(NamedTuple):
    parquet: str = paths.leaderboard("parquet")
    md: str = paths.leaderboard("md")


class Params(NamedTuple):
    played: list[tuple[str, str, str, str, str]]  # problem, method, and file, problem and method of its runs
    titles: dict[str, str]  # of problems, in their order
    labels: dict[str, str]  # of methods
    methods: dict[str, dict[str, Any]]
    untuned: list[str]  # methods without settings, which are shown for every problem
    seed: int


def main(input: Input, output: Output, params: Params) -> None:
    finals = _finals(params)
    table = leaderboard.by_problem(leaderboard.games(finals), stream(params.seed, "leaderboard games"))
    table["microseconds"] = table["method"].map(_timed(params))
    io.write("leaderboard", table, output.parquet)
    overall = leaderboard.overall(table)
    write_text(markdown(table, overall, params.titles, params.labels, params.untuned), output.md)
    print(overall[["method", "problems", "ratio", "worst_ratio", "rank"]].round(2).to_string(index=False))


def _finals(params: Params) -> pd.DataFrame:
    """Return the regret at the end of every run, under the names of problem and method here."""
    files = {
        path: io.read("runs", path).to_pandas() for path in dict.fromkeys(path for _, _, path, *_ in params.played)
    }
    ends = {}
    for path, runs in files.items():
        runs = runs[(runs["draw"] == 0) & (runs["t"] == runs.groupby("problem")["t"].transform("max"))]
        ends[path] = dict(list(runs.groupby(["problem", "method"], sort=False)))
    parts = [
        ends[path][there, as_method].assign(problem=problem, method=method)
        for problem, method, path, there, as_method in params.played
        if (there, as_method) in ends[path]  # a method without data has no runs
    ]
    return pd.concat(parts, ignore_index=True)[["problem", "instance", "seed", "method", "regret"]]


def _timed(params: Params) -> dict[str, float]:
    """Return the microseconds that every method takes for a round, refits included, on random columns and a ring."""
    rng = stream(params.seed, "leaderboard time")
    vectors, _ = np.linalg.qr(rng.standard_normal((NODES, COLUMNS)))
    basis = Basis(vectors, np.linspace(0.0, 1.0, COLUMNS), np.zeros(COLUMNS))
    nodes = np.arange(NODES)
    ends = [(nodes, (nodes + step) % NODES) for step in range(1, 1 + NEIGHBOURS // 2)]
    graph = model.from_edges(NODES, *(np.concatenate(side) for side in zip(*ends, strict=True)))
    laplacian, edges = model.laplacian(graph).toarray(), environment.edges_of(graph.adjacency)
    theta = rewards.smooth(vectors[:, 1:11], rng)
    arms, noise = environment.draw(params.seed, TIMED, NODES, 0, 0)
    times = {}
    for name, method in params.methods.items():
        grid = methods.over_grid(method["policy"], method["k"])
        k = max(TIMED["k_grid"]) if grid else TIMED["k"]
        given = methods.arms(method, TIMED, None if method["basis"] == IDENTITY else basis, laplacian, k, edges)
        for rounds in (FEW, TIMED["horizon"]):
            problem = TIMED | {"horizon": rounds, "checkpoint": rounds}
            inputs = methods.spectral_inputs(problem, given) if method["radius"] == SPECTRAL else None
            met = environment.Stream(arms[:rounds], noise[:rounds])
            run = Run(theta, met, given.features, given.v0_inverse, None, given.roughness, given.edges)
            luck = environment.Luck(params.seed, problem, NODES, 0, 0)
            begin = time.perf_counter()
            methods.play(method, problem, [run], [luck], inputs)
            times[name] = 1e6 * (time.perf_counter() - begin) / rounds
    return times
