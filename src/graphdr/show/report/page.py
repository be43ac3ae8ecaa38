"""Put the whole document together: one JSON-like dictionary that holds all that the page shows."""

import pandas as pd

from graphdr import __version__
from graphdr.cache import io
from graphdr.show import palette
from graphdr.show.report import cards, experiments, machine, numbers


def document(input, params, timings: list[dict]) -> dict:
    """Read all inputs of the report and describe them to the page."""
    comparison = io.read("comparison", input.comparison).to_pandas()
    claims = io.read("claims", input.claims).to_pandas()
    papers = numbers.papers_of(comparison, params.tables)
    regrets = numbers.regrets_of(params.tables, papers)
    labels = {name: block["label"] for name, block in params.settings["methods"].items()}
    labels |= {name: spec["label"] for name, spec in params.datasets.items()}
    printed = {artifact: place for place, artifact in enumerate(dict.fromkeys(comparison["artifact"]))}
    order = sorted(input.tables, key=lambda name: (printed.get(name, len(printed)), name))
    made = {name: _frame("table", input.tables[name]) for name in order}
    tables = {
        name: numbers.show(name, params.tables[name], table, papers.get(name, {}), params.quantities, labels)
        for name, table in made.items()
    }
    shown = {
        name: experiments.show(
            spec,
            io.read_frame("curves", input.curves.get(name, [])),
            {dataset: io.read_frame("measurements", paths) for dataset, paths in input.measurements[name].items()},
            regrets.get(name, {}),
        )
        for name, spec in params.experiments.items()
    }
    built = {name: cards.show(params.datasets[name], files) for name, files in sorted(input.datasets.items())}
    marks = io.marks()
    first = _first(printed, params.tables)
    return {
        "version": __version__,
        "headline": headline(params.headline, shown),
        "verdicts": numbers.counts(comparison, params.verdicts),
        "claims": numbers.claims(claims, [name for name, spec in params.datasets.items() if spec["observed"]]),
        "groups": _ordered(experiments.groups(shown, first), params.order),
        "experiments": shown,
        "tables": tables,
        "methods": _methods(params.settings["methods"], shown),
        "datasets": {name: spec | {"marks": marks.get(name, {})} for name, spec in built.items()},
        "missing": {name: spec for name, spec in sorted(params.datasets.items()) if name not in built},
        "apart": params.opt_in,
        "settings": params.settings,
        "versions": {"graphdr": __version__} | machine.versions(),
        "machine": machine.machine(),
        "timings": timings,
    }


def colours(document: dict) -> str:
    """Return the style that gives every method and data set its colour."""
    return palette.css(sorted(document["methods"]), sorted(document["datasets"]))


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
    found: dict[str, int] = {}
    for name, spec in tables.items():
        if name in printed and spec["experiment"]:
            found[spec["experiment"]] = min(printed[name], found.get(spec["experiment"], printed[name]))
    return found


def _ordered(groups: list[dict], order: list[str]) -> list[dict]:
    """Put the groups that have a place in ``order`` first; the others follow by title."""
    return sorted(groups, key=lambda g: (order.index(g["title"]) if g["title"] in order else len(order), g["title"]))


def _methods(methods: dict[str, dict], shown: dict[str, dict]) -> dict[str, dict]:
    used = sorted({method for spec in shown.values() for method in spec["methods"]})
    styles = palette.styles(used)
    return {name: {"label": methods[name]["label"], "dash": styles[name][2]}
            | {key: methods[name][key] for key in ("note", "control") if key in methods[name]}
            for name in used}  # fmt: skip


def _frame(kind: str, path: str) -> pd.DataFrame:
    return io.read(kind, path).to_pandas()
