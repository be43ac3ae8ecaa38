"""Read and check the configuration: types by schema, then every cross-reference, before any rule exists."""

import re
from functools import cache
from importlib.resources import files

import jsonschema
import yaml

from graphdr import cells
from graphdr.bases import BASES
from graphdr.diagnostics import FACTS
from graphdr.errors import UserError, no_such
from graphdr.features import IDENTITY
from graphdr.figures import KINDS
from graphdr.graphs import FAMILIES
from graphdr.measure import MEASURES
from graphdr.predictors import SCORES
from graphdr.streams import CANDIDATES

NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?")
TEXTS = ("label", "note", "tex", "caption", "title")


def check(config: dict) -> None:
    """Raise a UserError that names the place and the valid choices for the first mistake found."""
    _check_types(config)
    for block, check_entry in REFERENCES.items():
        for name, entry in config[block].items():
            check_entry(config, f"{block}.{name}", entry)


def typed(value, name: str = ""):
    """Turn text that spells a number into that number, since values of ``--config`` arrive as text."""
    if isinstance(value, dict):
        return {key: typed(part, key) for key, part in value.items()}
    if isinstance(value, list):
        return [typed(part) for part in value]
    if isinstance(value, str) and name not in TEXTS and NUMBER.fullmatch(value):
        return int(value) if value.lstrip("+-").isdigit() else float(value)
    return value


@cache
def schema() -> dict:
    """Return the JSON schema of config.yaml."""
    return yaml.safe_load((files("graphdr") / "config.schema.yaml").read_text())


def _check_types(config: dict) -> None:
    validator = jsonschema.Draft202012Validator(schema())
    error = jsonschema.exceptions.best_match(validator.iter_errors(config))
    if error is None:
        return
    place = ".".join(map(str, error.absolute_path)) or "top level"
    if error.validator == "additionalProperties" and "properties" in error.schema:
        known = error.schema["properties"]
        unknown = sorted(set(error.instance) - set(known))
        raise no_such(place, "key", unknown[0], known)
    raise UserError(f"{place}: {error.message}")


def _pick(where: str, kind: str, names, choices) -> None:
    for name in [names] if isinstance(names, str) else names:
        if name not in choices:
            raise no_such(where, kind, name, choices)


def _dataset(config, where, entry):
    _pick(f"{where}.family", "family", entry["family"], FAMILIES)


def _problem(config, where, entry):
    _pick(f"{where}.dataset", "dataset", entry["dataset"], config["datasets"])


def _method(config, where, entry):
    if entry.get("policy") == "random":
        if extra := set(entry) - {"label", "note", "policy"}:
            raise UserError(f"{where}.{min(extra)}: the random policy takes no basis, k or penalty")
        return
    _pick(f"{where}.basis", "basis", entry.get("basis", ""), [*BASES, IDENTITY])
    if entry["basis"] == IDENTITY and "k" in entry:
        raise UserError(f"{where}.k: the basis {IDENTITY!r} has no dimension to choose")


def _experiment(config, where, entry):
    problems = entry["problems"]
    _pick(f"{where}.problems.of", "problem", problems["of"], config["problems"])
    _pick(f"{where}.methods", "method", entry["methods"], config["methods"])
    _pick(f"{where}.facts", "fact", entry.get("facts", []), FACTS)
    _pick(f"{where}.against", "method of this experiment", against(entry), entry["methods"])
    factor_schema = schema()["$defs"]["factors"]["properties"]
    _pick(f"{where}.problems.vary", "factor", problems.get("vary", {}), factor_schema)
    for method in entry["methods"]:
        chosen = config["methods"][method].get("k")
        if chosen and chosen not in entry.get("facts", []):
            raise UserError(f"{where}.facts: method {method!r} takes its k from {chosen!r}; add it to the facts")


