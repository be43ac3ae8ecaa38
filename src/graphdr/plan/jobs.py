"""All jobs by stage and wildcards: from measurements to tables, figures and pages here, the others in *_jobs."""

import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import product

import graphdr.stages.compare_paper as compare
import graphdr.stages.evaluate_predictors as evaluate
import graphdr.stages.make_figure as figure_of
import graphdr.stages.make_table as table_of
from graphdr.cache import manifest, paths
from graphdr.core.records import Json
from graphdr.facts.registry import FACTORS, FAVOURABLE
from graphdr.paper.compare import ComparedTable
from graphdr.plan import outline, words
from graphdr.plan.blocks import Dataset, TableView, as_list
from graphdr.plan.claim_jobs import judge_claims, ranked_experiments
from graphdr.plan.compute_jobs import (
    build_graph,
    compute_basis,
    describe_problem,
    estimate_pilot,
    fetch_raw,
    has_pilot,
    low_basis,
    measure_batch,
    measurements,
    pose_problem,
    run_bandit,
    tabulate_dataset,
)
from graphdr.plan.design import (
    KINDS,
    Design,
    batches_of,
    dataset_of,
    datasets_of,
    is_opt_in,
    problems_of,
)
from graphdr.plan.job import Job, fill, make_job
from graphdr.plan.problem import flat
from graphdr.scores import cells
from graphdr.show.tables import Quantity, RowKey
from graphdr.stages.pose_problem import PosedProblem


def evaluate_predictors(design: Design, evaluation: str) -> Job:
    spec = design.config.evaluations[evaluation]
    params = fill(
        evaluate.Params,
        spec,
        predictors=spec.predictor_facts,
        groups={problem.name: problem.dataset for problem in problems_of(design, spec)},
        signs={name: FAVOURABLE.get(name, 0) for name in spec.predictor_facts},
        predictor_method=spec.predictor_method or spec.method,
    )
    input = evaluate.Input({name: measurements(design, [name]) for name in spec.experiments})
    return make_job(evaluate, input, params, evaluation=evaluation)


def make_table(design: Design, table: str) -> Job:
    config, spec = design.config, design.config.tables[table]
    rows, columns = _rows(design, spec), cells.parse_columns(spec.columns)
    files = measurements(design, spec.experiments, {row.problem for row in rows})
    files += [paths.evaluation(name) for name in spec.evaluations]
    mentioned = {cell.key for _, cell in columns} | {row.method for row in rows}
    methods = {name: method for name, method in config.methods.items() if name in mentioned}
    datasets = {row.dataset: config.datasets[row.dataset] for row in rows if row.dataset}
    labels = {name: method.label for name, method in methods.items()}
    labels |= {name: dataset.label for name, dataset in datasets.items() if dataset.label}
    if spec.rows == "player":
        labels |= {row.label: f"{labels[str(row.dataset)]}, {labels[str(row.method)]}" for row in rows}
    notes = [f"{method.label}: {method.note}." for method in methods.values() if method.note]
    params = fill(
        table_of.Params,
        spec,
        heading=spec.heading or spec.rows,
        row_keys=rows,
        labels=labels | words.predictors(config, spec.evaluations),
        controls=sorted(name for name, method in methods.items() if method.control),
        notes=notes + _origins(datasets),
        quantities={cell.quantity: fill(Quantity, config.quantity(cell.quantity)) for _, cell in columns},
    )
    return make_job(table_of, table_of.Input(files), params, table=table)


def _rows(design: Design, spec: TableView) -> list[RowKey]:
    """Return the rows of a table: label, problem, data set and, where rows are methods, the method."""
    labels = [design.config.evaluations[name].label for name in spec.evaluations]
    rows = [RowKey(label, problem=label) for label in labels]
    for experiment in spec.experiments:
        methods = design.config.experiments[experiment].methods
        for problem in design.members[experiment]:
            place = problem.name, problem.dataset
            if spec.problem and spec.problem != problem.name:
                continue
            if spec.rows == "method":
                rows += [RowKey(method, *place, method) for method in spec.methods or methods]
            elif spec.rows == "player":
                rows += [RowKey(f"{problem.dataset} {method}", *place, method) for method in methods]
            else:
                rows.append(RowKey(cells.label(getattr(problem, spec.rows)), *place))
    return list(dict.fromkeys(rows))


