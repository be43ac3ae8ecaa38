"""Play one method on all problems, instances, draws and seeds of a batch."""

import time
from functools import lru_cache, partial
from itertools import groupby

import numpy as np

from graphdr.bandit import environment, methods, pilot
from graphdr.bandit.linucb import Run
from graphdr.bandit.linucb_batched import LANES
from graphdr.bandit.radii import THEORY_FACTS
from graphdr.cache import io
from graphdr.core.errors import check_dense
from graphdr.core.rng import stream as named_stream
from graphdr.graphs.arm_features import ADAPTIVE, k_fact, residual
from graphdr.panels import store
from graphdr.theory.outcome import MEASURED

SHAPE = ("horizon", "arms", "checkpoint", "ridge", "alpha")  # with k, what runs must share to be played together
TOLD = ("size", "nu_k", "s_k_bar", "error")  # what the bound on a run depends on besides


def main(input, output, params):
    method = params.method
    thetas = store.read_thetas(input.theta)
    laplacians, arenas = _from_graphs(input, method) if hasattr(input, "nodes") else ({}, {})
    facts = store.read_facts(input.facts) if hasattr(input, "facts") else {}
    arms = _arms(input, params, laplacians, facts)
    known = _known(params, arms, thetas, facts)
    residuals = _residuals(params, arms, thetas)

    @lru_cache(maxsize=LANES)  # problems on graphs of one size meet the same rounds, one after the other
    def draw_stream(n, instance, seed, graph, **spec):
        return environment.draw(params.seed, spec, n, instance, seed, arenas[graph][instance] if graph else None)

    def seat(number, instance, draw, seed):
        problem = params.problems[number]
        theta = thetas[problem["name"], instance]
        spec = {name: problem[name] for name in ("arms", "candidates", "horizon", "noise")}
        graph = problem["graph"] if problem["candidates"] in environment.NEEDS_GRAPH else None
        stream = draw_stream(len(theta), instance, seed, graph, **spec)
        choices = partial(environment.random_choices, params.seed, problem, len(theta), instance, seed)
        key = number, instance, draw
        return Run(theta, stream, *arms[key], residuals.get(key)), choices

    runs = [(*key, seed) for key in arms for seed in range(params.problems[key[0]]["seeds"])]
    done, begin = {}, time.perf_counter()
    for group in _together(runs, params.problems, arms, apart=bool(known) or method["k"] == ADAPTIVE):
        games, choices = zip(*(seat(*run) for run in group), strict=True)
        about = known.get(group[0][:3])
        played = methods.play(method, params.problems[group[0][0]], list(games), list(choices), about)
        done |= dict(zip(group, played, strict=True))
        if 10 * len(done) // len(runs) > 10 * (len(done) - len(group)) // len(runs):
            print(f"{len(done)} of {len(runs)} runs, {time.perf_counter() - begin:.1f} s", flush=True)
    io.write("runs", _table(params.problems, done, known) if runs else io.nothing("runs"), output.runs)


def _arms(input, params, laplacians, facts):
    """Return what LinUCB works with, by (problem, instance, draw)."""
    method, arms = params.method, {}
    bases = {graph: store.read_bases(path) for graph, path in getattr(input, "basis", {}).items()}
    for number, problem in enumerate(params.problems):
        graph = problem["graph"]
        for instance in range(problem["instances"]):
            k = _dimensions(method["k"], problem, instance, facts)
            laplacian = laplacians[graph][instance] if method["laplacian"] else None
            for draw, vectors in _draws(bases.get(graph), instance, problem["draws"]).items():
                arms[number, instance, draw] = methods.arms(method, problem, vectors, laplacian, k)
    return arms


def _dimensions(k, problem, instance, facts):
    """Return how many features a method has, by what its line says of k; to find it, it needs those of the largest."""
    if k == ADAPTIVE:
        return max(problem["k_grid"])
    return int(facts[problem["name"], instance, k]) if k_fact(k) else k or problem["k"]


