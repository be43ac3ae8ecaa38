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
from graphdr.bandit.radii import CONSTANT, SPECTRAL, RadiusInputs, facts_behind, of_theorem
from graphdr.cache import io, paths
from graphdr.core.errors import check_dense
from graphdr.graphs.arm_features import k_fact, residual
from graphdr.graphs.filters import CUT
from graphdr.panels.bases import read_bases
from graphdr.panels.chosen import read_chosen
from graphdr.panels.contexts import read_pools
from graphdr.panels.items import read_items
from graphdr.panels.problems import read_estimates, read_facts, read_rewards, read_thetas
from graphdr.panels.rows import stack
from graphdr.theory.outcome import FITTED, MEASURED, Outcome

SHAPE = (
    "horizon",
    "arms",
    "checkpoint",
    "ridge",
    "alpha",
    "noise",
)  # with k, what runs must share to be played together
STREAM = ("arms", "candidates", "horizon", "noise")  # what the rounds of a run depend on besides
OF_FEATURES = ("policy", "basis", "beside", "filter", "rho", "laplacian")  # of a method: what its features depend on
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
    rewards: str = ""  # what pulls may pay, where noise is resampled
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


class Graphs(NamedTuple):
    """What is made of graphs, by name and instance: Laplacians and edges where a method needs them, and arenas."""

    laplacians: dict[str, list[np.ndarray]]
    edges: dict[str, list[environment.Edges]]
    arenas: dict[str, list[environment.Arena]]


def main(input: Input, output: Output, params: Params) -> None:
    thetas = read_thetas(input.theta)
    graphs = _from_graphs(input, list(params.methods.values()))
    facts = read_facts(input.facts) if input.facts else {}
    pools = read_pools(input.contexts, params.problems, thetas)
    paid = {
        place: environment.deviations(thetas[place], *found)
        for place, found in (read_rewards(input.rewards) if input.rewards else {}).items()
    }
    told = _told(params, input.chosen, paid)
    nodes = _arms(input, params, told, graphs, facts)
    inputs = _radius_inputs(input, params, told, nodes, thetas, facts, pools)
    residuals = _residuals(params, nodes, thetas, pools)
    rewards = {key: pools[key](theta) for key, theta in thetas.items() if key in pools}
    arms = {}
    for key, given in nodes.items():
        method, problem = told[key.method, key.number]
        arms[key] = methods.on_pool(method, problem, given, pools[problem["name"], key.instance])

    @lru_cache(maxsize=LANES * len(params.problems))  # methods meet the same rounds one after the other
    def draw_stream(
        n: int, instance: int, seed: int, graph: str | None, blocks: int, resampled: str | None, **spec: Any
    ) -> environment.Stream:
        arena = graphs.arenas[graph][instance] if graph else None
        found = paid[resampled, instance] if resampled else None
        return environment.draw(params.seed, spec, n, instance, seed, arena, blocks, found)

    def seat(key: Key, seed: int) -> tuple[Run, environment.Luck]:
        problem, instance = params.problems[key.number], key.instance
        theta, blocks = rewards[problem["name"], instance], pools[problem["name"], instance].blocks
        spec = {name: problem[name] for name in STREAM}
        graph = problem["graph"] if problem["candidates"] in environment.NEEDS_GRAPH or blocks > 1 else None
        resampled = problem["name"] if (problem["name"], instance) in paid else None  # else problems share streams
        stream = draw_stream(len(theta), instance, seed, graph, blocks, resampled, **spec)
        features, v0_inverse, roughness, edges, beside = arms[key]
        luck = environment.Luck(params.seed, problem, len(theta), instance, seed)
        return Run(theta, stream, features, v0_inverse, residuals.get(key), roughness, edges, beside), luck

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


