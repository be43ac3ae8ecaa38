"""Tables: cells looked up in the tidy table, rendered as csv, markdown and LaTeX."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from graphdr.core import markdown
from graphdr.scores import cells

OVER_INSTANCES = {"share": np.mean, "largest": np.max}


def build(spec: dict, measurements: pd.DataFrame) -> pd.DataFrame:
    """Look up every cell of a table on instance 0, with the median and range over all instances.

    Where there is one instance alone, the range is that over the draws of a random basis.
    """
    rows, (measured, played) = [], _by_place(spec, measurements)
    for row in spec["row_keys"]:
        for column, text in cells.named(spec["columns"]):
            cell = cells.parse(column, text)
            key = cell.key or row.get("method")
            found = measured.get((row["problem"], cell.quantity), [])
            draws = [line for line in found if (line.method or line.predictor) in (None, key) or line.predictor == key]
            instances = [line for line in draws if line.draw == 0]
            value, sem, n = np.nan, np.nan, None if (row["problem"], key) in played else 0  # it ran, but lacks this
            if over := OVER_INSTANCES.get(cell.field):
                values = [line.value for line in instances if not np.isnan(line.value)]
                value, n = (over(values), len(values)) if values else (np.nan, n)
                rows.append((row["label"], column, cell.quantity, value, sem, n, *[np.nan] * 3, np.empty(0)))
                continue
            if first := next((line for line in instances if line.instance == 0), None):
                value, sem, n = getattr(first, cell.field), first.sem if cell.field == "value" else np.nan, first.n
            values = [getattr(line, cell.field) for line in (instances if len(instances) > 1 else draws)]
            panel = np.array([value for value in values if not np.isnan(value)], float)
            low, median, high = np.quantile(panel, [0.05, 0.5, 0.95]) if len(panel) else [np.nan] * 3
            rows.append((row["label"], column, cell.quantity, value, sem, n, median, low, high, panel))
    names = ["row", "column", "quantity", "value", "sem", "n", "panel_median", "panel_low", "panel_high", "panel"]
    return pd.DataFrame(rows, columns=names)


def _by_place(spec: dict, measurements: pd.DataFrame) -> tuple[dict[tuple[str, str], list], set[tuple[str, str]]]:
    """Return the measurements that a table may show by problem and quantity, and which method played which problem."""
    there = measurements[measurements["problem"].isin([row["problem"] for row in spec["row_keys"]])]
    asked = there[there["quantity"].isin([cells.parse(*pair).quantity for pair in cells.named(spec["columns"])])]
    measured: dict[tuple[str, str], list] = {}
    names = {name: asked[name].astype(object).where(asked[name].notna(), None) for name in ("method", "predictor")}
    for line in asked.assign(**names).itertuples(index=False):
        measured.setdefault((line.problem, line.quantity), []).append(line)
    return measured, set(there[["problem", "method"]].itertuples(index=False, name=None))


def mark_notes(marks: dict, labels: dict) -> list[str]:
    """Say of every data set behind a table in what its data are not the published ones."""
    said = [(labels.get(dataset, dataset), mark) for dataset, words in marks.items() for mark in words.items()]
    return [f"{label}: {kind} ({text})." for label, (kind, text) in said]


def best_cells(table: pd.DataFrame, spec: dict) -> set[tuple[str, str]]:
    """Return the (row, column) pairs that hold the lowest value of a quantity in their row or column.

    A control is not there to be best.
    """
    bold = spec.get("bold")
    if bold is None:
        return set()
    keys = {name: cells.parse(name, text).key for name, text in cells.named(spec["columns"])}
    control = table["row"].isin(spec["controls"]) | table["column"].map(keys).isin(spec["controls"])
    better = table["quantity"].map(lambda quantity: spec["quantities"][quantity].get("better") == "low")
    eligible = table[better & ~control].dropna(subset=["value"])
    line = {"column_min": "column", "row_min": "row"}[bold]
    lowest = eligible.loc[eligible.groupby([line, "quantity"])["value"].idxmin()]
    return set(lowest[["row", "column"]].itertuples(index=False, name=None))


class Shown(NamedTuple):
    """A cell as text: the value, its standard error and the panel, each possibly missing."""

    value: str
    sem: str | None
    panel: tuple[str, str, str] | None


def shown(cell, digits: int) -> Shown | None:
    """Round a cell of a built table to its digits; None where there is no value."""
    if np.isnan(cell["value"]):
        return None
    low, median, high = (f"{cell[name]:.{digits}f}" for name in ("panel_low", "panel_median", "panel_high"))
    sem = f"{cell['sem']:.{max(digits, 1)}f}" if cell["sem"] > 0 else None
    return Shown(f"{cell['value']:.{digits}f}", sem, (low, median, high) if len(cell["panel"]) > 1 else None)


def render(table: pd.DataFrame, spec: dict, style: "type[Markdown] | type[Latex]") -> str:
    """Render a built table in one of the styles below."""
    best = best_cells(table, spec)
    columns = cells.named(spec["columns"])
    body = []
    for row, part in table.groupby("row", sort=False):
        part = part.set_index("column")
        line = [style.escape(spec["labels"].get(row, row))]
        for column, text in columns:
            digits = spec["quantities"][part.at[column, "quantity"]]["digits"]
            text = shown(part.loc[column], cells.digits(cells.parse(column, text), digits))
            if text is None:
                line.append(NO_DATA if part.at[column, "n"] == 0 else style.MISSING)
            else:
                line.append(style.cell(text, (row, column) in best))
        body.append(line)
    named = [_heading(cells.parse(name, text), spec, style) for name, text in columns]
    head = [style.escape(spec.get("heading", spec["rows"])), *named]
    measured = table["sem"].notna().any() or (table["panel"].map(len) > 1).any()
    return style.document(spec["caption"], head, body, [*([PANEL_NOTE] if measured else []), *spec["notes"]])


def _heading(cell: cells.Cell, spec: dict, style) -> str:
    """Name a column after its quantity and, if it has one, its method."""
    quantity = style.quantity(spec["quantities"][cell.quantity])
    parts = [cells.heading(cell, quantity)]
    if cell.key is not None:
        parts.append(style.escape(spec["labels"].get(cell.key, cell.key)))
    return ", ".join(parts)


class Markdown:
    """A caption, a pipe table whose cells hold value ± s.e.m. and the panel below, and notes."""

    MISSING = "–"

    escape = staticmethod(markdown.escape)

    @staticmethod
    def quantity(spec: dict) -> str:
        return markdown.escape(spec["label"])

    @staticmethod
    def cell(text: Shown, bold: bool) -> str:
        value = text.value + (f" ± {text.sem}" if text.sem else "")
        value = f"**{value}**" if bold else value
        return value + ("<br><sub>{1} ({0} … {2})</sub>".format(*text.panel) if text.panel else "")

    @staticmethod
    def document(caption: str, head: list[str], body: list[list[str]], notes: list[str]) -> str:
        paragraphs = [f"**{caption}**", "\n".join(markdown.pipe_table(head, body)), *notes]
        return "\n\n".join(paragraphs) + "\n"


class Latex:
    """A booktabs table; the panel's median and range stand in small type beside the value."""

    MISSING = "--"
    _SPECIAL = str.maketrans(
        {char: f"\\{char}" for char in "&%$#_{}"}
        | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "±": "$\\pm$", "–": "--"}
    )

    @staticmethod
    def escape(text: str) -> str:
        return text.translate(Latex._SPECIAL)

    @staticmethod
    def quantity(spec: dict) -> str:
        return spec.get("tex") or Latex.escape(spec["label"])

    @staticmethod
    def cell(text: Shown, bold: bool) -> str:
        value = text.value + (f" \\pm {text.sem}" if text.sem else "")
        value = f"$\\mathbf{{{value}}}$" if bold else f"${value}$"
        return value + (" {{\\scriptsize ${1}$ (${0}$ to ${2}$)}}".format(*text.panel) if text.panel else "")

    @staticmethod
    def document(caption: str, head: list[str], body: list[list[str]], notes: list[str]) -> str:
        caption = Latex.escape(" ".join([caption + ".", *notes]))
        top, lines = ("".join(f"{' & '.join(row)} \\\\\n" for row in rows) for rows in ([head], body))
        return (
            f"\\begin{{table}}\n\\centering\\small\n\\caption{{{caption}}}\n"
            f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}\n\\toprule\n{top}\\midrule\n{lines}"
            "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
        )


NO_DATA = "no data"
PANEL_NOTE = (
    "Value on instance 0 ± s.e.m. over its seeds, with graph and reward as they are; with it the median and the "
    "5–95 % range over all instances, or, on a data set, over the draws of a random basis, where there are several."
)