def _origins(datasets: dict[str, Dataset]) -> list[str]:
    """Say where the data of a table's rows come from and on which terms, once for those with the same source."""
    named: dict[str, list[str]] = {}
    for name, dataset in datasets.items():
        if dataset.raw:
            text = f"{dataset.raw.citation.rstrip('.')}. Licence: {dataset.raw.licence.rstrip('.')}."
            named.setdefault(text, []).append(dataset.label or name)
    return [f"{', '.join(names)}: {text}" for text, names in named.items()]


def make_figure(design: Design, figure: str) -> Job:
    config, spec = design.config, design.config.figures[figure]
    played = [method for name in spec.experiments for method in config.experiments[name].methods]
    methods = {name: config.methods[name] for name in spec.methods or played}
    problems = problems_of(design, spec)
    graph = problems[0].graph
    batches = batches_of(design, spec.experiments, {problem.name for problem in problems})
    datasets = {name: block.label or name for name, block in config.datasets.items()}
    files: Json = {"measurements": [paths.measurements(batch) for batch in batches]}
    shown: Json = {}
    if spec.kind in ("sweep", "widths"):
        shown = {"x": spec.x, "positions": {problem.name: getattr(problem, spec.x) for problem in problems}}
    if spec.kind in ("dots", "widths"):
        is_dots = spec.kind == "dots"
        shown["rows"] = [
            [problem.name, problem.title if is_dots else datasets[problem.dataset]] for problem in problems
        ]
    elif spec.kind == "specifications":
        files, shown = {"multiverse": paths.multiverse("parquet")}, {"dataset_labels": datasets}
    elif spec.kind == paths.LEADERBOARD:
        files = {"leaderboard": paths.leaderboard("parquet")}
    elif spec.kind != "sweep":
        files, shown = {"curves": [paths.curves(b) for b in batches]}, {"problem": problems[0].name, "k": problems[0].k}
    if spec.kind == "overview":
        files |= {"nodes": paths.nodes(graph), "edges": paths.edges(graph), "basis": low_basis(graph)}
    params = figure_of.Params(
        kind=spec.kind,
        title=spec.title,
        datasets=sorted({problem.dataset for problem in problems}),
        labels={name: method.label for name, method in methods.items()},
        styles={name: method.look for name, method in methods.items() if method.style},
        claim=spec.claim,
        y_label=spec.y_label,
        **shown,
    )
    return make_job(figure_of, figure_of.Input(**files), params, figure=figure)


def compare_paper(design: Design) -> Job:
    """Return the job that sets tables beside the paper's: those that are built, and how each relates to its own."""
    config = design.config
    here = {dataset_of(design, batch) for batch in design.batches}
    observed = {name for name, block in config.datasets.items() if block.is_observed}
    built, specs = {}, {}
    for name, spec in config.tables.items():
        if datasets_of(design, spec) & here and not is_opt_in(design, spec):
            built[name] = paths.table(name, "parquet")
        shown = sorted({cell.quantity for _, cell in cells.parse_columns(spec.columns)})
        tolerances = {quantity: config.quantity(quantity).tolerance for quantity in shown}
        behind = {row.label: [row.dataset] for row in _rows(design, spec) if row.dataset}
        for evaluation in (config.evaluations[name] for name in spec.evaluations):  # a score pools data sets
            behind[evaluation.label] = sorted(datasets_of(design, evaluation))
        specs[name] = ComparedTable(
            paper_rows={str(paper): cells.label(row) for paper, row in spec.paper_rows.items()},
            tolerance={quantity: tolerance for quantity, tolerance in tolerances.items() if tolerance is not None},
            datasets=behind,
            real=[row for row, names in behind.items() if observed & set(names)],
            cells=_cells(design, spec) if name in built else {},
        )
    measured, simulated = {}, {}
    for name, papers in config.simulated_papers.items():
        measured[name] = measurements(design, [papers.control, *papers.others])
        simulated[name] = compare.SimulatedPapers(
            control=design.members[papers.control][0].name,
            others=[
                (problem.name, text.format(**vars(problem)))
                for experiment, text in papers.others.items()
                for problem in design.members[experiment]
            ],
            methods=config.experiments[papers.control].methods,
            aliases=papers.aliases,
            size=problems_of(design, config.tables[name])[0].instances,
        )
    params = compare.Params(
        tables=specs,
        missing=sorted(set(config.datasets) - here),
        simulated_papers=simulated,
    )
    return make_job(compare, compare.Input(paths.PAPER, built, measured), params)


