"""Draw one figure and write it as pdf, svg and png, with its points as parquet."""

from graphdr.cache import io
from graphdr.core.atomic import replacing
from graphdr.core.errors import no_raw_files
from graphdr.show import figures


def main(input, output, params):
    if not all(vars(input).values()):
        raise no_raw_files(output.parquet, params.datasets)
    figure, points = figures.KINDS[params.kind](input, vars(params))
    io.write("figure", points, output.parquet)
    for suffix in ("pdf", "svg", "png"):
        with replacing(getattr(output, suffix)) as temporary:
            figures.save(figure, temporary, suffix)
