"""Compare every number that the paper prints with the table that rebuilds it, and measure what this can notice."""

from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from graphdr.cache import io, paths
from graphdr.core.atomic import write_text
from graphdr.paper import compare, power, reference

POWER = ["table", *power.Row._fields]


class Input(NamedTuple):
    paper: str
    tables: dict[str, str]
    simulated_papers: dict[str, list[str]]  # measurements by table


class Output(NamedTuple):
    parquet: str = paths.comparison("parquet")
    md: str = paths.comparison("md")
    power: str = paths.power


@dataclass(frozen=True)
class SimulatedPapers:
    """Problems of our protocol and of others, whose numbers are compared as the paper's are."""

    control: str  # problem of our protocol
    others: list[tuple[str, str]]  # problems of other protocols, with the difference in words
    methods: list[str]
    aliases: dict[str, str]  # methods by the method of the table that they replace
    size: int  # instances of the table


class Params(NamedTuple):
    tables: dict[str, compare.ComparedTable]
    missing: list[str]  # data sets that are not here
    simulated_papers: dict[str, SimulatedPapers]  # by table


def main(input: Input, output: Output, params: Params) -> None:
    printed = reference.numbers(io.record_input(input.paper))
    tables = {name: io.read("table", path).to_pandas() for name, path in input.tables.items()}
    comparison = compare.compare(printed, tables, params.tables, io.marks(), params.missing)
    powers: list[power.Line] = []
    for name, spec in params.simulated_papers.items():
        measurements = io.read_frame("measurements", input.simulated_papers[name]).replace({"method": spec.aliases})
        lines = printed[(printed["artifact"] == name) & (printed["column"] == "regret")].set_index("row")
        methods = [method for method in spec.methods if method in lines.index]
        regrets = (pd.to_numeric(lines.loc[methods, part]).to_numpy(float)[None] for part in ("value", "sem"))
        control = power.by_instance(measurements, spec.control, methods)
        others = {words: power.by_instance(measurements, problem, methods) for problem, words in spec.others}
        for row in power.power(control, others, spec.size, power.Papers(*regrets)):
            powers.append({"table": name} | row._asdict())
    io.write("comparison", comparison, output.parquet)
    io.write("power", pd.DataFrame(powers, columns=POWER), output.power)
    write_text(compare.markdown(comparison, power.markdown(powers)), output.md)
    print(comparison["verdict"].value_counts().to_string())
