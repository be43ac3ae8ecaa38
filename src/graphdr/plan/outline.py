"""The job of a page, and what the page is to show: experiments, tables, data sets, and what is missing."""

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import graphdr.stages.make_report as report
from graphdr.cache import manifest, paths
from graphdr.core.records import Json, to_json
from graphdr.plan import words
from graphdr.plan.blocks import Claim, Config, FigureView
from graphdr.plan.claim_jobs import judge_claims
from graphdr.plan.compute_jobs import low_basis
from graphdr.plan.design import Design, batches_of, dataset_of, experiments_behind, problems_of
from graphdr.plan.job import Job, make_job
from graphdr.plan.problem import Problem
from graphdr.scores import cells
from graphdr.show.report.content import GROUPS
from graphdr.show.tables import TableSpec
from graphdr.show.words import FACTORS

MANY = 40  # problems above which an experiment is one cloud of points and not a choice of curves
# What numbers depend on: how they are shown, and where raw files come from, left out.
SETTINGS = {"seed", "batch", "protocol", "observed", "datasets", "problems", "methods", "experiments", "evaluations"}
UNSEEN = {"datasets": "raw", "methods": "style", "experiments": "title"}  # no number depends on them
SHOWN = ("dataset", "n", "k", "horizon", "seeds", "instances", "draws")  # of a problem


def make_report(design: Design, page: str, compared: Job, table: Callable[[str], TableSpec]) -> Job:
    """Return the job of a page: the whole report, or the experiment of the headline with its own tables."""
    config, on_page = design.config, shown(design, page)
    built: dict[str, list[str]] = {}  # problems by experiment
    measured: dict[str, dict[str, list[str]]] = {}
    curves: dict[str, list[str]] = {}
    batches = batches_of(design, on_page)
    for batch in batches:
        name, problems = design.batches[batch]
        built.setdefault(name, []).extend(problems)
        measured.setdefault(name, {}).setdefault(dataset_of(design, batch), []).append(paths.measurements(batch))
        curves.setdefault(name, []).append(paths.curves(batch))
    tables, experiments = {}, {}
    for name in compared.input.tables:
        sources = experiments_behind(design, config.tables[name])
        if set(sources) <= set(on_page):
            tables[name] = table(name)._replace(labels={}, notes=[])  # the page has labels of its own
            experiments[name] = next((source for source in reversed(sources) if source in built), None)
    homes = _home_problems(design, batches)
    drawings = [paths.figure(name, "svg") for name in overviews(config, built)]
    input = report.Input(
        paper=paths.PAPER,
        reasons=paths.PAPER_REASONS,
        claims=None,
        tables={name: compared.input.tables[name] for name in tables},
        curves={name: files for name, files in curves.items() if len(built[name]) <= MANY},
        measurements=measured,
        overview=drawings,
        drawn=[manifest.of_drawing(path) for path in drawings],
        datasets={name: _card(design, name, *home) for name, home in homes.items()},
    )
    hidden = {block: {"__all__": {key}} for block, key in UNSEEN.items()}
    settings = to_json(config.model_dump(exclude_unset=True, include=SETTINGS, exclude=hidden))
    params = report.Params(
        experiments={name: experiment(design, name, problems) for name, problems in built.items()},
        tables=tables,
        experiment_of=experiments,
        compared={name: compared.params.tables[name] for name in tables},
        labels={name: method.label for name, method in config.methods.items()},
        datasets={name: _dataset(design, name, home) for name, (home, _) in homes.items()},
        headline=_headline(design, built),
        settings={name: settings[name] for name in ("seed", "protocol", "methods")},
        styles={name: method.look for name, method in config.methods.items() if method.style},
    )
    places = {path: Path(design.root, path) for path in report.STUDIES.values()}
    if page != paths.HEADLINE:  # a change of another experiment does not rebuild that page
        studies = {name: path for name, path in report.STUDIES.items() if places[path].is_file()}
        claims = judge_claims(design, paths.CLAIMS).output.parquet
        input = report.Input(**input._asdict() | studies | {"claims": claims})
        labels = words.labels(config)
        for name, problems in sorted(built.items()):  # titles of problems, which name rows
            for problem in (design.problems[key] for key in problems):
                place = problem.title if len(problems) <= MANY else problem.name
                labels[place] = words.title(config, problem, config.experiments[name])
        opt_in = sorted({spec.target for spec in config.experiments.values() if spec.opt_in and spec.target})
        params = params._replace(
            datasets={name: _dataset(design, name, homes.get(name, (None,))[0]) for name in config.datasets},
            labels=labels,
            first=sorted(name for name, claim in config.claims.items() if compares_methods(claim)),
            opt_in={name: _group(config, name) for name in opt_in if report.BUILT_BY.get(name) not in studies},
            settings=settings,
            missing=compared.params.missing,
        )
    return replace(make_job(report, input, params, page=page), optional=places)


def shown(design: Design, page: str) -> list[str]:
    """Return the experiments on a page."""
    config = design.config
    simulated = {name for spec in config.simulated_papers.values() for name in (spec.control, *spec.others)}
    names = [name for name, spec in config.experiments.items() if not spec.opt_in and name not in simulated]
    if page == paths.HEADLINE:
        return [figure.experiments[0] for figure in overviews(config, names).values()]
    return names


def experiment(design: Design, name: str, built: list[str]) -> Json:
    """Describe an experiment: title, group, methods and, unless there are many, the problems that were built."""
    spec = design.config.experiments[name]
    observed = any(design.config.datasets[p.dataset].is_observed for p in design.members[name])
    json: Json = {"title": spec.title or words.heading(name), "methods": spec.methods, "against": spec.reference_method}
    json["group"] = _group(design.config, spec.target) if spec.target else GROUPS[observed]
    if len(built) <= MANY:
        json["problems"] = [_problem(design.config, design.problems[key], name) for key in built]
    return json | {"count": len(built)}


def _problem(config: Config, problem: Problem, experiment: str) -> Json:
    """Describe a problem by what its curves depend on most."""
    json = {"key": problem.name, "title": words.title(config, problem, config.experiments[experiment])}
    return json | {name: getattr(problem, name) for name in SHOWN}


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


def _dataset(design: Design, name: str, problem: str | None) -> Json:
    """Describe a data set: what it is called, on what terms it comes, and its problem with k."""
    block = design.config.datasets[name]
    terms = {key: getattr(block.raw, key, None) for key in ("licence", "citation", "page", "terms")}
    return {
        "label": block.label or name,
        "observed": block.is_observed,
        "parameters": {FACTORS.get(key, key): value for key, value in block.factors.items() if key != "family"},
        "problem": problem,
        "k": design.problems[problem].k if problem else None,
    } | {key: text for key, text in terms.items() if text is not None}


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


def _headline(design: Design, shown: Collection[str]) -> Json | None:
    """Choose the problem of the overview picture for the numbers at the top."""
    for spec in overviews(design.config, shown).values():
        name = spec.experiments[0]
        problem = _problem(design.config, problems_of(design, spec)[0], name)
        return {"experiment": name, "against": design.config.experiments[name].reference_method, "problem": problem}
    return None
