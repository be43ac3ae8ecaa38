"""Make the report: one self-contained page of everything that was built."""

from graphdr.cache import manifest, paths
from graphdr.core.atomic import write_text
from graphdr.show.report import machine, page, template


def main(input, output, params):
    document = page.document(input, params, machine.timings(paths.BENCHMARKS))
    overview = next(map(manifest.drawing, input.overview), None)
    text = template.fill(document, page.colours(document), overview)
    write_text(text, output.html)
    print(f"{len(document['experiments'])} experiments, {len(document['datasets'])} data sets, {len(text):,} letters")
