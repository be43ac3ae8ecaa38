"""Jobs that judge the paper's claims, at the paper's settings and with those of every grid, and that rank methods."""

from collections.abc import Iterable
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
from graphdr.plan.compute_jobs import measurements
from graphdr.plan.design import KINDS, Design, batches_of, dataset_of, experiments_behind, problems_of
from graphdr.plan.job import Job, fill, make_job
from graphdr.scores import cells
from graphdr.theory.bound_checks import GUARANTEES

TITLES = (  # factors that differ from the usual ones of a data set, in words
    ("n", "all", "whole graph"), ("holdout", "users", "users split"), ("noise", "resampled", "ratings resampled"),
    ("shuffle", 1, "shuffled graph"),
)  # fmt: skip


def judge_claims(design: Design, judged: str) -> Job:
    """Return the job that judges the claims, at the paper's settings or with those of every grid, or ranks methods."""
    plans = {paths.CLAIMS: _claims_job, paths.MULTIVERSE: _multiverse_job, paths.LEADERBOARD: ranking}
    return make_job(judge, *plans[judged](design), judged=judged)


def _claims_job(design: Design) -> tuple[judge.Input, judge.Params]:
    """Return how claims are judged at the paper's settings."""
    claims = _claims(design)
    named = dict.fromkeys(name for claim in claims.values() for name in claim.experiments)
    measured = {name: files for name in named if (files := measurements(design, [name]))}
    scored = {spec.evaluation for spec in claims.values() if spec.evaluation and spec.built}
    evaluations = {name: paths.evaluation(name) for name in sorted(scored)}
    problems = _problems(design, measured, {"dataset", *factors(claims)})
    params = judge.Params(words.labels(design.config), claims, problems, sorted(OTHER))
    return judge.Input(paths.PAPER_CLAIMS, measured, evaluations), params


def _multiverse_job(design: Design) -> tuple[judge.Input, judge.Params]:
    """Return how claims are judged with every setting of the grids."""
    config, claims = design.config, _claims(design)
    grids = {name: config.experiments[name].varies for name in sorted(config.experiments) if batches_of(design, [name])}
    grids = {name: varied for name, varied in grids.items() if varied}
    pairs = [(name, original) for name, varied in grids.items() for original in varied]
    originals = [original for _, original in pairs]
    files: dict[str, list[str]] = {}
    for name in grids:
        played = [paths.runs(*pair) for pair in product(batches_of(design, [name]), KINDS)]
        files[name] = [path for path in played if path in design.plays]
    spec = judge.SettingsGrid(
        variants={name: [*design.variants[name]] for name in grids},
        places=[place for pair in pairs for place in _places(design, *pair)],
        horizons=config.horizons,
        marks=_marks(design, set(originals)),
    )
    input = judge.Input(paths.PAPER_CLAIMS, {name: measurements(design, [name]) for name in grids}, runs=files)
    problems = _problems(design, originals, {"dataset", "k", *factors(claims)})
    return input, judge.Params(words.labels(config), claims, problems, sorted(OTHER), grid=spec)


def _claims(design: Design) -> dict[str, ClaimSpec]:
    """Return how claims are judged: checks, data sets, and those of them that are built or have raw files."""
    specs = {}
    for name, claim in design.config.claims.items():
        shown = dict.fromkeys(problem.dataset for problem in problems_of(design, claim))
        datasets = [dataset for dataset in shown if not claim.datasets or dataset in claim.datasets]
        built = {dataset_of(design, batch) for batch in batches_of(design, experiments_behind(design, claim))}
        specs[name] = fill(
            ClaimSpec,
            claim,
            evaluation=next(iter(claim.evaluations), None),
            datasets=datasets,
            built=[dataset for dataset in datasets if dataset in built],
            raw={
                dataset: paths.receipt(dataset) for dataset in datasets if design.config.datasets[dataset].is_observed
            },
        )
    return specs


def _problems(design: Design, experiments: Iterable[str], names: set[str]) -> dict[str, dict[str, object]]:
    """Return some factors of every problem of some experiments, those that it has."""
    problems = {}
    for experiment in experiments:
        for problem in design.members[experiment]:
            values = {factor: getattr(problem, factor, None) for factor in sorted(names)}
            problems[problem.name] = {factor: value for factor, value in values.items() if value is not None}
    return problems


def _places(design: Design, grid: str, original: str) -> Iterable[judge.Place]:
    """Yield every problem of a grid with the problem of the paper's experiment that it repeats."""
    specs = [design.config.experiments[name].problems for name in (grid, original)]
    shared = {"dataset", *(factor for spec in specs for factor in spec.vary)} - {"candidates"}
    for problem, repeated in product(design.members[grid], design.members[original]):
        if all(getattr(problem, factor) == getattr(repeated, factor) for factor in shared):
            yield judge.Place(grid, problem.name, problem.candidates, original, repeated.name)


def _marks(design: Design, played: set[str]) -> dict[str, str]:
    """Return why a claim is not judged with other settings: it has none, or it was not played with them."""
    fixed = {*FACTS, *GUARANTEES, "mean"}
    marks = {}
    for name, claim in design.config.claims.items():
        texts = [cell for _, arguments in cells.named(claim.checks) for cell in cell_names(arguments)]
        if all(cells.parse(name, text).quantity in fixed for text in texts):
            marks[name] = multiverse.NO_SETTINGS
        elif claim.evaluations or not played & set(claim.experiments):
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
                spec = design.problems[problem]
                label = design.config.datasets[spec.dataset].label or spec.dataset
                differing = [text for factor, value, text in TITLES if getattr(spec, factor) == value]
                titles[problem] = ", ".join([label, *differing])
                runs += [(problem, name, design.played[problem, name]) for name in names]
    ranked = dict.fromkeys(method for _, method, _ in runs)
    ranking = judge.Ranking(
        runs=runs,
        titles=titles,
        datasets={name: design.problems[name].dataset for name in titles},
        untuned=[name for name in ranked if isinstance(methods[name].method, GraphPrior)],
    )
    input = judge.Input(runs={paths.LEADERBOARD: sorted({stored.path for *_, stored in runs})})
    return input, judge.Params({name: methods[name].label for name in ranked}, ranking=ranking)
