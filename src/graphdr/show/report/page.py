"""The report as one JSON document, which holds everything that the page shows."""

import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from graphdr import __version__
from graphdr.core.cpu_time import JobCost
from graphdr.core.records import Json
from graphdr.paper import compare
from graphdr.scores import leaderboard
from graphdr.show import palette, story, words
from graphdr.show.report import content
from graphdr.show.report.content import ExperimentSpec, PageTable, ProblemSpec, short
from graphdr.show.tables import Quantity

OURS = "graphdr"  # the method that the story is about
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "pandas", "pyarrow", "matplotlib", "snakemake")


@dataclass(frozen=True)
class DatasetSpec:
    """A data set: its label, parameters and terms, and the problem that represents it."""

    label: str
    observed: bool
    parameters: Json
    problem: str | None
    k: int | None
    licence: str | None = None
    citation: str | None = None
    page: str | None = None
    terms: str | None = None

    def json(self) -> Json:
        """Return the fields as JSON, without terms that the data set does not have."""
        return {name: value for name, value in asdict(self).items() if name in ("problem", "k") or value is not None}


@dataclass(frozen=True)
class HeadlineSpec:
    """The problem and the method of the numbers at the top of the page."""

    experiment: str
    against: str
    problem: ProblemSpec


class ReportSpec(NamedTuple):
    """The report as configured."""

    experiments: dict[str, ExperimentSpec]
    tables: dict[str, PageTable]
    cells: dict[str, dict[str, dict[str, str]]]  # name of our number, by table, row and column
    quantities: dict[str, Quantity]
    labels: dict[str, str]
    datasets: dict[str, DatasetSpec]
    headline: HeadlineSpec | None
    order: list[str]  # of the groups of experiments
    first: list[str]  # claims that the story tells before others
    opt_in: dict[str, str]  # targets that `all` does not build, and their titles
    settings: Json  # the configuration as shown
    styles: dict[str, dict[str, str]]  # of the methods that have one
    verdicts: list[str]
    missing: list[str]  # data sets that are not built

    @property
    def observed(self) -> list[str]:
        """Return the data sets that are not random graphs."""
        return [name for name, spec in self.datasets.items() if spec.observed]


class Built(NamedTuple):
    """The results that the page shows; optional studies are None where they are not built."""

    comparison: pd.DataFrame
    reasons: dict[tuple[str, str, str], str]  # why numbers differ, by table, row and column of the paper
    claims: pd.DataFrame | None  # None on a page of the main comparison alone
    multiverse: pd.DataFrame | None
    calibrated: pd.DataFrame | None  # the table of methods at their best
    leaderboard: pd.DataFrame | None  # ranks over all problems
    tables: dict[str, pd.DataFrame]
    curves: dict[str, pd.DataFrame]  # by experiment
    measurements: dict[str, dict[str, pd.DataFrame]]  # by experiment and data set
    cards: dict[str, Json]
    marks: Mapping[str, Mapping[str, str]]  # by data set, how it differs from the paper's


