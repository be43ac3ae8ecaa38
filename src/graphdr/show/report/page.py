"""Put the whole document together: one JSON-like dictionary that holds all that the page shows."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from graphdr import __version__
from graphdr.paper.compare import by_our_cell
from graphdr.paper.compare import headline as distinct
from graphdr.scores import leaderboard
from graphdr.show import palette, story, words
from graphdr.show.report import experiments, machine, numbers
from graphdr.show.report.rounding import short

OURS = "graphdr"  # the method that the story is about
BUILT_BY = {
    "multiverse": "multiverse",
    "calibration": "calibrated",
    "leaderboard": "leaderboard",
}  # targets, and the parameter that says it is built


class Built(NamedTuple):
    """What was built: frames of the comparison, the claims, tables, curves and measurements, and data-set cards."""

    comparison: pd.DataFrame
    reasons: dict[tuple[str, str, str], str]  # why numbers differ, by table, row and column of the paper
    claims: pd.DataFrame | None  # None on a page of the main comparison alone
    multiverse: pd.DataFrame | None  # None where it is not built, as is …
    calibrated: pd.DataFrame | None  # … the table of methods at their best …
    leaderboard: pd.DataFrame | None  # … and their ranks over all problems
    tables: dict[str, pd.DataFrame]
    curves: dict[str, pd.DataFrame]  # by experiment
    measurements: dict[str, dict[str, pd.DataFrame]]  # by experiment and data set
    cards: dict[str, dict]
    marks: dict[str, dict[str, str]]  # by data set, in what it is not the paper's


def document(built: Built, params, timings: list[dict]) -> dict:
    """Describe all that was built to the page."""
    lines = numbers.explained(built.comparison, built.reasons)
    papers = by_our_cell(lines, params.tables)
    regrets = numbers.regrets_of(params.tables, papers)
    printed = {artifact: place for place, artifact in enumerate(dict.fromkeys(built.comparison["artifact"]))}
    order = sorted(built.tables, key=lambda name: (printed.get(name, len(printed)), name))
    cells = papers, params.quantities, params.labels
    tables = {name: numbers.show(name, params.tables[name], built.tables[name], *cells) for name in order}
    shown = {}
    for name, spec in params.experiments.items():
        measured = built.curves[name], built.measurements[name]
        shown[name] = experiments.show(spec, *measured, regrets.get(name, {}), params.labels)
    observed = [name for name, spec in params.datasets.items() if spec["observed"]]
    marks = {name: {"marks": built.marks.get(name, {})} for name in built.cards}
    datasets = {name: params.datasets[name] | card | marks[name] for name, card in sorted(built.cards.items())}
    return {
        "version": __version__,
        "headline": headline(params.headline, shown, params.settings["methods"]),
        "story": _story(built, observed, params),
        "verdicts": {kind: {name: n[name] for name in params.verdicts} for kind, n in distinct(lines).items()},
        "meanings": {"numbers": words.NUMBERS, "claims": words.CLAIMS}
        | {"terms": words.glossary(), "quantities": words.meanings()},
        "whole": built.claims is not None,
        "claims": [] if built.claims is None else numbers.claims(built.claims, observed, params.labels),
        "leaderboard": _leaderboard(built.leaderboard, params.labels),
        "groups": experiments.groups(shown, _first(printed, params.tables), params.order),
        "experiments": shown,
        "tables": tables,
        "methods": _methods(params, shown),
        "datasets": datasets,
        "missing": {name: spec for name, spec in sorted(params.datasets.items()) if name not in datasets},
        "apart": {
            name: title for name, title in params.opt_in.items() if not getattr(params, BUILT_BY.get(name, ""), "")
        },
        "settings": params.settings,
        "versions": {"graphdr": __version__} | machine.versions(),
        "machine": machine.machine(),
        "timings": timings,
    }


def colours(document: dict, params) -> str:
    """Return the style that gives every method and data set its colour."""
    return palette.css(document["methods"], document["datasets"], params.styles)


def headline(spec: dict | None, shown: dict[str, dict], methods: dict[str, dict]) -> dict | None:
    """Compare a method with the next best on the problem that stands for all: on every instance, and in the paper."""
    problems = shown.get(spec["experiment"], {}).get("problems") if spec else None
    for problem in problems or ():
        if problem["key"] == spec["problem"]["key"] and spec["against"] in problem["panel"]:
            panel = {name: part for name, part in problem["panel"].items() if not methods[name].get("control")}
            others = [name for name in panel if name != spec["against"]]
            if not others:
                return None
            regrets = {name: part["values"] if part["of"] == "instances" else part["values"][:1]
                       for name, part in panel.items()}  # fmt: skip
            ratios = np.min([regrets[name] for name in others], axis=0) / np.asarray(regrets[spec["against"]])
            low, median, high = np.quantile(ratios, [0.05, 0.5, 0.95])
            paper = {name: part["paper"] for name, part in panel.items() if part.get("paper")}
            theirs = [regret for name, regret in paper.items() if name != spec["against"]]
            printed = min(theirs) / paper[spec["against"]] if theirs and spec["against"] in paper else None
            told = {"median": median, "low": low, "high": high, "first": ratios[0], "paper": printed}
            return spec | {"count": len(ratios)} | {name: short(value, 3) for name, value in told.items()}
    return None


def _story(built: Built, observed: list[str], params) -> dict | None:
    if built.claims is None:
        return None
    told = story.tell(built.claims, built.multiverse, observed, params.first)
    lists = {name: [line._asdict() for line in getattr(told, name)] for name in told._fields[:-1]}
    lists |= {"without_data": told.without_data, "varied": built.multiverse is not None, "best": ""}
    if built.calibrated is not None:
        controls = [name for name, method in params.settings["methods"].items() if method.get("control")]
        found = story.winners(built.calibrated, controls, OURS)
        lists["best"] = story.best_of(found, OURS, params.labels)
    return lists


def _leaderboard(overall: pd.DataFrame | None, labels: dict[str, str]) -> dict | None:
    if overall is None:
        return None
    return {"head": leaderboard.HEAD, "lines": leaderboard.lines(overall, labels), "note": leaderboard.NOTE}


def _first(printed: dict[str, int], tables: dict[str, dict]) -> dict[str, int]:
    """Return where the paper first prints a number of each experiment."""
    latest_first = sorted((name for name in tables if name in printed), key=printed.get, reverse=True)
    return {tables[name]["experiment"]: printed[name] for name in latest_first if tables[name]["experiment"]}


def _methods(params, shown: dict[str, dict]) -> dict[str, dict]:
    blocks = params.settings["methods"]
    used = sorted({method for spec in shown.values() for method in spec["methods"]})
    styles = palette.styles(used, params.styles)
    return {name: {"label": blocks[name]["label"], "dash": styles[name].dash}
            | {key: blocks[name][key] for key in ("note", "control") if key in blocks[name]}
            for name in used}  # fmt: skip
