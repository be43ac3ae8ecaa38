"""Compare every number that the paper prints with the table that rebuilds it."""

from typing import Any, NamedTuple

from graphdr.cache import io, paths
from graphdr.core.atomic import write_text
from graphdr.paper import compare, reference


class Input(NamedTuple):
    paper: str
    tables: dict[str, str]


class Output(NamedTuple):
    parquet: str = paths.comparison("parquet")
    md: str = paths.comparison("md")


class Params(NamedTuple):
    tables: dict[str, dict[str, Any]]
    missing: list[str]  # data sets that are not here


def main(input: Input, output: Output, params: Params) -> None:
    printed = reference.numbers(io.noted(input.paper))
    tables = {name: io.read("table", path).to_pandas() for name, path in input.tables.items()}
    comparison = compare.compare(printed, tables, params.tables, io.marks(), params.missing)
    io.write("comparison", comparison, output.parquet)
    write_text(compare.markdown(comparison), output.md)
    print(comparison["verdict"].value_counts().to_string())
