"""The experiments of the page as JSON: regret curves, regrets by instance, and clouds of many problems."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from graphdr.core.records import Json
from graphdr.show.report.rounding import short, shorts, thinned

POINTS = 4000  # of all curves of an experiment together …
LEAST, MOST = 30, 200  # … and of one curve
BANDS = {"low": "panel_low", "median": "panel_median", "high": "panel_high"}

PaperRegrets = Mapping[tuple[str, str], float]  # regret that the paper prints, by problem and method


@dataclass(frozen=True)
class ProblemSpec:
    """A problem with the factors that its curves depend on most."""

    key: str
    title: str
    dataset: str
    n: int | str
    k: int
    horizon: int
    seeds: int
    instances: int
    draws: int


@dataclass(frozen=True)
class ExperimentSpec:
    """An experiment as configured; its problems are None if they are too many for curves."""

    title: str
    group: str
    methods: list[str]
    against: str
    problems: list[ProblemSpec] | None
    count: int


def show(
    spec: ExperimentSpec,
    curves: pd.DataFrame,
    measurements: Mapping[str, pd.DataFrame],
    papers: PaperRegrets,
    labels: Mapping[str, str],
) -> Json:
    """Return the JSON of an experiment, from its curves and its measurements by data set."""
    regrets = {}
    for dataset, frame in measurements.items():
        regrets[dataset] = frame[(frame["quantity"] == "regret") & frame["method"].notna()]
    parts = {name: getattr(spec, name) for name in ("title", "group", "methods", "against", "count")}
    if spec.problems is None:
        return parts | {"cloud": cloud(regrets, spec, labels)}
    most = int(np.clip(POINTS // max(1, len(spec.methods) * len(spec.problems)), LEAST, MOST))
    problems = []
    for problem in spec.problems:
        json = asdict(problem) | curves_of(curves[curves["problem"] == problem.key], spec.methods, most)
        json["panel"] = {}
        if problem.dataset in regrets:
            frame = regrets[problem.dataset]
            json["panel"] = by_instance(frame[frame["problem"] == problem.key], problem.key, spec.methods, papers)
        problems.append(json)
    return parts | {"problems": problems}


def curves_of(table: pd.DataFrame, methods: list[str], most: int) -> Json:
    """Return the rounds and, by method, regret, standard error, bound and spread over the instances, thinned."""
    rounds: list[int] = []
    lines: dict[str, Json] = {}
    for method in methods:
        part = table[table["method"] == method].sort_values("t")
        if part.empty:
            continue
        part = part.iloc[thinned(len(part), most)]
        rounds = part["t"].astype(int).tolist()
        line = {"mean": shorts(part["mean"]), "sem": shorts(part["sem"], 2)}
        if (part["panel_high"] > part["panel_low"]).any():
            line |= {name: shorts(part[column]) for name, column in BANDS.items()}
        if part["bound"].notna().any():
            line["bound"] = shorts(part["bound"])
        lines[method] = line
    return {"rounds": rounds, "curves": lines}


def by_instance(regrets: pd.DataFrame, problem: str, methods: list[str], papers: PaperRegrets) -> Json:
    """Return by method the final regret on every instance or, with a single instance, of every draw."""
    by_method: dict[str, Json] = {}
    for method in methods:
        draws = regrets[regrets["method"] == method].sort_values(["instance", "draw"])
        instances = draws[draws["draw"] == 0]
        if instances.empty:
            continue
        rows, kind = (instances, "instances") if len(instances) > 1 else (draws, "draws")
        by_method[method] = {"values": shorts(rows["value"]), "of": kind}
        if (problem, method) in papers:
            by_method[method]["paper"] = short(papers[problem, method], 5)
    return by_method


def cloud(regrets: Mapping[str, pd.DataFrame], spec: ExperimentSpec, labels: Mapping[str, str]) -> list[Json]:
    """Pair the regret of one method with that of every other on all problems, on instance 0."""
    points = []
    for dataset, frame in regrets.items():
        first = frame[(frame["instance"] == 0) & (frame["draw"] == 0)]
        wide = first.pivot_table(index="problem", columns="method", values="value", sort=False)
        for method in spec.methods:
            if method != spec.against and {method, spec.against} <= set(wide):
                both = wide[[method, spec.against]].dropna()
                titles = [labels.get(name, name) for name in both.index]
                x, y = shorts(both[method]), shorts(both[spec.against])
                points.append({"dataset": dataset, "method": method, "titles": titles, "x": x, "y": y})
    return points


def groups(experiments: Mapping[str, ExperimentSpec], first: Mapping[str, int], order: list[str]) -> list[Json]:
    """Sort experiments into groups, in the order in which the paper prints their tables (``first``).

    Groups in ``order`` come first; the others follow by title.
    """
    by_group: dict[str, list[str]] = {}
    for name in sorted(experiments, key=lambda name: (first.get(name, len(first)), name)):
        by_group.setdefault(experiments[name].group, []).append(name)
    titles = sorted(by_group, key=lambda title: (order.index(title) if title in order else len(order), title))
    return [{"title": title, "experiments": by_group[title]} for title in titles]