def _told(params: Params, grids: Sequence[str], paid: dict[tuple[str, int], environment.Deviations]) -> Told:
    """Return every method and problem as they meet: with the settings of the method, or those chosen from a grid.

    Who asks for the noise of a problem is told a number, also where rewards are resampled.
    """
    chosen = read_chosen(grids)
    settings = {(problem, method): chosen.get((grid, method), {}) for problem, method, grid in params.chosen}
    told = {}
    for (name, method), (number, problem) in product(params.methods.items(), enumerate(params.problems)):
        own = {knob: method[knob] for knob in ("alpha", "ridge") if method[knob] is not None}
        own |= settings.get((problem["name"], name), {})
        sizes = [paid[place].size for place in paid if place[0] == problem["name"]]
        own |= {"noise": float(np.sqrt(np.mean(np.square(sizes))))} if sizes else {}
        method_here = method | {knob: own.pop(knob, method[knob]) for knob in ("k", "rho")}
        told[name, number] = method_here, _in_noise(problem | own) if method["in_noise"] else problem | own
    return told


def _in_noise(problem: Problem) -> Problem:
    """Return a problem with a width in standard deviations of its noise, and a ridge in its variances, as numbers."""
    sigma = problem["noise"]
    return problem | {"alpha": problem["alpha"] * sigma, "ridge": problem["ridge"] * sigma**2}


def _arms(input: Input, params: Params, told: Told, graphs: Graphs, facts: Facts) -> Arms:
    """Return what LinUCB works with, method by method.

    Node space and random play have one draw, without vectors; a basis that the data set has no data for has none. Where
    there is none beside a basis, that basis is alone; a draw of it meets the same draw beside it, or the only one.
    Settings that leave the features as they are share them: those of a grid on a large graph would fill the memory.
    """
    arms: Arms = {}
    shared: dict[tuple[Any, ...], methods.Arms] = {}
    bases = {name: {graph: read_bases(path) for graph, path in files.items()} for name, files in input.basis.items()}
    for name in params.methods:
        for number in range(len(params.problems)):
            method, problem = told[name, number]
            graph = problem["graph"]
            panel = bases[method["basis"]].get(graph, {}) if method["basis"] in bases else None
            second = bases[method["beside"]].get(graph, {}) if method["beside"] else {}
            for instance in range(problem["instances"]) if name in problem["methods"] else ():
                k = _dimensions(method, problem, instance, facts)
                laplacian = graphs.laplacians[graph][instance] if method["laplacian"] else None
                edges = graphs.edges[graph][instance] if methods.on_graph(method["policy"]) else None
                for (at, draw), basis in ({(instance, 0): None} if panel is None else panel).items():
                    if at == instance and draw <= problem["draws"]:
                        ridge = problem["ridge"] if method["laplacian"] else None
                        alike = (
                            graph,
                            instance,
                            draw,
                            k,
                            ridge,
                            problem.get("components"),
                            *(method[knob] for knob in OF_FEATURES),
                        )
                        if alike not in shared:
                            beside = second.get((at, draw), second.get((at, 0)))
                            shared[alike] = methods.arms(method, problem, basis, laplacian, k, edges, beside)
                        arms[Key(name, number, instance, draw)] = shared[alike]
    return arms


def _dimensions(method: dict[str, Any], problem: Problem, instance: int, facts: Facts) -> int:
    """Return how many features a method has, by what its line says of k; with a grid, it needs those of the largest."""
    k = method["k"]
    if methods.over_grid(method["policy"], k):
        return max(problem["k_grid"])
    fact = k_fact(k)
    return int(facts[problem["name"], instance, fact] if fact else k or problem["k"])


