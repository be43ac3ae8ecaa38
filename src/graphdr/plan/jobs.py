"""What every job reads and with which parameters: one function per rule, from its wildcards to a Job."""

from typing import NamedTuple

from graphdr.bandit.environment import NEEDS_GRAPH
from graphdr.bandit.radii import CONSTANT
from graphdr.cache import paths
from graphdr.facts.registry import FACT_BASES, FACTORS, FAVOURABLE
from graphdr.graphs.arm_features import ADAPTIVE, IDENTITY, k_fact
from graphdr.graphs.bases import FROM_DATA, FROM_GRAPH, FROM_LOW
from graphdr.paper.claims import factors
from graphdr.paper.compare import OTHER, VERDICTS
from graphdr.plan import outline
from graphdr.plan.config import against, evaluations_of, experiments_of
from graphdr.plan.design import (
    ADAPTIVE_FACTORS,
    RUN_FACTORS,
    THEORY_FACTORS,
    THETA_FACTORS,
    Design,
    batches_of,
    dataset_of,
    datasets_of,
    experiments_behind,
    is_apart,
    is_observed,
    shown_problems,
)
from graphdr.raw.fetch import file_name, parts
from graphdr.scores import cells
from graphdr.show.report import template


class Job(NamedTuple):
    """Input files by role (a path, or paths by key) and the parameters of the stage."""

    input: dict
    params: dict

    def files(self) -> list[str]:
        """Return all input files."""
        return _flat(self.input)


def fetch_raw(design: Design, dataset: str) -> Job:
    raw = design.config["datasets"][dataset]["raw"]
    wanted = {name: raw[name] for name in ("sources", "terms", "page") if name in raw}
    return Job({}, {"dataset": dataset, "raw": wanted})


def tabulate_dataset(design: Design, dataset: str) -> Job:
    raw = design.config["datasets"][dataset]["raw"]
    archives = [archive for source in raw["sources"] for archive in parts(source)]
    lines = {
        file_name(archive): {r: m["lines"] for r, m in archive["members"].items() if "lines" in m}
        for archive in archives
    }
    params = {"dataset": dataset, "lines": lines, "release": raw.get("release"), "options": raw.get("options", {})}
    return Job({"receipt": paths.receipt(dataset)}, params)


def build_graph(design: Design, graph: str) -> Job:
    spec = design.graphs[graph]
    parent = spec["parent"]
    input = {"nodes": paths.nodes(parent), "edges": paths.edges(parent)} if parent else _data(spec["dataset"])
    params = {name: value for name, value in spec.items() if name not in ("name", "content", "rank")}
    return Job(input, params | _seed(design))


def compute_basis(design: Design, graph: str, basis: str) -> Job:
    spec, params = design.graphs[graph], design.bases[graph, basis] | {"basis": basis}
    input = {"nodes": paths.nodes(graph)}
    if basis in FROM_GRAPH:
        input["edges"] = paths.edges(graph)
    if basis in FROM_LOW:
        input["low"] = paths.basis(graph, "laplacian_low")
    if basis in FROM_DATA:
        input |= _data(spec["dataset"])
        params |= {"content": spec["content"], "rank": spec["rank"]}
        params |= {"transform": spec["parameters"].get("transform", "identity")}
    return Job(input, params | _seed(design))


def pose_problem(design: Design, batch: str) -> Job:
    problems = _problems(design, batch, THETA_FACTORS)
    planted = [problem for problem in problems if problem["reward"] == "planted"]
    cleans, graphs = _graphs(planted, "clean"), _graphs(problems, "clean", "graph")
    input = {
        "basis": {graph: paths.basis(graph, "laplacian_low") for graph in cleans},
        "nodes": {graph: paths.nodes(graph) for graph in graphs},
    }
    return Job(input, {"problems": problems} | _seed(design))


def describe_problem(design: Design, batch: str) -> Job:
    facts = design.config["experiments"][design.batches[batch]["experiment"]].get("facts", [])
    used = {factor for fact in facts for factor in FACTORS.get(fact, ())}
    problems = _problems(design, batch, ("instances", *sorted(used)))
    graphs = _graphs(problems, "clean", "graph")
    input = {
        "theta": paths.theta(batch),
        "basis": {graph: paths.basis(graph, "laplacian_low") for graph in graphs},
        "nodes": {graph: paths.nodes(graph) for graph in graphs},
        "edges": {graph: paths.edges(graph) for graph in graphs},
    }
    others = sorted({FACT_BASES[fact] for fact in facts if fact in FACT_BASES})
    seen = _graphs(problems, "graph")
    input["others"] = {basis: {graph: paths.basis(graph, basis) for graph in seen} for basis in others}
    return Job(input, {"problems": problems, "facts": facts} | _seed(design))


