"""Jobs from measurements to what a reader sees: one function per stage, from its wildcards to a Job."""

from typing import Any

from graphdr.cache import paths
from graphdr.facts.registry import FAVOURABLE
from graphdr.paper.claims import factors
from graphdr.paper.compare import OTHER, VERDICTS
from graphdr.plan import outline
from graphdr.plan.config import evaluations_of, experiments_of
from graphdr.plan.design import (
    Design,
    batches_of,
    dataset_of,
    datasets_of,
    experiments_behind,
    is_apart,
    is_observed,
    shown_problems,
)
from graphdr.plan.job import Job, at
from graphdr.scores import cells
from graphdr.show.report import template
from graphdr.stages import (
    compare_paper as compare,
)
from graphdr.stages import (
    evaluate_predictors as evaluate,
)
from graphdr.stages import (
    judge_claims as judge,
)
from graphdr.stages import (
    make_figure as figure_of,
)
from graphdr.stages import (
    make_report as report,
)
from graphdr.stages import (
    make_table as table_of,
)


def evaluate_predictors(design: Design, evaluation: str) -> Job[evaluate.Input, evaluate.Output, evaluate.Params]:
    spec = design.config["evaluations"][evaluation]
    names = spec["experiments"]
    predictors = {name: [name] for name in spec.get("predictors", [])} | spec.get("joint", {})
    params = evaluate.Params(
        label=spec["label"],
        method=spec["method"],
        target=spec["target"],
        predictor_method=spec.get("predictor_method", spec["method"]),
        predictors=predictors,
        means=spec.get("means", []),
        scores=spec["scores"],
        groups={problem: design.problems[problem]["dataset"] for name in names for problem in design.members[name]},
        signs={name: FAVOURABLE.get(name, 0) for name in predictors},
    )
    input = evaluate.Input({name: _measurements(design, [name]) for name in names})
    return Job("evaluate_predictors", input, at(evaluate.Output(), evaluation=evaluation), params)


def make_table(design: Design, table: str) -> Job[table_of.Input, table_of.Output, table_of.Params]:
    spec = design.config["tables"][table]
    if "evaluation" in spec:
        source = [paths.evaluation(name) for name in evaluations_of(spec)]
        labels = [design.config["evaluations"][name]["label"] for name in evaluations_of(spec)]
        rows = [{"label": label, "problem": label} for label in labels]
    else:
        rows = _rows(design, spec)
        source = _measurements(design, experiments_of(spec), {row["problem"] for row in rows})
    columns = [cells.parse(table, text) for _, text in cells.named(spec["columns"])]
    mentioned = {cell.key for cell in columns} | {row.get("method") for row in rows}
    methods = {name: method for name, method in design.config["methods"].items() if name in mentioned}
    shown = dict.fromkeys(row["dataset"] for row in rows if row.get("dataset"))
    datasets = {name: design.config["datasets"][name] for name in shown}
    named = methods | {name: block for name, block in datasets.items() if "label" in block}
    notes = [f"{method['label']}: {method['note']}." for method in methods.values() if "note" in method]
    params = table_of.Params(
        caption=spec["caption"],
        rows=spec["rows"],
        heading=spec.get("heading", spec["rows"]),
        columns=spec["columns"],
        bold=spec.get("bold"),
        row_keys=rows,
        labels={name: block["label"] for name, block in named.items()} | _predictors(design, spec),
        controls=[name for name, method in methods.items() if method.get("control")],
        notes=notes + _origins(datasets),
        quantities={cell.quantity: design.config["quantities"][cell.quantity] for cell in columns},
    )
    return Job("make_table", table_of.Input(source), at(table_of.Output(), table=table), params)


