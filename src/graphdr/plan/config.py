"""Read and check the configuration: types by schema, then every cross-reference, before any rule exists."""

import json
import re
from functools import cache
from importlib.resources import files

import jsonschema
import yaml

from graphdr.bandit.environment import CANDIDATES
from graphdr.bandit.radii import CONSTANT, RADII, THEORY_FACTS
from graphdr.core.errors import UserError, no_such
from graphdr.facts.registry import FACT_BASES, FACTS
from graphdr.graphs import from_data
from graphdr.graphs.arm_features import ADAPTIVE, IDENTITY, NESTED, k_fact
from graphdr.graphs.bases import BASES, FROM_DATA
from graphdr.graphs.random_graphs import FAMILIES
from graphdr.paper.predicates import check_arguments
from graphdr.raw.formats import formats
from graphdr.scores import cells
from graphdr.scores.measure import MEASURES
from graphdr.scores.predictor_scores import SCORES
from graphdr.show.kinds import KINDS

NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?")
LARGEST_WHOLE = 2**53  # beyond, not every whole number is a float
TARGETS = {"all", "synthetic", "fetch", "paper"}  # of the Snakefile
TEXTS = (
    "label", "note", "tex", "caption", "title", "sha256", "citation", "licence", "terms", "release",
    "where", "statement", "criterion",
)  # fmt: skip


def check(config: dict) -> None:
    """Raise a UserError that names the place and the valid choices for the first mistake found."""
    _check_types(config)
    for block, check_entry in REFERENCES.items():
        for name, entry in config[block].items():
            check_entry(config, f"{block}.{name}", entry)


