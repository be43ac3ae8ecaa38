"""Expand the configuration into flat tables: graphs, bases, problems, batches and who needs what.

A problem is one flat dictionary of factors. Every stage gets just the factors that it uses, so that a
change of any other one does not rerun it.
"""

import inspect
import itertools
from typing import NamedTuple

from graphdr.config import check, check_problem
from graphdr.diagnostics import FACTORS
from graphdr.errors import UserError
from graphdr.features import IDENTITY
from graphdr.graphs import FAMILIES

THETA_FACTORS = ("instances", "k_star", "tail")
RUN_FACTORS = (
    "instances", "draws", "horizon", "seeds", "checkpoint", "candidates", "arms", "noise", "ridge", "alpha", "k",
)  # fmt: skip


class Design(NamedTuple):
    """Flat tables, each keyed by name."""

    config: dict
    graphs: dict[str, dict]
    bases: dict[tuple[str, str], dict]
    problems: dict[str, dict]
    batches: dict[str, dict]


def expand(config: dict) -> Design:
    """Check a configuration and turn its blocks into flat tables."""
    check(config)
    graphs: dict[str, dict] = {}
    bases: dict[tuple[str, str], dict] = {}
    problems: dict[str, dict] = {}
    batches: dict[str, dict] = {}
    for experiment, spec in config["experiments"].items():
        members = _members(config, experiment, spec["problems"])
        for problem in members:
            for graph in _graphs_of(config, problem):
                known = graphs.setdefault(graph["name"], graph)
                known["least"] = max(known["least"], problem["components"], problem["arms"])
            problems.setdefault(problem["name"], problem)
            wanted = [(problem["clean"], "laplacian_low"), (problem["graph"], "laplacian_low")]
            wanted += [(problem["graph"], config["methods"][m].get("basis", IDENTITY)) for m in spec["methods"]]
            for key in wanted:
                if key[1] != IDENTITY:
                    _enlarge(bases.setdefault(key, {"components": 0, "draws": 0}), problem)
        for name, part in _split(experiment, members, config["batch"]):
            batches[name] = {"experiment": experiment, "problems": [p["name"] for p in part]}
        _check_rows(config, experiment, members)
    return Design(config, graphs, bases, problems, batches)


def _members(config: dict, experiment: str, spec: dict) -> list[dict]:
    """Expand the problems of one experiment: every base with every combination of the varied factors."""
    members = []
    for base in spec["of"]:
        block = config["problems"][base]
        fixed, vary = spec.get("set", {}), dict(sorted(spec.get("vary", {}).items()))
        for values in itertools.product(*vary.values()):
            varied = dict(zip(vary, values, strict=True))
            own = block | fixed | varied
            factors = config["protocol"] | config["datasets"][own["dataset"]] | own
            if missing := sorted(set(_required(factors)) - set(factors)):
                raise UserError(f"problems.{base}: factor {missing[0]!r} has no value")
            name = _name(base, fixed | varied)
            check_problem(f"experiments.{experiment}: problem {name}", factors)
            clean, observed = (graph["name"] for graph in _graphs_of(config, factors))
            members.append(factors | {"name": name, "clean": clean, "graph": observed})
    return members


def _check_rows(config: dict, experiment: str, members: list[dict]) -> None:
    """Check that the rows of every table, and the positions of every sweep, tell the problems apart."""
    shown = [(f"tables.{n}.rows", t["rows"]) for n, t in config["tables"].items() if t.get("experiment") == experiment]
    shown += [
        (f"figures.{n}.x", f["x"])
        for n, f in config["figures"].items()
        if f["experiment"] == experiment and f["kind"] == "sweep"
    ]
    for where, factor in shown:
        values = [member["name"] if factor == "method" else member.get(factor) for member in members]
        if len(set(values)) < len(values) or (factor == "method" and len(members) > 1):
            raise UserError(f"{where}: {factor!r} does not tell the {len(members)} problems of {experiment} apart")


def _required(factors: dict) -> set[str]:
    graph = set(_parameters(factors["family"])) | {"n", "flip", "components"}
    return graph.union(THETA_FACTORS, RUN_FACTORS, *FACTORS.values())


def _parameters(family: str) -> list[str]:
    """Return the factors that a graph family takes: its keyword-only arguments."""
    signature = inspect.signature(FAMILIES[family])
    return [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]


def _graphs_of(config: dict, factors: dict) -> tuple[dict, dict]:
    """Return the clean and the observed graph of a problem (the same one without flips)."""
    family = factors["family"]
    parameters = {name: factors[name] for name in _parameters(family)}
    defaults = config["protocol"] | config["datasets"][factors["dataset"]]
    shape = {"n": factors["n"], "instances": factors["instances"]} | parameters
    changed = {name: value for name, value in shape.items() if value != defaults.get(name)}
    clean = {
        "name": _name(factors["dataset"], changed),
        "family": family,
        "n": factors["n"],
        "parameters": parameters,
        "instances": factors["instances"],
        "flip": 0,
        "least": 0,  # nodes that must be left: as many as the largest basis and candidate set need
        "parent": None,
    }
    if factors["flip"] == 0:
        return clean, clean
    observed = {
        "name": _name(clean["name"], {"flip": factors["flip"]}),
        "flip": factors["flip"],
        "parent": clean["name"],
    }
    return clean, clean | observed


def _name(base: str, changes: dict) -> str:
    """Join a base and its variations; the result is only ever used as a key."""
    changes = sorted(changes.items())
    spelt = str.maketrans({".": "_", "-": "m", "+": None})
    return "-".join([base, *(f"{factor}_{value}".translate(spelt) for factor, value in changes)])


def _enlarge(basis: dict, problem: dict) -> None:
    for factor in ("components", "draws"):
        basis[factor] = max(basis[factor], problem[factor])


def _split(experiment: str, members: list[dict], size: int):
    parts = [members[start : start + size] for start in range(0, len(members), size)]
    for number, part in enumerate(parts):
        yield experiment if len(parts) == 1 else f"{experiment}-{number}", part
