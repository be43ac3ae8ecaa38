"""Make the report: one self-contained page of everything that was built."""

from typing import Any, NamedTuple

from graphdr.cache import manifest, paths
from graphdr.core.atomic import write_text
from graphdr.show.report import machine, page, template


class Input(NamedTuple):
    comparison: str
    claims: str
    tables: dict[str, str]
    curves: dict[str, list[str]]  # by experiment
    measurements: dict[str, dict[str, list[str]]]  # by experiment and data set
    overview: list[str]
    datasets: dict[str, dict[str, str]]  # files behind the card of every data set


class Output(NamedTuple):
    html: str = paths.REPORT


class Params(NamedTuple):
    experiments: dict[str, Any]
    tables: dict[str, Any]
    quantities: dict[str, Any]
    datasets: dict[str, Any]
    headline: dict[str, Any] | None
    order: list[str]
    opt_in: list[str]  # targets that `all` does not build
    settings: dict[str, Any]
    verdicts: list[str]
    template: str  # digest of the static parts of the page


def main(input: Input, output: Output, params: Params) -> None:
    document = page.document(input, params, machine.timings(paths.BENCHMARKS))
    overview = next(map(manifest.drawing, input.overview), None)
    text = template.fill(document, page.colours(document), overview)
    write_text(text, output.html)
    print(f"{len(document['experiments'])} experiments, {len(document['datasets'])} data sets, {len(text):,} letters")
