"""Expand the configuration into flat tables: graphs, bases, problems, batches and who needs what.

A problem is one flat dictionary of factors. Every stage gets just the factors that it uses, so that a
change of any other one does not rerun it.
"""

import inspect
import itertools
from collections.abc import Collection
from functools import cache
from typing import NamedTuple

from graphdr.core.errors import UserError
from graphdr.facts.registry import FACT_BASES, FACTORS
from graphdr.graphs import from_data
from graphdr.graphs.arm_features import IDENTITY
from graphdr.graphs.random_graphs import FAMILIES
from graphdr.plan.config import check, check_method, check_problem, evaluations_of, experiments_of, pick

THETA_FACTORS = ("instances", "reward", "k_star", "tail")
RUN_FACTORS = (
    "instances", "draws", "horizon", "seeds", "checkpoint", "candidates", "arms", "noise", "ridge", "alpha", "k",
)  # fmt: skip


THEORY_FACTORS = ("delta", "pilot")  # of runs with the radius of a theorem, besides
ADAPTIVE_FACTORS = ("delta", "k_grid")  # of runs that find their k, besides
CHANGES = ("flip", "swap", "perturb")  # factors that make the observed graph another than the clean one


class Design(NamedTuple):
    """Flat tables, each keyed by name; ``members`` are the problems of every experiment, built or not."""

    config: dict
    graphs: dict[str, dict]
    bases: dict[tuple[str, str], dict]
    problems: dict[str, dict]
    batches: dict[str, dict]
    members: dict[str, list[str]]


def expand(config: dict, missing: Collection[str] = ()) -> Design:
    """Check a configuration and turn its blocks into flat tables; nothing is planned on data sets that are missing."""
    check(config)
    graphs: dict[str, dict] = {}
    bases: dict[tuple[str, str], dict] = {}
    problems: dict[str, dict] = {}
    batches: dict[str, dict] = {}
    members: dict[str, list[str]] = {}
    for experiment, spec in config["experiments"].items():
        found = _members(config, experiment, spec["problems"])
        problems |= {problem["name"]: problem for problem in found}
        members[experiment] = [problem["name"] for problem in found]
        for method, problem in itertools.product(spec["methods"], found):
            where = f"experiments.{experiment}: method {method} on problem {problem['name']}"
            check_method(where, config["methods"][method], problem)
        here = [problem for problem in found if problem["dataset"] not in missing]
        several = len({problem["dataset"] for problem in found}) > 1
        wanted = {"laplacian_low"} | {FACT_BASES[fact] for fact in spec.get("facts", []) if fact in FACT_BASES}
        wanted |= {config["methods"][method].get("basis", IDENTITY) for method in spec["methods"]} - {IDENTITY}
        for problem in here:
            for graph in _chain(config, problem).values():
                known = graphs.setdefault(graph["name"], graph)
                known["least"] = max(known["least"], problem["components"], problem["arms"])
            for basis in sorted(wanted):
                _enlarge(bases.setdefault((problem["graph"], basis), {"components": 0, "draws": 0}), problem)
            _enlarge(bases.setdefault((problem["clean"], "laplacian_low"), {"components": 0, "draws": 0}), problem)
        for name, part in _split(experiment, here, several, config["batch"]):
            batches[name] = {"experiment": experiment, "problems": [p["name"] for p in part]}
    design = Design(config, graphs, bases, problems, batches, members)
    _check_rows(design)
    return design


def is_observed(dataset: dict) -> bool:
    """Tell whether a data set comes from raw files (and not from a random graph)."""
    return "raw" in dataset


