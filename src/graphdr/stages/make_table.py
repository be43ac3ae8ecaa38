"""Build one table and write it as parquet, csv, markdown and LaTeX."""

from typing import NamedTuple

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


Params = tables.TableSpec


def main(input: Input, output: Output, params: Params) -> None:
    if not input.measurements:
        raise no_raw_files(output.parquet, [row.dataset for row in params.row_keys if row.dataset])
    table = tables.build(params, io.read_frame("measurements", input.measurements))
    spec = params._replace(notes=params.notes + tables.mark_notes(io.marks(), params.labels))
    io.write("table", table, output.parquet)
    write_text(table.drop(columns="panel").to_csv(index=False), output.csv)
    write_text(tables.render(table, spec, tables.Markdown), output.md)
    write_text(tables.render(table, spec, tables.Latex), output.tex)