def run_bandit(design: Design, batch: str, method: str) -> Job:
    usual = {"policy": "linucb", "basis": IDENTITY, "laplacian": 0, "k": None, "radius": CONSTANT}
    spec = usual | design.config["methods"][method]
    spec = {name: value for name, value in spec.items() if name not in ("label", "note", "control")}
    by_theorem = spec["radius"] != CONSTANT
    further = THEORY_FACTORS if by_theorem else ADAPTIVE_FACTORS if spec["k"] == ADAPTIVE else ()
    problems = _problems(design, batch, RUN_FACTORS + further)
    graphs = _graphs(problems, "graph")
    input = {"theta": paths.theta(batch)}
    if spec["basis"] != IDENTITY:
        input["basis"] = {graph: paths.basis(graph, spec["basis"]) for graph in graphs}
    if spec["laplacian"] or any(problem["candidates"] in NEEDS_GRAPH for problem in problems):
        input["nodes"] = {graph: paths.nodes(graph) for graph in graphs}
        input["edges"] = {graph: paths.edges(graph) for graph in graphs}
    if k_fact(spec["k"]) or by_theorem:
        input["facts"] = paths.facts(batch)
    return Job(input, {"problems": problems, "method": spec} | _seed(design))


def measure_batch(design: Design, batch: str) -> Job:
    spec = design.config["experiments"][design.batches[batch]["experiment"]]
    runs = {method: paths.runs(batch, method) for method in spec["methods"]}
    radii = {method: design.config["methods"][method].get("radius", CONSTANT) for method in spec["methods"]}
    radii = {method: rule for method, rule in radii.items() if rule != CONSTANT}
    about = ("k", "noise", "delta", "ridge") if radii else ()
    problems = {name: {f: design.problems[name][f] for f in about} for name in design.batches[batch]["problems"]}
    params = {"against": against(spec), "radii": radii, "problems": problems, "grids": _grids(design, spec["methods"])}
    return Job({"runs": runs, "facts": paths.facts(batch)}, params)


def _grids(design: Design, methods: list[str]) -> dict[str, dict[str, int]]:
    """Return the methods of a fixed k, with their k, that each method of an adaptive k can be compared with."""
    known = {name: design.config["methods"][name] for name in methods}
    return {
        name: {
            other: m["k"] for other, m in known.items() if m.get("basis") == own["basis"] and type(m.get("k")) is int
        }
        for name, own in known.items()
        if own.get("k") == ADAPTIVE
    }


def evaluate_predictors(design: Design, evaluation: str) -> Job:
    spec = dict(design.config["evaluations"][evaluation])
    names = spec.pop("experiments")
    measured = {name: _measurements(design, [name]) for name in names}
    groups = {problem: design.problems[problem]["dataset"] for name in names for problem in design.members[name]}
    predictors = {name: [name] for name in spec.pop("predictors", [])} | spec.pop("joint", {})
    signs = {name: FAVOURABLE.get(name, 0) for name in predictors}
    of = {"predictor_method": spec.get("predictor_method", spec["method"]), "means": spec.pop("means", [])}
    return Job({"measurements": measured}, spec | of | {"predictors": predictors, "groups": groups, "signs": signs})


def make_table(design: Design, table: str) -> Job:
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
    params = {name: spec[name] for name in ("caption", "rows", "heading", "columns", "bold") if name in spec} | {
        "row_keys": rows,
        "labels": {name: block["label"] for name, block in named.items()} | _predictors(design, spec),
        "controls": [name for name, method in methods.items() if method.get("control")],
        "notes": [f"{method['label']}: {method['note']}." for method in methods.values() if "note" in method]
        + _origins(datasets),
        "quantities": {cell.quantity: design.config["quantities"][cell.quantity] for cell in columns},
    }
    return Job({"measurements": source}, params)


