"""Tables of numbers with the paper's beside each, and the counts of verdicts and claims."""

import re
from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from graphdr.paper.verdicts import verdict_kind
from graphdr.scores import cells
from graphdr.show import tables
from graphdr.show.report.rounding import short
from graphdr.show.story import REAL, SYNTHETIC

CLAIM = ("claim", "where", "statement", "criterion", "measured")
Lines = Mapping[tuple[str, str, str], Mapping]  # of the comparison, by table, row and column


def regrets_of(specs: dict[str, dict], papers: Lines) -> dict[str, dict[tuple[str, str], float]]:
    """Return the final regrets that the paper prints, by experiment: (problem, method) to regret."""
    regrets: dict[str, dict[tuple[str, str], float]] = {}
    for name, spec in specs.items():
        for row, problem, method in spec["rows"]:
            for column, text in cells.named(spec["columns"]):
                cell, line = cells.parse(column, text), papers.get((name, row, column))
                if line is not None and (cell.quantity, cell.field) == ("regret", "value"):
                    regrets.setdefault(spec["experiment"], {})[problem, cell.key or method] = line["paper"]
    return regrets


def show(name: str, spec: dict, table: pd.DataFrame, papers: Lines, quantities: dict, labels: dict) -> dict:
    """Describe a table to the page: texts of every cell, and the paper's number and verdict with it."""
    columns = [(column, cells.parse(column, text)) for column, text in cells.named(spec["columns"])]
    best = tables.best_cells(table, spec | {"quantities": quantities})
    lines = {(line["row"], line["column"]): line for line in table.to_dict("records")}
    rows = []
    for row in dict.fromkeys(table["row"]):
        texts = []
        for column, cell in columns:
            text = _cell(lines[row, column], cells.digits(cell, quantities[cell.quantity]["digits"]))
            text |= _paper(papers.get((name, row, column)))
            texts.append(text | ({"best": True} if (row, column) in best else {}))
        rows.append({"label": labels.get(row, row), "key": row, "cells": texts})
    head = [
        {"column": column, "quantity": _quantity(cell, quantities), "key": cell.quantity}
        | {"of": labels.get(cell.key, cell.key)}
        for column, cell in columns
    ]
    texts = {key: spec[key] for key in ("caption", "heading", "experiment")}
    return {"key": name, "head": head, "rows": rows} | texts


def explained(comparison: pd.DataFrame, reasons: Mapping[tuple[str, str, str], str]) -> list[dict]:
    """Return the lines of the comparison, those that differ with the reason if one is known."""
    lines = comparison.to_dict("records")
    for line in lines:
        places = [(line["artifact"], row, column) for row in (line["row"], "") for column in (line["column"], "")]
        why = [reasons[place] for place in places if place in reasons]
        if why and line["verdict"] == "differs":
            line["why"] = why[0]
    return lines


def claims(table: pd.DataFrame, observed: Collection[str], labels: Mapping[str, str]) -> list[dict]:
    """Describe the claims to the page, each with the word that it is filtered by and the kind of its data."""
    described = []
    for line in table.to_dict("records"):
        datasets = [name for part in ("available", "missing") for name in line[part].split(", ") if name]
        kinds = {REAL if name in observed else SYNTHETIC for name in datasets}
        word = verdict_kind(line["verdict"])
        note = line["verdict"].partition(word)[2].strip()
        note = note.replace("available", "data sets").replace("missing:", "not counted:")
        build = line["build"].split("`")
        build[::2] = [_named(part, datasets, labels) for part in build[::2]]  # the others are commands
        derived = {"word": word, "share": short(line["share"], 3), "kinds": sorted(kinds, reverse=True)}
        derived |= {"note": _named(note, datasets, labels), "build": build}
        described.append({name: line[name] for name in CLAIM} | derived)
    return described


def _named(text: str, datasets: Collection[str], labels: Mapping[str, str]) -> str:
    """Put the labels of data sets for their names."""
    return re.sub(r"\w+", lambda match: labels.get(match[0], match[0]) if match[0] in datasets else match[0], text)


def _quantity(cell: cells.Cell, quantities: dict) -> str:
    return cells.heading(cell, quantities[cell.quantity]["label"])


def _cell(line: dict, digits: int) -> dict:
    text = tables.shown(line, digits)
    if text is None:
        return {"none": "no data" if line["n"] == 0 else "–"}
    value = {"value": _minus(text.value)} | ({"sem": text.sem} if text.sem else {})
    return value | ({"panel": [_minus(part) for part in text.panel]} if text.panel else {})


def _paper(line: Mapping | None) -> dict:
    if line is None:
        return {}
    sem = {} if np.isnan(line["paper_sem"]) else {"paper_sem": f"{line['paper_sem']:.4g}"}
    ratio = {} if np.isnan(line["ratio"]) else {"ratio": f"{line['ratio']:.2f}"}
    both = {} if np.isnan(line["ours"]) else {"both": [short(line["paper"], 6), short(line["ours"], 6)]}
    why = {"why": line["why"]} if line.get("why") else {}
    return {"paper": _minus(f"{line['paper']:.6g}"), "verdict": line["verdict"]} | sem | ratio | both | why


def _minus(text: str) -> str:
    return text.replace("-", "−")
