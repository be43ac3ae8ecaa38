"""Every method of the configuration, through the real stages and files, plays what its twin plays."""

from contextlib import chdir

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from graphdr.bandit import environment, pilot, rewards
from graphdr.cache import io, paths
from graphdr.core.records import to_json
from graphdr.core.rng import stream
from graphdr.graphs import arm_features, model, perturb, random_graphs, spectral
from graphdr.graphs.arm_features import IDENTITY, RANDOM_DIRECTIONS, all_bases, find
from graphdr.plan import design, jobs
from graphdr.plan.job import Job
from graphdr.stages import pose_problem
from graphdr.store.graphs import random_items, read_graphs, read_items, write_bases, write_graphs
from graphdr.store.problems import read_facts, read_runs, read_thetas
from tests.support import graph_prior_twin, rival_twins, twins
from tests.support.project import draw_ratings, write_toy
from tests.support.stages import OBSERVED, PROTOCOL, kept, rounds_of, run, small

PROBLEM = {"dataset": "sbm", "n": 30, "blocks": 3, "p_in": 0.7, "p_out": 0.05}
FACTS = ["k_hat_naive", "k_hat_bootstrap", "zeta", "eps_l", "interior_gap", "pilot_error_bound"]
FURTHER = {  # besides those of the configuration
    "both": {"label": "a basis and a penalty", "basis": "gaussian", "laplacian": 2},
    "smooth": {"label": "a filter", "basis": "laplacian_low", "filter": "smooth", "rho": 6},
    "short": {"label": "s", "basis": "netmf_random_directions", "filter": "heat", "rho": 3, "noise_units": True},
    "moved": {"label": "a control of data", "basis": "interaction_svd_shuffled"},
    "two": {"label": "two bases", "policy": "graph_prior_thompson", "basis": "laplacian_low", "second_basis": "netmf"},
    "turned": {"label": "a control of unit rows", "basis": "regularised_unit_random_directions"},
}
GIVEN = np.random.default_rng(7).standard_normal((36, 6))  # columns of a user, for items and nodes of any graph
BATCH = {"sbm": "graphs", "toy": "data"}  # and so the experiment of a problem on this data set


def needs_data(basis: str) -> bool:
    """Tell whether a basis needs a data set."""
    return basis != IDENTITY and find(find(basis).stored_name).data in ("content", "ratings")


def is_random(basis: str) -> bool:
    return basis != IDENTITY and find(basis).is_random


def shrink(config: dict, methods: list[str]) -> dict:
    """Keep the methods of the configuration and put them on two tiny experiments, each with and without flips.

    One is on random graphs, which have no content, and one on a data set.
    """
    lines = config["methods"] | FURTHER
    on_graphs = [name for name in methods if not needs_data(lines[name].get("basis", IDENTITY))]
    vary = {"flip": [0, 0.15]}
    blocks = {
        "methods": {name: fitting(method) for name, method in config["methods"].items()} | FURTHER,
        "problems": {"small": PROBLEM, "toy": {"dataset": "toy"}},
        "experiments": {
            "graphs": {"problems": {"of": ["small"], "vary": vary}, "methods": on_graphs, "facts": FACTS},
            "data": {"problems": {"of": ["toy"], "vary": vary}, "methods": methods, "facts": FACTS},
        },
    }
    return small(config, {"user_columns": "user_columns.parquet"}, **blocks)


def fitting(method: dict) -> dict:
    """Return a method whose own k, if it has one, fits the small bases and needs no kernel of its own."""
    return method | {"k": 3} if isinstance(method.get("k"), int) else method


