"""Build one table and write it as parquet, csv, markdown and LaTeX."""

from graphdr import io, tables
from graphdr.errors import no_raw_files


def main(input, output, params):
    spec = vars(params)
    if not input.measurements:
        raise no_raw_files(output.parquet, [row["dataset"] for row in spec["row_keys"]])
    table = tables.build(spec, io.read_frame("measurements", input.measurements))
    spec["notes"] = spec["notes"] + tables.mark_notes(io.marks(), spec["labels"])
    io.write("table", table, output.parquet)
    io.write_text(table.drop(columns="panel").to_csv(index=False), output.csv)
    io.write_text(tables.render(table, spec, tables.Markdown), output.md)
    io.write_text(tables.render(table, spec, tables.Latex), output.tex)
