"""All jobs by stage and wildcards: from measurements to tables, figures and pages here, the others in *_jobs."""

from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import product
from pathlib import Path
from string import Formatter

import graphdr.stages.compare_paper as compare
import graphdr.stages.evaluate_predictors as evaluate
import graphdr.stages.make_figure as figure_of
import graphdr.stages.make_report as report
import graphdr.stages.make_table as table_of
from graphdr.cache import manifest, paths
from graphdr.facts.registry import FACTORS, FAVOURABLE
from graphdr.paper.compare import ComparedTable
from graphdr.plan import outline, words
from graphdr.plan.blocks import Dataset, SimulatedPapers, TableView
from graphdr.plan.claim_jobs import judge_claims, ranked_experiments
from graphdr.plan.compute_jobs import (
    build_graph,
    compute_basis,
    describe_problem,
    estimate_pilot,
    fetch_raw,
    has_pilot,
    measure_batch,
    measurements,
    pose_problem,
    run_bandit,
    tabulate_dataset,
)
from graphdr.plan.design import (
    Design,
    batches_of,
    dataset_of,
    datasets_of,
    experiments_behind,
    is_opt_in,
    problems_of,
)
from graphdr.plan.job import AnyJob, Job, at, fill
from graphdr.plan.plays import KINDS
from graphdr.plan.problem import Problem, flat, posed_problem
from graphdr.scores import cells
from graphdr.show.tables import Quantity, RowKey


def evaluate_predictors(design: Design, evaluation: str) -> Job[evaluate.Input, evaluate.Output, evaluate.Params]:
    spec = design.config.evaluations[evaluation]
    members = [problem for name in spec.experiments for problem in design.members[name]]
    params = fill(
        evaluate.Params,
        spec,
        predictors=spec.predictor_facts,
        groups={problem: design.problems[problem].dataset for problem in members},
        signs={name: FAVOURABLE.get(name, 0) for name in spec.predictor_facts},
        predictor_method=spec.predictor_method or spec.method,
    )
    input = evaluate.Input({name: measurements(design, [name]) for name in spec.experiments})
    return Job("evaluate_predictors", input, at(evaluate.Output(), evaluation=evaluation), params)


def make_table(design: Design, table: str) -> Job[table_of.Input, table_of.Output, table_of.Params]:
    spec = design.config.tables[table]
    rows = _rows(design, spec)
    measured = measurements(design, spec.experiments, {row.problem for row in rows})
    files = measured + [paths.evaluation(name) for name in spec.evaluations]
    columns = [cells.parse(table, text) for _, text in cells.named(spec.columns)]
    mentioned = {cell.key for cell in columns} | {row.method for row in rows}
    methods = {name: method for name, method in design.config.methods.items() if name in mentioned}
    datasets = {row.dataset: design.config.datasets[row.dataset] for row in rows if row.dataset}
    labels = {name: method.label for name, method in methods.items()}
    labels |= {name: dataset.label for name, dataset in datasets.items() if dataset.label}
    if spec.rows == "player":
        labels |= {
            row.label: f"{labels[row.dataset]}, {labels[row.method]}" for row in rows if row.dataset and row.method
        }
    notes = [f"{method.label}: {method.note}." for method in methods.values() if method.note]
    params = fill(
        table_of.Params,
        spec,
        heading=spec.heading or spec.rows,
        row_keys=rows,
        labels=labels | words.predictors(design.config, spec.evaluations),
        controls=sorted(name for name, method in methods.items() if method.control),
        notes=notes + _origins(datasets),
        quantities={cell.quantity: fill(Quantity, design.config.quantities[cell.quantity]) for cell in columns},
    )
    return Job("make_table", table_of.Input(files), at(table_of.Output(), table=table), params)


