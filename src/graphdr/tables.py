"""Tables: cells looked up in the tidy table, rendered as csv, markdown and LaTeX."""

from typing import TYPE_CHECKING

import numpy as np

from graphdr import cells

if TYPE_CHECKING:
    import pandas as pd


def build(spec: dict, measurements: "pd.DataFrame") -> "pd.DataFrame":
    """Look up every cell of a table on instance 0, with the median and range over all instances."""
    import pandas as pd

    rows = []
    for row in spec["row_keys"]:
        for column, text in spec["columns"].items():
            cell = cells.parse(column, text)
            found = _select(measurements, row["problem"], cell.quantity, cell.key or row.get("method"))
            shown = found[found["instance"] == 0]
            panel = found[cell.field].dropna().to_numpy(float)
            low, median, high = np.quantile(panel, [0.05, 0.5, 0.95]) if len(panel) else [np.nan] * 3
            rows.append(
                {
                    "row": row["label"],
                    "column": column,
                    "quantity": cell.quantity,
                    "value": shown[cell.field].iloc[0] if len(shown) else np.nan,
                    "sem": shown["sem"].iloc[0] if len(shown) and cell.field == "value" else np.nan,
                    "n": shown["n"].iloc[0] if len(shown) else None,
                    "panel_median": median,
                    "panel_low": low,
                    "panel_high": high,
                    "panel": panel,
                }
            )
    return pd.DataFrame(rows)


def _select(measurements, problem, quantity, key):
    found = measurements[(measurements["problem"] == problem) & (measurements["quantity"] == quantity)]
    about = found["method"].isna() & found["predictor"].isna()
    if key is not None:
        about |= (found["method"] == key) | (found["predictor"] == key)
    return found[about]


def best_cells(table: "pd.DataFrame", bold: str | None, quantities: dict) -> set[tuple[str, str]]:
    """Return the (row, column) pairs that hold the lowest value of their row or column."""
    if bold is None:
        return set()
    eligible = table[table["quantity"].map(lambda q: quantities[q].get("better") == "low")].dropna(subset=["value"])
    lowest = eligible.groupby({"column_min": "column", "row_min": "row"}[bold])["value"].idxmin()
    return set(eligible.loc[lowest, ["row", "column"]].itertuples(index=False, name=None))


def render(table: "pd.DataFrame", spec: dict, style: "Style") -> str:
    """Render a table in one of the styles below."""
    best = best_cells(table, spec.get("bold"), spec["quantities"])
    columns = list(spec["columns"])
    body = []
    for row, part in table.groupby("row", sort=False):
        part = part.set_index("column")
        texts = []
        for column in columns:
            digits = spec["quantities"][part.at[column, "quantity"]]["digits"]
            text = style.cell(part.loc[column], digits)
            texts.append(style.bold(text) if (row, column) in best else text)
        body.append([style.escape(spec["row_labels"].get(row, row)), *texts])
    head = [style.escape(spec["rows"]), *(style.escape(column) for column in columns)]
    return style.document(spec["caption"], head, body)


class Markdown:
    """A caption and a pipe table; every cell shows value ± s.e.m. and, below, the panel."""

    @staticmethod
    def escape(text: str) -> str:
        return text.replace("|", "\\|")

    @staticmethod
    def bold(text: str) -> str:
        value, *rest = text.split("<br>")
        return "<br>".join([f"**{value}**", *rest])

    @staticmethod
    def cell(cell, digits: int) -> str:
        if np.isnan(cell["value"]):
            return "–"
        text = f"{cell['value']:.{digits}f}"
        if cell["sem"] > 0:
            text += f" ± {cell['sem']:.{max(digits, 1)}f}"
        if len(cell["panel"]) > 1:
            low, median, high = (f"{cell[name]:.{digits}f}" for name in ("panel_low", "panel_median", "panel_high"))
            text += f"<br><sub>{median} ({low} … {high})</sub>"
        return text

    @staticmethod
    def document(caption: str, head: list[str], body: list[list[str]]) -> str:
        lines = [f"**{caption}**", "", *pipe_table(head, body), "", PANEL_NOTE]
        return "\n".join(lines) + "\n"


class Latex:
    """A booktabs table; the panel's median and range stand in small type beside the value."""

    @staticmethod
    def escape(text: str) -> str:
        for char in "\\&%$#_{}":
            text = text.replace(char, "\\textbackslash{}" if char == "\\" else "\\" + char)
        return text

    @staticmethod
    def bold(text: str) -> str:
        value, *rest = text.split(" {")
        return " {".join([f"\\textbf{{{value}}}", *rest])

    @staticmethod
    def cell(cell, digits: int) -> str:
        if np.isnan(cell["value"]):
            return "--"
        text = f"{cell['value']:.{digits}f}"
        if cell["sem"] > 0:
            text += f" $\\pm$ {cell['sem']:.{max(digits, 1)}f}"
        if len(cell["panel"]) > 1:
            low, median, high = (f"{cell[name]:.{digits}f}" for name in ("panel_low", "panel_median", "panel_high"))
            text += f" {{\\scriptsize {median} ({low}--{high})}}"
        return text

    @staticmethod
    def document(caption: str, head: list[str], body: list[list[str]]) -> str:
        lines = [
            "\\begin{table}",
            "\\centering\\small",
            f"\\caption{{{Latex.escape(caption)}}}",
            f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
            "\\toprule",
            " & ".join(head) + " \\\\",
            "\\midrule",
            *(" & ".join(row) + " \\\\" for row in body),
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}",
        ]
        return "\n".join(lines) + "\n"


Style = type[Markdown] | type[Latex]
PANEL_NOTE = "Value on instance 0 ± s.e.m. over its seeds; below it the median and the 5–95 % range over all instances."


def pipe_table(head: list[str], body: list[list[str]]) -> list[str]:
    """Return the lines of a markdown table, the first column left and the others right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *body)]
