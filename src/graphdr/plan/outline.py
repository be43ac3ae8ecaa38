"""What the page is to show, from the configuration alone: experiments, tables, data sets, and what is missing."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

import graphdr.stages.make_report as report
from graphdr.cache import manifest, paths
from graphdr.core.records import to_json
from graphdr.paper.compare import VERDICTS, ComparedTable
from graphdr.plan import words
from graphdr.plan.blocks import Claim, Config
from graphdr.plan.design import Design, problems_of
from graphdr.plan.job import fill
from graphdr.show.report.content import ExperimentSpec, PageTable, ProblemSpec
from graphdr.show.report.page import DatasetSpec, HeadlineSpec, ReportSpec
from graphdr.show.tables import TableSpec
from graphdr.show.words import FACTORS

MANY = 40  # problems above which an experiment is one cloud of points and not a choice of curves
# What numbers depend on: how they are shown, and where raw files come from, left out.
SETTINGS = {"seed", "batch", "protocol", "observed", "datasets", "problems", "methods", "experiments", "evaluations"}
SYNTHETIC, OBSERVED = "Synthetic graphs", "Data sets"


class BuiltTable(NamedTuple):
    """A table that is built: its file, parameters, experiments, and how it relates to the paper's."""

    path: str
    spec: TableSpec
    sources: list[str]
    compared: ComparedTable


Tables = dict[str, BuiltTable]  # by name


def report_input(design: Design, batches: dict[str, str], tables: Tables) -> report.Input:
    """Return the files that the page reads; ``batches`` maps every batch to its data set."""
    curves: dict[str, list[str]] = {}
    measured: dict[str, dict[str, list[str]]] = {}
    built = _built(design, batches)
    for batch, dataset in batches.items():
        experiment = design.batches[batch].experiment
        measured.setdefault(experiment, {}).setdefault(dataset, []).append(paths.measurements(batch))
        if len(built[experiment]) <= MANY:
            curves.setdefault(experiment, []).append(paths.curves(batch))
    drawings = [paths.figure(name, "svg") for name in overviews(design, built)]
    return report.Input(
        paper=paths.PAPER,
        reasons=paths.PAPER_REASONS,
        claims=None,
        tables={name: table.path for name, table in tables.items()},
        curves=curves,
        measurements=measured,
        overview=drawings,
        drawn=[manifest.of_drawing(path) for path in drawings],
        datasets={name: card(design, name, *home) for name, home in home_problems(design, batches).items()},
    )


def report_spec(design: Design, batches: dict[str, str], tables: Tables) -> ReportSpec:
    """Return what the page shows besides its files; ``tables`` are the parameters of every table that is built."""
    config, built = design.config, _built(design, batches)
    homes = home_problems(design, batches)
    unseen = {"datasets": "raw", "methods": "style", "experiments": "title"}  # no number depends on them
    hidden = {block: {"__all__": {key}} for block, key in unseen.items()}
    opt_in = sorted({spec.target for spec in config.experiments.values() if spec.opt_in and spec.target})
    return ReportSpec(
        experiments={name: experiment(design, name, problems) for name, problems in built.items()},
        tables={name: table(built, spec) for name, spec in tables.items()},
        quantities={name: spec for table in tables.values() for name, spec in table.spec.quantities.items()},
        labels=words.labels(config) | titles(design, built),
        datasets={name: dataset(design, name, homes.get(name, (None,))[0]) for name in config.datasets},
        headline=headline(design, built),
        order=[SYNTHETIC, OBSERVED],
        first=sorted(name for name, claim in config.claims.items() if compares_methods(claim)),
        opt_in={name: group(design, name) for name in opt_in},
        settings=to_json(config.model_dump(exclude_unset=True, include=SETTINGS, exclude=hidden)),
        styles={name: method.look for name, method in config.methods.items() if method.style},
        verdicts=list(VERDICTS),
        cells={},
        missing=[],
    )


def without_other_experiments(spec: ReportSpec, config: Config, datasets: list[str]) -> ReportSpec:
    """Return the page of the headline alone: no change of another experiment rebuilds it."""
    return spec._replace(
        datasets={name: spec.datasets[name] for name in datasets},
        settings={name: spec.settings[name] for name in ("seed", "protocol", "methods")},
        labels={name: method.label for name, method in config.methods.items()},
        first=[],
        opt_in={},
    )


def _built(design: Design, batches: Iterable[str]) -> dict[str, list[str]]:
    """Return the problems of every experiment that are built."""
    problems: dict[str, list[str]] = {}
    for batch in batches:
        problems.setdefault(design.batches[batch].experiment, []).extend(design.batches[batch].problems)
    return problems