def make_figure(design: Design, figure: str) -> Job[figure_of.Input, figure_of.Output, figure_of.Params]:
    spec = design.config.figures[figure]
    played = [method for name in spec.experiments for method in design.config.experiments[name].methods]
    methods = {name: design.config.methods[name] for name in spec.methods or played}
    problems = [design.problems[name] for name in problems_of(design, spec)]
    first = problems[0]
    batches = batches_of(design, spec.experiments, {problem.name for problem in problems})
    input = figure_of.Input(measurements=[paths.measurements(batch) for batch in batches])
    params = figure_of.Params(
        kind=spec.kind,
        title=spec.title,
        datasets=sorted({problem.dataset for problem in problems}),
        labels={name: method.label for name, method in methods.items()},
        styles={name: method.look for name, method in methods.items() if method.style},
        claim=spec.claim,
        y_label=spec.y_label,
    )
    if spec.kind in ("sweep", "widths"):
        positions = {problem.name: getattr(problem, spec.x) for problem in problems}
        params = params._replace(x=spec.x, positions=positions)
    if spec.kind == "dots":
        params = params._replace(rows=[[problem.name, problem.title] for problem in problems])
    elif spec.kind == "widths":
        params = params._replace(rows=[[problem.name, _dataset_label(design, problem.dataset)] for problem in problems])
    elif spec.kind == "specifications":
        params = params._replace(dataset_labels={name: _dataset_label(design, name) for name in design.config.datasets})
        input = figure_of.Input(multiverse=paths.multiverse("parquet"))
    elif spec.kind == paths.LEADERBOARD:
        input = figure_of.Input(leaderboard=paths.leaderboard("parquet"))
    elif spec.kind != "sweep":
        params = params._replace(problem=first.name, k=first.k)
        input = figure_of.Input(curves=[paths.curves(batch) for batch in batches])
    if spec.kind == "overview":
        nodes, edges = paths.nodes(first.graph), paths.edges(first.graph)
        input = input._replace(nodes=nodes, edges=edges, basis=paths.basis(first.graph, "laplacian_low"))
    return Job("make_figure", input, at(figure_of.Output(), figure=figure), params)


def _dataset_label(design: Design, name: str) -> str:
    return design.config.datasets[name].label or name


def _compared(design: Design) -> tuple[dict[str, str], dict[str, ComparedTable], list[str]]:
    """Return the tables that are set beside the paper's, how each is, and the data sets that are not here."""
    tables = design.config.tables
    specs = {}
    for name, spec in tables.items():
        paper_rows = {str(paper): _label(row) for paper, row in spec.paper_rows.items()}
        specs[name] = ComparedTable(paper_rows, _tolerances(design, name), _behind(design, spec))
    here = {dataset_of(design, batch) for batch in design.batches}
    usual = [name for name, spec in tables.items() if datasets_of(design, spec) & here and not is_opt_in(design, spec)]
    built = {name: paths.table(name, "parquet") for name in usual}
    return built, specs, sorted(set(design.config.datasets) - here)


def compare_paper(design: Design) -> Job[compare.Input, compare.Output, compare.Params]:
    built, specs, missing = _compared(design)
    simulated = design.config.simulated_papers
    measured = {name: measurements(design, [spec.control, *spec.others]) for name, spec in simulated.items()}
    params = compare.Params(
        tables=specs,
        missing=missing,
        cells={name: _cells(design, design.config.tables[name]) for name in built},
        observed=sorted(name for name, block in design.config.datasets.items() if block.is_observed),
        simulated_papers={name: _simulated_papers(design, name, spec) for name, spec in simulated.items()},
    )
    return Job("compare_paper", compare.Input(paths.PAPER, built, measured), compare.Output(), params)


def _simulated_papers(design: Design, table: str, spec: SimulatedPapers) -> compare.SimulatedPapers:
    """Return the problems of our protocol and of others, these in words, the methods, and the size of the table."""
    others = []
    for experiment, text in spec.others.items():
        others += [(name, text.format(**vars(design.problems[name]))) for name in design.members[experiment]]
    return compare.SimulatedPapers(
        control=design.members[spec.control][0],
        others=others,
        methods=design.config.experiments[spec.control].methods,
        aliases=spec.aliases,
        size=design.problems[problems_of(design, design.config.tables[table])[0]].instances,
    )


