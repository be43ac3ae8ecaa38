"""Tables of numbers with the paper's beside each, and the counts of verdicts and claims."""

import numpy as np
import pandas as pd

from graphdr.scores import cells
from graphdr.show import tables
from graphdr.show.report.rounding import short

CLAIM = ("claim", "where", "statement", "criterion", "measured", "verdict", "build")
Key = tuple[str, str]  # row and column of a table


def papers_of(comparison: pd.DataFrame, specs: dict[str, dict]) -> dict[str, dict[Key, dict]]:
    """Return the rows of the comparison by table, keyed by the row and column of our own table."""
    found: dict[str, dict[Key, dict]] = {}
    for line in comparison.to_dict("records"):
        renamed = specs.get(line["artifact"], {}).get("paper_rows", {})
        row = renamed.get(line["row"], line["row"])
        found.setdefault(line["artifact"], {})[label(row), line["column"]] = line
    return found


def regrets_of(specs: dict[str, dict], papers: dict[str, dict[Key, dict]]) -> dict[str, dict[Key, float]]:
    """Return the final regrets that the paper prints, by experiment: (problem, method) to regret."""
    found: dict[str, dict[Key, float]] = {}
    for name, spec in specs.items():
        for row, problem, method in spec["rows"]:
            for column, text in cells.named(spec["columns"]):
                cell = cells.parse(column, text)
                line = papers.get(name, {}).get((row, column))
                if line is not None and (cell.quantity, cell.field) == ("regret", "value"):
                    found.setdefault(spec["experiment"], {})[problem, cell.key or method] = line["paper"]
    return found


def show(name: str, spec: dict, table: pd.DataFrame, papers: dict[Key, dict], quantities: dict, labels: dict) -> dict:
    """Describe a table to the page: texts of every cell, and the paper's number, ratio and verdict with it."""
    columns = [(column, cells.parse(column, text)) for column, text in cells.named(spec["columns"])]
    best = tables.best_cells(table, spec | {"quantities": quantities})
    found = {(line["row"], line["column"]): line for line in table.to_dict("records")}
    rows = []
    for row in dict.fromkeys(table["row"]):
        texts = []
        for column, cell in columns:
            line = found[row, column]
            text = _cell(line, 0 if cell.field == "n" else quantities[cell.quantity]["digits"])
            texts.append(text | _paper(papers.get((row, column))) | ({"best": True} if (row, column) in best else {}))
        rows.append({"label": labels.get(row, row), "key": row, "cells": texts})
    named = {key: quantity["label"] for key, quantity in quantities.items()} | labels
    head = [{"quantity": _quantity(cell, quantities), "of": named.get(cell.key, cell.key)} for _, cell in columns]
    about = {key: spec[key] for key in ("caption", "heading", "experiment", "problem")}
    return {"key": name, "head": head, "rows": rows} | about


def counts(comparison: pd.DataFrame, verdicts: list[str]) -> dict[str, int]:
    """Count the verdicts on the paper's numbers."""
    found = comparison["verdict"].value_counts()
    return {verdict: int(found.get(verdict, 0)) for verdict in verdicts}


def claims(table: pd.DataFrame, observed: list[str]) -> list[dict]:
    """Describe the claims to the page, each with the word that it is filtered by and the kind of its data."""
    found = []
    for line in table.to_dict("records"):
        about = [name for part in ("available", "missing") for name in line[part].split(", ") if name]
        kinds = {"real" if name in observed else "synthetic" for name in about}
        word = next((word for word in ("holds", "fails") if line["verdict"].startswith(word)), "no data")
        found.append(
            {name: line[name] for name in CLAIM}
            | {"word": word, "share": short(line["share"], 3), "kinds": sorted(kinds)}
        )
    return found


def label(value: object) -> str:
    """Spell a row as tables do."""
    return f"{value:.12g}" if isinstance(value, int | float) else str(value)


def _quantity(cell: cells.Cell, quantities: dict) -> str:
    text = quantities[cell.quantity]["label"]
    return text if cell.field == "value" else f"{cell.field} of {text}"


def _cell(line: dict, digits: int) -> dict:
    text = tables.shown(line, digits)
    if text is None:
        return {"none": "no data" if line["n"] == 0 else "–"}
    shown = {"value": _minus(text.value)} | ({"sem": text.sem} if text.sem else {})
    return shown | ({"panel": [_minus(part) for part in text.panel]} if text.panel else {})


def _paper(line: dict | None) -> dict:
    if line is None:
        return {}
    sem = {} if np.isnan(line["paper_sem"]) else {"paper_sem": f"{line['paper_sem']:.4g}"}
    ratio = {} if np.isnan(line["ratio"]) else {"ratio": f"{line['ratio']:.2f}"}
    return {"paper": _minus(f"{line['paper']:.6g}"), "verdict": line["verdict"]} | sem | ratio


def _minus(text: str) -> str:
    return text.replace("-", "−")
