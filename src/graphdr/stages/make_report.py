"""Make a report: one self-contained page of everything that was built, or of the main comparison alone."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphdr.cache import io, manifest, paths, times
from graphdr.core.atomic import write_text
from graphdr.core.records import Json
from graphdr.paper import compare, multiverse, reference
from graphdr.scores import leaderboard
from graphdr.show.report import content, page, template
from graphdr.store.graphs import read_bases, read_items
from graphdr.store.problems import read_thetas

if TYPE_CHECKING:
    import pandas as pd

# Files of studies that only their targets build: the page shows those that exist.
STUDIES = {
    "multiverse": paths.multiverse("parquet"),
    "leaderboard": paths.leaderboard("parquet"),
    "calibrated": paths.table("calibrated", "parquet"),
}
BUILT_BY = {"multiverse": "multiverse", "leaderboard": "leaderboard", "calibration": "calibrated"}  # study by target


class Input(NamedTuple):
    paper: str
    reasons: str  # why numbers differ from the paper's
    claims: str | None  # of the whole report
    tables: dict[str, str]
    curves: dict[str, list[str]]  # by experiment
    measurements: dict[str, dict[str, list[str]]]  # by experiment and data set
    overview: list[str]
    drawn: list[str]  # their entries in the manifest
    datasets: dict[str, dict[str, str]]  # files behind the card of every data set
    multiverse: str = ""  # the claims with every setting …
    leaderboard: str = ""  # … the ranks of methods …
    calibrated: str = ""  # … and the table of methods at their best setting, where these studies are built


class Output(NamedTuple):
    html: str = paths.page


Params = page.ReportSpec


def main(input: Input, output: Output, params: Params) -> None:
    costs = times.jobs()  # no input of the page: they differ in every build, and must rebuild nothing
    document = page.document(_read(input, params), params, page.timings(costs))
    overview = next(map(manifest.drawing, input.overview), None)
    text = template.fill(document, page.colours(document, params), overview)
    write_text(text, output.html)
    print(f"{len(document['experiments'])} experiments, {len(document['datasets'])} data sets, {len(text):,} letters")


def _read(input: Input, params: Params) -> page.Built:
    printed = reference.numbers(io.record_input(input.paper))
    if input.claims is None:
        printed = printed[printed["artifact"].isin(list(input.tables))]
    tables = {name: io.read("table", path).to_pandas() for name, path in input.tables.items()}
    specs = {name: spec.compared for name, spec in params.tables.items()}
    compared = compare.compare(printed, tables, specs, io.marks(), params.missing)
    return page.Built(
        compare.identify(compared, params.cells, specs, params.observed),
        reference.reasons(io.record_input(input.reasons)),
        _frame("claims", input.claims),
        _frame("multiverse", input.multiverse, multiverse.summary),
        _frame("table", input.calibrated),
        _frame("leaderboard", input.leaderboard, leaderboard.overall),
        tables,
        {name: io.read_frame("curves", input.curves.get(name, [])) for name in params.experiments},
        {
            name: {dataset: io.read_frame("measurements", files) for dataset, files in parts.items()}
            for name, parts in input.measurements.items()
        },
        {name: _card(files, params.datasets[name].problem) for name, files in input.datasets.items()},
        io.marks(),  # of all that was read above
    )


def _frame(kind: str, path: str | None, summary: Callable[..., Any] | None = None) -> "pd.DataFrame | None":
    """Read a file and summarize it, if it is there: a job elsewhere may not have the files of a study."""
    if not path or not Path(path).is_file():
        return None
    frame = io.read(kind, path).to_pandas()
    return summary(frame) if summary else frame


def _card(files: dict[str, str], problem: str | None) -> Json:
    """Describe instance 0 of a data set."""
    (items, *_), titles = read_items(files["nodes"]), None
    edges = io.values(io.read("edges", files["edges"])["instance"]) == 0
    theta = read_thetas(files["theta"])[problem or "", 0]
    if "titles" in files:
        titles = io.read("dataset_nodes", files["titles"])["title"].take(items.item.astype("int64")).to_pylist()
    return content.card(int(edges.sum()), read_bases(files["basis"])[0, 0], theta, titles)