def _members(config: dict, experiment: str, spec: dict) -> list[dict]:
    """Expand the problems of one experiment: every base with every combination of the varied factors."""
    members = []
    for base in spec["of"]:
        block = config["problems"][base]
        fixed, vary = spec.get("set", {}), dict(sorted(spec.get("vary", {}).items()))
        for places in itertools.product(*(range(len(values)) for values in vary.values())):
            varied = {factor: values[at] for (factor, values), at in zip(vary.items(), places, strict=True)}
            # A cycled factor takes its values in turn along the varied ones, instead of crossing them.
            varied |= {factor: values[sum(places) % len(values)] for factor, values in spec.get("cycle", {}).items()}
            own = block | fixed | varied
            factors = defaults(config, own["dataset"]) | own
            if missing := sorted(set(_required(factors)) - set(factors)):
                raise UserError(f"problems.{base}: factor {missing[0]!r} has no value")
            name = _name(base, fixed | varied)
            check_problem(f"experiments.{experiment}: problem {name}", factors)
            chain = _chain(config, factors)
            roles = {role: chain[role]["name"] for role in ("clean", "graph")}
            members.append(factors | {"name": name, "title": _title(config, base, varied)} | roles)
    return members


def defaults(config: dict, dataset: str) -> dict:
    """Return the factors that every problem on a data set starts from."""
    block = config["datasets"][dataset]
    own = {name: value for name, value in block.items() if name not in ("raw", "label")}
    return config["protocol"] | (config["observed"] if is_observed(block) else {}) | own


def _check_rows(design: Design) -> None:
    """Check that the rows of every table, and the positions of every sweep, tell the problems apart."""
    config = design.config
    for block in ("tables", "figures"):
        for name, spec in config[block].items():
            if "problem" in spec:
                names = experiments_of(spec)
                members = [problem for experiment in names for problem in design.members[experiment]]
                pick(f"{block}.{name}.problem", f"problem of {' and '.join(names)}", spec["problem"], members)
    shown = [(f"tables.{n}.rows", t["rows"], t) for n, t in config["tables"].items() if "evaluation" not in t]
    shown += [(f"figures.{n}.x", f["x"], f) for n, f in config["figures"].items() if f["kind"] == "sweep"]
    for where, factor, spec in shown:
        members = [design.problems[name] for name in shown_problems(design, spec)]
        values = [member["name"] if factor == "method" else member.get(factor) for member in members]
        if len(set(values)) < len(values) or (factor == "method" and len(members) > 1):
            names = " and ".join(experiments_of(spec))
            raise UserError(f"{where}: {factor!r} does not tell the {len(members)} problems of {names} apart")


def shown_problems(design: Design, spec: dict) -> list[str]:
    """Return the problems that a table or figure shows: those of its experiments, or the one that it names."""
    if "problem" in spec:
        return [spec["problem"]]
    return [name for experiment in experiments_of(spec) for name in design.members[experiment]]


def is_apart(design: Design, spec: dict) -> bool:
    """Tell whether a table, figure or evaluation is built by a target of its own alone."""
    return any(design.config["experiments"][name].get("apart") for name in experiments_behind(design, spec))


def experiments_behind(design: Design, spec: dict) -> list[str]:
    """Return the experiments that a table, figure or evaluation rests on."""
    if "evaluation" in spec:
        blocks = [design.config["evaluations"][name] for name in evaluations_of(spec)]
        return list(dict.fromkeys(name for block in blocks for name in block["experiments"]))
    return spec["experiments"] if "experiments" in spec else experiments_of(spec)


def target_of(design: Design, spec: dict) -> str | None:
    """Return the target of its own that a table, figure or evaluation belongs to, if any."""
    targets = [design.config["experiments"][name].get("target") for name in experiments_behind(design, spec)]
    return next((target for target in targets if target), None)


def dataset_of(design: Design, batch: str) -> str:
    """Return the data set that all problems of a batch are on."""
    return design.problems[design.batches[batch]["problems"][0]]["dataset"]


def datasets_of(design: Design, spec: dict) -> set[str]:
    """Return the data sets that a table or figure shows."""
    if "evaluation" in spec:
        return {
            design.problems[name]["dataset"] for e in experiments_behind(design, spec) for name in design.members[e]
        }
    return {design.problems[name]["dataset"] for name in shown_problems(design, spec)}


