"""The tables and claims of the page as JSON: our numbers with the paper's, and verdicts."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from graphdr.core.records import Json
from graphdr.paper.compare import ComparedTable, Line, Place
from graphdr.paper.claims import verdict_kind
from graphdr.scores import cells
from graphdr.show import tables
from graphdr.show.report.rounding import short
from graphdr.show.story import REAL, SYNTHETIC
from graphdr.show.tables import Quantity

CLAIM = ("claim", "where", "statement", "criterion", "measured")
Lines = Mapping[Place, Line]  # of the comparison, by our cell


@dataclass(frozen=True)
class PageTable:
    """A table as the report shows it; ``rows`` are triples of label, problem and method."""

    caption: str
    heading: str
    columns: list[dict[str, str]]
    bold: str | None
    controls: list[str]
    rows: list[tuple[str, str, str | None]]
    experiment: str | None
    compared: ComparedTable


def regrets_of(specs: Mapping[str, PageTable], papers: Lines) -> dict[str | None, dict[tuple[str, str], float]]:
    """Return the final regrets that the paper prints, by experiment, then by problem and method."""
    regrets: dict[str | None, dict[tuple[str, str], float]] = {}
    for name, spec in specs.items():
        shown = [
            (column, cell)
            for column, cell in cells.parse_columns(spec.columns)
            if cell.quantity == "regret" and cell.statistic == "value"
        ]
        for row, problem, method in spec.rows:
            for column, cell in shown:
                line = papers.get(Place(name, row, column))
                key = cell.key or method
                if line is not None and key is not None:
                    regrets.setdefault(spec.experiment, {})[problem, key] = line["paper"]
    return regrets


def show(
    name: str,
    spec: PageTable,
    table: pd.DataFrame,
    papers: Lines,
    quantities: Mapping[str, Quantity],
    labels: Mapping[str, str],
) -> Json:
    """Return the JSON of a table: the texts of every cell, with the paper's number and verdict."""
    columns = cells.parse_columns(spec.columns)
    best = tables.best_cells(table, spec, quantities)
    entries = {(entry["row"], entry["column"]): entry for entry in table.to_dict("records")}
    rows = []
    for row in dict.fromkeys(table["row"]):
        texts = []
        for column, cell in columns:
            text = _cell(entries[row, column], cells.digits(cell, quantities[cell.quantity].digits))
            text |= _paper(papers.get(Place(name, row, column)))
            texts.append(text | ({"best": True} if (row, column) in best else {}))
        rows.append({"label": labels.get(row, row), "key": row, "cells": texts})
    head = []
    for column, cell in columns:
        quantity = cells.heading(cell, quantities[cell.quantity].label)
        of = None if cell.key is None else labels.get(cell.key, cell.key)
        head.append({"column": column, "quantity": quantity, "key": cell.quantity, "of": of})
    json = {"key": name, "head": head, "rows": rows}
    return json | {"caption": spec.caption, "heading": spec.heading, "experiment": spec.experiment}


def explained(comparison: pd.DataFrame, reasons: Mapping[tuple[str, str, str], str]) -> list[dict[Any, Any]]:
    """Return the lines of the comparison, with the reason why a number differs if there is one.

    A reason for a row or column that is empty is about all of them.
    """
    lines: list[dict[Any, Any]] = comparison.to_dict("records")
    for line in lines:
        places = [(line["artifact"], row, column) for row in (line["row"], "") for column in (line["column"], "")]
        reason = next((reasons[place] for place in places if place in reasons), None)
        if reason is not None and line["verdict"] == "differs":
            line["why"] = reason
    return lines


def claims(table: pd.DataFrame, observed: Collection[str], labels: Mapping[str, str]) -> list[Json]:
    """Return the JSON of the claims, each with the kind of its verdict and the kinds of its data."""
    lines = []
    for line in table.to_dict("records"):
        datasets = [name for name in f"{line['available']}, {line['missing']}".split(", ") if name]
        kinds = {REAL if name in observed else SYNTHETIC for name in datasets}
        word = verdict_kind(line["verdict"])
        note = line["verdict"].partition(word)[2].strip()
        note = note.replace("available", "data sets").replace("missing:", "not counted:")
        build = line["build"].split("`")
        build[::2] = [_labelled(part, datasets, labels) for part in build[::2]]  # the others are commands
        json = {name: line[name] for name in CLAIM}
        json |= {"word": word, "share": short(line["share"], 3), "kinds": sorted(kinds, reverse=True)}
        lines.append(json | {"note": _labelled(note, datasets, labels), "build": build})
    return lines


def _labelled(text: str, datasets: Collection[str], labels: Mapping[str, str]) -> str:
    """Replace the names of data sets by their labels."""
    return re.sub(r"\w+", lambda match: labels.get(match[0], match[0]) if match[0] in datasets else match[0], text)


def _cell(entry: Mapping[Any, Any], digits: int) -> Json:
    text = tables.shown(entry, digits)
    if text is None:
        return {"none": "no data" if entry["n"] == 0 else "–"}
    json: Json = {"value": _minus(text.value)}
    if text.sem:
        json["sem"] = text.sem
    if text.spread:
        json["panel"] = [_minus(part) for part in text.spread]
    return json


def _paper(line: Line | None) -> Json:
    if line is None:
        return {}
    json: Json = {"paper": _minus(f"{line['paper']:.6g}"), "verdict": line["verdict"]}
    if not np.isnan(line["paper_sem"]):
        json["paper_sem"] = f"{line['paper_sem']:.4g}"
    if not np.isnan(line["ratio"]):
        json["ratio"] = f"{line['ratio']:.2f}"
    if not np.isnan(line["ours"]):
        json["both"] = [short(line["paper"], 6), short(line["ours"], 6)]
    if line.get("why"):
        json["why"] = line["why"]
    return json


def _minus(text: str) -> str:
    return text.replace("-", "−")
