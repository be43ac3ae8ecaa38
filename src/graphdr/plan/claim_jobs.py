"""Jobs that judge the paper's claims: at the paper's settings, and with every one of the grids."""

from collections.abc import Iterable
from itertools import product
from typing import Any

import graphdr.stages.judge_claims as judge
from graphdr.cache import paths
from graphdr.facts.registry import FACTS
from graphdr.paper import multiverse
from graphdr.paper.claims import factors
from graphdr.paper.compare import OTHER
from graphdr.paper.predicates import cell_names
from graphdr.plan import words
from graphdr.plan.blocks import Claim
from graphdr.plan.compute_jobs import measurements
from graphdr.plan.design import Design, batches_of, dataset_of, experiments_behind
from graphdr.plan.job import Job, at
from graphdr.plan.plays import KINDS
from graphdr.plan.ranking_jobs import ranking
from graphdr.scores import cells
from graphdr.theory.bound_checks import GUARANTEES


def judge_claims(design: Design, judged: str) -> Job[judge.Input, judge.Output, judge.Params]:
    """Return the job that judges the claims, at the paper's settings or with those of every grid, or ranks methods."""
    output = at(judge.Output(), judged=judged)
    if judged == paths.LEADERBOARD:
        input, params = ranking(design)
        return Job("judge_claims", input, output, params)
    if judged == paths.MULTIVERSE:
        return Job("judge_claims", *_multiverse(design, output))
    blocks, claims = design.config.claims, _claims(design)
    drawn = dict.fromkeys(name for claim in blocks.values() for name in claim.experiments)
    experiments = [name for name in drawn if batches_of(design, [name])]
    scored = {spec["evaluation"] for spec in claims.values() if "evaluation" in spec and spec["here"]}
    problems = _problems(design, experiments, {"dataset", *factors(claims)})
    measured = {name: measurements(design, [name]) for name in experiments}
    evaluations = {name: paths.evaluation(name) for name in sorted(scored)}
    input = judge.Input(paths.PAPER_CLAIMS, measured, evaluations, {})
    params = judge.Params(claims, problems, sorted(OTHER), words.labels(design.config), {}, [], [], {})
    return Job("judge_claims", input, output, params)


def _multiverse(design: Design, output: judge.Output) -> tuple[judge.Input, judge.Output, judge.Params]:
    config = design.config
    grids = sorted(name for name, e in config.experiments.items() if e.stands_for and batches_of(design, [name]))
    again = [(name, original) for name in grids for original in config.experiments[name].stands_for]
    claims = _claims(design)
    return (
        judge.Input(
            paths.PAPER_CLAIMS,
            {name: measurements(design, [name]) for name in grids},
            {},
            {name: [path for batch in batches_of(design, [name]) for path in _runs(design, batch)] for name in grids},
        ),
        output,
        judge.Params(
            claims=claims,
            problems=_problems(design, [original for _, original in again], {"dataset", "k", *factors(claims)}),
            other=sorted(OTHER),
            labels=words.labels(config),
            variants={name: [*design.variants[name]] for name in grids},
            places=[place for pair in again for place in _places(design, *pair)],
            horizons=config.horizons,
            marks=_marks(design, {original for _, original in again}),
        ),
    )


def _claims(design: Design) -> dict[str, dict[str, Any]]:
    return {name: claim.plain() | _about(design, claim) for name, claim in design.config.claims.items()}


def _problems(design: Design, experiments: Iterable[str], used: set[str]) -> dict[str, dict[str, Any]]:
    """Return of every problem of some experiments the factors that are used."""
    members = [design.problems[name] for experiment in experiments for name in design.members[experiment]]
    return {problem["name"]: {f: problem[f] for f in sorted(used & set(problem))} for problem in members}


def _places(design: Design, grid: str, original: str) -> Iterable[tuple[str, str, str, str, str]]:
    """Yield every problem of a grid, its candidates, and the problem of the paper's experiment that it plays again."""
    specs = [design.config.experiments[name].problems for name in (grid, original)]
    alike = {"dataset", *(factor for spec in specs for factor in spec.vary.plain())} - {"candidates"}
    for name, other in product(design.members[grid], design.members[original]):
        one, two = design.problems[name], design.problems[other]
        if all(one[factor] == two[factor] for factor in alike):
            yield grid, name, one["candidates"], original, other


def _runs(design: Design, batch: str) -> list[str]:
    return [paths.runs(batch, kind) for kind in KINDS if paths.runs(batch, kind) in design.plays]


def _marks(design: Design, played: set[str]) -> dict[str, str]:
    """Say of every claim that is not judged with other settings why: it has none, or it was not played with them."""
    fixed = {*FACTS, *GUARANTEES, "mean"}
    marks = {}
    for name, claim in design.config.claims.items():
        texts = [cell for check in claim.checks for arguments in check.values() for cell in cell_names(arguments)]
        if all(cells.parse(name, text).quantity in fixed for text in texts):
            marks[name] = multiverse.NO_SETTINGS
        elif claim.evaluation or not played & set(claim.experiments):
            marks[name] = multiverse.NOT_VARIED
    return marks


def _about(design: Design, claim: Claim) -> dict[str, Any]:
    """Say what a claim is about: its data sets, and those of them that are here or have raw files."""
    sources = experiments_behind(design, claim)
    shown = dict.fromkeys(design.problems[p]["dataset"] for e in sources for p in design.members[e])
    datasets = [name for name in shown if not claim.datasets or name in claim.datasets]
    built = {dataset_of(design, batch) for batch in batches_of(design, sources)}
    return {
        "datasets": datasets,
        "here": [name for name in datasets if name in built],
        "raw": {name: paths.receipt(name) for name in datasets if design.config.datasets[name].raw},
        "unknown": [],
    }
