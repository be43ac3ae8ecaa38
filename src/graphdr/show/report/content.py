"""The parts of the page as JSON: experiments, tables beside the paper's numbers, claims, data sets, and its build."""

import math
import os
import platform
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from graphdr import __version__
from graphdr.core.cpu_time import JobCost
from graphdr.core.errors import elide
from graphdr.core.records import Json
from graphdr.paper.compare import Line, Place
from graphdr.paper.verdicts import verdict_kind
from graphdr.scores import cells
from graphdr.show import palette, tables, words
from graphdr.show.story import REAL, SYNTHETIC
from graphdr.show.tables import TableSpec

if TYPE_CHECKING:
    from graphdr.graphs.arm_features import Basis

GROUPS = ("Synthetic graphs", "Data sets")  # of experiments that belong to no study, and come first
POINTS = 4000  # of all curves of an experiment together …
LEAST, MOST = 30, 200  # … and of one curve
BANDS = {"low": "panel_low", "median": "panel_median", "high": "panel_high"}
CLAIM = ("claim", "where", "statement", "criterion", "measured")
COMPONENTS = 30  # of a spectrum
NODES = 1500  # points of a map
NAMES = 5  # items at each end of u_2
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "pandas", "pyarrow", "matplotlib", "snakemake")
LONG = 80  # letters of a name

Labels = Mapping[str, str]
Lines = Mapping[Place, Line]  # of the comparison, by our cell
PaperRegrets = Mapping[tuple[str, str], float]  # regret that the paper prints, by problem and method


# Fewer digits and fewer points keep the page small.


def short(value: float | None, digits: int = 4) -> float | int | None:
    """Round to significant digits; NaN and infinity become None, because JSON has neither."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded


def shorts(values: ArrayLike, digits: int = 4) -> list[float | int | None]:
    """Round every value to significant digits."""
    return [short(value, digits) for value in np.asarray(values, float).tolist()]


def thinned(size: int, most: int) -> np.ndarray:
    """Return at most ``most`` positions out of ``size``, evenly spaced, the first and the last among them."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int))


# Experiments


