"""Build one table and write it as parquet, csv, markdown and LaTeX."""

from typing import Any, NamedTuple

from graphdr.cache import io, paths
from graphdr.core.atomic import write_text
from graphdr.core.errors import no_raw_files
from graphdr.show import tables


class Input(NamedTuple):
    measurements: list[str]  # or evaluations


class Output(NamedTuple):
    parquet: str = paths.table("{table}", "parquet")
    csv: str = paths.table("{table}", "csv")
    md: str = paths.table("{table}", "md")
    tex: str = paths.table("{table}", "tex")


class Params(NamedTuple):
    caption: str
    rows: str
    heading: str
    columns: list[dict[str, str]]
    bold: str | None
    row_keys: list[dict[str, Any]]
    labels: dict[str, str]
    controls: list[str]
    notes: list[str]
    quantities: dict[str, dict[str, Any]]


def main(input: Input, output: Output, params: Params) -> None:
    spec = params._asdict()
    if not input.measurements:
        raise no_raw_files(output.parquet, [row["dataset"] for row in spec["row_keys"]])
    table = tables.build(spec, io.read_frame("measurements", input.measurements))
    spec["notes"] = spec["notes"] + tables.mark_notes(io.marks(), spec["labels"])
    io.write("table", table, output.parquet)
    write_text(table.drop(columns="panel").to_csv(index=False), output.csv)
    write_text(tables.render(table, spec, tables.Markdown), output.md)
    write_text(tables.render(table, spec, tables.Latex), output.tex)
