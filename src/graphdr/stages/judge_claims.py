"""Judge claims by what was measured, at the paper's settings or with every one of a grid, and rank methods."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphdr.cache import io, paths
from graphdr.core.atomic import write_text
from graphdr.paper import claims, multiverse, reference

if TYPE_CHECKING:
    import pandas as pd


class Input(NamedTuple):
    paper: str
    measurements: dict[str, list[str]]  # by experiment
    evaluations: dict[str, str]
    runs: dict[str, list[str]]  # by experiment with a grid of settings, or all of methods to be ranked


class Output(NamedTuple):
    parquet: str = paths.judged("{judged}", "parquet")
    md: str = paths.judged("{judged}", "md")


class Params(NamedTuple):
    claims: dict[str, dict[str, Any]]
    problems: dict[str, dict[str, Any]]
    other: list[str]  # marks of data that are not the paper's
    labels: dict[str, str]  # words for names
    variants: dict[str, list[tuple[str, str, dict[str, Any]]]]  # by experiment: name in the runs, method, setting
    places: list[tuple[str, str, str, str, str]]  # experiment and problem of a grid, candidates, both of the paper
    horizons: list[int]
    marks: dict[str, str]  # of claims that are not judged with other settings
    ranked: Sequence[tuple[str, str, str, str, str]] = ()  # problem, method, and file, problem and method of its runs …
    titles: dict[str, str] | None = None  # … the problems in words …
    datasets: dict[str, str] | None = None  # … and their data sets …
    untuned: Sequence[str] = ()  # … and methods without settings


def main(input: Input, output: Output, params: Params) -> None:
    if params.ranked:
        return _rank(output, params)
    words = reference.claims(io.noted(input.paper))
    experiments = {name: io.read_frame("measurements", files) for name, files in input.measurements.items()}
    evaluations = {name: io.read_frame("measurements", [path]) for name, path in input.evaluations.items()}
    other = [dataset for dataset, marks in io.marks().items() if set(marks) & set(params.other)]
    if params.variants:
        decided = _with_every_setting(input, params, experiments, words["claim"].tolist(), other)
        io.write("multiverse", decided, output.parquet)
        write_text(multiverse.markdown(words, decided), output.md)
        print(multiverse.summary(decided)["verdict"].value_counts().to_string())
        return
    table = claims.tidy(experiments, evaluations, params.problems)
    judged = claims.judge_all(words, params.claims, table, other, output.md, params.labels)
    io.write("claims", judged, output.parquet)
    write_text(claims.markdown(judged), output.md)
    print(judged["verdict"].value_counts().to_string())


def _with_every_setting(
    input: Input, params: Params, experiments: "claims.Frames", words: list[str], other: list[str]
) -> "pd.DataFrame":
    """Decide every claim with every setting; those that are marked have one row that says why they are not."""
    import pandas as pd

    grids = {}
    for name, files in input.runs.items():
        facts = experiments[name][experiments[name]["method"].isna()]
        played = multiverse.at_horizons(io.read_frame("runs", files), params.variants[name], params.horizons)
        grids[name] = pd.concat([played, facts], ignore_index=True)
    whole: dict[str, list[pd.DataFrame]] = {}
    for name, problem, candidates, original, stood_for in params.places:
        rows = grids[name][grids[name]["problem"] == problem]
        whole.setdefault(original, []).append(rows.assign(problem=stood_for, with_candidates=candidates))
    frames = {name: pd.concat(parts, ignore_index=True) for name, parts in whole.items()}
    table, parts = claims.tidy(frames, {}, params.problems), []
    for claim in [*words, *(name for name in params.claims if name not in words)]:
        if mark := params.marks.get(claim):
            parts.append(multiverse.marked(claim, mark))
        else:
            parts.append(multiverse.decide(claim, params.claims[claim], table, other))
            print(f"{claim}: {len(parts[-1])} checks", flush=True)
    return pd.concat(parts, ignore_index=True)


def _rank(output: Output, params: Params) -> None:
    """Rank methods on every problem and over all of them."""
    from graphdr.scores import leaderboard

    table = leaderboard.by_problem(leaderboard.games(_finals(params)), params.datasets or {})
    io.write("leaderboard", table, output.parquet)
    write_text(leaderboard.markdown(table, params.titles or {}, params.labels, params.untuned), output.md)
    print(leaderboard.overall(table)[["method", "problems", "ratio", "worst_ratio"]].round(2).to_string(index=False))


def _finals(params: Params) -> "pd.DataFrame":
    """Return the regret at the end of every run, under the names of problem and method here."""
    import pandas as pd

    files = {
        path: io.read("runs", path).to_pandas() for path in dict.fromkeys(path for _, _, path, *_ in params.ranked)
    }
    ends = {}
    for path, runs in files.items():
        runs = runs[(runs["draw"] == 0) & (runs["t"] == runs.groupby("problem")["t"].transform("max"))]
        ends[path] = dict(list(runs.groupby(["problem", "method"], sort=False)))
    parts = [
        ends[path][there, as_method].assign(problem=problem, method=method)
        for problem, method, path, there, as_method in params.ranked
        if (there, as_method) in ends[path]  # a method without data has no runs
    ]
    return pd.concat(parts, ignore_index=True)[["problem", "instance", "seed", "method", "regret"]]
