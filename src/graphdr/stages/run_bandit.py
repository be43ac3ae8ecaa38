"""Play one method on all problems, instances, draws and seeds of a batch."""

import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from graphdr.bandit import environment, methods
from graphdr.bandit.linucb import Run
from graphdr.bandit.linucb_batched import LANES
from graphdr.bandit.radii import THEORY_FACTS, RadiusInputs
from graphdr.cache import io, paths
from graphdr.core.errors import check_dense
from graphdr.graphs.arm_features import ADAPTIVE, k_fact, residual
from graphdr.panels.bases import read_bases
from graphdr.panels.items import read_items
from graphdr.panels.problems import read_estimates, read_facts, read_thetas
from graphdr.panels.rows import stack
from graphdr.theory.outcome import MEASURED, Outcome

SHAPE = ("horizon", "arms", "checkpoint", "ridge", "alpha")  # with k, what runs must share to be played together
TOLD = ("size", "nu_k", "s_k_bar", "error")  # what the bound on a run depends on besides


class Input(NamedTuple):
    """Rewards, the basis by graph and, where the method or its candidates need them, graphs, facts and the pilot."""

    theta: str
    basis: dict[str, str] | None = None
    nodes: dict[str, str] | None = None
    edges: dict[str, str] | None = None
    facts: str = ""
    pilot: str = ""


class Output(NamedTuple):
    runs: str = paths.runs


class Params(NamedTuple):
    problems: list[dict[str, Any]]
    method: dict[str, Any]
    seed: int


Key = tuple[int, int, int]  # number of the problem, instance and draw of a random basis
Place = tuple[int, int, int, int]  # and seed
Arms = dict[Key, methods.Arms]
Inputs = dict[Key, RadiusInputs]
Problem = dict[str, Any]
Facts = dict[tuple[str, int, str], float]
Thetas = dict[tuple[str, int], np.ndarray]
Laplacians = dict[str, list[np.ndarray]]


def main(input: Input, output: Output, params: Params) -> None:
    method = params.method
    thetas = read_thetas(input.theta)
    laplacians, arenas = _from_graphs(input, method)
    facts = read_facts(input.facts) if input.facts else {}
    arms = _arms(input, params, laplacians, facts)
    inputs = _radius_inputs(input, params, arms, thetas, facts)
    residuals = _residuals(params, arms, thetas)

    @lru_cache(maxsize=LANES)  # problems on graphs of one size meet the same rounds, one after the other
    def draw_stream(n: int, instance: int, seed: int, graph: str | None, **spec: Any) -> environment.Stream:
        return environment.draw(params.seed, spec, n, instance, seed, arenas[graph][instance] if graph else None)

    def seat(number: int, instance: int, draw: int, seed: int) -> tuple[Run, Callable[[], np.ndarray]]:
        problem = params.problems[number]
        theta = thetas[problem["name"], instance]
        spec = {name: problem[name] for name in ("arms", "candidates", "horizon", "noise")}
        graph = problem["graph"] if problem["candidates"] in environment.NEEDS_GRAPH else None
        stream = draw_stream(len(theta), instance, seed, graph, **spec)
        choices = partial(environment.random_choices, params.seed, problem, len(theta), instance, seed)
        key = number, instance, draw
        return Run(theta, stream, *arms[key], residuals.get(key)), choices

    runs = [(*key, seed) for key in arms for seed in range(params.problems[key[0]]["seeds"])]
    done: dict[Place, Outcome] = {}
    begin = time.perf_counter()
    for group in _together(runs, params.problems, arms, apart=bool(inputs) or method["k"] == ADAPTIVE):
        seated, choices = zip(*(seat(*run) for run in group), strict=True)
        problem = params.problems[group[0][0]]
        outcomes = methods.play(method, problem, list(seated), list(choices), inputs.get(group[0][:3]))
        done |= dict(zip(group, outcomes, strict=True))
        if 10 * len(done) // len(runs) > 10 * (len(done) - len(group)) // len(runs):
            print(f"{len(done)} of {len(runs)} runs, {time.perf_counter() - begin:.1f} s", flush=True)
    io.write("runs", _table(params.problems, done, inputs) if runs else io.nothing("runs"), output.runs)


def _arms(input: Input, params: Params, laplacians: Laplacians, facts: Facts) -> Arms:
    """Return what LinUCB works with, by (problem, instance, draw).

    Node space and random play have one draw, without vectors; a basis that the data set has no data for has none.
    """
    method, arms = params.method, {}
    bases = {graph: read_bases(path) for graph, path in (input.basis or {}).items()}
    for number, problem in enumerate(params.problems):
        graph = problem["graph"]
        panel = {key: basis.vectors for key, basis in bases[graph].items()} if bases else None
        for instance in range(problem["instances"]):
            k = _dimensions(method["k"], problem, instance, facts)
            laplacian = laplacians[graph][instance] if method["laplacian"] else None
            for (at, draw), vectors in ({(instance, 0): None} if panel is None else panel).items():
                if at == instance and draw <= problem["draws"]:
                    arms[number, instance, draw] = methods.arms(method, problem, vectors, laplacian, k)
    return arms


