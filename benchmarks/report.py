"""Rows of results: print them as tables and keep them as parquet files."""

from pathlib import Path
from typing import NamedTuple

FOLDER = Path("results/bench")
NAMED = {"microseconds": "µs a round", "seconds": "seconds", "rate": "rate"}


class Row(NamedTuple):
    """One measurement; ``ratio`` is its multiple of ours (or of the smallest size), ``limit_ratio`` of the limit."""

    section: str
    name: str
    setting: str
    value: float | None
    ratio: float | None = None
    limit_ratio: float | None = None
    note: str = ""


def number(value: float | None) -> str:
    """Write a number with three digits that count."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(title: str, measure: str, rows: list[Row]) -> str:
    """Return a Markdown table with aligned columns."""
    head = ["name", "setting", NAMED[measure], "× ours", "× limit", "note"]
    cells = [
        [r.name, r.setting, number(r.value), number(r.ratio), number(r.limit_ratio), r.note.replace("|", "/")]
        for r in rows
    ]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    rule = ["-" * (width - 1) + (":" if 2 <= at <= 4 else "-") for at, width in enumerate(widths)]

    def line(values):
        padded = (
            v.rjust(w) if 2 <= at <= 4 else v.ljust(w) for at, (v, w) in enumerate(zip(values, widths, strict=True))
        )
        return "| " + " | ".join(padded) + " |"

    return "\n".join(["", f"### {title}", "", line(head), line(rule), *map(line, cells)])


def show(measure: str, rows: list[Row]) -> None:
    """Print one table per section."""
    for title in dict.fromkeys(row.section for row in rows):
        print(table(title, measure, [row for row in rows if row.section == title]), flush=True)


def keep(path: Path, measure: str, rows: list[Row]) -> None:
    """Write the rows to a parquet file, with the measured column named after its unit."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"value": pa.float64(), "ratio": pa.float64(), "limit_ratio": pa.float64()}
    columns = {
        measure if field == "value" else field: pa.array([row[at] for row in rows], kinds.get(field, pa.string()))
        for at, field in enumerate(Row._fields)
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
