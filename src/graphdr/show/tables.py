"""Tables: cells looked up in the tidy table, rendered as CSV, Markdown and LaTeX."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from graphdr.core.terminal import escape, pipe_table
from graphdr.scores import cells

OVER_INSTANCES: dict[str, Callable[..., float]] = {"share": np.mean, "largest": np.max}
SPREAD = ("panel_low", "panel_median", "panel_high")
COLUMNS = ["row", "column", "quantity", "value", "sem", "n", "panel_median", "panel_low", "panel_high", "panel"]
NO_DATA = "no data"
PANEL_NOTE = (
    "Value on instance 0 ± s.e.m. over its seeds, with graph and reward as they are; with it the median and the "
    "5–95 % range over all instances, or, on a data set, over the draws of a random basis, where there are several."
)


@dataclass(frozen=True)
class Quantity:
    """How a quantity is shown, and compared with the paper's."""

    label: str
    digits: int
    tex: str | None = None
    better: str | None = None  # "low" or "high"
    tolerance: float | None = None


@dataclass(frozen=True)
class RowKey:
    """What a row of a table shows: a problem (or an evaluation) and, where rows are methods, the method."""

    label: str
    problem: str
    dataset: str | None = None
    method: str | None = None


class TableSpec(NamedTuple):
    """A table as configured."""

    caption: str
    rows: str
    heading: str
    columns: list[dict[str, str]]  # cells by name
    bold: str | None
    row_keys: list[RowKey]
    labels: dict[str, str]
    controls: list[str]  # methods that are never the best
    notes: list[str]
    quantities: dict[str, Quantity]


class Number(NamedTuple):
    """A number of a table, with its median, 5 % and 95 % quantiles and values over the instances or draws."""

    value: float = np.nan
    sem: float = np.nan
    n: int | None = None
    median: float = np.nan
    low: float = np.nan
    high: float = np.nan
    instances: np.ndarray = np.empty(0)


def build(spec: TableSpec, measurements: pd.DataFrame) -> pd.DataFrame:
    """Look up every cell of a table on instance 0, with the median and range over all instances.

    With a single instance, the range is that over the draws of a random basis. A missing number has n = 0 if its method
    was not run on the problem, and no n if it was run but lacks this quantity.
    """
    there = measurements[measurements["problem"].isin([row.problem for row in spec.row_keys])]
    run = set(there[["problem", "method"]].itertuples(index=False, name=None))
    columns = cells.parse_columns(spec.columns)
    there = there[there["quantity"].isin([cell.quantity for _, cell in columns])]
    keys = there[["method", "predictor"]].astype(object)
    measured: dict[tuple[str, str], list[Any]] = {}
    for m in there.assign(**keys.where(keys.notna(), None)).itertuples(index=False):
        measured.setdefault((m.problem, m.quantity), []).append(m)
    rows = []
    for row in spec.row_keys:
        for column, cell in columns:
            key = cell.key or row.method
            candidates = measured.get((row.problem, cell.quantity), [])
            draws = [m for m in candidates if (m.method or m.predictor) in (None, key) or m.predictor == key]
            number = _number(cell.statistic, draws, n=None if (row.problem, key) in run else 0)
            rows.append((row.label, column, cell.quantity, *number))
    return pd.DataFrame(rows, columns=COLUMNS)


def _number(statistic: str, draws: list[Any], n: int | None) -> Number:
    """Return a number from its measurements on all instances and draws; ``n`` is its count if there is none."""
    instances = [row for row in draws if row.draw == 0]
    if statistic in OVER_INSTANCES:
        values = [row.value for row in instances if not np.isnan(row.value)]
        return Number(OVER_INSTANCES[statistic](values), n=len(values)) if values else Number(n=n)
    several = instances if len(instances) > 1 else draws
    values = [value for value in (getattr(row, statistic) for row in several) if not np.isnan(value)]
    low, median, high = np.quantile(values, [0.05, 0.5, 0.95]) if values else [np.nan] * 3
    number = Number(n=n, median=median, low=low, high=high, instances=np.array(values, float))
    for row in instances:
        if row.instance == 0:
            sem = row.sem if statistic == "value" else np.nan
            return number._replace(value=getattr(row, statistic), sem=sem, n=row.n)
    return number


def mark_notes(marks: Mapping[str, Mapping[str, str]], labels: Mapping[str, str]) -> list[str]:
    """Say how the data sets behind a table differ from the published ones."""
    notes = []
    for dataset, texts in marks.items():
        notes += [f"{labels.get(dataset, dataset)}: {kind} ({text})." for kind, text in texts.items()]
    return notes