def typed(value, name: str = ""):
    """Turn text that spells a number into that number, since values of ``--config`` and 1e5 of YAML arrive as text.

    A whole number is an integer, however it is spelled.
    """
    if isinstance(value, dict):
        return {key: typed(part, key) for key, part in value.items()}
    if isinstance(value, list):
        return [typed(part) for part in value]
    if isinstance(value, str) and name not in TEXTS and NUMBER.fullmatch(value):
        value = int(value) if value.lstrip("+-").isdigit() else float(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_WHOLE:
        return int(value)
    return value


@cache
def schema() -> dict:
    """Return the JSON schema of config.yaml."""
    return yaml.safe_load((files("graphdr.plan") / "config.schema.yaml").read_text())


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


def pick(where: str, kind: str, names, choices) -> None:
    """Raise a UserError with the valid choices for the first name that is not among them."""
    for name in [names] if isinstance(names, str) else names:
        if name not in choices:
            raise no_such(where, kind, name, choices)


def _dataset(config, where, entry):
    families = from_data.FAMILIES if "raw" in entry else FAMILIES
    pick(f"{where}.family", f"family of {'observed' if 'raw' in entry else 'random'} graphs", entry["family"], families)
    if "raw" in entry and where.removeprefix("datasets.") in TARGETS:
        raise UserError(f"{where}: a data set with raw files is a target of its own; {sorted(TARGETS)} are taken")
    for at, source in enumerate(entry.get("raw", {}).get("sources", [])):
        pick(f"{where}.raw.sources.{at}.format", "format", source["format"], formats())


def _problem(config, where, entry):
    pick(f"{where}.dataset", "dataset", entry["dataset"], config["datasets"])


def _method(config, where, entry):
    if entry.get("policy") == "random":
        if extra := set(entry) - {"label", "note", "control", "policy"}:
            raise UserError(f"{where}.{min(extra)}: the random policy takes no basis, k, penalty or radius")
        return
    pick(f"{where}.basis", "basis", entry.get("basis", ""), [*BASES, IDENTITY])
    if entry["basis"] == IDENTITY and "k" in entry:
        raise UserError(f"{where}.k: the basis {IDENTITY!r} has no dimension to choose")
    if entry.get("k") == ADAPTIVE:
        pick(f"{where}.basis", "basis whose columns are the same for every k", entry["basis"], NESTED)
        if entry.get("laplacian"):
            raise UserError(f"{where}.laplacian: a method with an adaptive k takes no penalty")
    rule = entry.get("radius", CONSTANT)
    pick(f"{where}.radius", "radius", rule, RADII)
    if rule != CONSTANT and (entry["basis"] != "laplacian_low" or entry.get("laplacian") or "k" in entry):
        raise UserError(f"{where}.radius: {rule!r} needs the basis 'laplacian_low' without penalty or own k")


def _experiment(config, where, entry):
    problems = entry["problems"]
    pick(f"{where}.problems.of", "problem", problems["of"], config["problems"])
    pick(f"{where}.methods", "method", entry["methods"], config["methods"])
    pick(f"{where}.facts", "fact", entry.get("facts", []), FACTS)
    pick(f"{where}.against", "method of this experiment", against(entry), entry["methods"])
    factor_schema = schema()["$defs"]["factors"]["properties"]
    for block in ("vary", "cycle"):
        pick(f"{where}.problems.{block}", "factor", problems.get(block, {}), factor_schema)
    datasets = [config["datasets"][config["problems"][problem]["dataset"]] for problem in problems["of"]]
    for name in [*entry["methods"], *entry.get("facts", [])]:
        basis = config["methods"].get(name, {}).get("basis") or FACT_BASES.get(name)
        if basis in FROM_DATA and not all("raw" in dataset for dataset in datasets):
            raise UserError(f"{where}: {name!r} needs {basis!r}, which a random graph does not have")
    if entry.get("target") in TARGETS | set(config["datasets"]):
        raise UserError(f"{where}.target: {entry['target']!r} is a target already")
    for method in entry["methods"]:
        chosen = k_fact(config["methods"][method].get("k"))
        if chosen and chosen not in entry.get("facts", []):
            raise UserError(f"{where}.facts: method {method!r} takes its k from {chosen!r}; add it to the facts")
        lacking = sorted(set(THEORY_FACTS) - set(entry.get("facts", [])))
        if lacking and config["methods"][method].get("radius", CONSTANT) != CONSTANT:
            raise UserError(f"{where}.facts: the radius of {method!r} needs {lacking[0]!r}; add it to the facts")


def _evaluation(config, where, entry):
    pick(f"{where}.experiments", "experiment", entry["experiments"], config["experiments"])
    pick(f"{where}.scores", "score", entry["scores"], SCORES)
    pick(f"{where}.target", "measure", entry["target"], MEASURES)
    for experiment in entry["experiments"]:
        spec = config["experiments"][experiment]
        pick(f"{where}.method", f"method of {experiment}", entry["method"], spec["methods"])
        known = [*spec.get("facts", []), *MEASURES]
        pick(f"{where}.predictors", f"fact or measure of {experiment}", entry.get("predictors", []), known)
        pick(f"{where}.means", f"fact of {experiment}", entry.get("means", []), spec.get("facts", []))
        for name, columns in entry.get("joint", {}).items():
            pick(f"{where}.joint.{name}", f"fact or measure of {experiment}", columns, known)


def _table(config, where, entry):
    factors = [*schema()["$defs"]["factors"]["properties"], "method", "label", "title"]
    pick(f"{where}.rows", "factor", entry["rows"], factors)
    if "evaluation" in entry:
        pick(f"{where}.evaluation", "evaluation", entry["evaluation"], config["evaluations"])
        sources = [config["evaluations"][name] for name in evaluations_of(entry)]
        quantities = ["mean", *(score for source in sources for score in source["scores"])]
        keys = [key for source in sources for key in _predicting(config, source)]
    else:
        pick(f"{where}.experiment", "experiment", entry["experiment"], config["experiments"])
        sources = [config["experiments"][name] for name in experiments_of(entry)]
        quantities = [*MEASURES, *(fact for source in sources for fact in source.get("facts", []))]
        keys = [method for source in sources for method in source["methods"]]
        pick(f"{where}.methods", "method there", entry.get("methods", []), keys)
    for column, text in cells.named(entry["columns"]):
        place = f"{where}.columns.{column}"
        cell = cells.parse(place, text)
        pick(place, "quantity measured there", cell.quantity, quantities)
        pick(place, "quantity", cell.quantity, config["quantities"])
        if cell.key is not None:
            pick(place, "method or predictor there", cell.key, keys)


def _predicting(config, source):
    """Return the names of the predictors of an evaluation, and of their means on the data sets."""
    means = [f"{fact}_{dataset}" for fact in source.get("means", []) for dataset in config["datasets"]]
    return [*source.get("predictors", []), *source.get("joint", {}), *means]


def _figure(config, where, entry):
    pick(f"{where}.kind", "kind of figure", entry["kind"], KINDS)
    pick(f"{where}.experiment", "experiment", entry["experiment"], config["experiments"])
    experiments = [config["experiments"][name] for name in experiments_of(entry)]
    if len(experiments) > 1 and entry["kind"] != "dots":
        raise UserError(f"{where}.experiment: a figure of kind {entry['kind']!r} shows one experiment")
    methods = [method for experiment in experiments for method in experiment["methods"]]
    pick(f"{where}.methods", "method of this experiment", entry.get("methods", []), methods)
    varied = experiments[0]["problems"].get("vary", {})
    if entry["kind"] == "sweep":
        pick(f"{where}.x", "varied factor", entry.get("x", ""), varied)


def _claim(config, where, entry):
    source = "evaluation" if "evaluation" in entry else "experiment"
    pick(f"{where}.{source}", source, entry[source], config[f"{source}s"])
    for name in ("dataset", "except"):
        pick(f"{where}.{name}", "dataset", entry.get(name, []), config["datasets"])
    if "except" in entry and "each" not in entry:
        raise UserError(f"{where}.except: only a claim on each data set by itself has exceptions")
    for predicate, arguments in cells.named(entry["checks"]):
        check_arguments(f"{where}.checks", predicate, arguments)


REFERENCES = {
    "datasets": _dataset,
    "problems": _problem,
    "methods": _method,
    "experiments": _experiment,
    "evaluations": _evaluation,
    "tables": _table,
    "figures": _figure,
    "claims": _claim,
}


def experiments_of(spec: dict) -> list[str]:
    """Return the experiments that a table, figure or claim draws on: one, or several."""
    named = spec["experiment"]
    return [named] if isinstance(named, str) else named


def evaluations_of(spec: dict) -> list[str]:
    """Return the evaluations that a table shows: one, or several with a row for each."""
    named = spec["evaluation"]
    return [named] if isinstance(named, str) else named


def against(experiment: dict) -> str:
    """Return the method that the paired differences of an experiment are taken against."""
    return experiment.get("against", "graphdr" if "graphdr" in experiment["methods"] else experiment["methods"][0])


@cache
def _mistake(factor: str, value: str) -> str | None:
    """Return what is wrong with the value of a factor, as JSON; hundreds of problems share a few values."""
    validator = jsonschema.Draft202012Validator({"$ref": f"#/$defs/factor/{factor}", "$defs": schema()["$defs"]})
    error = jsonschema.exceptions.best_match(validator.iter_errors(json.loads(value)))
    return error and error.message


def check_problem(where: str, problem: dict) -> None:
    """Check the factors of one expanded problem against each other."""
    for factor, value in problem.items():
        if message := _mistake(factor, json.dumps(value)):
            raise UserError(f"{where}: {factor}: {message}")
    pick(where, "candidate construction", problem["candidates"], CANDIDATES)
    if problem["family"] in FAMILIES and problem["reward"] != "planted":
        raise UserError(f"{where}: reward = {problem['reward']!r} comes from data, and a random graph has none")
    if problem["k_min"] > problem["k_max"]:
        raise UserError(f"{where}: k_min = {problem['k_min']} is above k_max = {problem['k_max']}")
    if problem["family"] in FAMILIES and problem["n"] == from_data.ALL:
        raise UserError(f"{where}: n = {from_data.ALL!r} takes all nodes of a data set, and a random graph has no data")
    n = from_data.most(problem["n"])
    for factor in ("k", "k_star", "k_max"):
        _check_fits(where, factor, problem[factor], problem)
    if problem["arms"] > n:
        raise UserError(f"{where}: arms = {problem['arms']} candidates a round are more than n = {n} nodes")
    if problem["components"] > n:
        raise UserError(f"{where}: components = {problem['components']} are more than n = {n} nodes")
    if problem["horizon"] % problem["checkpoint"]:
        raise UserError(
            f"{where}: horizon = {problem['horizon']} is not a multiple of checkpoint = {problem['checkpoint']}"
        )


def check_method(where: str, method: dict, problem: dict) -> None:
    """Check that a method with dimensions of its own fits an expanded problem."""
    own = method.get("k")
    if own == ADAPTIVE:
        if "k_grid" not in problem:
            raise UserError(f"{where}: factor 'k_grid' has no value, and an adaptive k is one of it")
        _check_fits(where, "k_grid", max(problem["k_grid"]), problem)
    elif isinstance(own, int):
        _check_fits(where, "k", own, problem)


def _check_fits(where: str, factor: str, k: int, problem: dict) -> None:
    """Check that u_2..u_{k+1} and the gap behind them are there."""
    if k + 2 > from_data.most(problem["n"]):
        raise UserError(f"{where}: {factor} = {k} needs a graph of {k + 2} nodes, n = {problem['n']}")
    if k + 2 > problem["components"]:
        raise UserError(f"{where}: {factor} = {k} needs components >= {k + 2}, components = {problem['components']}")
