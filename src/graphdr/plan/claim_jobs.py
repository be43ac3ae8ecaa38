"""Jobs that judge the paper's claims, at the paper's settings and with those of every grid, and that rank methods."""

from collections.abc import Iterable
from dataclasses import fields
from itertools import product

import graphdr.stages.judge_claims as judge
from graphdr.bandit.policies.graph_prior import GraphPrior
from graphdr.cache import paths
from graphdr.facts.registry import FACTS
from graphdr.paper import multiverse
from graphdr.paper.claims import ClaimSpec, factors
from graphdr.paper.compare import OTHER
from graphdr.paper.predicates import cell_names
from graphdr.plan import words
from graphdr.plan.blocks import Claim
from graphdr.plan.compute_jobs import measurements
from graphdr.plan.design import Design, batches_of, dataset_of, experiments_behind
from graphdr.plan.job import Job, at
from graphdr.plan.plays import KINDS
from graphdr.plan.problem import Problem
from graphdr.scores import cells
from graphdr.theory.bound_checks import GUARANTEES

TITLES = (  # factors that differ from the usual ones of a data set, in words
    ("n", "all", "whole graph"), ("holdout", "users", "users split"), ("noise", "resampled", "ratings resampled"),
    ("shuffle", 1, "shuffled graph"),
)  # fmt: skip


def judge_claims(design: Design, judged: str) -> Job[judge.Input, judge.Output, judge.Params]:
    """Return the job that judges the claims, at the paper's settings or with those of every grid, or ranks methods."""
    plans = {paths.CLAIMS: _claims_job, paths.MULTIVERSE: _multiverse_job, paths.LEADERBOARD: ranking}
    input, params = plans[judged](design)
    return Job("judge_claims", input, at(judge.Output(), judged=judged), params)


def _claims_job(design: Design) -> tuple[judge.Input, judge.Params]:
    """Return how claims are judged at the paper's settings."""
    claims = _claims(design)
    named = dict.fromkeys(name for claim in design.config.claims.values() for name in claim.experiments)
    experiments = [name for name in named if batches_of(design, [name])]
    scored = {spec.evaluation for spec in claims.values() if spec.evaluation and spec.built}
    input = judge.Input(
        paper=paths.PAPER_CLAIMS,
        measurements={name: measurements(design, [name]) for name in experiments},
        evaluations={name: paths.evaluation(name) for name in sorted(scored)},
    )
    problems = _problems(design, experiments, {"dataset", *factors(claims)})
    return input, judge.Params(words.labels(design.config), claims, problems, sorted(OTHER))


def _multiverse_job(design: Design) -> tuple[judge.Input, judge.Params]:
    """Return how claims are judged with every setting of the grids."""
    config = design.config
    grids = sorted(name for name, e in config.experiments.items() if e.varies and batches_of(design, [name]))
    pairs = [(name, original) for name in grids for original in config.experiments[name].varies]
    originals = [original for _, original in pairs]
    claims = _claims(design)
    input = judge.Input(
        paper=paths.PAPER_CLAIMS,
        measurements={name: measurements(design, [name]) for name in grids},
        runs={name: _runs(design, name) for name in grids},
    )
    grid_spec = judge.SettingsGrid(
        variants={name: [*design.variants[name]] for name in grids},
        places=[place for pair in pairs for place in _places(design, *pair)],
        horizons=config.horizons,
        marks=_marks(design, set(originals)),
    )
    problems = _problems(design, originals, {"dataset", "k", *factors(claims)})
    return input, judge.Params(words.labels(config), claims, problems, sorted(OTHER), grid=grid_spec)


def _claims(design: Design) -> dict[str, ClaimSpec]:
    return {name: _claim(design, claim) for name, claim in design.config.claims.items()}