def _cells(design: Design, spec: TableView) -> dict[str, dict[str, str]]:
    """Name what stands in every cell of a table, by row and column: equal names are the same number of ours."""
    evaluations = {design.config.evaluations[name].label: name for name in spec.evaluations}
    named: dict[str, dict[str, str]] = {}
    for row in _rows(design, spec):
        for column, text in cells.named(spec.columns):
            cell = cells.parse(column, text)
            method = cell.key or row.method
            quantity = cell.quantity if cell.statistic == "value" else f"{cell.statistic} of {cell.quantity}"
            if row.problem in evaluations:
                words = f"{quantity}, {method}, over {evaluations[row.problem]}"
            elif played := design.played.get((row.problem, method or "")):
                words = f"{quantity}, {played.method}, on {played.problem}"
            else:
                words = f"{quantity}, {_behind_fact(design, row.problem, cell.quantity)}"
            named.setdefault(row.label, {})[column] = words
    return named


def _behind_fact(design: Design, problem: str, fact: str) -> str:
    """Spell all that a fact depends on."""
    spec = design.problems[problem]
    factors = flat(posed_problem(spec)) | {name: getattr(spec, name) for name in FACTORS.get(fact, ())}
    return ", ".join(f"{name} {value}" for name, value in factors.items() if name != "name")


def _tolerances(design: Design, table: str) -> dict[str, float]:
    """Return the quantities of a table that are compared by difference, each with the difference that matches."""
    shown = {cells.parse(table, text).quantity for _, text in cells.named(design.config.tables[table].columns)}
    tolerances = {name: design.config.quantities[name].tolerance for name in sorted(shown)}
    return {name: tolerance for name, tolerance in tolerances.items() if tolerance is not None}


def _behind(design: Design, spec: TableView) -> dict[str, list[str]]:
    """Return the data sets behind every row of a table: one, or all that a score pools."""
    if spec.experiment:
        return {row.label: [row.dataset] for row in _rows(design, spec) if row.dataset}
    evaluations = [design.config.evaluations[name] for name in spec.evaluations]
    return {evaluation.label: sorted(datasets_of(design, evaluation)) for evaluation in evaluations}


def make_report(design: Design, page: str) -> Job[report.Input, report.Output, report.Params]:
    """Return the job of a page: the whole report, or the experiment of the headline with its own tables."""
    (compared, specs, missing), config = _compared(design), design.config
    is_headline = page == paths.HEADLINE
    simulated = {name for spec in config.simulated_papers.values() for name in (spec.control, *spec.others)}
    shown = [name for name, spec in config.experiments.items() if not spec.opt_in and name not in simulated]
    if is_headline:
        shown = [config.figures[name].experiments[0] for name in outline.overviews(design, shown)]
    tables = {}
    for name in compared:
        sources = experiments_behind(design, config.tables[name])
        if set(sources) <= set(shown):
            spec = make_table(design, name).params
            tables[name] = outline.BuiltTable(compared[name], spec, sources, specs[name])
    batches = {name: dataset_of(design, name) for name in batches_of(design, shown)}
    input = outline.report_input(design, batches, tables)
    page_spec = outline.report_spec(design, batches, tables)
    if is_headline:
        page_spec = outline.without_other_experiments(page_spec, config, list(input.datasets))
        missing = []
    else:
        studies = {name: path for name, path in report.STUDIES.items() if Path(design.root, path).is_file()}
        input = input._replace(
            claims=judge_claims(design, paths.CLAIMS).output.parquet,
            multiverse=studies.get("multiverse", ""),
            leaderboard=studies.get("leaderboard", ""),
            calibrated=studies.get("calibrated", ""),
        )
        unbuilt = {name: title for name, title in page_spec.opt_in.items() if report.BUILT_BY.get(name) not in studies}
        page_spec = page_spec._replace(opt_in=unbuilt)
    params = page_spec._replace(cells={name: _cells(design, config.tables[name]) for name in tables}, missing=missing)
    optional = tuple(report.STUDIES.values())
    return Job("make_report", input, at(report.Output(), page=page), params, optional=optional, root_folder=design.root)


