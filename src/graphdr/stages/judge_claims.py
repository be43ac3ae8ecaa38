"""Judge claims by what was measured, at the paper's settings or with every one of a grid, and rank methods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from graphdr.cache import io, paths
from graphdr.core.atomic import write_text
from graphdr.paper import claims, multiverse, reference
from graphdr.paper.claims import ClaimSpec
from graphdr.scores import leaderboard
from graphdr.store.problems import StoredRuns, final_regrets

if TYPE_CHECKING:
    import pandas as pd


class Input(NamedTuple):
    paper: str = ""
    measurements: Mapping[str, list[str]] = {}  # by experiment
    evaluations: Mapping[str, str] = {}
    runs: Mapping[str, list[str]] = {}  # by experiment with a grid of settings, or all runs of ranked methods


class Output(NamedTuple):
    parquet: str = paths.judged("{judged}", "parquet")
    md: str = paths.judged("{judged}", "md")


class Place(NamedTuple):
    """A problem of a grid, and the problem of the paper's experiment that it repeats."""

    experiment: str
    problem: str
    candidates: str
    original_experiment: str
    original_problem: str


@dataclass(frozen=True)
class SettingsGrid:
    """How claims are judged with every setting of the grids."""

    variants: dict[str, list[tuple[str, str, dict[str, float]]]]  # by experiment: name in the runs, method, setting
    places: list[Place]
    horizons: list[int]
    marks: dict[str, str]  # of claims that are not judged with other settings


@dataclass(frozen=True)
class Ranking:
    """How the leaderboard ranks methods."""

    runs: list[tuple[str, str, StoredRuns]]  # by problem and method
    titles: dict[str, str]  # of problems
    datasets: dict[str, str]  # of problems
    untuned: list[str]  # methods without settings


class Params(NamedTuple):
    labels: dict[str, str]  # words for names
    claims: Mapping[str, ClaimSpec] = {}
    problems: Mapping[str, Mapping[str, object]] = {}  # factors that checks select by
    other: Sequence[str] = ()  # marks of data that are not the paper's
    grid: SettingsGrid | None = None
    ranking: Ranking | None = None


def main(input: Input, output: Output, params: Params) -> None:
    if ranking := params.ranking:
        table = leaderboard.by_problem(leaderboard.games(final_regrets(ranking.runs)), ranking.datasets)
        text = leaderboard.markdown(table, ranking.titles, params.labels, ranking.untuned)
        shown = leaderboard.overall(table)[["method", "problems", "ratio", "worst_ratio"]].round(2)
        return _write("leaderboard", table, text, shown.to_string(index=False), output)
    words = reference.claims(io.record_input(input.paper))
    experiments = {name: io.read_frame("measurements", files) for name, files in input.measurements.items()}
    evaluations = {name: io.read_frame("measurements", [path]) for name, path in input.evaluations.items()}
    other = [dataset for dataset, marks in io.marks().items() if set(marks) & set(params.other)]
    if params.grid:
        table = claims.tidy(_played_again(input, params.grid, experiments), {}, dict(params.problems))
        decided = _decide_with_every_setting(words["claim"].tolist(), params, params.grid.marks, table, other)
        verdicts = multiverse.summary(decided)["verdict"].value_counts().to_string()
        return _write("multiverse", decided, multiverse.markdown(words, decided), verdicts, output)
    table = claims.tidy(experiments, evaluations, dict(params.problems))
    judged = claims.judge_all(words, dict(params.claims), table, other, output.md, params.labels)
    return _write("claims", judged, claims.markdown(judged), judged["verdict"].value_counts().to_string(), output)


def _write(kind: str, table: "pd.DataFrame", text: str, summary: str, output: Output) -> None:
    io.write(kind, table, output.parquet)
    write_text(text, output.md)
    print(summary)


def _played_again(input: Input, grid: SettingsGrid, experiments: "claims.Frames") -> "claims.Frames":
    """Return the measurements with every setting, by the experiment of the paper that was repeated."""
    import pandas as pd

    measured = {}
    for name, files in input.runs.items():
        facts = experiments[name][experiments[name]["method"].isna()]
        played = multiverse.at_horizons(io.read_frame("runs", files), grid.variants[name], grid.horizons)
        measured[name] = pd.concat([played, facts], ignore_index=True)
    parts: dict[str, list[pd.DataFrame]] = {}
    for place in grid.places:
        rows = measured[place.experiment]
        rows = rows[rows["problem"] == place.problem]
        rows = rows.assign(problem=place.original_problem, with_candidates=place.candidates)
        parts.setdefault(place.original_experiment, []).append(rows)
    return {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items()}


def _decide_with_every_setting(
    paper_claims: list[str], params: Params, reasons: dict[str, str], table: "pd.DataFrame", other_data: list[str]
) -> "pd.DataFrame":
    """Decide every claim, those of the paper first: one row for every setting of the methods.

    ``table`` holds the measurements with every setting. ``reasons`` says why some claims are not decided again: they
    have one row with the reason. ``other_data`` names the data sets that are not the paper's, which do not count.
    """
    import pandas as pd

    parts = []
    for claim in dict.fromkeys([*paper_claims, *params.claims]):
        if claim in reasons:
            parts.append(multiverse.marked(claim, reasons[claim]))
        else:
            parts.append(multiverse.decide(claim, params.claims[claim], table, other_data))
            print(f"{claim}: decided with {len(parts[-1])} settings", flush=True)
    return pd.concat(parts, ignore_index=True)