def _known(params, arms, thetas, facts):
    """Return what a theorem's radius may use, by (problem, instance, draw); a constant radius needs nothing."""
    if params.method["radius"] == "constant":
        return {}
    found = {}
    for number, instance, draw in arms:
        problem, vectors = params.problems[number], arms[number, instance, draw].features
        name, n = problem["name"], len(vectors)
        told = {fact: facts[name, instance, fact] for fact in THEORY_FACTS}
        rng = named_stream(params.seed, "pilot", n=n, instance=instance)
        theta = thetas[name, instance]
        theta_hat = pilot.play(theta, problem["noise"], problem["pilot"] * n, rng).theta
        found[number, instance, draw] = methods.radius_inputs(problem, vectors, theta, told, theta_hat)
    return found


def _residuals(params, arms, thetas):
    """Return what of the reward lies outside of the smoothest eigenvectors, where these are the features throughout."""
    if params.method["basis"] != "laplacian_low" or params.method["k"] == ADAPTIVE:
        return {}
    names = {key: (params.problems[key[0]]["name"], key[1]) for key in arms}
    return {key: residual(thetas[names[key]], own.features) for key, own in arms.items()}


def _together(runs, problems, arms, apart):
    """Yield runs of one shape in groups, all on the streams of a few instances and seeds before the next few.

    Where instances differ in more than their shape, they are kept apart and only seeds are played together.
    """
    place = {pair: at for at, pair in enumerate(sorted({(run[1], run[3]) for run in runs}))}

    def shape(run):
        vectors, own = arms[run[:3]].features, run[:3] if apart else ()
        features = 0 if vectors is None else vectors.shape[1]
        return place[run[1], run[3]] // LANES, features, *(problems[run[0]][factor] for factor in SHAPE), *own

    def order(run):
        number, instance, draw, seed = run
        return shape(run), instance, seed, number, draw

    for _, alike in groupby(sorted(runs, key=order), key=shape):
        alike = list(alike)
        for start in range(0, len(alike), LANES):
            yield alike[start : start + LANES]


def _draws(panel, instance, most):
    """Return the vectors of every draw of an instance; node space and random play have one draw, without any.

    A basis that the data set has no data for has no draw at all.
    """
    if panel is None:
        return {0: None}
    return {draw: basis.vectors for (at, draw), basis in panel.items() if at == instance and draw <= most}


def _from_graphs(input, method):
    """Return the Laplacian of every graph, if the method has a penalty, and where its candidates come from."""
    panels = {name: store.read_graphs(input.nodes[name], input.edges[name]) for name in input.nodes}
    penalised = panels if method["laplacian"] else {}
    laplacians = {name: [_dense_laplacian(graph) for graph in panel] for name, panel in penalised.items()}
    items = {name: store.read_items(input.nodes[name]) for name in input.nodes}
    arenas = {
        name: [
            environment.Arena(own.popularity, graph.adjacency.indptr, graph.adjacency.indices)
            for graph, own in zip(panel, items[name], strict=True)
        ]
        for name, panel in panels.items()
    }
    return laplacians, arenas


def _dense_laplacian(graph):
    from graphdr.graphs.model import laplacian

    check_dense("penalty laplacian", graph.n)
    return laplacian(graph).toarray()


def _table(problems, done, known):
    parts = []
    for number, instance, draw, seed in sorted(done):
        problem, played = problems[number], done[number, instance, draw, seed]
        keys = {"problem": problem["name"], "instance": instance, "draw": draw, "seed": seed}
        about = known.get((number, instance, draw))
        told = (about.constants.size, about.nu_k, about.s_k_bar, about.error) if about else (None,) * len(TOLD)
        columns = {name: getattr(played, name) for name in MEASURED} | dict(zip(TOLD, told, strict=True))
        parts.append(keys | {name: np.nan if own is None else own for name, own in columns.items()})
    return store.stack(parts)
