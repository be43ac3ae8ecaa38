"""``graphdr show``: what a file holds and how it was made; a table, a figure or a page by name, to read."""

import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from graphdr.cache import manifest
from graphdr.cli import names, pages, records
from graphdr.cli.provenance import parameters
from graphdr.cli.records import Record
from graphdr.core import terminal
from graphdr.core.errors import elide
from graphdr.core.terminal import Answer, number, paint

HEAD = 10  # rows of a file that are shown, unless told otherwise
TEXTS = {".md", ".csv", ".tex", ".json", ".txt"}


def run(options: Namespace, here: Path) -> Answer:
    """Return what is known about a file and its first rows.

    Of a table, a figure or a page that is asked for by name, all rows are given unless a number of rows is asked for.
    """
    count = options.rows
    path, by_name = names.resolve(options.target, here)
    parquet = path.endswith(".parquet")
    record = records.record(path, None if parquet else manifest.by_output().get(path))
    page = by_name and record.kind in pages.PAGES
    rows = records.head(path, record.rows or 0 if page else HEAD if count is None else count) if parquet else []
    made = {name: getattr(record, name) for name in ("stage", "version", "code", "params", "inputs")}
    answer = {
        **{name: getattr(record, name) for name in ("path", "kind", "rows", "bytes")},
        "modified": record.moment,
        "hash": record.hash,
        "provenance": None if record.stage is None else made,
        "marks": record.marks,
        "columns": _columns(path) if parquet else [],
        "head": rows[:count],
    }
    if page:
        return 0, answer, lambda: pages.PAGES[record.kind](record, rows, count)
    return 0, answer, lambda: _text(record, answer["columns"], answer["head"], count)


def _text(record: Record, columns: list[dict], head: list[dict], count: int | None) -> list[str]:
    """Lay out the answer for a reader."""
    parts = [f"kind {record.kind}"] if record.kind else []
    parts += [] if record.rows is None else [terminal.plural(record.rows, "row")]
    parts += [terminal.size(record.bytes), f"{terminal.age(time.time() - record.modified)} old"]
    lines = [paint(record.path, "bold"), ", ".join(parts), *_made(record), ""]
    if not record.path.endswith(".parquet"):
        return lines + _lines_of(record.path, count)
    lines += ["columns", *_indented(_column_lines(columns)), ""]
    return [*lines, f"first {len(head)} of {record.rows:,} rows", *_indented(_head_lines(columns, head))]


def _columns(path: str) -> list[dict]:
    """Return the columns of a parquet file with their types and meanings."""
    described = [(field, (field.metadata or {}).get(b"description")) for field in records.schema(path)]
    return [
        {"name": field.name, "type": str(field.type), "description": text and text.decode(errors="replace")}
        for field, text in described
    ]


def _made(record: Record) -> Iterator[str]:
    """Yield how a file was made: stage, version, code, parameters, marks and inputs."""
    if record.hash:
        yield f"hash     {record.hash}"
    if record.stage is None:
        yield paint("note     carries no provenance: no stage of this project built it, or it was rewritten", "yellow")
        return
    version = f", version {record.version}" if record.version else ""
    yield f"stage    {record.stage}{version}, code {record.code}"
    if record.params:
        yield from _hanging("params", parameters(record.params))
    for dataset, words in record.marks.items():
        for kind, said in words.items():
            yield from (paint(line, "yellow") for line in _hanging("mark", f"{dataset}: {kind}: {said}"))
    for at, (path, digest) in enumerate(record.inputs.items()):
        yield f"{'' if at else 'inputs':<8} {path}  {digest[:12]}"


def _hanging(name: str, said: str) -> list[str]:
    return terminal.wrapped(said, terminal.width(), f"{name:<9}", " " * 9)


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}".rstrip() for line in lines]


def _column_lines(columns: list[dict]) -> list[str]:
    body = [[column["name"], column["type"], column["description"] or "–"] for column in columns]
    return terminal.table(["name", "type", "meaning"], body, [False] * 3, terminal.width() - 2) if body else []


def _head_lines(columns: list[dict], rows: list[dict]) -> list[str]:
    every = [column["name"] for column in columns]
    head = [name for name in every if any(row[name] is not None for row in rows)]
    right = [any(isinstance(row[name], int | float) for row in rows) for name in head]
    body = [[elide(number(row[name]), 60) for name in head] for row in rows]
    lines = terminal.table(head, body, right, terminal.width() - 2, keys=0) if head else []
    empty = ", ".join(name for name in every if name not in head)
    return lines + (terminal.wrapped(f"without a value here: {empty}", terminal.width() - 2) if rows and empty else [])


def _lines_of(path: str, count: int | None) -> list[str]:
    """Return the lines of a text file; of another one there is nothing to read."""
    if Path(path).suffix not in TEXTS:
        return [f"not parquet and not text: open {path} with a viewer"]
    lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    left = len(lines) - len(lines[:count])
    return lines[:count] + ([f"… {left} more lines"] if left else [])
