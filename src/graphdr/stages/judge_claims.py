"""Judge every claim of the paper by what was measured."""

from typing import Any, NamedTuple

from graphdr.cache import io, paths
from graphdr.core.atomic import write_text
from graphdr.paper import claims, reference


class Input(NamedTuple):
    paper: str
    measurements: dict[str, list[str]]  # by experiment
    evaluations: dict[str, str]


class Output(NamedTuple):
    parquet: str = paths.claims("parquet")
    md: str = paths.claims("md")


class Params(NamedTuple):
    claims: dict[str, dict[str, Any]]
    problems: dict[str, dict[str, Any]]
    other: list[str]  # marks of data that are not the paper's
    labels: dict[str, str]  # words for names


def main(input: Input, output: Output, params: Params) -> None:
    words = reference.claims(io.noted(input.paper))
    experiments = {name: io.read_frame("measurements", files) for name, files in input.measurements.items()}
    evaluations = {name: io.read_frame("measurements", [path]) for name, path in input.evaluations.items()}
    table = claims.tidy(experiments, evaluations, params.problems)
    other = [dataset for dataset, marks in io.marks().items() if set(marks) & set(params.other)]
    judged = claims.judge_all(words, params.claims, table, other, output.md, params.labels)
    io.write("claims", judged, output.parquet)
    write_text(claims.markdown(judged), output.md)
    print(judged["verdict"].value_counts().to_string())