def best_cells(table: pd.DataFrame, spec: TableSpec) -> set[tuple[str, str]]:
    """Return the (row, column) pairs with the lowest value of a quantity in their row or column, controls excepted."""
    if spec.bold is None:
        return set()
    keys = {name: cell.key for name, cell in cells.parse_columns(spec.columns)}
    control = table["row"].isin(spec.controls) | table["column"].map(keys).isin(spec.controls)
    better = table["quantity"].map(lambda quantity: spec.quantities[quantity].better == "low")
    eligible = table[better & ~control].dropna(subset=["value"])
    line = {"column_min": "column", "row_min": "row"}[spec.bold]
    lowest = eligible.loc[eligible.groupby([line, "quantity"])["value"].idxmin()]
    return set(lowest[["row", "column"]].itertuples(index=False, name=None))


class Shown(NamedTuple):
    """A cell as text: the value, its standard error, and low, median and high over the instances, if there are any."""

    value: str
    sem: str | None
    spread: tuple[str, str, str] | None


Entry = tuple[Mapping[Any, Any], Shown | None]  # a cell of a built table, and as text


def shown(cell: Mapping[Any, Any], digits: int) -> Shown | None:
    """Format a cell of a built table; None where there is no value."""
    if np.isnan(cell["value"]):
        return None
    low, median, high = (f"{cell[name]:.{digits}f}" for name in SPREAD)
    sem = f"{cell['sem']:.{max(digits, 1)}f}" if cell["sem"] > 0 else None
    return Shown(f"{cell['value']:.{digits}f}", sem, (low, median, high) if len(cell["panel"]) > 1 else None)


def grid(table: pd.DataFrame, spec: TableSpec) -> dict[str, list[Entry]]:
    """Return the cells of every row of a built table, in the order of the columns, each also as text."""
    columns = cells.parse_columns(spec.columns)
    digits = {name: cells.digits(cell, spec.quantities[cell.quantity].digits) for name, cell in columns}
    rows: dict[str, list[Entry]] = {}
    for cell in table.to_dict("records"):
        rows.setdefault(cell["row"], []).append((cell, shown(cell, digits[cell["column"]])))
    return rows


def render(table: pd.DataFrame, spec: TableSpec, style: "type[Markdown] | type[Latex]") -> str:
    """Render a built table in one of the styles below."""
    best = best_cells(table, spec)
    body = []
    for row, entries in grid(table, spec).items():
        line = [style.escape(spec.labels.get(row, row))]
        for cell, text in entries:
            missing = NO_DATA if cell["n"] == 0 else style.MISSING
            line.append(style.cell(text, (row, cell["column"]) in best) if text else missing)
        body.append(line)
    head = [style.escape(spec.heading)]
    for _, asked in cells.parse_columns(spec.columns):
        heading = cells.heading(asked, style.quantity(spec.quantities[asked.quantity]))
        of = "" if asked.key is None else f", {style.escape(spec.labels.get(asked.key, asked.key))}"
        head.append(heading + of)
    measured = table["sem"].notna().any() or (table["panel"].map(len) > 1).any()
    return style.document(spec.caption, head, body, [*([PANEL_NOTE] if measured else []), *spec.notes])


class Markdown:
    """A caption, a pipe table whose cells hold value ± s.e.m. and the spread below, and notes."""

    MISSING = "–"

    escape = staticmethod(escape)

    @staticmethod
    def quantity(quantity: Quantity) -> str:
        return escape(quantity.label)

    @staticmethod
    def cell(text: Shown, bold: bool) -> str:
        value = text.value + (f" ± {text.sem}" if text.sem else "")
        value = f"**{value}**" if bold else value
        return value + ("<br><sub>{1} ({0} … {2})</sub>".format(*text.spread) if text.spread else "")

    @staticmethod
    def document(caption: str, head: list[str], body: list[list[str]], notes: list[str]) -> str:
        paragraphs = [f"**{caption}**", "\n".join(pipe_table(head, body)), *notes]
        return "\n\n".join(paragraphs) + "\n"


class Latex:
    """A booktabs table; median and range over the instances stand in small type after the value."""

    MISSING = "--"
    _SPECIAL = str.maketrans(
        {char: f"\\{char}" for char in "&%$#_{}"}
        | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "±": "$\\pm$", "–": "--"}
    )

    @staticmethod
    def escape(text: str) -> str:
        return text.translate(Latex._SPECIAL)

    @staticmethod
    def quantity(quantity: Quantity) -> str:
        return quantity.tex or Latex.escape(quantity.label)

    @staticmethod
    def cell(text: Shown, bold: bool) -> str:
        value = text.value + (f" \\pm {text.sem}" if text.sem else "")
        value = f"$\\mathbf{{{value}}}$" if bold else f"${value}$"
        return value + (" {{\\scriptsize ${1}$ (${0}$ to ${2}$)}}".format(*text.spread) if text.spread else "")

    @staticmethod
    def document(caption: str, head: list[str], body: list[list[str]], notes: list[str]) -> str:
        caption = Latex.escape(" ".join([caption + ".", *notes]))
        top, *lines = (f"{' & '.join(row)} \\\\\n" for row in (head, *body))
        return (
            f"\\begin{{table}}\n\\centering\\small\n\\caption{{{caption}}}\n"
            f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}\n\\toprule\n{top}\\midrule\n{''.join(lines)}"
            "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
        )
