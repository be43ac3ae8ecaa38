"""Make the report: one self-contained page of everything that was built."""

from graphdr.cache import io, manifest, paths
from graphdr.core.atomic import write_text
from graphdr.panels import store
from graphdr.show.report import cards, machine, page, template


def main(input, output, params):
    document = page.document(_read(input, params), params, machine.timings(paths.BENCHMARKS))
    overview = next(map(manifest.drawing, input.overview), None)
    text = template.fill(document, page.colours(document, params), overview)
    write_text(text, output.html)
    print(f"{len(document['experiments'])} experiments, {len(document['datasets'])} data sets, {len(text):,} letters")


def _read(input, params) -> page.Built:
    return page.Built(
        _frame("comparison", input.comparison),
        _frame("claims", input.claims),
        {name: _frame("table", path) for name, path in input.tables.items()},
        {name: io.read_frame("curves", input.curves.get(name, [])) for name in params.experiments},
        {
            name: {dataset: io.read_frame("measurements", files) for dataset, files in parts.items()}
            for name, parts in input.measurements.items()
        },
        {name: _card(files, params.datasets[name]["problem"]) for name, files in input.datasets.items()},
        io.marks(),  # of all that was read above
    )


def _card(files: dict[str, str], problem: str) -> dict:
    """Describe instance 0 of a data set."""
    (items, *_) = store.read_items(files["nodes"])
    edges = io.values(io.read("edges", files["edges"])["instance"]) == 0
    theta = store.read_thetas(files["theta"])[problem, 0]
    titles = None
    if "titles" in files:
        titles = io.read("dataset_nodes", files["titles"])["title"].take(items.item.astype("int64")).to_pylist()
    return cards.card(int(edges.sum()), store.read_bases(files["basis"])[0, 0], theta, titles)


def _frame(kind: str, path: str):
    return io.read(kind, path).to_pandas()