def experiment(
    spec: Json,
    curves: pd.DataFrame,
    measurements: Mapping[str, pd.DataFrame],
    papers: PaperRegrets,
    labels: Labels,
) -> Json:
    """Add its curves and its regrets, or a cloud of points, to an experiment; measurements are by data set."""
    regrets = {name: frame[frame["quantity"] == "regret"] for name, frame in measurements.items()}
    if "problems" not in spec:
        return spec | {"cloud": cloud(regrets, spec, labels)}
    methods, problems = spec["methods"], []
    most = int(np.clip(POINTS // max(1, len(methods) * len(spec["problems"])), LEAST, MOST))
    for problem in spec["problems"]:
        shown = problem | curves_of(curves[curves["problem"] == problem["key"]], methods, most)
        frame = regrets.get(problem["dataset"])
        shown["panel"] = {} if frame is None else by_instance(frame, problem["key"], methods, papers)
        problems.append(shown)
    return spec | {"problems": problems}


def curves_of(table: pd.DataFrame, methods: list[str], most: int) -> Json:
    """Return the rounds and, by method, regret, standard error, bound and spread over the instances, thinned."""
    json: Json = {"rounds": [], "curves": {}}
    for method in methods:
        part = table[table["method"] == method].sort_values("t")
        if part.empty:
            continue
        part = part.iloc[thinned(len(part), most)]
        line = {"mean": shorts(part["mean"]), "sem": shorts(part["sem"], 2)}
        if (part["panel_high"] > part["panel_low"]).any():
            line |= {name: shorts(part[column]) for name, column in BANDS.items()}
        if part["bound"].notna().any():
            line["bound"] = shorts(part["bound"])
        json["rounds"], json["curves"][method] = part["t"].astype(int).tolist(), line
    return json


def by_instance(regrets: pd.DataFrame, problem: str, methods: list[str], papers: PaperRegrets) -> Json:
    """Return by method the final regret on every instance or, with a single instance, of every draw."""
    by_method: dict[str, Json] = {}
    for method in methods:
        rows = regrets[(regrets["problem"] == problem) & (regrets["method"] == method)]
        rows = rows.sort_values(["instance", "draw"])
        instances = rows[rows["draw"] == 0]
        if instances.empty:
            continue
        rows, kind = (instances, "instances") if len(instances) > 1 else (rows, "draws")
        by_method[method] = {"values": shorts(rows["value"]), "of": kind}
        if (problem, method) in papers:
            by_method[method]["paper"] = short(papers[problem, method], 5)
    return by_method


def cloud(regrets: Mapping[str, pd.DataFrame], spec: Json, labels: Labels) -> list[Json]:
    """Pair the regret of one method with that of every other on all problems, on instance 0."""
    points, against = [], spec["against"]
    for dataset, frame in regrets.items():
        first = frame[(frame["instance"] == 0) & (frame["draw"] == 0)]
        wide = first.pivot_table(index="problem", columns="method", values="value", sort=False)
        for method in spec["methods"]:
            if method != against and {method, against} <= set(wide):
                both = wide[[method, against]].dropna()
                titles = [labels.get(name, name) for name in both.index]
                x, y = shorts(both[method]), shorts(both[against])
                points.append({"dataset": dataset, "method": method, "titles": titles, "x": x, "y": y})
    return points


def groups(experiments: Mapping[str, Json], first: Mapping[str, int]) -> list[Json]:
    """Sort experiments into groups, in the order in which the paper prints their tables (``first``)."""
    by_group: dict[str, list[str]] = {}
    for name in sorted(experiments, key=lambda name: (first.get(name, len(first)), name)):
        by_group.setdefault(experiments[name]["group"], []).append(name)
    titles = sorted(by_group, key=lambda title: (title not in GROUPS, title != GROUPS[0], title))
    return [{"title": title, "experiments": by_group[title]} for title in titles]


# Tables, beside the paper's numbers


def explained(comparison: pd.DataFrame, reasons: Mapping[tuple[str, str, str], str]) -> list[dict[Any, Any]]:
    """Return the lines of the comparison, with the reason why a number differs if there is one.

    A reason for a row or column that is empty is about all of them.
    """
    lines: list[dict[Any, Any]] = comparison.to_dict("records")
    for line in lines:
        places = [(line["artifact"], row, column) for row in (line["row"], "") for column in (line["column"], "")]
        if line["verdict"] == "differs" and (keys := [place for place in places if place in reasons]):
            line["why"] = reasons[keys[0]]
    return lines


def papers_regrets(name: str, spec: TableSpec, papers: Lines) -> dict[tuple[str, str], float]:
    """Return the final regrets that the paper prints in a table, by problem and method."""
    regrets = {}
    for row, (column, cell) in product(spec.row_keys, cells.parse_columns(spec.columns)):
        line, key = papers.get(Place(name, row.label, column)), cell.key or row.method
        if (cell.quantity, cell.statistic) == ("regret", "value") and line is not None and key is not None:
            regrets[row.problem, key] = line["paper"]
    return regrets


def table(name: str, spec: TableSpec, built: pd.DataFrame, papers: Lines, labels: Labels) -> Json:
    """Return the JSON of a table: the texts of every cell, with the paper's number and verdict."""
    best = tables.best_cells(built, spec)
    rows = []
    for row, entries in tables.grid(built, spec).items():
        texts = []
        for entry, shown in entries:
            place = Place(name, row, entry["column"])
            json = _ours(entry, shown) | (_papers(papers[place]) if place in papers else {})
            texts.append(json | ({"best": True} if place[1:] in best else {}))
        rows.append({"label": labels.get(row, row), "key": row, "cells": texts})
    head = []
    for column, cell in cells.parse_columns(spec.columns):
        quantity = cells.heading(cell, spec.quantities[cell.quantity].label)
        of = None if cell.key is None else labels.get(cell.key, cell.key)
        head.append({"column": column, "quantity": quantity, "key": cell.quantity, "of": of})
    heading = words.FACTORS.get(spec.heading, spec.heading)
    return {"key": name, "head": head, "rows": rows, "caption": spec.caption, "heading": heading}


def _ours(entry: Mapping[Any, Any], shown: tables.Shown | None) -> Json:
    if shown is None:
        return {"none": "no data" if entry["n"] == 0 else "–"}
    spread = shown.spread and [_minus(part) for part in shown.spread]
    json = {"value": _minus(shown.value), "sem": shown.sem, "panel": spread}
    return {name: text for name, text in json.items() if text is not None}


def _papers(line: Line) -> Json:
    json: Json = {"paper": _minus(f"{line['paper']:.6g}"), "verdict": line["verdict"]}
    if not np.isnan(line["paper_sem"]):
        json["paper_sem"] = f"{line['paper_sem']:.4g}"
    if not np.isnan(line["ratio"]):
        json["ratio"] = f"{line['ratio']:.2f}"
    if not np.isnan(line["ours"]):
        json["both"] = [short(line["paper"], 6), short(line["ours"], 6)]
    return json | ({"why": line["why"]} if line.get("why") else {})


def _minus(text: str) -> str:
    return text.replace("-", "−")


# Claims


def claims(judged: pd.DataFrame, observed: Collection[str], labels: Labels) -> list[Json]:
    """Return the JSON of the claims, each with the kind of its verdict and the kinds of its data."""
    lines = []
    for line in judged.to_dict("records"):
        datasets = [name for name in f"{line['available']}, {line['missing']}".split(", ") if name]
        named = {name: labels[name] for name in datasets if name in labels}
        kinds = {REAL if name in observed else SYNTHETIC for name in datasets}
        word = verdict_kind(line["verdict"])
        note = line["verdict"].partition(word)[2].strip()
        note = note.replace("available", "data sets").replace("missing:", "not counted:")
        build = line["build"].split("`")
        build[::2] = [_labelled(part, named) for part in build[::2]]  # the others are commands
        json = {name: line[name] for name in CLAIM}
        json |= {"word": word, "share": short(line["share"], 3), "kinds": sorted(kinds, reverse=True)}
        lines.append(json | {"note": _labelled(note, named), "build": build})
    return lines


def _labelled(text: str, labels: Labels) -> str:
    """Replace the names of data sets by their labels."""
    return re.sub(r"\w+", lambda match: labels.get(match[0], match[0]), text)


# Data sets


def card(edges: int, basis: "Basis", theta: np.ndarray, titles: Sequence[str | None] | None) -> Json:
    """Return the JSON of a graph with its basis (n x components) and reward.

    A map places nodes at their entries of u_2 and u_3, with their reward in units of its typical size, 1/sqrt(n); the
    ends are the nodes with the lowest and with the highest entries of u_2.
    """
    vectors, n = basis.vectors, len(theta)
    names = [elide(title or "", LONG) for title in titles] if titles else None
    json: Json = {"nodes": n, "edges": edges, "degree": short(2 * edges / max(n, 1), 3)}
    json["spectrum"] = shorts(np.abs(basis.values[:COMPONENTS]))
    json["energy"] = shorts(energies(vectors[:, :COMPONENTS], theta))
    if vectors.shape[1] > 2:
        kept = thinned(n, NODES)
        json["map"] = {"x": shorts(vectors[kept, 1], 3), "y": shorts(vectors[kept, 2], 3)}
        json["map"]["reward"] = shorts(theta[kept] * np.sqrt(n), 3)
        if names:
            json["map"]["titles"] = [names[node] for node in kept]
    if names is not None and vectors.shape[1] > 1:
        order = np.argsort(vectors[:, 1], kind="stable")
        json["ends"] = [[names[node] for node in part] for part in (order[:NAMES], order[::-1][:NAMES])]
    return json


def energies(vectors: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return ||U_k^T theta||^2 for k = 0, 1, …, with the convention u_2..u_{k+1}, as a share of ||theta||^2."""
    parts = (vectors[:, 1:].T @ theta) ** 2 / max(float(theta @ theta), np.finfo(float).tiny)
    return np.concatenate([[0.0], np.cumsum(parts)])


# The numbers at the top, the looks of methods, and how the page was built


def headline(spec: Json | None, shown: Mapping[str, Json], methods: Mapping[str, Json]) -> Json | None:
    """Compare a method with the next best on the problem of the headline: on every instance, and in the paper."""
    if spec is None:
        return None
    problems = shown.get(spec["experiment"], {}).get("problems") or ()
    panels_shown = [problem["panel"] for problem in problems if problem["key"] == spec["problem"]["key"]]
    parts = {name: part for panel in panels_shown for name, part in panel.items() if not methods[name].get("control")}
    ours = parts.pop(spec["against"], None)
    if ours is None or not parts:
        return None
    regrets = [part["values"] if part["of"] == "instances" else part["values"][:1] for part in parts.values()]
    our_regrets = np.asarray(ours["values"] if ours["of"] == "instances" else ours["values"][:1])
    ratios = np.min(regrets, axis=0) / our_regrets
    low, median, high = np.quantile(ratios, [0.05, 0.5, 0.95])
    printed = [part["paper"] for part in parts.values() if part.get("paper")]
    paper = min(printed) / ours["paper"] if printed and ours.get("paper") else None
    values = {"median": median, "low": low, "high": high, "first": ratios[0], "paper": paper}
    return spec | {"count": len(ratios)} | {name: short(value, 3) for name, value in values.items()}


def methods(
    experiments: Iterable[Json], settings: Mapping[str, Json], looks: Mapping[str, Mapping[str, str]]
) -> dict[str, Json]:
    """Return the JSON of the methods of experiments."""
    used = sorted({method for experiment in experiments for method in experiment["methods"]})
    shown = {}
    for name, style in palette.styles(used, looks).items():
        optional = {key: settings[name][key] for key in ("note", "control") if key in settings[name]}
        shown[name] = {"label": settings[name]["label"], "dash": style.dash} | optional
    return shown


def versions() -> dict[str, str]:
    """Return the versions of the software that made the page."""
    first = {"graphdr": __version__, "Python": platform.python_version()}
    return first | {name: version(name) for name in PACKAGES}


def machine() -> dict[str, str]:
    """Describe the machine that the page was made on."""
    processor = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        processor = names[0] if names else platform.machine()
    except OSError:  # another system than Linux
        pass
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return {"processor": processor, "cores": str(os.cpu_count()), "system": system}


def timings(jobs: Iterable[JobCost]) -> list[Json]:
    """Sum the costs of jobs by rule: jobs, seconds, the longest job, the largest memory (MB)."""
    lines = []
    for rule, costs in pd.DataFrame(jobs, columns=JobCost._fields).groupby("stage", sort=False):
        seconds, memory = costs["seconds"], costs["peak_mb"].max()
        line = {"rule": rule, "jobs": len(costs), "seconds": round(float(seconds.sum()), 1)}
        lines.append(line | {"longest": round(float(seconds.max()), 1), "memory": round(float(memory))})
    return sorted(lines, key=lambda line: -line["seconds"])