def build(config: dict) -> design.Design:
    """Build all files from the tables of the data set to the runs in the working directory."""
    plan = design.expand(config)
    write_toy(draw_ratings())
    names = [name for number in range(36) for name in (f"item {number}", str(number), f"unknown {number}")]
    columns = {f"column {at}": np.repeat(column, 3)[::-1] for at, column in enumerate(GIVEN.T)}
    pq.write_table(pa.table({"node": names[::-1]} | columns), "user_columns.parquet")
    for graph in plan.graphs:
        run(jobs.build_graph(plan, graph))
    for graph, basis in sorted(plan.bases, key=lambda key: find(key[1]).made_of is not None):
        run(jobs.compute_basis(plan, graph, basis))
    for batch in plan.batches:
        run(jobs.pose_problem(plan, batch))
        if jobs.has_pilot(plan, batch):
            run(jobs.estimate_pilot(plan, batch))
        run(jobs.describe_problem(plan, batch))
    for key in jobs.keys(plan, "run_bandit"):
        run(jobs.run_bandit(plan, **key))
    return plan


@pytest.fixture(scope="module")
def plan(config, tmp_path_factory):
    """All methods, built once; the tests of this module work beside the files."""
    with chdir(tmp_path_factory.mktemp("methods")):
        yield build(shrink(config, [*config["methods"], *FURTHER]))


def line(plan: design.Design, name: str) -> dict:
    """Return the settings of a method, without those that are as usual."""
    usual = {"policy": "linucb", "filter": "cut", "radius": "constant"}
    settings = to_json(plan.config.methods[name].method)
    return {key: value for key, value in settings.items() if value is not None and usual.get(key) != value}


def low(adjacency, k, *_):
    return np.linalg.eigh(twins.laplacian(adjacency))[1][:, 1 : k + 1]


def regularised_laplacian(adjacency):
    """Return the Laplacian in which every degree is larger by the mean degree."""
    degree = adjacency.sum(axis=1)
    scale = np.diag(1 / np.sqrt(degree + degree.mean()))
    return np.eye(len(adjacency)) - scale @ adjacency @ scale


def regularised(adjacency, k, *_):
    return np.linalg.eigh(regularised_laplacian(adjacency))[1][:, 1 : k + 1]


def with_unit_rows(twin):
    """Scale the rows of a twin, of as many digits as are stored: what is left of ties must be the same."""
    return lambda *told: (features := twin(*told).round(12)) / np.linalg.norm(features, axis=1, keepdims=True)


def random_walks(adjacency):
    """Return the logarithm of how often two nodes meet in three steps of a random walk, against chance."""
    degree = adjacency.sum(axis=1)
    step = adjacency / degree[:, None]
    return np.log(np.maximum(degree.sum() / 3 * (step + step @ step + step @ step @ step) / degree, 1))


def with_lengths_of(features, rng):
    """Give the rows of random directions the lengths of features."""
    directions = rng.standard_normal(features.shape[::-1]).T
    return directions * (np.linalg.norm(features, axis=1) / np.linalg.norm(directions, axis=1))[:, None]


def content(ratings):
    """Return the ratings less the item's mean, each item scaled to length one."""
    centred = np.nan_to_num(ratings - np.nanmean(ratings, axis=1, keepdims=True))  # an unknown rating is the mean
    return centred / np.linalg.norm(centred, axis=1, keepdims=True)


# The features that a basis stands for: of a dense adjacency matrix, k, the stream of its draw, ratings, given columns.
def in_another_order(twin):
    """Give the rows of another twin to other nodes."""
    return lambda adjacency, k, rng, *rest: twin(adjacency, k, rng, *rest)[rng.permutation(len(adjacency))]


FEATURES = {
    "identity": lambda adjacency, *_: np.eye(len(adjacency)),
    "laplacian_low": low,
    "laplacian_first": lambda adjacency, k, *_: np.linalg.eigh(twins.laplacian(adjacency))[1][:, :k],
    "pooled_low": low,  # without segments
    "regularised_low": regularised,
    "unit_rows": with_unit_rows(low),
    "regularised_unit": with_unit_rows(regularised),
    "onehot_pca": lambda adjacency, k, *_: np.linalg.svd(np.eye(len(adjacency)) - 1 / len(adjacency))[2][:k].T,
    "gaussian": lambda adjacency, k, rng, *_: rng.standard_normal((k, len(adjacency))).T / np.sqrt(k),
    "graph_pca": lambda adjacency, k, *_: np.linalg.svd(adjacency - adjacency.mean(axis=0))[2][:k].T,
    "content_pca": lambda adjacency, k, rng, ratings, *_: np.linalg.svd(content(ratings))[0][:, :k],
    "interaction_svd": lambda adjacency, k, rng, ratings, *_: np.linalg.svd(np.nan_to_num(ratings))[0][:, :k],
    "netmf": lambda adjacency, k, *_: np.linalg.svd(random_walks(adjacency))[0][:, :k],
    "user_columns": lambda adjacency, k, rng, ratings, given: given[:, :k],
}
FEATURES |= {f"{name}_shuffled": in_another_order(twin) for name, twin in FEATURES.items()}
FILTERS = {  # what a filter multiplies the columns by
    "smooth": lambda rough, rho: np.sqrt(1 / (1 + rho * rough)),
    "heat": lambda rough, rho: np.exp(-rho * rough / 2),
    "matern": lambda rough, rho: (1 + rho * rough / 3) ** -0.75,
}