def batches_of(design: Design, experiments: list[str], problems: set[str] | None = None) -> list[str]:
    """Return the batches of some experiments, those with one of the given problems if any are given."""
    return [
        name
        for experiment in experiments
        for name, batch in design.batches.items()
        if batch["experiment"] == experiment and (problems is None or problems & set(batch["problems"]))
    ]


def _required(factors: dict) -> set[str]:
    graph = set(_parameters(factors["family"])) | {"n", "sample", "components", "content", "rank", *CHANGES}
    return graph.union(THETA_FACTORS, RUN_FACTORS, THEORY_FACTORS, *FACTORS.values())


@cache  # thousands of problems share a few families
def _parameters(family: str) -> list[str]:
    """Return the factors that a graph family takes: its keyword-only arguments."""
    signature = inspect.signature((FAMILIES | from_data.FAMILIES)[family])
    return [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]


def _chain(config: dict, factors: dict) -> dict[str, dict]:
    """Return the graphs behind a problem by role: the one of its data set, the clean and the observed one.

    The clean graph is a sample of the first, if a sample is asked for; the observed one is the clean one after a
    change, if any is asked for. Roles may share a graph.
    """
    family, dataset = factors["family"], factors["dataset"]
    parameters = {name: factors[name] for name in _parameters(family)}
    shape = {name: factors[name] for name in ("n", "instances", "reward", "content", "rank")} | parameters
    usual = defaults(config, dataset)
    changed = {name: value for name, value in shape.items() if value != usual.get(name)}
    whole = {
        "name": _name(dataset, changed),
        "dataset": dataset if is_observed(config["datasets"][dataset]) else None,
        "family": family,
        "n": factors["n"],
        "parameters": parameters,
        "reward": factors["reward"],
        "content": factors["content"],
        "rank": factors["rank"],
        "instances": factors["instances"],
        "change": None,
        "least": 0,  # nodes that must be left: as many as the largest basis and candidate set need
        "parent": None,
    }
    sampled = 0 < factors["sample"] < from_data.most(factors["n"])
    clean = _changed(whole, {"sample": factors["sample"]}) if sampled else whole
    changes = {name: factors[name] for name in CHANGES if factors[name]}
    if len(changes) > 1:
        raise UserError(f"{dataset}: only one of {', '.join(changes)} can change a graph")
    if "perturb" in changes:
        changes["k"] = factors["k"]  # its size is relative to the gap of this subspace
    return {"whole": whole, "clean": clean, "graph": _changed(clean, changes) if changes else clean}


def _changed(parent: dict, change: dict) -> dict:
    return parent | {"name": _name(parent["name"], change), "change": change, "parent": parent["name"]}


def _name(base: str, changes: dict) -> str:
    """Join a base and its variations; the result is only ever used as a key."""
    changes = sorted(changes.items())
    spelt = str.maketrans({".": "_", "-": "m", "+": None, "[": None, "]": None, ",": "_", " ": None})
    return "-".join([base, *(f"{factor}_{value}".translate(spelt) for factor, value in changes)])


def _title(config: dict, base: str, varied: dict) -> str:
    """Say what a problem is to a reader: its data set, and what varies."""
    label = config["datasets"][config["problems"][base]["dataset"]].get("label", base)
    return ", ".join([label, *(f"{factor} {value}" for factor, value in varied.items())])


def _enlarge(basis: dict, problem: dict) -> None:
    for factor in ("components", "draws"):
        basis[factor] = max(basis[factor], problem[factor])


def _split(experiment: str, members: list[dict], several: bool, size: int):
    """Yield batches of problems on one data set each, so that a change of one data set reruns no other."""
    for dataset in dict.fromkeys(member["dataset"] for member in members):
        alike = [member for member in members if member["dataset"] == dataset]
        stem = f"{experiment}-{dataset}" if several else experiment
        parts = [alike[start : start + size] for start in range(0, len(alike), size)]
        for number, part in enumerate(parts):
            yield stem if len(parts) == 1 else f"{stem}-{number}", part
