"""Make the report: one self-contained page of everything that was built."""

from pathlib import Path

from graphdr import io, paths
from graphdr.report import machine, page, template


def main(input, output, params):
    document = page.document(input, params, machine.timings(paths.BENCHMARKS))
    overview = next((Path(path).read_text(encoding="utf-8") for path in input.overview), None)
    text = template.fill(document, page.colours(document), overview)
    io.write_text(text, output.html)
    print(f"{len(document['experiments'])} experiments, {len(document['datasets'])} data sets, {len(text):,} letters")