def roughness(basis, adjacency, k):
    """Return the roughness of the columns that the filters here are put on."""
    if basis == "netmf":
        values = np.linalg.svd(random_walks(adjacency))[1]
        return ((values[0] / values[:k]) ** 2 - 1) / 10
    values = np.abs(np.linalg.eigvalsh(twins.laplacian(adjacency)))
    return values[:k] if basis == "laplacian_first" else values[1 : k + 1]


def features_twin(method, adjacency, k, rng, *known):
    """Return the columns of a basis times their filter; a control of lengths has those of the result."""
    basis = method["basis"].removesuffix(f"_{RANDOM_DIRECTIONS}")
    features = FEATURES[basis](adjacency, k, rng, *known)
    if "filter" in method:
        features = features * FILTERS[method["filter"]](roughness(basis, adjacency, k), method["rho"])
    features = with_lengths_of(features, rng) if method["basis"] != basis else features
    return features.round(12) if "unit" in basis else features


def rng_of(purpose: str, root: int, problem: dict, n: int, instance: int, seed: int) -> np.random.Generator:
    """Return the random numbers of a policy."""
    key = {"instance": instance, "n": n, "m": problem["arms"], "candidates": problem["candidates"], "run": seed}
    return stream(root, purpose, **key)


def play_twin(plan: design.Design, method: dict, problem: dict, instance: int, draw: int, seed: int) -> np.ndarray:
    """Return the regret of Algorithm 1 on the graph and reward of an instance, and the stream of a seed."""
    root, batch = plan.config.seed, BATCH[problem["dataset"]]
    graph = graphs_of(problem["graph"])[instance]
    adjacency, n = graph.adjacency.toarray(), graph.n
    theta = kept(read_thetas, paths.theta(batch))[problem["name"], instance]
    met = rounds_of(root, problem, n, instance, seed)
    if method.get("policy", "").startswith("graph_prior"):
        return prior_twin(plan, method, problem, adjacency, theta, met, (instance, draw, seed))
    if method.get("policy") in ("graph_ucb", "club"):
        game = theta, met.arms, environment.by_candidate(met), problem["alpha"]
        if method["policy"] == "club":
            return twins.regret(theta, met.arms, rival_twins.club(adjacency, *game))
        constants = method["laplacian"], problem["noise"], problem["delta"]
        return twins.regret(theta, met.arms, rival_twins.graph_ucb(adjacency, *game, *constants))
    if method.get("policy") in rival_twins.TWINS:
        game = theta, met.arms, environment.by_candidate(met)
        chosen = rival_twins.TWINS[method["policy"]](*game, lambda name: rng_of(name, root, problem, n, instance, seed))
        return twins.regret(theta, met.arms, chosen)
    assert "basis" in method, f"{method['policy']!r} has no twin: add one to TWINS of tests/support/rival_twins.py"
    facts = kept(read_facts, paths.facts(batch))
    k = method.get("k", problem["k"])
    if k == "adaptive" or method.get("policy") == "corral":
        k = max(problem["k_grid"])
    elif isinstance(k, str):
        k = int(facts[problem["name"], instance, k])
    basis = method["basis"]
    stream_name = basis if basis == IDENTITY else find(basis).stream_name
    rng = stream(root, "basis", basis=stream_name, n=n, instance=instance, draw=draw)
    items = kept(read_items, paths.nodes(problem["graph"]))[instance].item
    ratings = draw_ratings()[items] if batch == "data" else None
    features = features_twin(method, adjacency, k, rng, ratings, GIVEN[items])
    if method.get("noise_units"):
        sigma = problem["noise"]
        problem = problem | {"alpha": problem["alpha"] * sigma, "ridge": problem["ridge"] * sigma**2}
    if method.get("policy") == "longest":
        longest = [max(round_, key=lambda arm: np.linalg.norm(features[arm])) for round_ in met.arms.tolist()]
        return twins.regret(theta, met.arms, np.array(longest))
    penalty = features.T @ twins.laplacian(adjacency) @ features
    v0 = problem["ridge"] * np.eye(features.shape[1]) + method.get("laplacian", 0) * penalty
    if method.get("policy") in ("thompson", "corral"):
        return random_twin(plan, method, problem, features, v0, theta, met, (instance, seed))
    if method.get("k") == "adaptive":
        constants = [problem[name] for name in ("alpha", "ridge", "noise", "delta")]
        return twins.regret(theta, met.arms, twins.adaptive(features, problem["k_grid"], theta, *met, *constants).arms)
    if "radius" not in method:
        return twins.linucb(features, v0, theta, *met, np.full(problem["horizon"], problem["alpha"])).regret
    if method["radius"] == "spectral":
        return twins.linucb(features, v0, theta, *met, spectral_twin(problem, v0)).regret
    told = {name: facts[problem["name"], instance, name] for name in ("zeta", "eps_l", "interior_gap")}
    radius, residual = radius_twin(method["radius"], problem, features, theta, told, (root, n, instance))
    return twins.linucb(features, v0, theta, *met, radius, residual, float(residual is not None)).regret