def make_figure(design: Design, figure: str) -> Job:
    spec = design.config["figures"][figure]
    experiments = experiments_of(spec)
    played = [method for name in experiments for method in design.config["experiments"][name]["methods"]]
    methods = spec.get("methods", list(dict.fromkeys(played)))
    problems = [design.problems[name] for name in shown_problems(design, spec)]
    batches = batches_of(design, experiments, {problem["name"] for problem in problems})
    params = {
        "kind": spec["kind"],
        "title": spec["title"],
        "datasets": sorted({problem["dataset"] for problem in problems}),
        "labels": {method: design.config["methods"][method]["label"] for method in methods},
    }
    if spec["kind"] == "sweep":
        params |= {"x": spec["x"], "positions": {problem["name"]: problem[spec["x"]] for problem in problems}}
        return Job({"measurements": [paths.measurements(batch) for batch in batches]}, params)
    if spec["kind"] == "dots":
        params |= {"rows": [[problem["name"], problem["title"]] for problem in problems]}
        return Job({"measurements": [paths.measurements(batch) for batch in batches]}, params)
    shown = problems[0]
    params |= {"problem": shown["name"], "k": shown["k"]}
    curves = {"curves": [paths.curves(batch) for batch in batches]}
    if spec["kind"] in ("curves", "bounds"):
        return Job(curves, params)
    graph = shown["graph"]
    input = {
        "nodes": paths.nodes(graph),
        "edges": paths.edges(graph),
        "basis": paths.basis(graph, "laplacian_low"),
    }
    return Job(input | curves, params)


def compare_paper(design: Design) -> Job:
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
    return Job({"paper": paths.PAPER, "tables": built}, {"tables": specs, "missing": missing})


def _behind(design: Design, spec: dict) -> dict[str, list[str]]:
    """Return the data sets behind every row of a table: one, or all that a score pools."""
    if "evaluation" not in spec:
        return {row["label"]: [row["dataset"]] for row in _rows(design, spec)}
    blocks = {name: design.config["evaluations"][name] for name in evaluations_of(spec)}
    return {block["label"]: sorted(datasets_of(design, {"evaluation": name})) for name, block in blocks.items()}


def judge_claims(design: Design) -> Job:
    config = design.config
    claims = {name: spec | _about(design, spec) for name, spec in config["claims"].items()}
    drawn = dict.fromkeys(e for spec in claims.values() if "experiment" in spec for e in experiments_of(spec))
    experiments = [name for name in drawn if batches_of(design, [name])]
    evaluations = {spec["evaluation"] for spec in claims.values() if "evaluation" in spec and spec["here"]}
    problems = {name: design.problems[name] for e in experiments for name in design.members[e]}
    used = {"dataset", *factors(claims)}
    input = {
        "paper": paths.PAPER_CLAIMS,
        "measurements": {name: _measurements(design, [name]) for name in experiments},
        "evaluations": {name: paths.evaluation(name) for name in sorted(evaluations)},
    }
    params = {
        "claims": claims,
        "problems": {name: {f: p[f] for f in sorted(used & set(p))} for name, p in problems.items()},
        "other": sorted(OTHER),
    }
    return Job(input, params)


def make_report(design: Design) -> Job:
    specs = design.config["tables"]
    tables = {
        name: make_table(design, name).params | {"path": path, "sources": experiments_behind(design, specs[name])}
        for name, path in compare_paper(design).input["tables"].items()
    }
    usual = [name for name, spec in design.config["experiments"].items() if not spec.get("apart")]
    batches = {name: dataset_of(design, name) for name in batches_of(design, usual)}
    params = outline.params(design, batches, tables) | {"verdicts": list(VERDICTS), "template": template.digest()}
    return Job(outline.files(design, batches, tables), params)


def _about(design: Design, claim: dict) -> dict:
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


def _flat(role) -> list[str]:
    if isinstance(role, str):
        return [role]
    return [path for part in (role.values() if isinstance(role, dict) else role) for path in _flat(part)]


def _seed(design: Design) -> dict:
    return {"seed": design.config["seed"]}


def _problems(design: Design, batch: str, factors: tuple[str, ...]) -> list[dict]:
    wanted = ("name", "clean", "graph", *factors)
    return [{name: design.problems[p][name] for name in wanted} for p in design.batches[batch]["problems"]]


def _graphs(problems: list[dict], *roles: str) -> list[str]:
    return sorted({problem[role] for problem in problems for role in roles})


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


def _data(dataset: str | None) -> dict:
    """Return the two tables of a data set, if there is one."""
    if dataset is None:
        return {}
    return {"data_nodes": paths.dataset_nodes(dataset), "data_links": paths.dataset_links(dataset)}


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


def _label(value) -> str:
    return f"{value:.12g}" if isinstance(value, int | float) else value