def _evaluation(config, where, entry):
    _pick(f"{where}.experiments", "experiment", entry["experiments"], config["experiments"])
    _pick(f"{where}.scores", "score", entry["scores"], SCORES)
    _pick(f"{where}.target", "measure", entry["target"], MEASURES)
    for experiment in entry["experiments"]:
        spec = config["experiments"][experiment]
        _pick(f"{where}.method", f"method of {experiment}", entry["method"], spec["methods"])
        _pick(f"{where}.predictors", f"fact of {experiment}", entry["predictors"], spec.get("facts", []))


def _table(config, where, entry):
    factors = [*schema()["$defs"]["factors"]["properties"], "method", "label"]
    _pick(f"{where}.rows", "factor", entry["rows"], factors)
    if "evaluation" in entry:
        _pick(f"{where}.evaluation", "evaluation", entry["evaluation"], config["evaluations"])
        source = config["evaluations"][entry["evaluation"]]
        quantities, keys = source["scores"], source["predictors"]
    else:
        _pick(f"{where}.experiment", "experiment", entry["experiment"], config["experiments"])
        source = config["experiments"][entry["experiment"]]
        quantities, keys = [*MEASURES, *source.get("facts", [])], source["methods"]
    for column, text in cells.named(entry["columns"]):
        place = f"{where}.columns.{column}"
        cell = cells.parse(place, text)
        _pick(place, "quantity measured there", cell.quantity, quantities)
        _pick(place, "quantity", cell.quantity, config["quantities"])
        if cell.key is not None:
            _pick(place, "method or predictor there", cell.key, keys)


def _figure(config, where, entry):
    _pick(f"{where}.kind", "kind of figure", entry["kind"], KINDS)
    _pick(f"{where}.experiment", "experiment", entry["experiment"], config["experiments"])
    methods = config["experiments"][entry["experiment"]]["methods"]
    _pick(f"{where}.methods", "method of this experiment", entry.get("methods", []), methods)
    varied = config["experiments"][entry["experiment"]]["problems"].get("vary", {})
    if entry["kind"] == "sweep":
        _pick(f"{where}.x", "varied factor", entry.get("x", ""), varied)


REFERENCES = {
    "datasets": _dataset,
    "problems": _problem,
    "methods": _method,
    "experiments": _experiment,
    "evaluations": _evaluation,
    "tables": _table,
    "figures": _figure,
}


def against(experiment: dict) -> str:
    """Return the method that the paired differences of an experiment are taken against."""
    return experiment.get("against", "graphdr" if "graphdr" in experiment["methods"] else experiment["methods"][0])


def check_problem(where: str, problem: dict) -> None:
    """Check the factors of one expanded problem against each other."""
    validator = jsonschema.Draft202012Validator({"$ref": "#/$defs/factors", "$defs": schema()["$defs"]})
    if error := jsonschema.exceptions.best_match(validator.iter_errors(problem)):
        raise UserError(f"{where}: {'.'.join(map(str, error.absolute_path))}: {error.message}")
    _pick(where, "candidate construction", problem["candidates"], CANDIDATES)
    n = problem["n"]
    for factor in ("k", "k_star", "k_max"):
        if problem[factor] + 2 > n:
            raise UserError(
                f"{where}: {factor} = {problem[factor]} needs a graph of {problem[factor] + 2} nodes, n = {n}"
            )
        if problem[factor] + 2 > problem["components"]:
            raise UserError(
                f"{where}: {factor} = {problem[factor]} needs components >= {problem[factor] + 2}, "
                f"components = {problem['components']}"
            )
    if problem["arms"] > n:
        raise UserError(f"{where}: arms = {problem['arms']} candidates a round are more than n = {n} nodes")
    if problem["components"] > n:
        raise UserError(f"{where}: components = {problem['components']} are more than n = {n} nodes")
    if problem["horizon"] % problem["checkpoint"]:
        raise UserError(
            f"{where}: horizon = {problem['horizon']} is not a multiple of checkpoint = {problem['checkpoint']}"
        )
