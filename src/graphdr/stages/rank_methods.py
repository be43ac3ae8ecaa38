"""Rank the methods of the leaderboard on every problem and over all of them, and time a round of each."""

from typing import NamedTuple

import pandas as pd

from graphdr.cache import io, paths
from graphdr.core.atomic import write_text
from graphdr.core.rng import stream
from graphdr.scores import leaderboard
from graphdr.show.leaderboard import markdown


class Input(NamedTuple):
    runs: list[str]


class Output(NamedTuple):
    parquet: str = paths.leaderboard("parquet")
    md: str = paths.leaderboard("md")


class Params(NamedTuple):
    played: list[tuple[str, str, str, str, str]]  # problem, method, and file, problem and method of its runs
    titles: dict[str, str]  # of problems, in their order
    labels: dict[str, str]  # of methods
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