def make_figure(design: Design, figure: str) -> Job[figure_of.Input, figure_of.Output, figure_of.Params]:
    spec = design.config["figures"][figure]
    kind, experiments = spec["kind"], experiments_of(spec)
    played = [method for name in experiments for method in design.config["experiments"][name]["methods"]]
    methods = spec.get("methods", list(dict.fromkeys(played)))
    problems = [design.problems[name] for name in shown_problems(design, spec)]
    batches = batches_of(design, experiments, {problem["name"] for problem in problems})
    params = figure_of.Params(
        kind=kind,
        title=spec["title"],
        datasets=sorted({problem["dataset"] for problem in problems}),
        labels={method: design.config["methods"][method]["label"] for method in methods},
    )
    output = at(figure_of.Output(), figure=figure)
    if kind in ("sweep", "dots"):
        input = figure_of.Input(measurements=[paths.measurements(batch) for batch in batches])
        if kind == "sweep":
            positions = {problem["name"]: problem[spec["x"]] for problem in problems}
            return Job("make_figure", input, output, params._replace(x=spec["x"], positions=positions))
        rows = [[problem["name"], problem["title"]] for problem in problems]
        return Job("make_figure", input, output, params._replace(rows=rows))
    problem = problems[0]
    input = figure_of.Input(curves=[paths.curves(batch) for batch in batches])
    if kind == "overview":
        graph = problem["graph"]
        low = paths.basis(graph, "laplacian_low")
        input = input._replace(nodes=paths.nodes(graph), edges=paths.edges(graph), basis=low)
    return Job("make_figure", input, output, params._replace(problem=problem["name"], k=problem["k"]))


def compare_paper(design: Design) -> Job[compare.Input, compare.Output, compare.Params]:
    quantities = design.config["quantities"]
    tolerances = {name: spec["tolerance"] for name, spec in quantities.items() if "tolerance" in spec}
    specs = {
        table: {
            "paper_rows": {paper: _label(ours) for paper, ours in spec.get("paper_rows", {}).items()},
            "tolerance": tolerances,
            "datasets": _behind(design, spec),
        }
        for table, spec in design.config["tables"].items()
    }
    here = {dataset_of(design, batch) for batch in design.batches}
    built = {
        table: paths.table(table, "parquet")
        for table, spec in design.config["tables"].items()
        if datasets_of(design, spec) & here and not is_apart(design, spec)
    }
    missing = sorted(set(design.config["datasets"]) - here)
    return Job("compare_paper", compare.Input(paths.PAPER, built), compare.Output(), compare.Params(specs, missing))


def _behind(design: Design, spec: dict) -> dict[str, list[str]]:
    """Return the data sets behind every row of a table: one, or all that a score pools."""
    if "evaluation" not in spec:
        return {row["label"]: [row["dataset"]] for row in _rows(design, spec)}
    blocks = {name: design.config["evaluations"][name] for name in evaluations_of(spec)}
    return {block["label"]: sorted(datasets_of(design, {"evaluation": name})) for name, block in blocks.items()}


def judge_claims(design: Design) -> Job[judge.Input, judge.Output, judge.Params]:
    config = design.config
    claims = {name: spec | _about(design, spec) for name, spec in config["claims"].items()}
    drawn = dict.fromkeys(e for spec in claims.values() if "experiment" in spec for e in experiments_of(spec))
    experiments = [name for name in drawn if batches_of(design, [name])]
    evaluations = {spec["evaluation"] for spec in claims.values() if "evaluation" in spec and spec["here"]}
    problems = {name: design.problems[name] for e in experiments for name in design.members[e]}
    used = {"dataset", *factors(claims)}
    input = judge.Input(
        paper=paths.PAPER_CLAIMS,
        measurements={name: _measurements(design, [name]) for name in experiments},
        evaluations={name: paths.evaluation(name) for name in sorted(evaluations)},
    )
    params = judge.Params(
        claims=claims,
        problems={name: {f: p[f] for f in sorted(used & set(p))} for name, p in problems.items()},
        other=sorted(OTHER),
    )
    return Job("judge_claims", input, judge.Output(), params)


