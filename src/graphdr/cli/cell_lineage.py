"""One number of a table: the cell, the paper's number, the measurements and runs behind it, and where to go on."""

from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from graphdr.cache import paths
from graphdr.cli import names, records
from graphdr.cli.lineage import Focus, Node
from graphdr.cli.records import Record
from graphdr.core.errors import UserError
from graphdr.paper.compare import by_our_cell, our_cell
from graphdr.scores import cells

NUMBERS = ("value", "sem", "n", "panel_median", "panel_low", "panel_high")


class Cell(NamedTuple):
    """A cell of a table: what it says, what it is about, and the paper's account of it, if any."""

    table: str
    row: str
    column: str
    said: dict
    problem: str
    key: str | None  # method or predictor
    quantity: str
    field: str
    paper: dict | None

    @property
    def focus(self) -> Focus:
        """Return what of the measurements matters for this cell."""
        of = [self.problem], [] if self.key is None else [self.key], [self.quantity]
        return Focus(*map(frozenset, of))


def find(table: str, row: str, column: str) -> tuple[Cell, Record]:
    """Find a cell by the names of its row and column, or by their labels as printed."""
    path = names.table_file(table)
    record = records.from_footer(path)
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
    subject = key["problem"], parsed.key or key.get("method"), parsed.quantity, parsed.field
    return Cell(name, row, column, said, *subject, by_our_cell(lines, specs).get((name, row, column))), record


def _pick(what: str, word: str, labels: dict[str, str]) -> str:
    """Return the name that a word stands for, itself or by its label if only one has it; else say which there are."""
    if word in labels:
        return word
    meant = [name for name, label in labels.items() if label == word]
    if len(meant) == 1:
        return meant[0]
    raise UserError(f"{what} {word!r}; there are: {', '.join(labels)}{names.nearest(word, labels)}")


def _comparison() -> tuple[list[dict], dict[str, dict]]:
    """Return the lines of the comparison, and what it knows about each table; nothing where it is not built."""
    try:
        path = paths.comparison("parquet")
        return records.rows(path).to_pylist(), records.from_footer(path).params.get("tables", {})
    except UserError:
        return [], {}


def measured(cell: Cell, inputs: list[str]) -> list[dict]:
    """Return the measurements behind a cell, as the table looks them up: the shown one first, then the panel.

    An input that is lost or broken matters only if no other has them.
    """
    measurements, lost = [], None
    for path in inputs:
        try:
            rows = _rows(path, {cell.problem}, {cell.quantity}, {cell.key} if cell.key else set())
            measurements += [{"path": path} | row for row in rows]
        except UserError as error:
            lost = lost or error
    if lost and not measurements:
        raise lost
    return measurements


def pooled(nodes: dict[str, Node]) -> list[dict]:
    """Return the measurements on instance 0 that a score was computed from, if the cell is a score."""
    measurements = []
    for node in nodes.values():
        if node.record.stage == "evaluate_predictors":
            for path in node.inputs:
                focus = nodes[path].focus
                rows = _rows(path, focus.problems, focus.quantities, focus.methods)
                measurements += [{"path": path} | row for row in rows if row["instance"] == 0 and row["draw"] == 0]
    return measurements


def _rows(path: str, problems, quantities, methods) -> list[dict]:
    """Return rows of measurements: facts, and what the given methods or predictors have."""
    table = records.rows(path)
    keep = _among(table["quantity"], quantities)
    if problems is not None:
        keep = pc.and_(keep, _among(table["problem"], problems))
    subject = pc.and_(pc.is_null(table["method"]), pc.is_null(table["predictor"]))
    for name in ("method", "predictor"):
        subject = pc.or_(subject, _among(table[name], methods))
    return table.filter(pc.and_(keep, subject)).to_pylist()


def _among(column: pa.ChunkedArray, values) -> pa.ChunkedArray:
    return pc.is_in(column, value_set=pa.array(sorted(values), pa.string()))


def played(cell: Cell, nodes: dict[str, Node]) -> list[dict]:
    """Return the last checkpoint of every run on instance 0 that counts: further draws where the cell is about them."""
    further = cell.quantity == "regret_redrawn"
    runs = []
    for node in nodes.values():
        if node.record.kind != "runs":
            continue
        table = records.rows(node.record.path, ["problem", "instance", "draw", "seed", "t", "regret"])
        keep = pc.and_(pc.equal(table["instance"], 0), pc.equal(pc.greater(table["draw"], 0), further))
        if node.focus.problems is not None:
            keep = pc.and_(keep, _among(table["problem"], node.focus.problems))
        last: dict[tuple, dict] = {}
        for row in table.filter(keep).to_pylist():
            key = row["problem"], row["draw"], row["seed"]
            if key not in last or row["t"] > last[key]["t"]:
                last[key] = row
        runs += [{"path": node.record.path} | row for row in last.values()]
    return runs


def as_json(cell: Cell) -> dict:
    """Return a cell with the paper's number, for scripts."""
    wanted = ("paper", "paper_sem", "ratio", "percentile", "verdict")
    place = ("table", "row", "column", "problem", "key", "quantity", "field")
    return {
        **{name: getattr(cell, name) for name in place},
        **{name: cell.said[name] for name in NUMBERS},
        "paper": cell.paper and {name: cell.paper[name] for name in wanted},
    }
