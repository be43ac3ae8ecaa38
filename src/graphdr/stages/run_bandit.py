"""Play the methods of a batch on its problems, with all instances, draws and seeds."""

import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np

from graphdr.bandit import environment, methods
from graphdr.bandit.linucb import Run
from graphdr.bandit.linucb_batched import LANES
from graphdr.bandit.pool import Pool
from graphdr.bandit.radii import CONSTANT, RadiusInputs, facts_behind
from graphdr.cache import io, paths
from graphdr.core.errors import check_dense
from graphdr.graphs.arm_features import ADAPTIVE, k_fact, residual
from graphdr.panels.bases import read_bases
from graphdr.panels.chosen import read_chosen
from graphdr.panels.contexts import read_pools
from graphdr.panels.items import read_items
from graphdr.panels.problems import read_estimates, read_facts, read_thetas
from graphdr.panels.rows import stack
from graphdr.theory.outcome import FITTED, MEASURED, Outcome

SHAPE = ("horizon", "arms", "checkpoint", "ridge", "alpha")  # with k, what runs must share to be played together
STREAM = ("arms", "candidates", "horizon", "noise")  # what the rounds of a run depend on besides
TOLD = ("longest", "size", "nu_k", "s_k_bar", "error")  # what the bound on a run depends on besides


class Input(NamedTuple):
    """Rewards, bases by name and graph and, where a method or its candidates need them, graphs, facts and the pilot."""

    theta: str
    basis: dict[str, dict[str, str]]
    nodes: dict[str, str]
    edges: dict[str, str]
    facts: str = ""
    pilot: str = ""
    contexts: str = ""
    chosen: Sequence[str] = ()  # measurements of the grids that settings were chosen from


class Output(NamedTuple):
    runs: str = paths.runs


class Params(NamedTuple):
    problems: list[dict[str, Any]]  # each with the names of the methods that play it here
    methods: dict[str, dict[str, Any]]
    seed: int
    chosen: Sequence[
        tuple[str, str, str]
    ] = ()  # problem, method, and the problem of the grid that its settings are from


class Key(NamedTuple):
    """What one set of features is for: a method, the number of a problem, its instance and the draw of its basis."""

    method: str
    number: int
    instance: int
    draw: int


Place = tuple[Key, int]  # and seed
Arms = dict[Key, methods.Arms]
Inputs = dict[Key, RadiusInputs]
Problem = dict[str, Any]
Told = dict[tuple[str, int], tuple[dict[str, Any], Problem]]  # by method and number of the problem: both, with settings
Facts = dict[tuple[str, int, str], float]
Thetas = dict[tuple[str, int], np.ndarray]
Pools = dict[tuple[str, int], Pool]
Laplacians = dict[str, list[np.ndarray]]


