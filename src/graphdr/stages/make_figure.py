"""Draw one figure and write it as pdf, svg and png, with its points as parquet."""

from graphdr.cache import io
from graphdr.core.atomic import replacing
from graphdr.core.errors import no_raw_files
from graphdr.panels import store
from graphdr.show import kinds, style


def main(input, output, params):
    if not all(vars(input).values()):
        raise no_raw_files(output.parquet, params.datasets)
    figure, points = kinds.KINDS[params.kind](vars(params), **_read(input))
    io.write("figure", points, output.parquet)
    for suffix in ("pdf", "svg", "png"):
        with replacing(getattr(output, suffix)) as temporary:
            style.save(figure, temporary, suffix)


def _read(input) -> dict:
    """Return what the figure shows: frames by their kind, and graph and basis of instance 0 where it has them."""
    shown = {
        kind: io.read_frame(kind, paths) for kind, paths in vars(input).items() if kind in ("curves", "measurements")
    }
    if hasattr(input, "basis"):
        shown |= {"graph": store.read_graphs(input.nodes, input.edges)[0], "basis": store.read_bases(input.basis)[0, 0]}
    return shown
