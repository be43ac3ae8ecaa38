"""One number of a table or figure: the paper's number, the measurements and runs behind it, and where to go on."""

from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.cache import paths
from graphdr.cli import names, records
from graphdr.cli.lineage import Node
from graphdr.cli.records import Focus, Record
from graphdr.core.errors import UserError
from graphdr.paper.compare import by_our_cell, our_cell
from graphdr.scores import cells

NUMBERS = ("value", "sem", "n", "panel_median", "panel_low", "panel_high")
COMPARED = ("paper", "paper_sem", "ratio", "percentile", "verdict")
PLAYED = ["method", "problem", "instance", "draw", "seed", "t", "regret"]


class Number(NamedTuple):
    """A number that is asked for: its cell, its values over the panel, the file that shows it, and its measurements."""

    cell: dict
    panel: list[float]
    shown_in: Record
    measurements: list[str]


def find(name: str, row: str, column: str) -> Number:
    """Find a number of a table or figure by the names of its row and column, or by their labels as printed.

    The rows of a figure are its methods, the columns what was measured of them.
    """
    return _in_figure(name, row, column) if names.is_figure(name) else _in_table(name, row, column)


def _in_figure(name: str, method: str, quantity: str) -> Number:
    """Find what was measured of a method in a figure; of random bases, the first draw, which figures show.

    A figure of several problems has a number on each of them, so that the cell has no value of its own.
    """
    record = records.record(paths.figure(name, "parquet"))
    files = [_measurements(path) for path in record.inputs if _measurements(path)]
    if not files:
        others = " and ".join(record.inputs)
        raise UserError(
            f"{name}: a figure of {others}, not of measurements; graphdr why {name} says what it was made of"
        )
    params = record.params
    method = _pick(f"{name}: no method", method, params["labels"])
    problems = [params["problem"]] if params["problem"] else list(params["positions"] or dict(params["rows"]))
    rows = [row for path in files for row in _rows(path, Focus(frozenset(problems), frozenset([method])))]
    quantities = {row["quantity"]: row["quantity"] for row in rows if row["method"] == method}
    quantity = _pick(f"{name}: no quantity", quantity, quantities)
    measured = [row for row in rows if row["method"] == method and row["quantity"] == quantity and row["draw"] == 0]
    cell = {"table": name, "row": method, "column": quantity, "problems": problems, "key": method}
    cell |= {"quantity": quantity, "field": "value", "paper": None} | dict.fromkeys(NUMBERS)
    if len(problems) > 1:
        return Number(cell, [], record, files)
    (first,) = [row for row in measured if row["instance"] == 0]
    values = [row["value"] for row in measured]
    low, median, high = np.quantile(values, [0.05, 0.5, 0.95])
    cell |= {field: first[field] for field in ("value", "sem", "n")}
    cell |= {"panel_median": median, "panel_low": low, "panel_high": high}
    return Number(cell, values, record, files)


def _measurements(path: str) -> str | None:
    """Return the measurements that belong to an input of a figure: itself, or those made together with its curves."""
    kind = records.record(path).kind
    return {"measurements": path, "curves": paths.measurements(Path(path).stem)}.get(kind or "")


def _in_table(table: str, row: str, column: str) -> Number:
    record = records.record(path := names.table_file(table))
    if record.kind != "table" or "row_keys" not in record.params:
        raise UserError(f"{path}: not a table that a stage built, so nothing is known about its cells")
    name, params = Path(path).stem, record.params
    labels = {key["label"]: params["labels"].get(key["label"], key["label"]) for key in params["row_keys"]}
    lines, specs = _comparison()
    _, row, _ = our_cell({"artifact": name, "row": row, "column": column}, specs)  # or as the paper calls it
    row = _pick(f"{name}: no row", row, labels)
    columns = dict(cells.named(params["columns"]))
    titles = {key: params["quantities"][cells.parse(name, text).quantity]["label"] for key, text in columns.items()}
    column = _pick(f"{name}: no column", column, titles)
    parsed = cells.parse(name, columns[column])
    key = next(key for key in params["row_keys"] if key["label"] == row)
    said = next(cell for cell in records.rows(path).to_pylist() if (cell["row"], cell["column"]) == (row, column))
    paper = by_our_cell(lines, specs).get((name, row, column))
    cell = {"table": name, "row": row, "column": column, "problems": [key["problem"]]}
    cell |= {"key": parsed.key or key.get("method"), "quantity": parsed.quantity, "field": parsed.field}
    cell |= {number: said[number] for number in NUMBERS}
    cell |= {"paper": paper and {name: paper[name] for name in COMPARED}}
    return Number(cell, said["panel"] or [], record, list(record.inputs))


