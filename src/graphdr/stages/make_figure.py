"""Draw one figure and write it as pdf, svg and png, with its points as parquet."""

from typing import NamedTuple

from graphdr.cache import io, paths
from graphdr.core.atomic import replacing
from graphdr.core.errors import no_raw_files
from graphdr.show import figures, style
from graphdr.store.graphs import read_bases, read_graphs


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


Params = style.FigureSpec


def main(input: Input, output: Output, params: Params) -> None:
    if [] in input:  # nothing was measured
        raise no_raw_files(output.parquet, params.datasets)
    data: dict[str, object] = {}  # a frame, and graph and basis of instance 0 where the figure shows them
    for kind in ("measurements", "curves", "multiverse", "leaderboard"):
        if files := getattr(input, kind):
            data[kind] = io.read_frame(kind, [files] if isinstance(files, str) else files)
    if input.nodes and input.edges and input.basis:
        data |= {"graph": read_graphs(input.nodes, input.edges)[0], "basis": read_bases(input.basis)[0, 0]}
    figure, points = figures.KINDS[params.kind](params, **data)
    io.write("figure", points, output.parquet)
    for suffix in ("pdf", "svg", "png"):
        with replacing(getattr(output, suffix)) as temporary:
            style.save(figure, temporary, suffix)
