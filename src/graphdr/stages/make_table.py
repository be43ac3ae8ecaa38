"""Build one table and write it as parquet, csv, markdown and LaTeX."""

from graphdr.cache import io
from graphdr.core.atomic import write_text
from graphdr.core.errors import no_raw_files
from graphdr.show import tables


def main(input, output, params):
    spec = vars(params)
    if not input.measurements:
        raise no_raw_files(output.parquet, [row["dataset"] for row in spec["row_keys"]])
    table = tables.build(spec, io.read_frame("measurements", input.measurements))
    spec["notes"] = spec["notes"] + tables.mark_notes(io.marks(), spec["labels"])
    io.write("table", table, output.parquet)
    write_text(table.drop(columns="panel").to_csv(index=False), output.csv)
    write_text(tables.render(table, spec, tables.Markdown), output.md)
    write_text(tables.render(table, spec, tables.Latex), output.tex)
