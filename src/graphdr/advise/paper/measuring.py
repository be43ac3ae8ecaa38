"""What was built for a data set: regrets by method, k and seed, facts by k, the spectrum, and curves."""

from itertools import product

import numpy as np

from graphdr.advise.paper.decision import COPIES
from graphdr.advise.paper.findings import Mean
from graphdr.cache import io, paths
from graphdr.graphs.arm_features import IDENTITY, select
from graphdr.panels.bases import read_bases
from graphdr.panels.problems import read_facts
from graphdr.panels.runs import read_runs
from graphdr.plan.design import Design

SHOWN = 30  # eigenvalues of the spectrum
POINTS = 60  # of a curve


def dimensions(design: Design, name: str) -> dict[str, int]:
    """Return the k of every problem."""
    return {problem: design.problems[problem]["k"] for problem in design.members[name]}


def regrets(design: Design, name: str) -> dict[str, dict[int, np.ndarray]]:
    """Read the final regret of every run: method and k to an array of draws x seeds; a method without data has none."""
    import pandas as pd

    from graphdr.scores.measure import final_values

    regrets: dict[str, dict[int, np.ndarray]] = {}
    ks = dimensions(design, name)
    runs = {path: read_runs(path) for path in design.plays}
    for method, problem in product(design.config.experiments[name].methods, ks):
        played = design.played[problem, method]
        if columns := runs[played.path].get((played.method, played.problem)):
            finals = final_values(pd.DataFrame(columns).assign(problem=problem))
            by_draw = finals.pivot(index="draw", columns="seed", values="regret")
            regrets.setdefault(method, {})[ks[problem]] = by_draw.to_numpy()
    return regrets


def facts(design: Design, name: str) -> dict[int, dict[str, float]]:
    """Read the facts of every k."""
    ks, by_k = dimensions(design, name), {}
    for (problem, _, quantity), value in read_facts(paths.facts(name)).items():
        by_k.setdefault(ks[problem], {})[quantity] = value
    return by_k


def spectrum(design: Design, name: str) -> list[float]:
    """Read the smallest eigenvalues of the graph's Laplacian."""
    graph = design.problems[design.members[name][0]]["graph"]
    return read_bases(paths.basis(graph, "laplacian_low"))[0, 0].values[:SHOWN].tolist()


def curves(design: Design, name: str, ks: dict[str, int | None]) -> dict[str, list[list[float]]]:
    """Read the mean regret of some methods against the round, each at its k, thinned to a few points."""
    from graphdr.show.report.rounding import thinned

    table = io.read("curves", paths.curves(name)).to_pandas()
    problems = {k: problem for problem, k in dimensions(design, name).items()}
    points = {}
    for method, k in ks.items():
        problem = problems.get(k, next(iter(problems.values())))
        curve = table[(table["method"] == method) & (table["problem"] == problem)][["t", "mean"]].to_numpy()
        points[method] = curve[thinned(len(curve), POINTS)].tolist()
    return points


def summary(regrets: dict[str, dict[int, np.ndarray]]) -> dict[str, dict[int, Mean]]:
    """Return mean and standard error of every regret: over the seeds, for a control over its copies."""
    means: dict[str, dict[int, Mean]] = {}
    for method, by_k in regrets.items():
        for k, runs in by_k.items():
            values = runs.mean(axis=1) if method in COPIES else runs[0]
            error = values.std(ddof=1) / np.sqrt(len(values))
            means.setdefault(method, {})[k] = Mean(float(values.mean()), float(error))
    return means


def arms(design: Design, name: str, ks: dict[str, int | None]) -> tuple[list[str], dict[str, np.ndarray | None]]:
    """Read the names of all nodes, and the features that each method describes them with at its k; None: one-hot."""
    problem = design.problems[design.members[name][0]]
    items = io.values(io.read("nodes", paths.nodes(problem["graph"]))["item"])
    keys = io.read("dataset_nodes", paths.dataset_nodes(name))["key"].to_pylist()
    features = {}
    for method, k in ks.items():
        spec = design.config.methods[method]
        if spec.policy == "linucb" and spec.basis != IDENTITY:
            vectors = read_bases(paths.basis(problem["graph"], spec.basis))[0, 0].vectors
            features[method] = select(spec.basis, vectors, k)
        elif spec.policy == "linucb":
            features[method] = None
    return [keys[item] for item in items], features