def _claim(design: Design, claim: Claim) -> ClaimSpec:
    """Return how a claim is judged: its checks, its data sets, and those of them that are built or have raw files."""
    sources = experiments_behind(design, claim)
    shown = dict.fromkeys(design.problems[p].dataset for e in sources for p in design.members[e])
    datasets = [name for name in shown if not claim.datasets or name in claim.datasets]
    built = {dataset_of(design, batch) for batch in batches_of(design, sources)}
    settings = claim.model_dump(include={field.name for field in fields(ClaimSpec)})
    return ClaimSpec(
        **settings,
        datasets=datasets,
        built=[name for name in datasets if name in built],
        raw={name: paths.receipt(name) for name in datasets if design.config.datasets[name].is_observed},
        experiments=claim.experiments,
    )


def _problems(design: Design, experiments: Iterable[str], names: set[str]) -> dict[str, dict[str, object]]:
    """Return some factors of every problem of some experiments, those that it has."""
    problems = {}
    for experiment in experiments:
        for name in design.members[experiment]:
            values = {factor: getattr(design.problems[name], factor, None) for factor in sorted(names)}
            problems[name] = {factor: value for factor, value in values.items() if value is not None}
    return problems


def _places(design: Design, grid: str, original: str) -> Iterable[judge.Place]:
    """Yield every problem of a grid with the problem of the paper's experiment that it repeats."""
    specs = [design.config.experiments[name].problems for name in (grid, original)]
    shared = {"dataset", *(factor for spec in specs for factor in spec.vary)} - {"candidates"}
    for name, other in product(design.members[grid], design.members[original]):
        problem, repeated = design.problems[name], design.problems[other]
        if all(getattr(problem, factor) == getattr(repeated, factor) for factor in shared):
            yield judge.Place(grid, name, problem.candidates, original, other)


def _runs(design: Design, experiment: str) -> list[str]:
    files = [paths.runs(*pair) for pair in product(batches_of(design, [experiment]), KINDS)]
    return [path for path in files if path in design.plays]


def _marks(design: Design, played: set[str]) -> dict[str, str]:
    """Return why a claim is not judged with other settings: it has none, or it was not played with them."""
    fixed = {*FACTS, *GUARANTEES, "mean"}
    marks = {}
    for name, claim in design.config.claims.items():
        arguments = [part for check in claim.checks for part in check.values()]
        texts = [cell for part in arguments for cell in cell_names(part)]
        if all(cells.parse(name, text).quantity in fixed for text in texts):
            marks[name] = multiverse.NO_SETTINGS
        elif claim.evaluation or not played & set(claim.experiments):
            marks[name] = multiverse.NOT_VARIED
    return marks


def ranked_experiments(design: Design) -> list[str]:
    """Return the experiments whose methods the leaderboard ranks: those that do not choose settings."""
    experiments = design.config.experiments
    names = [name for name, spec in experiments.items() if spec.target == paths.LEADERBOARD and not spec.settings]
    return sorted(name for name in names if batches_of(design, [name]))


def ranking(design: Design) -> tuple[judge.Input, judge.Params]:
    """Return how the leaderboard ranks methods."""
    methods, runs, titles = design.config.methods, [], {}
    for experiment in ranked_experiments(design):
        names = [name for name in design.config.experiments[experiment].methods if not methods[name].control]
        for batch in batches_of(design, [experiment]):
            for problem in design.batches[batch].problems:
                titles[problem] = _title(design, design.problems[problem])
                runs += [judge.RankedRuns(problem, name, *design.played[problem, name]) for name in names]
    ranked = dict.fromkeys(run.method for run in runs)
    spec = judge.Ranking(
        runs=runs,
        titles=titles,
        datasets={name: design.problems[name].dataset for name in titles},
        untuned=[name for name in ranked if isinstance(methods[name].method, GraphPrior)],
    )
    input = judge.Input(runs={paths.LEADERBOARD: sorted({run.path for run in runs})})
    return input, judge.Params({name: methods[name].label for name in ranked}, ranking=spec)


def _title(design: Design, problem: Problem) -> str:
    label = design.config.datasets[problem.dataset].label or problem.dataset
    return ", ".join([label, *(text for factor, value, text in TITLES if getattr(problem, factor) == value)])
