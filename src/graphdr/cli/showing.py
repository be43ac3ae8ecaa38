"""``graphdr show``: what a file holds and how it was made; tables, figures, the comparison and claims as pages."""

import time
from argparse import Namespace
from operator import attrgetter
from pathlib import Path
from typing import Any

from graphdr.cache import manifest
from graphdr.cli import project, records
from graphdr.cli.provenance import how_made
from graphdr.cli.records import Record, Row
from graphdr.core import terminal
from graphdr.core.records import from_json
from graphdr.core.terminal import Answer, number, paint, with_error
from graphdr.paper.compare import VERDICTS, headline
from graphdr.paper.verdicts import count_verdicts
from graphdr.show import tables

HEAD = 10  # rows of a file that are shown by default
POINTS = 6  # of every series of a figure, by default
TEXTS = {".md", ".csv", ".tex", ".json", ".txt"}


def run(options: Namespace, here: Path) -> Answer:
    """Show the record of a file and its first rows; a table, figure or page that is named is shown with all rows."""
    count = options.rows
    path, by_name = project.resolve(options.target, here)
    parquet = path.endswith(".parquet")
    record = records.record(path, None if parquet else manifest.by_output().get(path))
    page = PAGES.get(record.kind or "") if by_name else None
    columns: list[Row] = []
    rows: list[Row] = []
    if parquet:
        wanted = record.rows or 0 if page else HEAD if count is None else count
        schema, rows = records.head(path, wanted)
        for column in schema:
            description = (column.metadata or {}).get(b"description", b"").decode(errors="replace")
            columns.append({"name": column.name, "type": str(column.type), "description": description or None})
    made = {name: getattr(record, name) for name in ("stage", "version", "code", "params", "inputs")}
    answer = {
        **{name: getattr(record, name) for name in ("path", "kind", "rows", "bytes", "hash", "marks")},
        "modified": record.modified_at,
        "provenance": None if record.stage is None else made,
        "columns": columns,
        "head": rows[:count],
    }

    def text() -> list[str]:
        if page is None:
            return _file(record, columns, rows[:count], count)
        title, head, body, notes = page(record, rows)
        lines = [paint(title, "bold"), "", *records.table(head, body[:count]), *_more(len(body), count), ""]
        for note in notes:
            lines += terminal.wrapped(note, terminal.width(), most=20)
        return lines

    return 0, answer, text


def _file(record: Record, columns: list[Row], rows: list[Row], count: int | None) -> list[str]:
    """Lay out what a file is and how it was made, and its first rows or lines."""
    width, path = terminal.width(), Path(record.path)
    hashed = f", hash {record.hash}" if record.hash else ""
    age = terminal.age(time.time() - record.modified)
    lines = [paint(record.path, "bold"), f"{terminal.size(record.bytes)}, {age} old{hashed}"]
    for text, *styles in how_made(record):
        lines += [paint(line, *styles) for line in terminal.wrapped(text, width, rest="  ")]
    lines += [f"input {name}  {digest[:12]}" for name, digest in record.inputs.items()]
    lines.append("")
    if path.suffix in TEXTS:
        content = path.read_text(encoding="utf-8", errors="replace").splitlines()
        return [*lines, *content[:count], *_more(len(content), count)]
    if path.suffix != ".parquet":
        return [*lines, f"not parquet and not text: open {path} with a viewer"]
    names = [column["name"] for column in columns]
    lines += [*records.listed(columns, ["name", "type", "description"]), ""]
    return [*lines, f"first {len(rows)} of {record.rows:,} rows", *records.listed(rows, names)]


def _more(rows: int, count: int | None) -> list[str]:
    return [] if count is None or rows <= count else [f"… {rows - count:,} more rows"]


Page = tuple[str, list[str], list[list[str]], list[str]]  # title, head and body of a table, and notes


class Terminal:
    """A style of ``tables.render``: a cell has its value and, on the next line, its quantiles over instances."""

    MISSING = "–"
    escape = staticmethod(str)
    quantity = attrgetter("label")

    @staticmethod
    def cell(text: tables.Shown, bold: bool) -> str:
        value = text.value + (f" ± {text.sem}" if text.sem else "") + ("*" if bold else "")
        return value + ("\n{1} ({0}…{2})".format(*text.spread) if text.spread else "")

    @staticmethod
    def document(*parts: Any) -> tuple[Any, ...]:
        return parts


def table(record: Record, rows: list[Row]) -> Page:
    """Show a table as in the paper."""
    import pandas as pd

    spec = from_json(tables.TableSpec, record.params)
    spec = spec._replace(notes=spec.notes + tables.mark_notes(record.marks, spec.labels))
    frame = pd.DataFrame(rows)
    numbers = ["value", "sem", "panel_median", "panel_low", "panel_high"]
    frame[numbers] = frame[numbers].astype(float)
    render: Any = tables.render
    caption, head, body, notes = render(frame, spec, Terminal)
    return caption, head, body, ["* marks the lowest of its kind.", *notes]


def figure(record: Record, rows: list[Row]) -> Page:
    """Show some points of every series of a figure, evenly spaced."""
    series: dict[str, list[Row]] = {}
    for row in rows:
        series.setdefault(row["series"], []).append(row)
    chosen = [row for part in series.values() for row in part[:: max(1, len(part) // POINTS)]]
    head = [name for name in (rows[0] if rows else ()) if any(row[name] is not None for row in rows)]
    body = [[number(row[name]) for name in head] for row in chosen]
    title = f"{record.params.get('title', record.path)} ({record.params.get('kind', 'figure')})"
    return title, head, body, [f"{len(chosen):,} of {len(rows):,} points; graphdr show {record.path} shows any"]


def comparison(record: Record, rows: list[Row]) -> Page:
    """Show the paper's numbers beside ours."""
    body = []
    for row in rows:
        paper, ours = with_error(row["paper"], row["paper_sem"]), with_error(row["ours"], row["sem"])
        place = f"{row['artifact']}: {row['row']}, {row['column']}"
        body.append([place, paper, ours, number(row["ratio"], 3), number(row["percentile"], 3), row["verdict"]])
    head = ["table: row, column", "paper", "ours", "ratio", "percentile", "verdict"]
    notes = [f"{kind}: {records.counted(counts, VERDICTS)}" for kind, counts in headline(rows).items()]
    return "Our numbers beside the paper's", head, body, notes


def claims(record: Record, rows: list[Row]) -> Page:
    """Show the claims with the numbers that decided them."""
    head = ["claim", "verdict", "share", "statement", "measured"]
    body = [[number(row[name], 2) for name in head] for row in rows]
    counts = count_verdicts(row["verdict"] for row in rows)
    return "The paper's claims, judged", head, body, [records.counted(counts, counts)]


PAGES = {page.__name__: page for page in (table, figure, comparison, claims)}