def main(input: Input, output: Output, params: Params) -> None:
    thetas = read_thetas(input.theta)
    laplacians, arenas = _from_graphs(input, any(method["laplacian"] for method in params.methods.values()))
    facts = read_facts(input.facts) if input.facts else {}
    pools = read_pools(input.contexts, params.problems, thetas)
    told = _told(params, input.chosen)
    nodes = _arms(input, params, told, laplacians, facts)
    inputs = _radius_inputs(input, params, nodes, thetas, facts, pools)
    residuals = _residuals(params, nodes, thetas, pools)
    rewards = {key: pools[key](theta) for key, theta in thetas.items() if key in pools}
    arms = {}
    for key, given in nodes.items():
        method, problem = told[key.method, key.number]
        arms[key] = methods.on_pool(method, problem, given, pools[problem["name"], key.instance])

    @lru_cache(maxsize=LANES * len(params.problems))  # methods meet the same rounds one after the other
    def draw_stream(
        n: int, instance: int, seed: int, graph: str | None, blocks: int, **spec: Any
    ) -> environment.Stream:
        arena = arenas[graph][instance] if graph else None
        return environment.draw(params.seed, spec, n, instance, seed, arena, blocks)

    def seat(key: Key, seed: int) -> tuple[Run, environment.Luck]:
        problem, instance = params.problems[key.number], key.instance
        theta, blocks = rewards[problem["name"], instance], pools[problem["name"], instance].blocks
        spec = {name: problem[name] for name in STREAM}
        graph = problem["graph"] if problem["candidates"] in environment.NEEDS_GRAPH or blocks > 1 else None
        stream = draw_stream(len(theta), instance, seed, graph, blocks, **spec)
        features, v0_inverse, roughness = arms[key]
        luck = environment.Luck(params.seed, problem, len(theta), instance, seed)
        return Run(theta, stream, features, v0_inverse, residuals.get(key), roughness), luck

    runs = [(key, seed) for key in arms for seed in _seeds(params.problems[key.number])]
    done: dict[Place, Outcome] = {}
    begin = time.perf_counter()
    for group in _together(runs, told, arms):
        seated, lucks = zip(*(seat(*run) for run in group), strict=True)
        (key, _), *_ = group
        method, problem = told[key.method, key.number]
        outcomes = methods.play(method, problem, list(seated), list(lucks), inputs.get(key))
        done |= dict(zip(group, outcomes, strict=True))
        if 10 * len(done) // len(runs) > 10 * (len(done) - len(group)) // len(runs):
            print(f"{len(done)} of {len(runs)} runs, {time.perf_counter() - begin:.1f} s", flush=True)
    io.write("runs", _table(params, done, inputs) if runs else io.nothing("runs"), output.runs)


def _seeds(problem: Problem) -> range:
    return range(problem["first_seed"], problem["first_seed"] + problem["seeds"])


def _told(params: Params, grids: Sequence[str]) -> Told:
    """Return every method and problem as they meet: with the settings of the method, or those chosen from a grid."""
    chosen = read_chosen(grids)
    settings = {(problem, method): chosen.get((grid, method), {}) for problem, method, grid in params.chosen}
    told = {}
    for (name, method), (number, problem) in product(params.methods.items(), enumerate(params.problems)):
        own = {knob: method[knob] for knob in ("alpha", "ridge") if method[knob] is not None}
        own |= settings.get((problem["name"], name), {})
        told[name, number] = method | {"k": own.pop("k", method["k"])}, problem | own
    return told


def _arms(input: Input, params: Params, told: Told, laplacians: Laplacians, facts: Facts) -> Arms:
    """Return what LinUCB works with, method by method.

    Node space and random play have one draw, without vectors; a basis that the data set has no data for has none.
    """
    arms = {}
    bases = {name: {graph: read_bases(path) for graph, path in files.items()} for name, files in input.basis.items()}
    for name in params.methods:
        for number in range(len(params.problems)):
            method, problem = told[name, number]
            graph = problem["graph"]
            panel = bases[method["basis"]].get(graph, {}) if method["basis"] in bases else None
            for instance in range(problem["instances"]) if name in problem["methods"] else ():
                k = _dimensions(method["k"], problem, instance, facts)
                laplacian = laplacians[graph][instance] if method["laplacian"] else None
                for (at, draw), basis in ({(instance, 0): None} if panel is None else panel).items():
                    if at == instance and draw <= problem["draws"]:
                        arms[Key(name, number, instance, draw)] = methods.arms(method, problem, basis, laplacian, k)
    return arms


def _dimensions(k: int | str | None, problem: Problem, instance: int, facts: Facts) -> int:
    """Return how many features a method has, by what its line says of k; to find it, it needs those of the largest."""
    if k == ADAPTIVE:
        return max(problem["k_grid"])
    fact = k_fact(k)
    return int(facts[problem["name"], instance, fact] if fact else k or problem["k"])


