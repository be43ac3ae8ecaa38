"""Compare every number that the paper prints with the table that rebuilds it."""

from graphdr import compare, io, printed


def main(input, output, params):
    reference = printed.numbers(io.noted(input.paper))
    tables = {name: io.read("table", path).to_pandas() for name, path in input.tables.items()}
    comparison = compare.compare(reference, tables, params.tables, io.marks(), params.missing)
    io.write("comparison", comparison, output.parquet)
    io.write_text(compare.markdown(comparison), output.md)
    print(comparison["verdict"].value_counts().to_string())