def prior_twin(plan, method, problem, adjacency, theta, met, place):
    """Return the regret of the graph prior on all columns that are stored, shuffled if its basis is."""
    n, (instance, draw, seed) = len(theta), place
    key = plan.config.seed, problem, n, instance, seed
    columns = rng_of("random", *key).integers(problem["arms"], size=problem["horizon"])
    rng = rng_of("thompson", *key) if method["policy"] == "graph_prior_thompson" else None
    items, ratings = kept(read_items, paths.nodes(problem["graph"]))[instance].item, None
    if problem["dataset"] == "toy":
        ratings = draw_ratings()[items]
    features, rough = graded_twin(method["basis"], adjacency, problem["components"], ratings)
    if method["basis"] == "laplacian_low_shuffled":
        order = {"basis": "shuffled", "n": n, "instance": instance, "draw": draw}
        features = features[stream(plan.config.seed, "basis", **order).permutation(n)]
    beside, second_basis = method.get("second_basis"), None
    if beside and (beside == "netmf" or ratings is not None):
        second_basis = graded_twin(beside, adjacency, problem["components"], ratings)
    chosen = graph_prior_twin.play(features, rough, theta, *met, columns, rng, second_basis)[0]
    return twins.regret(theta, met.arms, chosen)


def graded_twin(basis, adjacency, count, ratings):
    """Return all columns that a graph prior takes from a basis, and how rough each is."""
    singular = {
        "netmf": lambda: random_walks(adjacency),
        "content_pca": lambda: content(ratings),
        "interaction_svd": lambda: np.nan_to_num(ratings),
    }
    if basis in singular:
        vectors, values, _ = np.linalg.svd(singular[basis]())
        return spectral.canonical_signs(vectors[:, :count]), ((values[0] / values[:count]) ** 2 - 1) / 10
    matrix = regularised_laplacian(adjacency) if basis == "regularised_low" else twins.laplacian(adjacency)
    values, vectors = np.linalg.eigh(matrix)
    if basis == "unit_rows":
        return FEATURES[basis](adjacency, count - 1).round(12), values[1:count]
    low = spectral.canonical_signs(vectors[:, :count])  # a sign turns what is drawn around …
    return np.round(low, spectral.DECIMALS), np.array([values[1], *values[1:count]])  # … and equal degrees tie on u_1


