"""Experiments: regret curves, panels of instances, and clouds of many problems, from the tidy tables."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from graphdr.show.report.rounding import short, shorts, thinned

POINTS = 4000  # of all curves of an experiment together …
LEAST, MOST = 30, 200  # … and of one curve
BANDS = {"low": "panel_low", "median": "panel_median", "high": "panel_high"}

Papers = Mapping[tuple[str, str], float]  # (problem, method) to the regret that the paper prints


def show(
    spec: dict, curves: pd.DataFrame, measured: dict[str, pd.DataFrame], papers: Papers, labels: Mapping[str, str]
) -> dict:
    """Describe an experiment to the page; ``measured`` are its measurements by data set."""
    parts = {name: spec[name] for name in ("title", "group", "methods", "against", "count")}
    rows = {name: (frame["quantity"] == "regret") & frame["method"].notna() for name, frame in measured.items()}
    regrets = {name: frame[rows[name]] for name, frame in measured.items()}
    if spec["problems"] is None:
        return parts | {"cloud": cloud(regrets, spec["against"], spec["methods"], labels)}
    most = int(np.clip(POINTS // max(1, len(spec["methods"]) * len(spec["problems"])), LEAST, MOST))
    problems = []
    for problem in spec["problems"]:
        lines = curves_of(curves[curves["problem"] == problem["key"]], spec["methods"], most)
        panel = panels(regrets.get(problem["dataset"]), problem["key"], spec["methods"], papers)
        problems.append(problem | lines | {"panel": panel})
    return parts | {"problems": problems}


def curves_of(table: pd.DataFrame, methods: list[str], most: int) -> dict:
    """Return the rounds and, by method, regret, standard error, bound and spread over the instances, thinned."""
    rounds: list[int] = []
    lines: dict[str, dict] = {}
    for method in methods:
        part = table[table["method"] == method].sort_values("t")
        if not len(part):
            continue
        part = part.iloc[thinned(len(part), most)]
        rounds = part["t"].astype(int).tolist()
        line = lines[method] = {"mean": shorts(part["mean"]), "sem": shorts(part["sem"], 2)}
        if (part["panel_high"] > part["panel_low"]).any():
            line |= {name: shorts(part[column]) for name, column in BANDS.items()}
        if part["bound"].notna().any():
            line["bound"] = shorts(part["bound"])
    return {"rounds": rounds, "curves": lines}


def panels(regrets: pd.DataFrame | None, problem: str, methods: list[str], papers: Papers) -> dict:
    """Return by method the final regret on every instance, or of every draw where there is one instance alone."""
    by_method: dict[str, dict] = {}
    for method in methods if regrets is not None else ():
        draws = regrets[(regrets["problem"] == problem) & (regrets["method"] == method)]
        draws = draws.sort_values(["instance", "draw"])
        instances = draws[draws["draw"] == 0]
        if len(instances):
            rows, kind = (instances, "instances") if len(instances) > 1 else (draws, "draws")
            by_method[method] = {"values": shorts(rows["value"]), "of": kind}
            if (problem, method) in papers:
                by_method[method]["paper"] = short(papers[problem, method], 5)
    return by_method


def cloud(regrets: dict[str, pd.DataFrame], against: str, methods: list[str], labels: Mapping[str, str]) -> list[dict]:
    """Pair the regret of one method with that of every other on all problems, on instance 0."""
    points = []
    for dataset, frame in regrets.items():
        first = frame[(frame["instance"] == 0) & (frame["draw"] == 0)]
        wide = first.pivot_table(index="problem", columns="method", values="value", sort=False)
        for method in methods:
            if method != against and {method, against} <= set(wide):
                both = wide[[method, against]].dropna()
                titles = [labels.get(name, name) for name in both.index]
                points.append({"dataset": dataset, "method": method, "titles": titles}
                              | {"x": shorts(both[method]), "y": shorts(both[against])})  # fmt: skip
    return points


def groups(experiments: dict[str, dict], first: dict[str, int], order: list[str]) -> list[dict]:
    """Sort experiments into groups, in the order in which the paper prints their tables (``first``).

    Groups that have a place in ``order`` come first; the others follow by title.
    """
    by_group: dict[str, list[str]] = {}
    for name in sorted(experiments, key=lambda name: (first.get(name, len(first)), name)):
        by_group.setdefault(experiments[name]["group"], []).append(name)
    titles = sorted(by_group, key=lambda title: (order.index(title) if title in order else len(order), title))
    return [{"title": title, "experiments": by_group[title]} for title in titles]
