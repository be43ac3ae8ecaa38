"""Compare every number that the paper prints with the table that rebuilds it."""

from graphdr.cache import io
from graphdr.core.atomic import write_text
from graphdr.paper import compare, reference


def main(input, output, params):
    printed = reference.numbers(io.noted(input.paper))
    tables = {name: io.read("table", path).to_pandas() for name, path in input.tables.items()}
    comparison = compare.compare(printed, tables, params.tables, io.marks(), params.missing)
    io.write("comparison", comparison, output.parquet)
    write_text(compare.markdown(comparison), output.md)
    print(comparison["verdict"].value_counts().to_string())