def make_report(design: Design) -> Job[report.Input, report.Output, report.Params]:
    specs = design.config["tables"]
    tables = {
        name: make_table(design, name).params._asdict()
        | {"path": path, "sources": experiments_behind(design, specs[name])}
        for name, path in compare_paper(design).input.tables.items()
    }
    usual = [name for name, spec in design.config["experiments"].items() if not spec.get("apart")]
    batches = {name: dataset_of(design, name) for name in batches_of(design, usual)}
    input = report.Input(**outline.files(design, batches, tables))
    told = outline.params(design, batches, tables)
    params = report.Params(**told, verdicts=list(VERDICTS), template=template.digest())
    return Job("make_report", input, report.Output(), params)


def _about(design: Design, claim: dict[str, Any]) -> dict[str, Any]:
    """Say what a claim is about: its data sets, those that are here or have raw files, and names that are not known."""
    if "evaluation" in claim:
        blocks = {claim["evaluation"]: design.config["evaluations"].get(claim["evaluation"], {}).get("experiments", [])}
    else:
        blocks = {name: [name] if name in design.config["experiments"] else [] for name in experiments_of(claim)}
    sources = [experiment for experiments in blocks.values() for experiment in experiments]
    shown = dict.fromkeys(design.problems[p]["dataset"] for e in sources for p in design.members[e])
    wanted = claim.get("dataset", list(shown))
    datasets = [name for name in shown if name in ([wanted] if isinstance(wanted, str) else wanted)]
    built = {dataset_of(design, batch) for batch in batches_of(design, sources)}
    return {
        "datasets": datasets,
        "here": [name for name in datasets if name in built],
        "raw": {name: paths.receipt(name) for name in datasets if is_observed(design.config["datasets"][name])},
        "unknown": [name for name, experiments in blocks.items() if not experiments],
    }


def _measurements(design: Design, experiments: list[str], problems: set[str] | None = None) -> list[str]:
    return [paths.measurements(batch) for batch in batches_of(design, experiments, problems)]


def _rows(design: Design, spec: dict) -> list[dict]:
    """Return the rows of a table: label, problem, data set and, where rows are methods, the method."""
    members = [design.problems[name] for name in shown_problems(design, spec)]
    keys = [{"problem": problem["name"], "dataset": problem["dataset"]} for problem in members]
    if spec["rows"] == "method":
        methods = dict.fromkeys(m for e in experiments_of(spec) for m in design.config["experiments"][e]["methods"])
        if "methods" in spec:
            methods = spec["methods"]
        return [keys[0] | {"label": method, "method": method} for method in methods]
    return [key | {"label": _label(p[spec["rows"]])} for key, p in zip(keys, members, strict=True)]


def _origins(datasets: dict) -> list[str]:
    """Say where the data of a table's rows come from and on which terms, once for those with the same source."""
    named: dict[str, list[str]] = {}
    for name, dataset in datasets.items():
        if is_observed(dataset):
            raw = dataset["raw"]
            text = f"{raw['citation'].rstrip('.')}. Licence: {raw['licence'].rstrip('.')}."
            named.setdefault(text, []).append(dataset.get("label", name))
    return [f"{', '.join(names)}: {text}" for text, names in named.items()]


def _predictors(design: Design, spec: dict) -> dict[str, str]:
    """Name the predictors of a table after the quantities that they are, a joint one after all of its own."""
    quantities, datasets, named = design.config["quantities"], design.config["datasets"], {}
    for evaluation in evaluations_of(spec) if "evaluation" in spec else []:
        block = design.config["evaluations"][evaluation]
        alone = {name: [name] for name in block.get("predictors", [])}
        for name, facts in (alone | block.get("joint", {})).items():
            known = [name] if name in quantities else facts
            named[name] = " and ".join(quantities[fact]["label"] if fact in quantities else fact for fact in known)
        for fact in block.get("means", []):
            named |= {
                f"{fact}_{name}": f"{quantities[fact]['label']} on {own.get('label', name)}"
                for name, own in datasets.items()
            }
    return named


def _label(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, int | float) else str(value)
