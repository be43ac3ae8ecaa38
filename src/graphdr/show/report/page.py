"""Put the whole document together: one JSON-like dictionary that holds all that the page shows."""

from typing import NamedTuple

import pandas as pd

from graphdr import __version__
from graphdr.paper.compare import by_our_cell
from graphdr.show import palette
from graphdr.show.report import experiments, machine, numbers


class Built(NamedTuple):
    """What was built: frames of the comparison, the claims, tables, curves and measurements, and data-set cards."""

    comparison: pd.DataFrame
    claims: pd.DataFrame | None  # None on a page of the main comparison alone
    tables: dict[str, pd.DataFrame]
    curves: dict[str, pd.DataFrame]  # by experiment
    measurements: dict[str, dict[str, pd.DataFrame]]  # by experiment and data set
    cards: dict[str, dict]
    marks: dict[str, dict[str, str]]  # by data set, in what it is not the paper's


def document(built: Built, params, timings: list[dict]) -> dict:
    """Describe all that was built to the page."""
    papers = by_our_cell(built.comparison.to_dict("records"), params.tables)
    regrets = numbers.regrets_of(params.tables, papers)
    labels = {name: block["label"] for name, block in params.settings["methods"].items()}
    labels |= {name: spec["label"] for name, spec in params.datasets.items()}
    printed = {artifact: place for place, artifact in enumerate(dict.fromkeys(built.comparison["artifact"]))}
    order = sorted(built.tables, key=lambda name: (printed.get(name, len(printed)), name))
    cells = papers, params.quantities, labels
    tables = {name: numbers.show(name, params.tables[name], built.tables[name], *cells) for name in order}
    shown = {}
    for name, spec in params.experiments.items():
        shown[name] = experiments.show(spec, built.curves[name], built.measurements[name], regrets.get(name, {}))
    observed = [name for name, spec in params.datasets.items() if spec["observed"]]
    marks = {name: {"marks": built.marks.get(name, {})} for name in built.cards}
    datasets = {name: params.datasets[name] | card | marks[name] for name, card in sorted(built.cards.items())}
    return {
        "version": __version__,
        "headline": headline(params.headline, shown),
        "verdicts": numbers.counts(built.comparison, params.verdicts),
        "whole": built.claims is not None,
        "claims": [] if built.claims is None else numbers.claims(built.claims, observed),
        "groups": experiments.groups(shown, _first(printed, params.tables), params.order),
        "experiments": shown,
        "tables": tables,
        "methods": _methods(params, shown),
        "datasets": datasets,
        "missing": {name: spec for name, spec in sorted(params.datasets.items()) if name not in datasets},
        "apart": params.opt_in,
        "settings": params.settings,
        "versions": {"graphdr": __version__} | machine.versions(),
        "machine": machine.machine(),
        "timings": timings,
    }


def colours(document: dict, params) -> str:
    """Return the style that gives every method and data set its colour."""
    return palette.css(document["methods"], document["datasets"], params.styles)


def headline(spec: dict | None, shown: dict[str, dict]) -> dict | None:
    """Return the final regret of every method on the problem that stands for all, the lowest first."""
    problems = shown.get(spec["experiment"], {}).get("problems") if spec else None
    for problem in problems or ():
        if problem["key"] == spec["problem"]["key"] and problem["panel"]:
            ends = {method: panel["values"][0] for method, panel in problem["panel"].items()}
            return spec | {"regrets": dict(sorted(ends.items(), key=lambda item: item[1]))}
    return None


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
