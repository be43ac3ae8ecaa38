"""Make the report: one self-contained page of everything that was built."""

from graphdr import io, manifest, paths
from graphdr.report import machine, page, template


def main(input, output, params):
    document = page.document(input, params, machine.timings(paths.BENCHMARKS))
    overview = next(map(manifest.drawing, input.overview), None)
    text = template.fill(document, page.colours(document), overview)
    io.write_text(text, output.html)
    print(f"{len(document['experiments'])} experiments, {len(document['datasets'])} data sets, {len(text):,} letters")
