"""The blocks of config.yaml that stand for a user's data set, and the whole configuration that weighs its methods."""

import hashlib
import re

from graphdr.advise.reading import Given
from graphdr.advise.survey import Survey
from graphdr.core.errors import UserError
from graphdr.graphs.bases import FROM_DATA

GRID = (2, 5, 10, 20, 40)  # dimensions that are tried
NODES = 1500  # the most popular ones, as in the paper
SEEDS, DRAWS = 5, 9  # streams of candidates and noise; permutations besides the first
CHOOSING = 2  # of the seeds, on which k is chosen: the others judge

METHODS = {
    "random": {"label": "Random", "policy": "random"},
    "linucb_full": {"label": "LinUCB-full", "basis": "identity"},
    "pca_content": {"label": "content-PCA", "basis": "content_pca"},
    "pca_graph": {"label": "graph-PCA", "basis": "graph_pca"},
    "graphdr": {"label": "GraphDR", "basis": "laplacian_low"},
    "graphdr_shuffled": {"label": "GraphDR-shuffled (control)", "basis": "shuffled", "control": True},
    "pca_graph_shuffled": {"label": "graph-PCA-shuffled (control)", "basis": "graph_pca_shuffled", "control": True},
    "pca_content_shuffled": {
        "label": "content-PCA-shuffled (control)",
        "basis": "content_pca_shuffled",
        "control": True,
    },
}
OF_CONTENT = ("energy_content", "gamma", "gamma_low", "gamma_high")
FACTS = (
    "nodes", "edges", "degree", "zeta", "energy", "energy_graph", "eigengap", "k_hat_naive", "pilot_error",
    "gamma_graph", "gamma_graph_low", "gamma_graph_high", "gamma_full", "gamma_full_low", "gamma_full_high",
)  # fmt: skip
COLUMNS = {"regret": "regret", "redrawn": "regret_redrawn"}


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


def file_names(name: str, given: Given) -> dict[str, str]:
    """Return the name of each raw file by role."""
    return {role: f"{name}.{role}" for role in given.files}


def blocks(name: str, label: str, given: Given, survey: Survey) -> dict[str, dict]:
    """Return the blocks to paste into config.yaml: data set, problem, experiment and table."""
    archives = [
        {
            "archive": archive,
            "sha256": hashlib.sha256(given.files[role]).hexdigest(),
            "members": {role: {"lines": given.files[role].count(b"\n")}},
        }
        for role, archive in file_names(name, given).items()
    ]
    raw = {"licence": "your own", "citation": f"{label}, your own data."}
    raw["sources"] = [{"format": given.format, "archives": archives}]
    raw |= {"options": given.options} if given.options else {}
    dataset = {"label": label, "family": survey.family, "content": given.content}
    dataset |= {"transform": given.transform} if given.transform != "identity" else {}
    methods = [
        method for method, spec in METHODS.items() if spec.get("basis") not in FROM_DATA or given.content != "none"
    ]
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
    largest = max(survey.grid)
    components = min(max(largest, 10) + 2, survey.kept)
    own = {"dataset": name, "n": survey.asked, "components": components, "k": middle(survey.grid)}
    return own | {factor: components - 2 for factor, usual in (("k_star", 5), ("k_max", 10)) if usual > components - 2}


def middle(grid: tuple[int, ...]) -> int:
    """Return the k of the grid that is nearest to the paper's 10."""
    return min(grid, key=lambda k: abs(k - 10))


def configuration(config: dict, name: str, pasted: dict[str, dict], survey: Survey) -> dict:
    """Return the configuration of an advice: the project's protocol, the data set, and every method at every k."""
    methods = pasted["experiments"][name]["methods"]
    facts = [*FACTS, *(OF_CONTENT if "pca_content" in methods else ())]
    problems = {"of": [name], "set": {"seeds": SEEDS, "draws": DRAWS}, "vary": {"k": list(survey.grid)}}
    empty = {block: {} for block in ("evaluations", "tables", "figures", "claims")}
    return {
        **{key: config[key] for key in ("seed", "protocol", "observed", "quantities")},
        "batch": len(survey.grid),  # one job a method, whatever the number of dimensions
        "datasets": pasted["datasets"],
        "problems": pasted["problems"],
        "methods": METHODS,
        "experiments": {name: {"problems": problems, "methods": methods, "facts": facts}},
        **empty,
    }