def _cells(design: Design, spec: TableView) -> dict[str, dict[str, str]]:
    """Name what stands in every cell of a table, by row and column: equal names are the same number of ours."""
    evaluations = {design.config.evaluations[name].label: name for name in spec.evaluations}
    named: dict[str, dict[str, str]] = {}
    for row, (column, cell) in product(_rows(design, spec), cells.parse_columns(spec.columns)):
        method = cell.key or row.method
        quantity = cell.quantity if cell.statistic == "value" else f"{cell.statistic} of {cell.quantity}"
        if row.problem in evaluations:
            words = f"{method}, over {evaluations[row.problem]}"
        elif played := design.played.get((row.problem, method or "")):
            words = f"{played.method}, on {played.problem}"
        else:  # a fact: all that it depends on
            problem = design.problems[row.problem]
            factors = flat(fill(PosedProblem, problem))
            factors |= {name: getattr(problem, name) for name in FACTORS.get(cell.quantity, ())}
            words = ", ".join(f"{name} {value}" for name, value in factors.items() if name != "name")
        named.setdefault(row.label, {})[column] = f"{quantity}, {words}"
    return named


def make_report(design: Design, page: str) -> Job:
    """Return the job of a page: the whole report, or the experiment of the headline with its own tables."""
    return outline.make_report(design, page, compare_paper(design), lambda name: make_table(design, name).params)


# All stages, in order of execution.
JOBS: dict[str, Callable[..., Job]] = {
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


def written(stage: str) -> dict[str, str]:
    """Return what a rule writes: the files of its stage, and their entry in the manifest."""
    files = outputs(stage)
    return files | {"entry": manifest.entry_path(list(files.values()))}


def keys(design: Design, stage: str) -> Iterator[dict[str, str]]:
    """Yield the wildcards of every job of a stage."""
    config, batches = design.config, design.batches
    studies = {paths.CLAIMS: True, paths.MULTIVERSE: config.horizons, paths.LEADERBOARD: ranked_experiments(design)}
    values: dict[tuple[str, ...], Iterable[str | tuple[str, ...]]] = {
        (): [()],
        ("dataset",): [name for name, block in config.datasets.items() if block.is_observed],
        ("graph",): design.graphs,
        ("graph", "basis"): design.bases,
        ("batch",): [name for name in batches if stage != "estimate_pilot" or has_pilot(design, name)],
        ("batch", "kind"): [pair for pair in product(batches, KINDS) if paths.runs(*pair) in design.plays],
        ("evaluation",): config.evaluations,
        ("table",): config.tables,
        ("figure",): config.figures,
        ("judged",): [name for name, there in studies.items() if there],
        ("page",): [page for page in paths.PAGES if batches_of(design, outline.shown(design, page))],
    }
    wildcards = tuple(dict.fromkeys(re.findall(r"{(\w+)}", " ".join(outputs(stage).values()))))
    for value in values[wildcards]:
        yield dict(zip(wildcards, as_list(value), strict=True))
