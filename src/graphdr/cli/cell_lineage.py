"""One number of a table or figure: the paper's number, and the measurements and runs behind it."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.cache import paths
from graphdr.cli import project, records
from graphdr.cli.records import Node, Record, Row
from graphdr.core.errors import UserError
from graphdr.core.records import from_json
from graphdr.paper.compare import ComparedTable, Place, by_our_cell, our_cell
from graphdr.scores import cells

RUN_COLUMNS = ["method", "problem", "instance", "draw", "seed", "t", "regret"]
OF_CELL = ("value", "sem", "n", "panel_median", "panel_low", "panel_high")
OF_PAPER = ("paper", "paper_sem", "ratio", "percentile", "verdict")


class Cell(NamedTuple):
    """A number of a table or figure; a figure on several problems has no value of its own."""

    table: str
    row: str
    column: str
    problems: list[str]
    key: str | None  # method or predictor
    quantity: str
    statistic: str = "value"
    value: float | None = None
    sem: float | None = None
    n: int | None = None
    panel_median: float | None = None
    panel_low: float | None = None
    panel_high: float | None = None
    paper: Row | None = None  # the paper's number, compared with ours


class Lookup(NamedTuple):
    """A number, the file that shows it, and those with measurements."""

    cell: Cell
    shown_in: Record
    measurements: list[str]


def find(target: Sequence[str], here: Path) -> Lookup:
    """Find a number by the name of its table or figure, and by those of its row and column or their labels as printed.

    The rows of a figure are its methods, the columns its quantities.
    """
    name, row, column = target
    path = Path(project.resolve(name, here)[0]).with_suffix(".parquet")
    record = records.record(path.as_posix())
    if record.kind == "figure":
        return _in_figure(path.stem, record, row, column)
    if record.kind != "table" or "row_keys" not in record.params:
        raise UserError(f"{path}: not a table that a stage built, so nothing is recorded about its cells")
    return _in_table(path.stem, record, row, column)


def _in_figure(name: str, record: Record, method: str, quantity: str) -> Lookup:
    """Find a quantity of a method in a figure; of a random basis the first draw, which figures show."""
    files = []
    for path in record.inputs:
        kind = records.record(path).kind
        if kind in ("measurements", "curves"):  # measurements lie beside curves
            files.append(paths.measurements(Path(path).stem))
    if not files:
        others = " and ".join(record.inputs)
        raise UserError(f"{name}: a figure of {others}, not of measurements; graphdr why {name} shows its inputs")
    params = record.params
    method = _pick(f"{name}: no method", method, params["labels"])
    problems = [params["problem"]] if params["problem"] else list(params["positions"] or dict(params["rows"]))
    rows = [row for path in files for row in _rows(path, problem=problems, method=[method])]
    quantity = _pick(f"{name}: no quantity", quantity, {row["quantity"]: row["quantity"] for row in rows})
    cell = Cell(name, method, quantity, problems, method, quantity)
    if len(problems) > 1:
        return Lookup(cell, record, files)
    measured = [row for row in rows if row["quantity"] == quantity and row["draw"] == 0]
    (shown,) = [row for row in measured if row["instance"] == 0]
    panel = np.quantile([row["value"] for row in measured], [0.5, 0.05, 0.95])
    numbers = dict(zip(OF_CELL, [shown["value"], shown["sem"], shown["n"], *panel], strict=True))
    return Lookup(cell._replace(**numbers), record, files)


def _in_table(name: str, record: Record, row: str, column: str) -> Lookup:
    params = record.params
    labels = {key["label"]: params["labels"].get(key["label"], key["label"]) for key in params["row_keys"]}
    compared: list[Row] = []
    specs: dict[str, ComparedTable] = {}
    if Path(path := paths.comparison("parquet")).is_file():
        compared = records.rows(path).to_pylist()
        specs = from_json(dict[str, ComparedTable], records.record(path).params.get("tables", {}))
    _, row, _ = our_cell({"artifact": name, "row": row, "column": column}, specs)  # rows may be named as in the paper
    row = _pick(f"{name}: no row", row, labels)
    columns = {key: cells.parse(name, text) for key, text in cells.named(params["columns"])}
    titles = {key: params["quantities"][parsed.quantity]["label"] for key, parsed in columns.items()}
    column = _pick(f"{name}: no column", column, titles)
    parsed = columns[column]
    key = next(key for key in params["row_keys"] if key["label"] == row)
    (shown,) = _rows(record.path, row=[row], column=[column])
    subject = parsed.key or key.get("method")
    cell = Cell(name, row, column, [key["problem"]], subject, parsed.quantity, parsed.statistic)
    cell = cell._replace(**{number: shown[number] for number in OF_CELL})
    if paper := by_our_cell(compared, specs).get(Place(name, row, column)):
        cell = cell._replace(paper={number: paper[number] for number in OF_PAPER})
    return Lookup(cell, record, list(record.inputs))


def _pick(mistake: str, word: str, labels: Mapping[str, str]) -> str:
    """Return the name that a word means, by itself or by its label if only one has it."""
    matches = [word] if word in labels else [name for name, label in labels.items() if label == word]
    if len(matches) == 1:
        return matches[0]
    raise UserError(f"{mistake} {word!r}; there are: {', '.join(labels)}{project.nearest(word, labels)}")


def measured(number: Lookup) -> list[Row]:
    """Return the measurements behind a number: the shown one first, then those on other instances and draws."""
    cell, rows = number.cell, []
    for path in number.measurements:
        rows += _rows(path, problem=cell.problems, quantity=[cell.quantity])
    return [row for row in rows if (row["method"] or row["predictor"]) in (None, cell.key)]  # a fact has none


def pooled(cell: Cell, nodes: Mapping[str, Node]) -> list[Row]:
    """Return the measurements on instance 0 that a score was computed from, if the number is a score."""
    pooled = []
    for node in nodes.values():
        if node.record.stage == "evaluate_predictors":
            params = node.record.params
            quantities = [params["target"], *params["predictors"].get(cell.key, ())]
            methods = None, params["method"], params.get("predictor_method")
            rows = [row for path in node.inputs for row in _rows(path, instance=[0], draw=[0], quantity=quantities)]
            pooled += [row for row in rows if row["method"] in methods]
    return pooled


def played(cell: Cell, measurements: list[Row], nodes: Mapping[str, Node]) -> list[Row]:
    """Return the last checkpoint of every run behind measurements, on instance 0; of further draws if they matter.

    Behind a paired difference are the runs of both methods, behind an oracle those of its whole grid.
    """
    from graphdr.scores.measure import HINDSIGHT

    sources: dict[tuple[str, str, str], None] = {}  # files, and the names of problem and method in them
    for row in measurements:
        params = records.record(row["path"]).params
        methods = [row["method"]]
        if row["quantity"] == "regret_gap":
            methods.append(params["against"])
        if row["quantity"] in HINDSIGHT:
            methods += params["grids"].get(row["method"], ())
        for name in methods:
            for measured_on, source in params.get("runs", {}).get(name, ()):
                if measured_on == row["problem"]:
                    sources.setdefault(tuple(source))
    further = cell.quantity == "regret_redrawn"
    runs: dict[tuple[str, str, str, int, int], Row] = {}
    for path, problem, method in sources:
        if nodes[path].record.broken:
            continue
        rows = _rows(path, RUN_COLUMNS, problem=[problem], method=[method], instance=[0])
        for row in sorted(rows, key=itemgetter("t")):
            if (row["draw"] > 0) == further:
                runs[path, problem, method, row["draw"], row["seed"]] = row
    return list(runs.values())


def _rows(path: str, columns: list[str] | None = None, **wanted: Sequence[str | int]) -> list[Row]:
    """Return the rows of a table that have one of the wanted values in each of these columns."""
    keep = pc.scalar(True)
    for column, values in wanted.items():
        keep &= pc.field(column).isin(pa.array(values))
    return [{"path": path} | row for row in records.rows(path, columns).filter(keep).to_pylist()]
