"""What every job reads and with which parameters: one function per rule, from its wildcards to a Job."""

from typing import NamedTuple

from graphdr import cells, paths
from graphdr.bases import FROM_LOW
from graphdr.config import against
from graphdr.design import RUN_FACTORS, THETA_FACTORS, Design
from graphdr.diagnostics import FACTORS
from graphdr.features import IDENTITY
from graphdr.streams import NEEDS_GRAPH


class Job(NamedTuple):
    """Input files by role (a path, or paths by key) and the parameters of the stage."""

    input: dict
    params: dict

    def files(self) -> list[str]:
        """Return all input files."""
        return _flat(self.input)


def build_graph(design: Design, graph: str) -> Job:
    spec = design.graphs[graph]
    parent = spec["parent"]
    input = {"nodes": paths.nodes(parent), "edges": paths.edges(parent)} if parent else {}
    return Job(input, {name: value for name, value in spec.items() if name != "name"} | _seed(design))


def compute_basis(design: Design, graph: str, basis: str) -> Job:
    spec = design.bases[graph, basis]
    input = {"nodes": paths.nodes(graph), "edges": paths.edges(graph)}
    if basis in FROM_LOW:
        input["low"] = paths.basis(graph, "laplacian_low")
    return Job(input, spec | {"basis": basis} | _seed(design))


def pose_problem(design: Design, batch: str) -> Job:
    problems = _problems(design, batch, THETA_FACTORS)
    cleans, graphs = _graphs(problems, "clean"), _graphs(problems, "clean", "graph")
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
    return Job(input, {"problems": problems, "facts": facts} | _seed(design))


def run_bandit(design: Design, batch: str, method: str) -> Job:
    spec = {"policy": "linucb", "basis": IDENTITY, "laplacian": 0, "k": None} | design.config["methods"][method]
    spec = {name: value for name, value in spec.items() if name not in ("label", "note")}
    problems = _problems(design, batch, RUN_FACTORS)
    graphs = _graphs(problems, "graph")
    input = {"theta": paths.theta(batch)}
    if spec["basis"] != IDENTITY:
        input["basis"] = {graph: paths.basis(graph, spec["basis"]) for graph in graphs}
    if spec["laplacian"] or any(problem["candidates"] in NEEDS_GRAPH for problem in problems):
        input["nodes"] = {graph: paths.nodes(graph) for graph in graphs}
        input["edges"] = {graph: paths.edges(graph) for graph in graphs}
    if spec["k"]:
        input["facts"] = paths.facts(batch)
    return Job(input, {"problems": problems, "method": spec} | _seed(design))


def measure_experiment(design: Design, experiment: str) -> Job:
    spec = design.config["experiments"][experiment]
    batches = [name for name, batch in design.batches.items() if batch["experiment"] == experiment]
    input = {
        "runs": {method: [paths.runs(batch, method) for batch in batches] for method in spec["methods"]},
        "facts": [paths.facts(batch) for batch in batches],
    }
    return Job(input, {"against": against(spec)})


def evaluate_predictors(design: Design, evaluation: str) -> Job:
    spec = dict(design.config["evaluations"][evaluation])
    input = {"measurements": {name: paths.measurements(name) for name in spec.pop("experiments")}}
    return Job(input, spec)


def make_table(design: Design, table: str) -> Job:
    spec = design.config["tables"][table]
    if "evaluation" in spec:
        source = paths.evaluation(spec["evaluation"])
        label = design.config["evaluations"][spec["evaluation"]]["label"]
        rows = [{"label": label, "problem": label}]
    else:
        source = paths.measurements(spec["experiment"])
        rows = _rows(design, spec)
    columns = [cells.parse(table, text) for _, text in cells.named(spec["columns"])]
    mentioned = {cell.key for cell in columns} | {row.get("method") for row in rows}
    methods = {name: method for name, method in design.config["methods"].items() if name in mentioned}
    params = {name: spec[name] for name in ("caption", "rows", "columns", "bold") if name in spec} | {
        "row_keys": rows,
        "labels": {name: method["label"] for name, method in methods.items()},
        "notes": [f"{method['label']}: {method['note']}" for method in methods.values() if "note" in method],
        "quantities": {cell.quantity: design.config["quantities"][cell.quantity] for cell in columns},
    }
    return Job({"measurements": source}, params)


def make_figure(design: Design, figure: str) -> Job:
    spec = design.config["figures"][figure]
    experiment = spec["experiment"]
    methods = spec.get("methods", design.config["experiments"][experiment]["methods"])
    problems = [design.problems[name] for name in _members(design, experiment)]
    params = {
        "kind": spec["kind"],
        "title": spec["title"],
        "labels": {method: design.config["methods"][method]["label"] for method in methods},
    }
    if spec["kind"] == "sweep":
        params |= {"x": spec["x"], "positions": {problem["name"]: problem[spec["x"]] for problem in problems}}
        return Job({"measurements": paths.measurements(experiment)}, params)
    shown = problems[0]
    params |= {"problem": shown["name"], "k": shown["k"]}
    if spec["kind"] == "curves":
        return Job({"curves": paths.curves(experiment)}, params)
    graph = shown["graph"]
    input = {
        "nodes": paths.nodes(graph),
        "edges": paths.edges(graph),
        "basis": paths.basis(graph, "laplacian_low"),
    }
    return Job(input | {"curves": paths.curves(experiment)}, params)


def compare_paper(design: Design) -> Job:
    quantities = design.config["quantities"]
    tolerances = {name: spec["tolerance"] for name, spec in quantities.items() if "tolerance" in spec}
    specs = {
        table: {"paper_rows": {paper: _label(ours) for paper, ours in spec.get("paper_rows", {}).items()},
                "tolerance": tolerances}
        for table, spec in design.config["tables"].items()
    }  # fmt: skip
    input = {"paper": paths.PAPER, "tables": {table: paths.table(table, "parquet") for table in specs}}
    return Job(input, {"tables": specs})


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


def _members(design: Design, experiment: str) -> list[str]:
    return [p for batch in design.batches.values() if batch["experiment"] == experiment for p in batch["problems"]]


def _rows(design: Design, spec: dict) -> list[dict]:
    """Return the rows of a table: its label, its problem and, where rows are methods, its method."""
    members = _members(design, spec["experiment"])
    if spec["rows"] == "method":
        methods = design.config["experiments"][spec["experiment"]]["methods"]
        return [{"label": method, "problem": members[0], "method": method} for method in methods]
    return [{"label": _label(design.problems[name][spec["rows"]]), "problem": name} for name in members]


def _label(value) -> str:
    return f"{value:.12g}" if isinstance(value, int | float) else value