def random_twin(plan, method, problem, features, v0, theta, met, place):
    """Return the regret of a rival that draws random numbers of its own."""
    key = plan.config.seed, problem, len(theta), *place
    game = theta, met.arms, environment.by_candidate(met), problem["alpha"]
    if method["policy"] == "corral":
        grid = sorted(problem["k_grid"])
        chosen = rival_twins.corral(features, grid, *game, problem["ridge"], rng_of("learners", *key))
        return twins.regret(theta, met.arms, chosen)
    features = spectral.canonical_signs(features)  # a sign turns what is drawn around
    return twins.regret(theta, met.arms, rival_twins.thompson(features, v0, *game, rng_of("thompson", *key)))


def spectral_twin(problem, v0):
    """Return the radius of SpectralUCB as its paper prints it."""
    horizon, values = problem["horizon"], np.linalg.eigvalsh(v0)
    volume = np.log(1 + horizon / problem["ridge"])
    d = max(d for d in range(1, 1 + len(values)) if (d - 1) * values[d - 1] <= horizon / volume)
    width = 2 * problem["noise"] * np.sqrt(d * volume + 2 * np.log(1 / problem["delta"])) + 1
    return np.full(horizon, width)


def radius_twin(rule, problem, features, theta, told, key):
    """Return the radius of every round as the theorems print it, and the residual whose leverage is added, if any."""
    root, n, instance = key
    k, ridge, t = features.shape[1], problem["ridge"], np.arange(1, 1 + problem["horizon"])
    outside = np.eye(n) - features @ features.T
    inside = np.sqrt(1 - told["zeta"] ** 2)
    size = inside + told["zeta"] if rule == "generic" else np.linalg.norm(features.T @ theta)
    growth = k * np.log(1 + (t - 1) / (ridge * k)) + 2 * np.log(1 / problem["delta"])
    beta = problem["noise"] * np.sqrt(growth) + np.sqrt(ridge) * size
    if rule == "generic":
        nu = told["zeta"] + inside * 4 * told["eps_l"] / told["interior_gap"]
        return beta + nu * np.sqrt(2 * (t - 1) * k * np.log(1 + (t - 1) / (ridge * k))), None
    if rule == "oracle":
        return beta, outside @ theta
    if rule in ("estimated", "a_priori"):
        rng = stream(root, "pilot", n=n, instance=instance)
        seen = pilot.play(theta, problem["noise"], problem["pilot"] * n, rng)
        error = np.linalg.norm(outside @ (seen.theta - theta))
        if rule == "a_priori":
            error = twins.pilot_error_bound(seen.theta, seen.pulls, problem["noise"], features, problem["delta"] / 2)
            growth = k * np.log(1 + (t - 1) / (ridge * k)) + 2 * np.log(2 / problem["delta"])
            beta = problem["noise"] * np.sqrt(growth) + np.sqrt(ridge) * size
        return beta + error * np.sqrt(2 * t * k * np.log(1 + t / (ridge * k))), outside @ seen.theta
    return beta, None


def on(plan: design.Design, dataset: str) -> list[dict]:
    """Return the problems on one data set."""
    return [vars(problem) for problem in plan.problems.values() if problem.dataset == dataset]


def graphs_of(name: str) -> list[model.Graph]:
    return kept(read_graphs, paths.nodes(name), paths.edges(name))


def test_graphs_are_drawn_and_flipped_by_streams_of_their_own(plan):
    family, parameters = random_graphs.FAMILIES["sbm"], {name: PROBLEM[name] for name in ("blocks", "p_in", "p_out")}
    for problem in on(plan, "sbm"):
        for instance, (clean, observed) in enumerate(
            zip(graphs_of(problem["clean"]), graphs_of(problem["graph"]), strict=True)
        ):
            key = {"family": "sbm", "n": 30, "instance": instance}
            drawn = model.largest_component(family(30, stream(plan.config.seed, "graph", **key), **parameters))
            flipped = perturb.flip_pairs(drawn, problem["flip"], stream(plan.config.seed, "flip", **key))
            assert (clean.adjacency != drawn.adjacency).nnz == 0
            assert (observed.adjacency != model.largest_component(flipped).adjacency).nnz == 0
            assert (observed.adjacency.nnz != clean.adjacency.nnz) == (problem["flip"] > 0)