def document(built: Built, spec: ReportSpec, timings: list[Json]) -> Json:
    """Return everything that the page shows as JSON."""
    lines = content.explained(built.comparison, built.reasons)
    papers = compare.by_our_cell(lines, {name: table.compared for name, table in spec.tables.items()})
    printed = list(dict.fromkeys(built.comparison["artifact"]))
    regrets = content.regrets_of(spec.tables, papers)
    shown = {
        name: content.experiment(part, built.curves[name], built.measurements[name], regrets.get(name, {}), spec.labels)
        for name, part in spec.experiments.items()
    }
    datasets = {}
    for name, card in sorted(built.cards.items()):
        datasets[name] = spec.datasets[name].json() | card | {"marks": built.marks.get(name, {})}
    tables = {}
    for name in [name for name in dict.fromkeys([*printed, *sorted(built.tables)]) if name in built.tables]:
        table = spec.tables[name]
        tables[name] = content.table(name, table, built.tables[name], papers, spec.quantities, spec.labels)
    first: dict[str, int] = {}  # where the paper first prints a number of each experiment
    for place, name in enumerate(printed):
        if name in spec.tables and (experiment := spec.tables[name].experiment):
            first.setdefault(experiment, place)
    counts = compare.headline(lines)
    meanings = {"numbers": words.NUMBERS, "claims": words.CLAIMS}
    board = None
    if built.leaderboard is not None:
        ranks = leaderboard.lines(built.leaderboard, spec.labels)
        board = {"head": leaderboard.HEAD, "lines": ranks, "note": leaderboard.NOTE}
    return {
        "version": __version__,
        "headline": headline(spec.headline, shown, spec.settings["methods"]),
        "story": _story(built, spec),
        "verdicts": {kind: {name: count[name] for name in spec.verdicts} for kind, count in counts.items()},
        "meanings": meanings | {"terms": words.glossary(), "quantities": words.meanings()},
        "whole": built.claims is not None,
        "claims": [] if built.claims is None else content.claims(built.claims, spec.observed, spec.labels),
        "leaderboard": board,
        "groups": content.groups(spec.experiments, first, spec.order),
        "experiments": shown,
        "tables": tables,
        "methods": _methods(spec),
        "datasets": datasets,
        "missing": {name: part.json() for name, part in sorted(spec.datasets.items()) if name not in datasets},
        "apart": spec.opt_in,
        "settings": spec.settings,
        "versions": {"graphdr": __version__, "Python": platform.python_version()}
        | {name: version(name) for name in PACKAGES},
        "machine": machine(),
        "timings": timings,
    }


def colours(document: Json, spec: ReportSpec) -> str:
    """Return the style that gives every method and data set its colour."""
    return palette.css(document["methods"], document["datasets"], spec.styles)


def headline(spec: HeadlineSpec | None, shown: Mapping[str, Json], methods: Mapping[str, Json]) -> Json | None:
    """Compare a method with the next best on the problem of the headline: on every instance, and in the paper."""
    if spec is None:
        return None
    problems = shown.get(spec.experiment, {}).get("problems") or ()
    panels = [problem["panel"] for problem in problems if problem["key"] == spec.problem.key]
    parts = {name: part for panel in panels for name, part in panel.items() if not methods[name].get("control")}
    ours = parts.pop(spec.against, None)
    if ours is None or not parts:
        return None
    regrets = [part["values"] if part["of"] == "instances" else part["values"][:1] for part in parts.values()]
    own = np.asarray(ours["values"] if ours["of"] == "instances" else ours["values"][:1])
    ratios = np.min(regrets, axis=0) / own
    low, median, high = np.quantile(ratios, [0.05, 0.5, 0.95])
    printed = [part["paper"] for part in parts.values() if part.get("paper")]
    paper = min(printed) / ours["paper"] if printed and ours.get("paper") else None
    values = {"median": median, "low": low, "high": high, "first": ratios[0], "paper": paper}
    return asdict(spec) | {"count": len(ratios)} | {name: short(value, 3) for name, value in values.items()}


def _story(built: Built, spec: ReportSpec) -> Json | None:
    if built.claims is None:
        return None
    told = story.tell(built.claims, built.multiverse, spec.observed, spec.first)
    json: Json = {name: [line._asdict() for line in getattr(told, name)] for name in story.SECTIONS}
    json |= {"without_data": told.without_data, "varied": built.multiverse is not None, "best": ""}
    if built.calibrated is not None:
        controls = [name for name, method in spec.settings["methods"].items() if method.get("control")]
        json["best"] = story.best_of(story.winners(built.calibrated, controls, OURS), OURS, spec.labels)
    return json


def _methods(spec: ReportSpec) -> Json:
    """Return the JSON of the methods that are shown."""
    used = sorted({method for experiment in spec.experiments.values() for method in experiment.methods})
    styles = palette.styles(used, spec.styles)
    methods = {}
    for name in used:
        settings = spec.settings["methods"][name]
        methods[name] = {"label": settings["label"], "dash": styles[name].dash}
        methods[name] |= {key: settings[key] for key in ("note", "control") if key in settings}
    return methods


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