def focus(cell: dict) -> Focus:
    """Return what of the measurements matters for a cell."""
    keys = [] if cell["key"] is None else [cell["key"]]
    return Focus(frozenset(cell["problems"]), frozenset(keys), frozenset([cell["quantity"]]))


def _pick(what: str, word: str, labels: dict[str, str]) -> str:
    """Return the name that a word stands for, itself or by its label if only one has it; else say which there are."""
    meant = [word] if word in labels else [name for name, label in labels.items() if label == word]
    if len(meant) == 1:
        return meant[0]
    raise UserError(f"{what} {word!r}; there are: {', '.join(labels)}{names.nearest(word, labels)}")


def _comparison() -> tuple[list[dict], dict[str, dict]]:
    """Return the lines of the comparison, and what it knows about each table; nothing where it is not built."""
    try:
        path = paths.comparison("parquet")
        return records.rows(path).to_pylist(), records.record(path).params.get("tables", {})
    except UserError:
        return [], {}


def measured(cell: dict, inputs: list[str]) -> list[dict]:
    """Return the measurements behind a cell, as the table looks them up: the shown one first, then the panel.

    An input that is lost or broken matters only if no other has them.
    """
    measurements, lost = [], None
    for path in inputs:
        try:
            measurements += _rows(path, focus(cell))
        except UserError as error:
            lost = lost or error
    if lost and not measurements:
        raise lost
    return measurements


def pooled(nodes: dict[str, Node]) -> list[dict]:
    """Return the measurements on instance 0 that a score was computed from, if the cell is a score."""
    scores = [node for node in nodes.values() if node.record.stage == "evaluate_predictors"]
    rows = [row for node in scores for path in node.inputs for row in _rows(path, nodes[path].focus)]
    return [row for row in rows if row["instance"] == 0 and row["draw"] == 0]


def _rows(path: str, focus: Focus) -> list[dict]:
    """Return rows of measurements: facts, and what the methods or predictors in focus have."""
    subject = pc.field("method").is_null() & pc.field("predictor").is_null()
    for name in ("method", "predictor"):
        subject |= _among(name, focus.methods)
    keep = subject & _among("quantity", focus.quantities) & _among("problem", focus.problems)
    return [{"path": path} | row for row in records.rows(path).filter(keep).to_pylist()]


def _among(column: str, names: frozenset[str] | None) -> pc.Expression:
    return pc.scalar(True) if names is None else pc.field(column).isin(pa.array(sorted(names), pa.string()))


def played(cell: dict, nodes: dict[str, Node]) -> list[dict]:
    """Return the last checkpoint of every run on instance 0 that counts: further draws where the cell is about them."""
    further = cell["quantity"] == "regret_redrawn"
    runs = []
    for path in (path for path, node in nodes.items() if node.record.kind == "runs"):
        table = records.rows(path, PLAYED)
        draws = pc.field("draw") > 0 if further else pc.field("draw") == 0
        focus = nodes[path].focus
        keep = draws & (pc.field("instance") == 0)
        keep &= _among("problem", focus.problems) & _among("method", focus.methods)
        last: dict[tuple, dict] = {}
        for row in table.filter(keep).to_pylist():
            key = row["method"], row["problem"], row["draw"], row["seed"]
            last[key] = max(last.get(key, row), row, key=itemgetter("t"))
        runs += [{"path": path} | row for row in last.values()]
    return runs