def test_rewards_have_unit_norm_and_the_stated_tail_on_the_clean_graph(plan):
    thetas = read_thetas(paths.theta("graphs"))
    weight = PROTOCOL["tail"]
    for (problem, instance), theta in thetas.items():
        clean = graphs_of(plan.problems[problem].clean)[instance]
        smooth = low(clean.adjacency.toarray(), PROTOCOL["k_star"])
        assert_allclose(np.linalg.norm(theta), 1)
        assert_allclose(arm_features.tail(theta, smooth), weight / np.hypot(1 - weight, weight), atol=1e-9)
    assert len(thetas) == 4
    assert np.array_equal(thetas["small-flip_0", 0], thetas["small-flip_0_15", 0])


def test_rewards_on_a_data_set_are_the_mean_ratings_centred_and_of_unit_norm(plan):
    thetas = read_thetas(paths.theta("data"))
    popularity, mean = np.sum(~np.isnan(draw_ratings()), axis=1), np.nanmean(draw_ratings(), axis=1)
    for problem in on(plan, "toy"):
        (items,), (graph,) = read_items(paths.nodes(problem["graph"])), graphs_of(problem["graph"])
        assert len(items.item) == graph.n > OBSERVED["n"] / 2
        assert set(items.item) <= set(np.argsort(-popularity, kind="stable")[: OBSERVED["n"]])
        assert np.array_equal(items.popularity, popularity[items.item])
        shifted = mean[items.item] - mean[items.item].mean()
        assert_allclose(thetas[problem["name"], 0], shifted / np.linalg.norm(shifted))
    assert len(thetas) == 2


def test_a_reward_keeps_its_shape_on_the_nodes_that_are_left(workdir, small_graph):
    left = np.delete(np.arange(small_graph.n), [3, 17])
    for graph, *files in (
        (small_graph, "clean.parquet", "edges.parquet"),
        (model.induced(small_graph, left), "observed.parquet", "fewer.parquet"),
    ):
        write_graphs([graph], [random_items(graph)], *files)
    pairs = spectral.low_eigenpairs(small_graph, 6)
    write_bases({(0, 0): pairs}, "basis.parquet")
    problem = {"name": "p", "clean": "clean", "graph": "observed", "instances": 1}
    problem |= {"reward": "planted", "k_star": 3, "tail": 0}
    nodes = {graph: f"{graph}.parquet" for graph in ("clean", "observed")}
    input = pose_problem.Input({"clean": "basis.parquet"}, nodes, {}, {}, {})
    output, params = (
        pose_problem.Output("theta.parquet", "contexts.parquet", "rewards.parquet"),
        pose_problem.Params([problem], 0),
    )
    run(Job("pose_problem", input, output, params))
    whole = rewards.smooth(pairs.vectors[:, 1:4], stream(0, "theta", n=small_graph.n, instance=0))
    assert_allclose(read_thetas("theta.parquet")["p", 0], whole[left] / np.linalg.norm(whole[left]))


def played_methods(plan: design.Design) -> list[tuple[str, str]]:
    """Return every data set with every method that is played on it."""
    return [(data, m) for data, name in BATCH.items() for m in plan.config.experiments[name].methods]


def runs_of(plan: design.Design, dataset: str, method: str) -> pd.DataFrame:
    """Read the runs of a method on all problems of a data set, wherever they were played."""
    parts = []
    for problem in on(plan, dataset):
        played = plan.played[problem["name"], method]
        columns = kept(read_runs, played.path)[played.method, played.problem]
        parts.append(pd.DataFrame(columns).assign(problem=problem["name"]))
    return pd.concat(parts, ignore_index=True)


