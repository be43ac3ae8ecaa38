"""Tables of numbers with the paper's beside each, and the counts of verdicts and claims."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from graphdr.scores import cells
from graphdr.show import tables
from graphdr.show.report.rounding import short

CLAIM = ("claim", "where", "statement", "criterion", "measured", "verdict", "build")
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
    """Describe a table to the page: texts of every cell, and the paper's number, ratio and verdict with it."""
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
    named = {key: quantity["label"] for key, quantity in quantities.items()} | labels
    head = [{"quantity": _quantity(cell, quantities), "of": named.get(cell.key, cell.key)} for _, cell in columns]
    texts = {key: spec[key] for key in ("caption", "heading", "experiment", "problem")}
    return {"key": name, "head": head, "rows": rows} | texts


def counts(comparison: pd.DataFrame, verdicts: list[str]) -> dict[str, int]:
    """Count the verdicts on the paper's numbers."""
    return comparison["verdict"].value_counts().reindex(verdicts, fill_value=0).astype(int).to_dict()


def claims(table: pd.DataFrame, observed: list[str]) -> list[dict]:
    """Describe the claims to the page, each with the word that it is filtered by and the kind of its data."""
    described = []
    for line in table.to_dict("records"):
        datasets = [name for part in ("available", "missing") for name in line[part].split(", ") if name]
        kinds = {"real" if name in observed else "synthetic" for name in datasets}
        word = next((word for word in ("holds", "mixed", "fails") if line["verdict"].startswith(word)), "no data")
        derived = {"word": word, "share": short(line["share"], 3), "kinds": sorted(kinds)}
        described.append({name: line[name] for name in CLAIM} | derived)
    return described


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
    return {"paper": _minus(f"{line['paper']:.6g}"), "verdict": line["verdict"]} | sem | ratio


def _minus(text: str) -> str:
    return text.replace("-", "−")
