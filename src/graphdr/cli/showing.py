"""``graphdr show``: what a file holds and how it was made; a table, a figure or a page by name."""

import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from graphdr.cache import manifest
from graphdr.cli import names, pages, records
from graphdr.cli.provenance import parameters
from graphdr.cli.records import Record, Row
from graphdr.core import terminal
from graphdr.core.errors import elide
from graphdr.core.terminal import Answer, number, paint

HEAD = 10  # rows of a file that are shown by default
TEXTS = {".md", ".csv", ".tex", ".json", ".txt"}


class Column(NamedTuple):
    """A column of a parquet file."""

    name: str
    type: str
    description: str | None


def run(options: Namespace, here: Path) -> Answer:
    """Show the record of a file and its first rows; a table, figure or page that is named is shown with all rows."""
    count = options.rows
    path, by_name = names.resolve(options.target, here)
    parquet = path.endswith(".parquet")
    record = records.record(path, None if parquet else manifest.by_output().get(path))
    page = pages.PAGES.get(record.kind or "") if by_name else None
    wanted = record.rows or 0 if page else HEAD if count is None else count
    rows = records.head(path, wanted) if parquet else []
    columns = _columns(path) if parquet else []
    made = {name: getattr(record, name) for name in ("stage", "version", "code", "params", "inputs")}
    answer = {
        **{name: getattr(record, name) for name in ("path", "kind", "rows", "bytes")},
        "modified": record.modified_at,
        "hash": record.hash,
        "provenance": None if record.stage is None else made,
        "marks": record.marks,
        "columns": columns,
        "head": rows[:count],
    }
    if page:
        return 0, answer, lambda: page(record, rows, count)
    return 0, answer, lambda: _text(record, columns, rows[:count], count)


def _text(record: Record, columns: list[Column], head: list[Row], count: int | None) -> list[str]:
    """Lay out the answer for a reader."""
    parts = [f"kind {record.kind}"] if record.kind else []
    parts += [] if record.rows is None else [terminal.plural(record.rows, "row")]
    parts += [terminal.size(record.bytes), f"{terminal.age(time.time() - record.modified)} old"]
    lines = [paint(record.path, "bold"), ", ".join(parts), *_made(record), ""]
    if not record.path.endswith(".parquet"):
        return lines + _lines_of(record.path, count)
    lines += ["columns", *_indented(_column_lines(columns)), ""]
    return [*lines, f"first {len(head)} of {record.rows:,} rows", *_indented(_head_lines(columns, head))]


def _columns(path: str) -> list[Column]:
    columns = []
    for column in records.schema(path):
        text = (column.metadata or {}).get(b"description")
        columns.append(Column(column.name, str(column.type), text and text.decode(errors="replace")))
    return columns


def _made(record: Record) -> Iterator[str]:
    """Yield how a file was made: stage, version, code, parameters, marks and inputs."""
    if record.hash:
        yield f"hash     {record.hash}"
    if record.stage is None:
        yield paint("note     carries no provenance: no stage of this project built it, or it was rewritten", "yellow")
        return
    yield f"stage    {record.made_by()}"
    if record.params:
        yield from _hanging("params", parameters(record.params))
    for dataset, words in record.marks.items():
        for kind, text in words.items():
            yield from (paint(line, "yellow") for line in _hanging("mark", f"{dataset}: {kind}: {text}"))
    for place, (path, digest) in enumerate(record.inputs.items()):
        yield f"{'' if place else 'inputs':<8} {path}  {digest[:12]}"


def _hanging(name: str, text: str) -> list[str]:
    return terminal.wrapped(text, terminal.width(), f"{name:<9}", " " * 9)


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}".rstrip() for line in lines]


def _column_lines(columns: list[Column]) -> list[str]:
    body = [[column.name, column.type, column.description or "–"] for column in columns]
    return terminal.table(["name", "type", "meaning"], body, [False] * 3, terminal.width() - 2) if body else []


def _head_lines(columns: list[Column], rows: list[Row]) -> list[str]:
    every = [column.name for column in columns]
    head = [name for name in every if any(row[name] is not None for row in rows)]
    right = [any(isinstance(row[name], int | float) for row in rows) for name in head]
    body = [[elide(number(row[name]), 60) for name in head] for row in rows]
    lines = terminal.table(head, body, right, terminal.width() - 2, keys=0) if head else []
    empty = ", ".join(name for name in every if name not in head)
    return lines + (terminal.wrapped(f"without a value here: {empty}", terminal.width() - 2) if rows and empty else [])


def _lines_of(path: str, count: int | None) -> list[str]:
    """Return the lines of a text file; other files need a viewer."""
    if Path(path).suffix not in TEXTS:
        return [f"not parquet and not text: open {path} with a viewer"]
    lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    left = len(lines) - len(lines[:count])
    return lines[:count] + ([f"… {left} more lines"] if left else [])
