"""Draw one figure and write it as pdf, svg and png, with its points as parquet."""

from typing import Any, NamedTuple

from graphdr.cache import io, paths
from graphdr.core.atomic import replacing
from graphdr.core.errors import no_raw_files
from graphdr.show import kinds, style


class Input(NamedTuple):
    """Measurements, curves, claims or ranks, and for the overview picture a graph with its lowest eigenvectors."""

    measurements: list[str] | None = None
    curves: list[str] | None = None
    multiverse: str | None = None
    leaderboard: str | None = None
    nodes: str | None = None
    edges: str | None = None
    basis: str | None = None


class Output(NamedTuple):
    parquet: str = paths.figure("{figure}", "parquet")
    pdf: str = paths.figure("{figure}", "pdf")
    svg: str = paths.figure("{figure}", "svg")
    png: str = paths.figure("{figure}", "png")


class Params(NamedTuple):
    kind: str
    title: str
    datasets: list[str]
    labels: dict[str, str]
    styles: dict[str, dict[str, str]]  # of the methods that have one
    x: str | None = None  # factor along which a sweep goes …
    positions: dict[str, Any] | None = None  # … and its value in every problem
    rows: list[list[str]] | None = None  # problem and title
    problem: str | None = None
    k: int | None = None
    claim: str | None = None
    panels: dict[str, str] | None = None  # data sets with their labels
    y_label: str | None = None


def main(input: Input, output: Output, params: Params) -> None:
    if [] in input:  # nothing was measured
        raise no_raw_files(output.parquet, params.datasets)
    data: dict[str, Any] = {}  # a frame, and graph and basis of instance 0 where the figure shows them
    for kind in ("measurements", "curves"):
        if files := getattr(input, kind):
            data[kind] = io.read_frame(kind, files)
    for kind in ("multiverse", "leaderboard"):
        if path := getattr(input, kind):
            data[kind] = io.read_frame(kind, [path])
    if input.nodes and input.edges and input.basis:
        from graphdr.panels.bases import read_bases  # with SciPy, which most figures do without
        from graphdr.panels.graphs import read_graphs

        data |= {"graph": read_graphs(input.nodes, input.edges)[0], "basis": read_bases(input.basis)[0, 0]}
    figure, points = kinds.KINDS[params.kind](params._asdict(), **data)
    io.write("figure", points, output.parquet)
    for suffix in ("pdf", "svg", "png"):
        with replacing(getattr(output, suffix)) as temporary:
            style.save(figure, temporary, suffix)
