"""The blocks of config.yaml that stand for a user's data set, and the whole configuration that weighs its methods."""

import hashlib
import re

from graphdr.advise.paper.decision import CONTENT, CONTROLS, COPIES, FULL, GRAPH, LONGEST, RANDOM
from graphdr.advise.paper.recbole import Dataset
from graphdr.advise.paper.survey import Survey
from graphdr.core.errors import UserError

GRID = (2, 5, 10, 20, 40)  # dimensions that are tried
NODES = 1500  # the most popular ones, as in the paper
SEEDS, DRAWS = 5, 9  # streams of candidates and noise; permutations besides the first
CHOOSING = 2  # of the seeds, on which k is chosen: the others judge

METHODS = (RANDOM, FULL, CONTENT, *reversed(GRAPH), *COPIES, *LONGEST.values())
OF_CONTENT = ("energy_content", "gamma", "gamma_low", "gamma_high")
FACTS = (
    "nodes", "edges", "degree", "zeta", "energy", "energy_graph", "eigengap", "k_hat_naive", "pilot_error",
    "gamma_graph", "gamma_graph_low", "gamma_graph_high", "gamma_full", "gamma_full_low", "gamma_full_high",
)  # fmt: skip
COLUMNS = {"regret": "regret", "redrawn": "regret_redrawn"}


def methods(config: dict) -> dict[str, dict]:
    """Return the methods that are weighed as the configuration has them; all learn by LinUCB, so no label says it."""
    if missing := [method for method in METHODS if method not in config["methods"]]:
        raise UserError(f"config.yaml: methods: no {missing[0]!r}, with which advise compares; put it back")
    specs = {method: config["methods"][method] for method in METHODS}
    return {method: spec | {"label": spec["label"].removesuffix("+LinUCB")} for method, spec in specs.items()}


def slug(text: str) -> str:
    """Return a name for a data set that config.yaml takes: lower case letters, digits and underscores."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return name if name[:1].isalpha() else f"data_{name}".rstrip("_")


def check_name(name: str, taken: set[str]) -> None:
    """Refuse a name that config.yaml does not take, or that a target or rule of the workflow has."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UserError(f"--name: {name!r} is not a name of lower case letters, digits and _, a letter first")
    if name in taken:
        raise UserError(f"--name: {name!r} is a target or a rule of the workflow; choose another")


def blocks(name: str, label: str, data: Dataset, survey: Survey) -> dict[str, dict]:
    """Return the blocks to paste into config.yaml: data set, problem, experiment and table."""
    archives = []
    for role, content in data.files.items():
        member = {"archive": f"{name}.{role}", "sha256": hashlib.sha256(content).hexdigest()}
        archives.append(member | {"members": {role: {"lines": content.count(b"\n")}}})
    raw = {"licence": "your own", "citation": f"{label}, your own data."}
    raw["sources"] = [{"format": data.format, "archives": archives}]
    raw |= {"options": data.options} if data.options else {}
    dataset = {"label": label, "family": survey.family, "content": data.content}
    dataset |= {"transform": data.transform} if data.transform != "identity" else {}
    methods = [method for method in METHODS if data.content != "none" or method not in (CONTENT, CONTROLS[CONTENT])]
    experiment = {"problems": {"of": [name]}, "methods": methods, "facts": ["nodes", "edges", "zeta", "eigengap"]}
    columns = [{column: cell} for column, cell in COLUMNS.items()]
    return {
        "datasets": {name: dataset | {"raw": raw}},
        "problems": {name: problem(name, survey)},
        "experiments": {name: experiment},
        "tables": {name: {"caption": label, "experiment": name, "rows": "method", "columns": columns}},
    }


def problem(name: str, survey: Survey) -> dict:
    """Return the problem on a data set: its size, and as many components as the grid or the usual choices need."""
    components = min(max(*survey.grid, 10) + 2, survey.kept)
    nearest = min(survey.grid, key=lambda k: abs(k - 10))  # to the k of the paper
    size = {"dataset": name, "n": survey.asked, "components": components, "k": nearest}
    return size | {factor: components - 2 for factor, usual in (("k_star", 5), ("k_max", 10)) if usual > components - 2}


def configuration(config: dict, name: str, pasted: dict[str, dict], survey: Survey) -> dict:
    """Return the configuration of an advice: the project's protocol, the data set, and every method at every k."""
    played = pasted["experiments"][name]["methods"]
    facts = [*FACTS, *(OF_CONTENT if CONTENT in played else ())]
    problems = {"of": [name], "set": {"seeds": SEEDS, "draws": DRAWS}, "vary": {"k": list(survey.grid)}}
    return {
        **{key: config[key] for key in ("seed", "protocol", "observed", "quantities")},
        "batch": len(survey.grid),  # one job per method, whatever the number of dimensions
        "datasets": pasted["datasets"],
        "problems": pasted["problems"],
        "methods": methods(config),
        "experiments": {name: {"problems": problems, "methods": played, "facts": facts}},
        **{block: {} for block in ("evaluations", "tables", "figures", "claims", "pseudo_papers")},
    }
