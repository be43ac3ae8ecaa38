"""Make a report: one self-contained page of everything that was built, or of the main comparison alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphdr.cache import io, manifest, paths, times
from graphdr.core.atomic import write_text
from graphdr.panels.bases import read_bases
from graphdr.panels.items import read_items
from graphdr.panels.problems import read_thetas
from graphdr.paper import compare, multiverse, reference
from graphdr.scores import leaderboard
from graphdr.show.report import cards, machine, page, template

if TYPE_CHECKING:
    import pandas as pd

CALIBRATED = "calibrated"  # table of methods at their best setting


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


class Output(NamedTuple):
    html: str = paths.page


class Params(NamedTuple):
    experiments: dict[str, Any]
    tables: dict[str, Any]
    cells: dict[str, dict[str, dict[str, str]]]  # what stands in every cell of a table: equal names are one number
    quantities: dict[str, Any]
    labels: dict[str, str]  # words for names
    datasets: dict[str, Any]
    headline: dict[str, Any] | None
    order: list[str]
    first: list[str]  # claims that the story tells before others
    opt_in: dict[str, str]  # targets that `all` does not build, and their titles
    settings: dict[str, Any]
    styles: dict[str, dict[str, str]]  # of the methods that have one
    verdicts: list[str]
    missing: list[str]  # data sets that are not here
    multiverse: str  # digest of the claims with every setting, nothing if that study is not built …
    leaderboard: str  # … of the ranks of methods …
    calibrated: str  # … and of the table of methods at their best


def main(input: Input, output: Output, params: Params) -> None:
    costs = times.jobs()  # no input of the page: they differ in every build, and must rebuild nothing
    document = page.document(_read(input, params), params, machine.timings(costs))
    overview = next(map(manifest.drawing, input.overview), None)
    text = template.fill(document, page.colours(document, params), overview)
    write_text(text, output.html)
    print(f"{len(document['experiments'])} experiments, {len(document['datasets'])} data sets, {len(text):,} letters")


def _read(input: Input, params: Params) -> page.Built:
    printed = reference.numbers(io.noted(input.paper))
    if input.claims is None:
        printed = printed[printed["artifact"].isin(list(input.tables))]
    tables = {name: io.read("table", path).to_pandas() for name, path in input.tables.items()}
    compared = compare.compare(printed, tables, params.tables, io.marks(), params.missing)
    observed = [name for name, spec in params.datasets.items() if spec["observed"]]
    return page.Built(
        compare.identify(compared, params.cells, params.tables, observed),
        reference.reasons(io.noted(input.reasons)),
        io.read("claims", input.claims).to_pandas() if input.claims else None,
        _varied(params),
        _calibrated(params),
        _ranked(params),
        tables,
        {name: io.read_frame("curves", input.curves.get(name, [])) for name in params.experiments},
        {
            name: {dataset: io.read_frame("measurements", files) for dataset, files in parts.items()}
            for name, parts in input.measurements.items()
        },
        {name: _card(files, params.datasets[name]["problem"]) for name, files in input.datasets.items()},
        io.marks(),  # of all that was read above
    )


def _varied(params: Params) -> "pd.DataFrame | None":
    """Return the claims with every setting, if that study is built: no input, or every change would build it again."""
    if not params.multiverse or not Path(paths.multiverse("parquet")).is_file():
        return None
    return multiverse.summary(io.read("multiverse", paths.multiverse("parquet")).to_pandas())


def _calibrated(params: Params) -> "pd.DataFrame | None":
    """Return the table of methods at their best, on the same terms."""
    path = paths.table(CALIBRATED, "parquet")
    return io.read("table", path).to_pandas() if params.calibrated and Path(path).is_file() else None


def _ranked(params: Params) -> "pd.DataFrame | None":
    """Return the leaderboard over all problems, on the same terms."""
    path = paths.leaderboard("parquet")
    if not params.leaderboard or not Path(path).is_file():
        return None
    return leaderboard.overall(io.read("leaderboard", path).to_pandas())


def _card(files: dict[str, str], problem: str) -> dict[str, Any]:
    """Describe instance 0 of a data set."""
    (items, *_) = read_items(files["nodes"])
    edges = io.values(io.read("edges", files["edges"])["instance"]) == 0
    theta = read_thetas(files["theta"])[problem, 0]
    titles = None
    if "titles" in files:
        titles = io.read("dataset_nodes", files["titles"])["title"].take(items.item.astype("int64")).to_pylist()
    return cards.card(int(edges.sum()), read_bases(files["basis"])[0, 0], theta, titles)