def experiment(design: Design, name: str, built: list[str]) -> ExperimentSpec:
    """Describe an experiment: title, group, methods and, unless there are many, the problems that were built."""
    spec = design.config.experiments[name]
    observed = any(design.config.datasets[design.problems[p].dataset].is_observed for p in design.members[name])
    return ExperimentSpec(
        title=spec.title or words.heading(name),
        group=group(design, spec.target) if spec.target else OBSERVED if observed else SYNTHETIC,
        methods=spec.methods,
        against=spec.reference_method,
        problems=[problem(design, key, name) for key in built] if len(built) <= MANY else None,
        count=len(built),
    )


def problem(design: Design, name: str, experiment: str) -> ProblemSpec:
    """Describe a problem by what its curves depend on most."""
    spec = design.problems[name]
    title = words.title(design.config, spec, design.config.experiments[experiment])
    return fill(ProblemSpec, spec, key=name, title=title)


def group(design: Design, target: str) -> str:
    """Return the title of a study."""
    named = design.config.targets.get(target)
    return named.title if named else words.heading(target)


def titles(design: Design, built: dict[str, list[str]]) -> dict[str, str]:
    """Return the words for the titles of problems, which name rows, and for the problems of large experiments."""
    named: dict[str, str] = {}
    for name, problems in sorted(built.items()):
        for key in problems:
            problem = design.problems[key]
            place = problem.title if len(problems) <= MANY else key
            named[place] = words.title(design.config, problem, design.config.experiments[name])
    return named


def compares_methods(claim: Claim) -> bool:
    """Tell whether a claim sets the regrets of two methods against each other."""
    checks = [arguments for check in claim.checks for arguments in check.values()]
    return any({"to", "among"} & set(arguments) and "regret@" in str(arguments.get("of")) for arguments in checks)


def table(shown: Collection[str], built: BuiltTable) -> PageTable:
    """Describe a table and say with which of its experiments it is shown."""
    home = [name for name in built.sources if name in shown]
    spec = built.spec
    return PageTable(
        caption=spec.caption,
        heading=FACTORS.get(spec.heading, spec.heading),
        columns=spec.columns,
        bold=spec.bold,
        controls=spec.controls,
        rows=[(row.label, row.problem, row.method) for row in spec.row_keys],
        experiment=home[-1] if home else None,
        compared=built.compared,
    )


def home_problems(design: Design, batches: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Choose the problem that stands for every data set, and a batch with it: the plainest, by its short name.

    ``batches`` maps every batch to its data set.
    """
    homes: dict[str, tuple[str, str]] = {}
    plainest = [(len(name), name, len(batch), batch) for batch in batches for name in design.batches[batch].problems]
    for _, name, _, batch in sorted(plainest):
        if design.problems[name].graph == design.problems[name].clean:
            homes.setdefault(batches[batch], (name, batch))
    return dict(sorted(homes.items()))


def dataset(design: Design, name: str, problem: str | None) -> DatasetSpec:
    """Describe a data set: what it is called, on what terms it comes, and its problem with k."""
    block = design.config.datasets[name]
    factors = {FACTORS.get(key, key): value for key, value in block.factors.items() if key != "family"}
    spec = DatasetSpec(
        label=block.label or name,
        observed=block.is_observed,
        parameters=factors,
        problem=problem,
        k=design.problems[problem].k if problem else None,
    )
    raw = block.raw
    if raw is None:
        return spec
    return replace(spec, licence=raw.licence, citation=raw.citation, page=raw.page, terms=raw.terms)


def card(design: Design, name: str, problem: str, batch: str) -> dict[str, str]:
    """Return the files behind the card of a data set: graph, basis, rewards and, if there are any, titles."""
    graph = design.problems[problem].graph
    files = {"nodes": paths.nodes(graph), "edges": paths.edges(graph), "basis": paths.basis(graph, "laplacian_low")}
    titles = {"titles": paths.dataset_nodes(name)} if design.config.datasets[name].is_observed else {}
    return files | {"theta": paths.theta(batch)} | titles


def overviews(design: Design, shown: Collection[str]) -> list[str]:
    """Return the figure that shows the pipeline, if there is one and its experiment is built."""
    drawn = sorted(name for name, spec in design.config.figures.items() if spec.kind == "overview")
    return [name for name in drawn if design.config.figures[name].experiments[0] in shown][:1]


def headline(design: Design, shown: Collection[str]) -> HeadlineSpec | None:
    """Choose the problem of the overview picture for the numbers at the top."""
    for name in overviews(design, shown):
        spec = design.config.figures[name]
        experiment = spec.experiments[0]
        against = design.config.experiments[experiment].reference_method
        return HeadlineSpec(experiment, against, problem(design, problems_of(design, spec)[0], experiment))
    return None
