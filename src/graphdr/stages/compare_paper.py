"""Compare every number that the paper prints with the table that rebuilds it, and measure what this can notice."""

from typing import Any, NamedTuple

import pandas as pd

from graphdr.cache import io, paths
from graphdr.core.atomic import write_text
from graphdr.paper import compare, power, reference

POWER = ["table", *power.Row._fields]


class Input(NamedTuple):
    paper: str
    tables: dict[str, str]
    pseudo_papers: dict[str, list[str]]  # measurements by table


class Output(NamedTuple):
    parquet: str = paths.comparison("parquet")
    md: str = paths.comparison("md")
    power: str = paths.power


class Params(NamedTuple):
    tables: dict[str, dict[str, Any]]
    missing: list[str]  # data sets that are not here
    cells: dict[str, dict[str, dict[str, str]]]  # what our number is, by table, row and column
    observed: list[str]  # data sets that are no random graphs
    pseudo_papers: dict[str, dict[str, Any]]  # by table; see `plan`


def main(input: Input, output: Output, params: Params) -> None:
    printed = reference.numbers(io.noted(input.paper))
    tables = {name: io.read("table", path).to_pandas() for name, path in input.tables.items()}
    comparison = compare.compare(printed, tables, params.tables, io.marks(), params.missing)
    comparison = compare.identify(comparison, params.cells, params.tables, params.observed)
    powers = [row for name, spec in params.pseudo_papers.items() for row in _power(name, spec, input, printed)]
    io.write("comparison", comparison, output.parquet)
    io.write("power", pd.DataFrame(powers, columns=POWER), output.power)
    write_text(compare.markdown(comparison, power.markdown(powers)), output.md)
    print(comparison["verdict"].value_counts().to_string())


def _power(table: str, spec: dict[str, Any], input: Input, printed: pd.DataFrame) -> list[dict[str, Any]]:
    """Judge the pseudo-papers of a table, for the methods whose regret the paper prints there."""
    measurements = io.read_frame("measurements", input.pseudo_papers[table]).replace({"method": spec["stand_ins"]})
    lines = printed[(printed["artifact"] == table) & (printed["column"] == "regret")].set_index("row")
    methods = [method for method in spec["methods"] if method in lines.index]
    paper = power.Papers(*(pd.to_numeric(lines.loc[methods, name]).to_numpy(float)[None] for name in ("value", "sem")))
    control = power.by_instance(measurements, spec["control"], methods)
    others = {words: power.by_instance(measurements, problem, methods) for problem, words in spec["others"]}
    return [{"table": table} | row._asdict() for row in power.power(control, others, spec["size"], paper)]
