"""Make a report: one self-contained page of everything that was built, or of the main comparison alone."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphdr import __version__
from graphdr.cache import io, manifest, paths, times
from graphdr.core.atomic import write_text
from graphdr.core.records import Json
from graphdr.paper import compare, multiverse, reference
from graphdr.scores import leaderboard
from graphdr.show import palette, story, words
from graphdr.show.report import content, template
from graphdr.show.tables import TableSpec
from graphdr.store.graphs import read_bases, read_items
from graphdr.store.problems import read_thetas

if TYPE_CHECKING:
    import pandas as pd

OURS = "graphdr"  # the method that the story is about
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


class Params(NamedTuple):
    """What the page shows besides results; experiments, data sets and the headline are as JSON."""

    experiments: dict[str, Json]  # without problems if these are too many for curves
    tables: dict[str, TableSpec]
    experiment_of: dict[str, str | None]  # by table
    compared: dict[str, compare.ComparedTable]
    labels: dict[str, str]
    datasets: dict[str, Json]
    headline: Json | None
    settings: Json  # the configuration as shown
    styles: dict[str, dict[str, str]]  # of the methods that have one
    first: Sequence[str] = ()  # claims that the story tells before others
    opt_in: Mapping[str, str] = {}  # targets that `all` does not build, and their titles
    missing: Sequence[str] = ()  # data sets that are not built


def main(input: Input, output: Output, params: Params) -> None:
    labels, methods = params.labels, params.settings["methods"]
    observed = [name for name, spec in params.datasets.items() if spec["observed"]]

    # Tables, beside the paper's numbers
    printed = reference.numbers(io.record_input(input.paper))
    if input.claims is None:
        printed = printed[printed["artifact"].isin(list(input.tables))]
    built = {name: io.read("table", path).to_pandas() for name, path in input.tables.items()}
    comparison = compare.compare(printed, built, params.compared, io.marks(), params.missing)
    lines = content.explained(comparison, reference.reasons(io.record_input(input.reasons)))
    papers, artifacts = compare.by_our_cell(lines, params.compared), list(dict.fromkeys(comparison["artifact"]))
    tables = {}
    for name in [name for name in dict.fromkeys([*artifacts, *sorted(built)]) if name in built]:
        shown = content.table(name, params.tables[name], built[name], papers, labels)
        tables[name] = shown | {"experiment": params.experiment_of[name]}

    # Experiments
    regrets: dict[str | None, dict[tuple[str, str], float]] = {}  # that the paper prints
    for name, table in params.tables.items():
        regrets.setdefault(params.experiment_of[name], {}).update(content.papers_regrets(name, table, papers))
    experiments = {}
    for name, spec in params.experiments.items():
        curves = io.read_frame("curves", input.curves.get(name, []))
        measured = {key: io.read_frame("measurements", files) for key, files in input.measurements[name].items()}
        experiments[name] = content.experiment(spec, curves, measured, regrets.get(name, {}), labels)
    first: dict[str, int] = {}  # where the paper first prints a number of each experiment
    for place, name in enumerate(artifacts):
        if experiment := params.experiment_of.get(name):
            first.setdefault(experiment, place)

    # Claims and studies
    claims, board = _frame("claims", input.claims), None
    story_json: Json | None = None
    if claims is not None:
        controls = [name for name, method in methods.items() if method.get("control")]
        varied = _frame("multiverse", input.multiverse, multiverse.summary)
        calibrated = _frame("table", input.calibrated)
        tale = story.tell(claims, varied, observed, params.first)
        story_json = {name: [line._asdict() for line in getattr(tale, name)] for name in story.SECTIONS}
        story_json |= {"without_data": tale.without_data, "varied": varied is not None, "best": ""}
        if calibrated is not None:
            story_json["best"] = story.best_of(story.winners(calibrated, controls, OURS), OURS, labels)
    if (ranks := _frame("leaderboard", input.leaderboard, leaderboard.overall)) is not None:
        board = {"head": leaderboard.HEAD, "lines": leaderboard.lines(ranks, labels), "note": leaderboard.NOTE}

    cards = {name: _card(files, params.datasets[name]["problem"]) for name, files in sorted(input.datasets.items())}
    for name, card in cards.items():  # with the marks of all that was read
        card["marks"] = io.marks().get(name, {})
    meanings = {"numbers": words.NUMBERS, "claims": words.CLAIMS}
    meanings |= {"terms": words.glossary(), "quantities": words.meanings()}
    shown_methods = content.methods(experiments.values(), methods, params.styles)
    document = {
        "version": __version__,
        "headline": content.headline(params.headline, experiments, methods),
        "story": story_json,
        "verdicts": {
            kind: {word: count[word] for word in compare.VERDICTS} for kind, count in compare.headline(lines).items()
        },
        "meanings": meanings,
        "whole": claims is not None,
        "claims": [] if claims is None else content.claims(claims, observed, labels),
        "leaderboard": board,
        "groups": content.groups(params.experiments, first),
        "experiments": experiments,
        "tables": tables,
        "methods": shown_methods,
        "datasets": {name: params.datasets[name] | card for name, card in cards.items()},
        "missing": {name: spec for name, spec in sorted(params.datasets.items()) if name not in cards},
        "apart": params.opt_in,
        "settings": params.settings,
        "versions": content.versions(),
        "machine": content.machine(),
        "timings": content.timings(times.jobs()),  # no input: they differ in every build, and must rebuild nothing
    }
    colours = palette.css(shown_methods, cards, params.styles)
    overview = next(map(manifest.drawing, input.overview), None)
    write_text(template.fill(document, colours, overview), output.html)
    print(f"{len(experiments)} experiments, {len(cards)} data sets")


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
