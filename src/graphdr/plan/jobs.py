"""All jobs of a plan, by stage and wildcards."""

from collections.abc import Callable, Iterable
from importlib import import_module
from string import Formatter

from graphdr.plan.artifact_jobs import (
    compare_paper,
    evaluate_predictors,
    judge_claims,
    make_figure,
    make_report,
    make_table,
)
from graphdr.plan.compute_jobs import (
    build_graph,
    compute_basis,
    describe_problem,
    estimate_pilot,
    fetch_raw,
    has_pilot,
    measure_batch,
    pose_problem,
    run_bandit,
    tabulate_dataset,
)
from graphdr.plan.design import Design, is_observed
from graphdr.plan.job import AnyJob

# All stages, in order of execution.
JOBS: dict[str, Callable[..., AnyJob]] = {
    job.__name__: job
    for job in (
        fetch_raw, tabulate_dataset, build_graph, compute_basis, pose_problem, estimate_pilot, describe_problem,
        run_bandit, measure_batch, evaluate_predictors, make_table, make_figure, compare_paper, judge_claims,
        make_report,
    )
}  # fmt: skip


def outputs(stage: str) -> dict[str, str]:
    """Return what a stage writes, by name: paths with wildcards."""
    return {name: str(path) for name, path in import_module(f"graphdr.stages.{stage}").Output()._asdict().items()}


def wildcards(stage: str) -> list[str]:
    """Return the names of a stage's wildcards."""
    names = (name for path in outputs(stage).values() for _, name, _, _ in Formatter().parse(path))
    return list(dict.fromkeys(name for name in names if name))


def keys(design: Design, stage: str) -> Iterable[dict[str, str]]:
    """Yield the wildcards of every job of a stage."""
    names = wildcards(stage)
    config, batches = design.config, design.batches
    values: dict[tuple[str, ...], Iterable[tuple[str, ...]]] = {
        (): [()],
        ("dataset",): [(name,) for name, block in config.datasets.items() if is_observed(block)],
        ("graph",): [(name,) for name in design.graphs],
        ("graph", "basis"): design.bases,
        ("batch",): [(name,) for name in batches if stage != "estimate_pilot" or has_pilot(design, name)],
        ("batch", "method"): [
            (name, method) for name, batch in batches.items() for method in config.experiments[batch.experiment].methods
        ],
    }
    for block in ("evaluation", "table", "figure"):
        values[(block,)] = [(name,) for name in getattr(config, f"{block}s")]
    return (dict(zip(names, value, strict=True)) for value in values[tuple(names)])
