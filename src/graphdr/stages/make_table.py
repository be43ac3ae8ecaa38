"""Build one table and write it as parquet, csv, markdown and LaTeX."""

from graphdr import io, tables


def main(input, output, params):
    spec = vars(params)
    table = tables.build(spec, io.read("measurements", input.measurements).to_pandas())
    io.write("table", table, output.parquet)
    io.write_text(table.drop(columns="panel").to_csv(index=False), output.csv)
    io.write_text(tables.render(table, spec, tables.Markdown), output.md)
    io.write_text(tables.render(table, spec, tables.Latex), output.tex)