def _dimensions(k: int | str | None, problem: Problem, instance: int, facts: Facts) -> int:
    """Return how many features a method has, by what its line says of k; to find it, it needs those of the largest."""
    if k == ADAPTIVE:
        return max(problem["k_grid"])
    fact = k_fact(k)
    return int(facts[problem["name"], instance, fact] if fact else k or problem["k"])


def _radius_inputs(input: Input, params: Params, arms: Arms, thetas: Thetas, facts: Facts) -> Inputs:
    """Return what a theorem's radius may use, by (problem, instance, draw); a constant radius needs nothing."""
    if not input.pilot:
        return {}
    estimates, inputs = read_estimates(input.pilot), {}
    for key, (features, _) in arms.items():
        problem, instance = params.problems[key[0]], key[1]
        name = problem["name"]
        told = {fact: facts[name, instance, fact] for fact in THEORY_FACTS}
        theta_hat = estimates[name, instance, problem["pilot"]]
        assert features is not None  # a theorem's radius has a basis
        inputs[key] = methods.radius_inputs(problem, features, thetas[name, instance], told, theta_hat)
    return inputs


def _residuals(params: Params, arms: Arms, thetas: Thetas) -> dict[Key, np.ndarray]:
    """Return what of the reward lies outside of the smoothest eigenvectors, where these are the features throughout."""
    if params.method["basis"] != "laplacian_low" or params.method["k"] == ADAPTIVE:
        return {}
    names = {key: (params.problems[key[0]]["name"], key[1]) for key in arms}
    return {key: residual(thetas[names[key]], arm.features) for key, arm in arms.items() if arm.features is not None}


def _together(runs: list[Place], problems: list[Problem], arms: Arms, apart: bool) -> Iterator[list[Place]]:
    """Yield runs of one shape in groups, all on the streams of a few instances and seeds before the next few.

    Where instances differ in more than their shape, they are kept apart and only seeds are played together.
    """
    place = {pair: at for at, pair in enumerate(sorted({(run[1], run[3]) for run in runs}))}

    def shape(run: Place) -> tuple[Any, ...]:
        vectors, key = arms[run[:3]].features, run[:3] if apart else ()
        features = 0 if vectors is None else vectors.shape[1]
        return place[run[1], run[3]] // LANES, features, *(problems[run[0]][factor] for factor in SHAPE), *key

    ordered = sorted(runs, key=lambda run: (shape(run), run[1], run[3], run[0], run[2]))  # instance, seed, number, draw
    for _, group in groupby(ordered, key=shape):
        alike = list(group)
        for start in range(0, len(alike), LANES):
            yield alike[start : start + LANES]


def _from_graphs(input: Input, method: dict[str, Any]) -> tuple[Laplacians, dict[str, list[environment.Arena]]]:
    """Return the Laplacian of every graph, if the method has a penalty, and where its candidates come from."""
    if not input.nodes or not input.edges:
        return {}, {}
    from graphdr.panels.graphs import read_graphs  # with SciPy, which most methods do without

    laplacians: Laplacians = {}
    arenas = {}
    for name, path in input.nodes.items():
        panel = read_graphs(path, input.edges[name])
        if method["laplacian"]:
            laplacians[name] = [_dense_laplacian(graph) for graph in panel]
        arenas[name] = [
            environment.Arena(items.popularity, graph.adjacency.indptr, graph.adjacency.indices)
            for graph, items in zip(panel, read_items(path), strict=True)
        ]
    return laplacians, arenas


def _dense_laplacian(graph: Any) -> np.ndarray:
    from graphdr.graphs.model import laplacian

    check_dense("penalty laplacian", graph.n)
    return laplacian(graph).toarray()


def _table(problems: list[Problem], done: dict[Place, Outcome], inputs: Inputs) -> dict[str, np.ndarray]:
    parts = []
    for number, instance, draw, seed in sorted(done):
        problem, outcome = problems[number], done[number, instance, draw, seed]
        used = inputs.get((number, instance, draw))
        told = (used.constants.size, used.nu_k, used.s_k_bar, used.error) if used and used.constants else [None] * 4
        columns = {name: getattr(outcome, name) for name in MEASURED} | dict(zip(TOLD, told, strict=True))
        parts.append(
            {"problem": problem["name"], "instance": instance, "draw": draw, "seed": seed}
            | {name: np.nan if values is None else values for name, values in columns.items()}
        )
    return stack(parts)