def _rows(design: Design, spec: TableView) -> list[RowKey]:
    """Return the rows of a table: label, problem, data set and, where rows are methods, the method."""
    if spec.evaluation:
        labels = [design.config.evaluations[name].label for name in spec.evaluations]
        return [RowKey(label, problem=label) for label in labels]
    members = [design.problems[name] for name in problems_of(design, spec)]
    if spec.rows == "method":
        played = [method for e in spec.experiments for method in design.config.experiments[e].methods]
        return [_row(members[0], method, method) for method in spec.methods or dict.fromkeys(played)]
    if spec.rows == "player":
        rows = []
        for experiment, problem in product(spec.experiments, members):
            if problem.name in design.members[experiment]:
                for method in design.config.experiments[experiment].methods:
                    rows.append(_row(problem, f"{problem.dataset} {method}", method))
        return rows
    return [_row(problem, _label(getattr(problem, spec.rows))) for problem in members]


def _row(problem: Problem, label: str, method: str | None = None) -> RowKey:
    return RowKey(label, problem.name, problem.dataset, method)


def _origins(datasets: dict[str, Dataset]) -> list[str]:
    """Say where the data of a table's rows come from and on which terms, once for those with the same source."""
    named: dict[str, list[str]] = {}
    for name, dataset in datasets.items():
        if dataset.raw:
            text = f"{dataset.raw.citation.rstrip('.')}. Licence: {dataset.raw.licence.rstrip('.')}."
            named.setdefault(text, []).append(dataset.label or name)
    return [f"{', '.join(names)}: {text}" for text, names in named.items()]


def _label(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, int | float) else str(value)


# All stages, in order of execution.
JOBS: dict[str, Callable[..., AnyJob]] = {
    job.__name__: job
    for job in (
        fetch_raw, tabulate_dataset, build_graph, compute_basis, pose_problem, estimate_pilot, describe_problem,
        run_bandit, measure_batch, evaluate_predictors, make_table, make_figure, compare_paper, judge_claims,
        make_report,
    )
}  # fmt: skip


def _studied(design: Design) -> list[tuple[str]]:
    """Return what is judged besides the claims at the paper's settings."""
    studies = ((paths.MULTIVERSE, design.config.horizons), (paths.LEADERBOARD, ranked_experiments(design)))
    return [(name,) for name, there in studies if there]


def outputs(stage: str) -> dict[str, str]:
    """Return what a stage writes, by name: paths with wildcards."""
    return {name: str(path) for name, path in import_module(f"graphdr.stages.{stage}").Output()._asdict().items()}


def written(stage: str) -> dict[str, str]:
    """Return what a rule writes: the files of its stage, and their entry in the manifest."""
    files = outputs(stage)
    return files | {"entry": manifest.entry_path(list(files.values()))}


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
        ("dataset",): [(name,) for name, block in config.datasets.items() if block.raw],
        ("graph",): [(name,) for name in design.graphs],
        ("graph", "basis"): design.bases,
        ("batch",): [(name,) for name in batches if stage != "estimate_pilot" or has_pilot(design, name)],
        ("judged",): [(paths.CLAIMS,), *_studied(design)],
        ("page",): [(page,) for page in paths.PAGES if make_report(design, page).input.measurements],
        ("batch", "kind"): [pair for pair in product(batches, KINDS) if paths.runs(*pair) in design.plays],
    }
    for block in ("evaluation", "table", "figure"):
        values[(block,)] = [(name,) for name in getattr(config, f"{block}s")]
    return (dict(zip(names, value, strict=True)) for value in values[tuple(names)])