def _radius_inputs(input: Input, params: Params, arms: Arms, thetas: Thetas, facts: Facts, pools: Pools) -> Inputs:
    """Return what a theorem's radius may use; a constant radius needs nothing."""
    estimates = read_estimates(input.pilot) if input.pilot else {}
    inputs = {}
    for key, (features, *_) in arms.items():
        if (rule := params.methods[key.method]["radius"]) != CONSTANT:
            problem, instance = params.problems[key.number], key.instance
            name = problem["name"]
            told = {fact: facts[name, instance, fact] for fact in facts_behind(rule)}
            theta_hat = estimates[name, instance, problem["pilot"]]
            assert features is not None  # a theorem's radius has a basis
            pool = pools[name, instance]
            inputs[key] = methods.radius_inputs(problem, features, thetas[name, instance], told, theta_hat, pool)
    return inputs


def _residuals(params: Params, arms: Arms, thetas: Thetas, pools: Pools) -> dict[Key, np.ndarray]:
    """Return what of the reward lies outside of the smoothest eigenvectors, where these are the features throughout."""
    smooth = {name for name, m in params.methods.items() if m["basis"] == "laplacian_low" and m["k"] != ADAPTIVE}
    residuals = {}
    for key, arm in arms.items():
        if key.method in smooth and arm.features is not None and arm.roughness is None:  # a graph prior takes all
            place = params.problems[key.number]["name"], key.instance
            residuals[key] = pools[place](residual(thetas[place], arm.features))
    return residuals


def _together(runs: list[Place], told: Told, arms: Arms) -> Iterator[list[Place]]:
    """Yield runs of one method and shape in groups: all on the streams of a few instances and seeds, then the next few.

    Where instances differ in more than their shape, they are kept apart and only seeds are played together.
    """
    places = {pair: at for at, pair in enumerate(sorted({(key.instance, seed) for key, seed in runs}))}

    def order(run: Place) -> tuple[Any, ...]:
        key, seed = run
        method, problem = told[key.method, key.number]
        vectors = arms[key].features
        apart = key[1:] if method["radius"] != CONSTANT or method["k"] == ADAPTIVE else ()
        shape = 0 if vectors is None else vectors.shape[1], *(problem[factor] for factor in SHAPE), *apart
        return places[key.instance, seed] // LANES, key.method, shape

    ordered = sorted(runs, key=lambda run: (order(run), run[0].instance, run[1], run[0].number, run[0].draw))
    for _, group in groupby(ordered, key=order):
        alike = list(group)
        for start in range(0, len(alike), LANES):
            yield alike[start : start + LANES]


def _from_graphs(input: Input, penalised: bool) -> tuple[Laplacians, dict[str, list[environment.Arena]]]:
    """Return the Laplacian of every graph, if a method has a penalty, and where its candidates come from."""
    if not input.nodes:
        return {}, {}
    from graphdr.panels.graphs import read_graphs  # with SciPy, which most methods do without

    laplacians: Laplacians = {}
    arenas = {}
    for name, path in input.nodes.items():
        panel = read_graphs(path, input.edges[name])
        if penalised:
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


def _table(params: Params, done: dict[Place, Outcome], inputs: Inputs) -> dict[str, np.ndarray]:
    parts, order = [], {name: at for at, name in enumerate(params.methods)}
    for key, seed in sorted(done, key=lambda run: (order[run[0].method], run)):
        problem, outcome, used = params.problems[key.number], done[key, seed], inputs.get(key)
        told: list[float | None] = [None] * len(TOLD)
        if used and used.constants:
            told = [used.constants.bound_x, used.constants.size, used.nu_k, used.s_k_bar, used.error]
        columns = {name: getattr(outcome, name) for name in MEASURED} | dict(zip(TOLD, told, strict=True))
        columns |= {name: getattr(outcome.fit, name, None) for name in FITTED}
        parts.append(
            {"method": key.method, "problem": problem["name"]}
            | {"instance": key.instance, "draw": key.draw, "seed": seed}
            | {name: np.nan if values is None else values for name, values in columns.items()}
        )
    return stack(parts)
