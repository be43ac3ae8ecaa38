"""What the page is to show, from the configuration alone: experiments, data sets, and what is missing."""

from collections.abc import Collection

import graphdr.stages.make_report as report
from graphdr.cache import manifest, paths
from graphdr.core.records import to_json
from graphdr.paper.compare import VERDICTS
from graphdr.plan import words
from graphdr.plan.blocks import Claim, Config, FigureView
from graphdr.plan.compute_jobs import low_basis
from graphdr.plan.design import Design, dataset_of, problems_of
from graphdr.plan.job import fill
from graphdr.plan.problem import Problem
from graphdr.scores import cells
from graphdr.show.report.content import ExperimentSpec, PageTable, ProblemSpec
from graphdr.show.report.page import DatasetSpec, HeadlineSpec, ReportSpec
from graphdr.show.words import FACTORS

MANY = 40  # problems above which an experiment is one cloud of points and not a choice of curves
# What numbers depend on: how they are shown, and where raw files come from, left out.
SETTINGS = {"seed", "batch", "protocol", "observed", "datasets", "problems", "methods", "experiments", "evaluations"}
UNSEEN = {"datasets": "raw", "methods": "style", "experiments": "title"}  # no number depends on them
SYNTHETIC, OBSERVED = "Synthetic graphs", "Data sets"


def report_page(design: Design, batches: list[str], tables: dict[str, PageTable]) -> tuple[report.Input, ReportSpec]:
    """Return the files that the page reads, and what it shows besides; its tables are planned elsewhere."""
    config = design.config
    built: dict[str, list[str]] = {}  # problems by experiment
    measured: dict[str, dict[str, list[str]]] = {}
    curves: dict[str, list[str]] = {}
    labels = words.labels(config)
    for batch in batches:
        name, problems = design.batches[batch]
        built.setdefault(name, []).extend(problems)
        measured.setdefault(name, {}).setdefault(dataset_of(design, batch), []).append(paths.measurements(batch))
        curves.setdefault(name, []).append(paths.curves(batch))
    for name, problems in sorted(built.items()):  # titles of problems, which name rows
        for problem in (design.problems[key] for key in problems):
            place = problem.title if len(problems) <= MANY else problem.name
            labels[place] = words.title(config, problem, config.experiments[name])
    homes = _home_problems(design, batches)
    drawings = [paths.figure(name, "svg") for name in overviews(config, built)]
    input = report.Input(
        paper=paths.PAPER,
        reasons=paths.PAPER_REASONS,
        claims=None,
        tables={},
        curves={name: files for name, files in curves.items() if len(built[name]) <= MANY},
        measurements=measured,
        overview=drawings,
        drawn=[manifest.of_drawing(path) for path in drawings],
        datasets={name: _card(design, name, *home) for name, home in homes.items()},
    )
    hidden = {block: {"__all__": {key}} for block, key in UNSEEN.items()}
    opt_in = sorted({spec.target for spec in config.experiments.values() if spec.opt_in and spec.target})
    return input, ReportSpec(
        experiments={name: experiment(design, name, problems) for name, problems in built.items()},
        tables=tables,
        quantities={},
        labels=labels,
        datasets={name: _dataset(design, name, homes.get(name, (None,))[0]) for name in config.datasets},
        headline=_headline(design, built),
        order=[SYNTHETIC, OBSERVED],
        first=sorted(name for name, claim in config.claims.items() if compares_methods(claim)),
        opt_in={name: _group(config, name) for name in opt_in},
        settings=to_json(config.model_dump(exclude_unset=True, include=SETTINGS, exclude=hidden)),
        styles={name: method.look for name, method in config.methods.items() if method.style},
        verdicts=list(VERDICTS),
        cells={},
        missing=[],
    )


def experiment(design: Design, name: str, built: list[str]) -> ExperimentSpec:
    """Describe an experiment: title, group, methods and, unless there are many, the problems that were built."""
    spec = design.config.experiments[name]
    observed = any(design.config.datasets[p.dataset].is_observed for p in design.members[name])
    return ExperimentSpec(
        title=spec.title or words.heading(name),
        group=_group(design.config, spec.target) if spec.target else OBSERVED if observed else SYNTHETIC,
        methods=spec.methods,
        against=spec.reference_method,
        problems=[_problem(design.config, design.problems[key], name) for key in built] if len(built) <= MANY else None,
        count=len(built),
    )


def _problem(config: Config, problem: Problem, experiment: str) -> ProblemSpec:
    """Describe a problem by what its curves depend on most."""
    title = words.title(config, problem, config.experiments[experiment])
    return fill(ProblemSpec, problem, key=problem.name, title=title)


def _group(config: Config, target: str) -> str:
    """Return the title of a study."""
    return config.targets[target].title if target in config.targets else words.heading(target)


def compares_methods(claim: Claim) -> bool:
    """Tell whether a claim sets the regrets of two methods against each other."""
    checks = [arguments for _, arguments in cells.named(claim.checks)]
    return any({"to", "among"} & set(arguments) and "regret@" in str(arguments.get("of")) for arguments in checks)


def _home_problems(design: Design, batches: list[str]) -> dict[str, tuple[str, str]]:
    """Choose the problem that stands for every data set, and a batch with it: the plainest, by its short name."""
    homes: dict[str, tuple[str, str]] = {}
    plainest = [(len(name), name, len(batch), batch) for batch in batches for name in design.batches[batch].problems]
    for _, name, _, batch in sorted(plainest):
        problem = design.problems[name]
        if problem.graph == problem.clean:
            homes.setdefault(problem.dataset, (name, batch))
    return dict(sorted(homes.items()))


def _dataset(design: Design, name: str, problem: str | None) -> DatasetSpec:
    """Describe a data set: what it is called, on what terms it comes, and its problem with k."""
    block = design.config.datasets[name]
    return fill(
        DatasetSpec,
        block.raw,
        label=block.label or name,
        observed=block.is_observed,
        parameters={FACTORS.get(key, key): value for key, value in block.factors.items() if key != "family"},
        problem=problem,
        k=design.problems[problem].k if problem else None,
    )


def _card(design: Design, name: str, problem: str, batch: str) -> dict[str, str]:
    """Return the files behind the card of a data set: graph, basis, rewards and, if there are any, titles."""
    graph = design.problems[problem].graph
    files = {"nodes": paths.nodes(graph), "edges": paths.edges(graph), "basis": low_basis(graph)}
    titles = {"titles": paths.dataset_nodes(name)} if design.config.datasets[name].is_observed else {}
    return files | {"theta": paths.theta(batch)} | titles


def overviews(config: Config, shown: Collection[str]) -> dict[str, FigureView]:
    """Return the figure that shows the pipeline by its name, if there is one and its experiment is built."""
    drawn = {name: spec for name, spec in sorted(config.figures.items()) if spec.kind == "overview"}
    return dict([(name, spec) for name, spec in drawn.items() if spec.experiments[0] in shown][:1])


def _headline(design: Design, shown: Collection[str]) -> HeadlineSpec | None:
    """Choose the problem of the overview picture for the numbers at the top."""
    for spec in overviews(design.config, shown).values():
        experiment = spec.experiments[0]
        against = design.config.experiments[experiment].reference_method
        return HeadlineSpec(experiment, against, _problem(design.config, problems_of(design, spec)[0], experiment))
    return None