def test_every_method_plays_what_its_twin_plays(plan):
    for dataset, name in played_methods(plan):
        method, problems = line(plan, name), on(plan, dataset)
        runs = runs_of(plan, dataset, name)
        played = set()
        for (problem, instance, draw, seed), part in runs.groupby(["problem", "instance", "draw", "seed"]):
            assert part["t"].tolist() == list(range(1, 81))
            played.add((problem, instance, draw, seed))
            if (seed or instance) and method.get("policy", "").startswith("graph_prior"):
                continue  # dense fits are slow: one run of each draw will do
            if method.get("basis", IDENTITY).removesuffix(f"_{RANDOM_DIRECTIONS}") not in FEATURES:
                continue  # a basis without a twin
            twin = play_twin(plan, method, vars(plan.problems[problem]), instance, draw, seed)
            assert_allclose(part["regret"], twin, rtol=0, atol=1e-9, err_msg=f"{name} on {problem}, draw {draw}")
        further = [1, 2] if is_random(method.get("basis", IDENTITY)) else []  # on instance 0 only
        draws = [(0, draw) for draw in further] + [(i, 0) for i in range(problems[0]["instances"])]
        assert played == {(p["name"], i, d, s) for p in problems for i, d in draws for s in (0, 1)}
    assert {name for _, name in played_methods(plan)} == set(plan.config.methods)


def test_runs_hold_leverage_width_and_what_their_bound_needs(plan):
    residual, told = ["srl", "crw", "widths"], ["size", "nu_k", "s_k_bar", "error"]
    for dataset, name in played_methods(plan):
        method = line(plan, name)
        runs = runs_of(plan, dataset, name)
        assert runs[residual].notna().all(axis=None) == (
            method.get("basis") == "laplacian_low"
            and "filter" not in method
            and method.get("k") != "adaptive"
            and method.get("policy") != "corral"
            and not method.get("policy", "").startswith("graph_prior")
        )
        assert runs[["srl_pilot", "crw_pilot"]].notna().all(axis=None) == (
            method.get("radius") in ("estimated", "a_priori")
        )
        assert runs[told].notna().all(axis=None) == (method.get("radius", "spectral") != "spectral")
        fitted, prior = runs[["fit_columns", "fit_basis", "gain", "gain_bound"]], method.get("policy", "")
        assert fitted.notna().all(axis=None) == fitted.notna().any(axis=None) == prior.startswith("graph_prior")
        for _, part in runs.groupby(["problem", "instance", "draw", "seed"]):
            assert (part[residual].diff().dropna() >= 0).all(axis=None) or "radius" not in method


def test_every_basis_is_in_a_method(config):
    used = {method["basis"] for method in config["methods"].values() if "basis" in method}
    assert used >= {IDENTITY, *(name for name, spec in all_bases().items() if spec.control is None)}


def test_adding_a_method_changes_no_other_number(plan, config, tmp_path):
    few = ["random", "graphdr_shuffled", "spectral_ucb"]
    before = {(dataset, name): runs_of(plan, dataset, name) for dataset in BATCH for name in few}
    with chdir(tmp_path):
        other = build(shrink(config, few[::-1]))
        for pair, runs in before.items():
            assert runs_of(other, *pair).equals(runs)


@pytest.mark.parametrize("batch", BATCH.values())
def test_measurements_are_means_over_the_seeds(plan, batch):
    methods = plan.config.experiments[batch].methods
    run(jobs.measure_batch(plan, batch))
    table = io.read("measurements", paths.measurements(batch)).to_pandas()
    (dataset,) = (data for data, name in BATCH.items() if name == batch)
    finals = {name: runs_of(plan, dataset, name).query("t == 80") for name in methods}
    keys = ["problem", "instance", "draw"]
    for name, final in finals.items():
        means = final.groupby(keys)["regret"].mean()
        found = table[(table["method"] == name) & (table["quantity"] == "regret")].set_index(keys)["value"]
        assert_allclose(found.loc[means.index], means)
        assert len(found) == len(means)
    facts = read_facts(paths.facts(batch))
    told = table[table["method"].isna()].set_index(["problem", "instance", "quantity"])["value"]
    assert told.to_dict() == facts