def _radius_inputs(
    input: Input, params: Params, told: Told, arms: Arms, thetas: Thetas, facts: Facts, pools: Pools
) -> Inputs:
    """Return what a theorem's radius and that of SpectralUCB may use; a constant radius needs nothing."""
    estimates = read_estimates(input.pilot) if input.pilot else {}
    inputs = {}
    for key, given in arms.items():
        rule, features = params.methods[key.method]["radius"], given.features
        if rule == SPECTRAL:
            inputs[key] = methods.spectral_inputs(told[key.method, key.number][1], given)
        elif of_theorem(rule):
            problem, instance = params.problems[key.number], key.instance
            name = problem["name"]
            known = {fact: facts[name, instance, fact] for fact in facts_behind(rule)}
            theta_hat = estimates[name, instance, problem["pilot"]]
            assert features is not None  # a theorem's radius has a basis
            pool = pools[name, instance]
            inputs[key] = methods.radius_inputs(problem, features, thetas[name, instance], known, theta_hat, pool)
    return inputs


def _residuals(params: Params, arms: Arms, thetas: Thetas, pools: Pools) -> dict[Key, np.ndarray]:
    """Return what of the reward lies outside of the smoothest eigenvectors, where these are the features throughout."""
    grids = {name for name, method in params.methods.items() if methods.over_grid(method["policy"], method["k"])}
    smooth = {
        name
        for name, method in params.methods.items()
        if method["basis"] == "laplacian_low" and method["filter"] == CUT and name not in grids
    }
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
        alike = method["radius"] == CONSTANT and not methods.over_grid(method["policy"], method["k"])
        apart = key[1:] if not alike or methods.on_graph(method["policy"]) else ()
        shape = 0 if vectors is None else vectors.shape[1], *(problem[factor] for factor in SHAPE), *apart
        return places[key.instance, seed] // LANES, key.method, shape

    ordered = sorted(runs, key=lambda run: (order(run), run[0].instance, run[1], run[0].number, run[0].draw))
    for _, group in groupby(ordered, key=order):
        alike = list(group)
        for start in range(0, len(alike), LANES):
            yield alike[start : start + LANES]


def _from_graphs(input: Input, played: list[dict[str, Any]]) -> Graphs:
    """Return of every graph its Laplacian and its edges, if a method needs them, and where its candidates come from."""
    graphs = Graphs({}, {}, {})
    if not input.nodes:
        return graphs
    from graphdr.panels.graphs import read_graphs  # with SciPy, which most methods do without

    for name, path in input.nodes.items():
        panel = read_graphs(path, input.edges[name])
        if any(method["laplacian"] for method in played):
            graphs.laplacians[name] = [_dense_laplacian(graph) for graph in panel]
        if any(methods.on_graph(method["policy"]) for method in played):
            graphs.edges[name] = [environment.edges_of(graph.adjacency) for graph in panel]
        graphs.arenas[name] = [
            environment.Arena(items.popularity, graph.adjacency.indptr, graph.adjacency.indices)
            for graph, items in zip(panel, read_items(path), strict=True)
        ]
    return graphs


def _dense_laplacian(graph: Any) -> np.ndarray:
    from graphdr.graphs.model import laplacian

    check_dense("penalty laplacian", graph.n)
    return laplacian(graph).toarray()


def _table(params: Params, done: dict[Place, Outcome], inputs: Inputs) -> dict[str, np.ndarray]:
    parts, order = [], {name: at for at, name in enumerate(params.methods)}
    for key, seed in sorted(done, key=lambda run: (order[run[0].method], run)):
        problem, outcome, used = params.problems[key.number], done[key, seed], inputs.get(key)
        told: list[float | None] = [None] * len(TOLD)
        if used and used.constants and of_theorem(params.methods[key.method]["radius"]):
            told = [used.constants.bound_x, used.constants.size, used.nu_k, used.s_k_bar, used.error]
        columns = {name: getattr(outcome, name) for name in MEASURED} | dict(zip(TOLD, told, strict=True))
        columns |= {name: getattr(outcome.fit, name, None) for name in FITTED}
        parts.append(
            {"method": key.method, "problem": problem["name"]}
            | {"instance": key.instance, "draw": key.draw, "seed": seed}
            | {name: np.nan if values is None else values for name, values in columns.items()}
        )
    return stack(parts)
