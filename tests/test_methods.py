"""Every method of the configuration, through the real stages and files, plays what its twin plays."""

import importlib
import json
from contextlib import chdir
from types import SimpleNamespace

import numpy as np
import pytest
import twins
from numpy.testing import assert_allclose

from graphdr import bases, design, features, graphs, io, jobs, paths, rewards, spectral, store, streams
from graphdr.rng import stream

PROTOCOL = {
    "instances": 2, "draws": 2, "horizon": 80, "seeds": 2, "checkpoint": 1, "arms": 5,
    "ridge": 0.7, "alpha": 0.8, "k": 3, "k_star": 2, "tail": 0.2, "components": 12, "k_max": 6, "resamples": 3,
}  # fmt: skip
PROBLEM = {"dataset": "sbm", "n": 30, "blocks": 3, "p_in": 0.7, "p_out": 0.05}
FACTS = ["k_hat_naive", "k_hat_bootstrap"]
BOTH = {"label": "a basis and a penalty", "basis": "gaussian", "laplacian": 2}


def shrink(config: dict, methods: list[str]) -> dict:
    """Keep the methods of the configuration and put them on one tiny experiment, with and without flips."""
    problems = {"of": ["small"], "vary": {"flip": [0, 0.15]}}
    return config | {
        "protocol": config["protocol"] | PROTOCOL,
        "methods": config["methods"] | {"both": BOTH},
        "problems": {"small": PROBLEM},
        "experiments": {"all": {"problems": problems, "methods": methods, "facts": FACTS}},
        **{block: {} for block in ("evaluations", "tables", "figures")},
    }


def run(stage: str, job: jobs.Job, **output) -> None:
    """Run a stage as the workflow does, its job having gone through JSON."""
    parts = json.loads(json.dumps([job.input, output, job.params]))
    importlib.import_module(f"graphdr.stages.{stage}").main(*(SimpleNamespace(**part) for part in parts))


def build(config: dict) -> design.Design:
    """Build all files from the graphs to the runs in the working directory."""
    plan = design.expand(config)
    for graph in plan.graphs:
        run("build_graph", jobs.build_graph(plan, graph), nodes=paths.nodes(graph), edges=paths.edges(graph))
    for graph, basis in plan.bases:
        run("compute_basis", jobs.compute_basis(plan, graph, basis), basis=paths.basis(graph, basis))
    for batch, spec in plan.batches.items():
        run("pose_problem", jobs.pose_problem(plan, batch), theta=paths.theta(batch))
        run("describe_problem", jobs.describe_problem(plan, batch), facts=paths.facts(batch))
        for method in plan.config["experiments"][spec["experiment"]]["methods"]:
            run("run_bandit", jobs.run_bandit(plan, batch, method), runs=paths.runs(batch, method))
    return plan


@pytest.fixture(scope="module")
def plan(config, tmp_path_factory):
    """All methods, built once; the tests of this module work beside the files."""
    with chdir(tmp_path_factory.mktemp("methods")):
        yield build(shrink(config, [*config["methods"], "both"]))


def low(adjacency, k, rng):
    return np.linalg.eigh(twins.laplacian(adjacency))[1][:, 1 : k + 1]


# The features that a basis stands for, from a dense adjacency matrix, k and the stream of its draw.
FEATURES = {
    "identity": lambda adjacency, k, rng: np.eye(len(adjacency)),
    "laplacian_low": low,
    "shuffled": lambda adjacency, k, rng: low(adjacency, k, rng)[rng.permutation(len(adjacency))],
    "onehot_pca": lambda adjacency, k, rng: np.linalg.svd(np.eye(len(adjacency)) - 1 / len(adjacency))[2][:k].T,
    "gaussian": lambda adjacency, k, rng: rng.standard_normal((k, len(adjacency))).T / np.sqrt(k),
}


def play_twin(plan: design.Design, method: dict, problem: dict, instance: int, draw: int, seed: int) -> np.ndarray:
    """Return the regret of Algorithm 1 on the graph and reward of an instance, and the stream of a seed."""
    root = plan.config["seed"]
    graph = store.read_graphs(paths.nodes(problem["graph"]), paths.edges(problem["graph"]))[instance]
    adjacency, n = graph.adjacency.toarray(), graph.n
    theta = store.read_thetas(paths.theta("all"))[problem["name"], instance]
    met = streams.draw(root, problem, n, instance, seed)
    if method.get("policy") == "random":
        key = {"instance": instance, "n": n, "m": problem["arms"], "candidates": problem["candidates"], "run": seed}
        return twins.random_policy(problem["arms"], met.arms, theta, stream(root, "random", **key)).regret
    facts = store.read_facts(paths.facts("all"))
    k = int(facts[problem["name"], instance, method["k"]]) if "k" in method else problem["k"]
    rng = stream(root, "basis", basis=method["basis"], n=n, instance=instance, draw=draw)
    features = FEATURES[method["basis"]](adjacency, k, rng)
    penalty = features.T @ twins.laplacian(adjacency) @ features
    v0 = problem["ridge"] * np.eye(features.shape[1]) + method.get("laplacian", 0) * penalty
    return twins.linucb(features, v0, theta, *met, np.full(problem["horizon"], problem["alpha"])).regret


def read_graphs(name: str) -> list[graphs.Graph]:
    return store.read_graphs(paths.nodes(name), paths.edges(name))


def test_graphs_are_drawn_and_flipped_by_streams_of_their_own(plan):
    family, parameters = graphs.FAMILIES["sbm"], {name: PROBLEM[name] for name in ("blocks", "p_in", "p_out")}
    for problem in plan.problems.values():
        for instance, (clean, observed) in enumerate(
            zip(read_graphs(problem["clean"]), read_graphs(problem["graph"]), strict=True)
        ):
            key = {"family": "sbm", "n": 30, "instance": instance}
            drawn = graphs.largest_component(family(30, stream(plan.config["seed"], "graph", **key), **parameters))
            flipped = graphs.flip_pairs(drawn, problem["flip"], stream(plan.config["seed"], "flip", **key))
            assert (clean.adjacency != drawn.adjacency).nnz == 0
            assert (observed.adjacency != graphs.largest_component(flipped).adjacency).nnz == 0
            assert (observed.adjacency.nnz != clean.adjacency.nnz) == (problem["flip"] > 0)


def test_rewards_have_unit_norm_and_the_stated_tail_on_the_clean_graph(plan):
    thetas = store.read_thetas(paths.theta("all"))
    weight = PROTOCOL["tail"]
    for (problem, instance), theta in thetas.items():
        clean = read_graphs(plan.problems[problem]["clean"])[instance]
        smooth = low(clean.adjacency.toarray(), PROTOCOL["k_star"], None)
        assert_allclose(np.linalg.norm(theta), 1)
        assert_allclose(features.tail(smooth, theta), weight / np.hypot(1 - weight, weight), atol=1e-9)
    assert len(thetas) == 4
    assert np.array_equal(thetas["small-flip_0", 0], thetas["small-flip_0_15", 0])


def test_a_reward_keeps_its_shape_on_the_nodes_that_are_left(workdir, small_graph):
    left = np.delete(np.arange(small_graph.n), [3, 17])
    store.write_graphs([small_graph], "clean.parquet", "edges.parquet")
    store.write_graphs([graphs.induced(small_graph, left)], "observed.parquet", "fewer.parquet")
    pairs = spectral.low_eigenpairs(small_graph, 6)
    store.write_bases({(0, 0): bases.Basis(pairs.vectors, pairs.values, pairs.residuals)}, "basis.parquet")
    problem = {"name": "p", "clean": "clean", "graph": "observed", "instances": 1, "k_star": 3, "tail": 0}
    files = {"basis": {"clean": "basis.parquet"}, "nodes": {g: f"{g}.parquet" for g in ("clean", "observed")}}
    run("pose_problem", jobs.Job(files, {"problems": [problem], "seed": 0}), theta="theta.parquet")
    whole = rewards.smooth(pairs.vectors[:, 1:4], stream(0, "theta", n=small_graph.n, instance=0))
    assert_allclose(store.read_thetas("theta.parquet")["p", 0], whole[left] / np.linalg.norm(whole[left]))


def test_k_hat_is_read_off_the_observed_graph(plan):
    facts = store.read_facts(paths.facts("all"))
    found = {role: [] for role in ("clean", "graph", "told")}
    for name, problem in plan.problems.items():
        for instance in range(PROTOCOL["instances"]):
            for role in ("clean", "graph"):
                adjacency = read_graphs(problem[role])[instance].adjacency.toarray()
                gaps = np.diff(np.linalg.eigvalsh(twins.laplacian(adjacency)))[1 : PROTOCOL["k_max"] + 1]
                found[role].append(1 + np.argmax(gaps))
            found["told"].append(facts[name, instance, "k_hat_naive"])
    assert found["told"] == found["graph"]
    assert found["clean"] != found["graph"]


def test_every_method_plays_what_its_twin_plays(plan):
    for name, method in plan.config["methods"].items():
        runs = io.read("runs", paths.runs("all", name)).to_pandas()
        played = set()
        for (problem, instance, draw, seed), part in runs.groupby(["problem", "instance", "draw", "seed"]):
            assert part["t"].tolist() == list(range(1, 81))
            twin = play_twin(plan, method, plan.problems[problem], instance, draw, seed)
            assert_allclose(part["regret"], twin, rtol=0, atol=1e-9, err_msg=f"{name} on {problem}, draw {draw}")
            played.add((problem, instance, draw, seed))
        further = [1, 2] if method.get("basis") in bases.REDRAWN else []  # on instance 0 only
        draws = [(0, draw) for draw in [0, *further]] + [(1, 0)]
        assert played == {(p, i, d, s) for p in plan.problems for i, d in draws for s in (0, 1)}


def test_different_algorithms_play_differently(plan):
    finals, algorithms = set(), set()
    for name, method in plan.config["methods"].items():
        finals.add(round(io.read("runs", paths.runs("all", name))["regret"][79].as_py(), 9))
        algorithms.add(tuple(method.get(knob) for knob in ("policy", "basis", "laplacian")))
    assert len(finals) >= len(algorithms)


def test_every_basis_is_in_a_method_and_has_a_twin(config):
    used = {method["basis"] for method in config["methods"].values() if "basis" in method}
    assert used == set(FEATURES) == {*bases.BASES, "identity"}


def test_adding_a_method_changes_no_other_number(plan, config, tmp_path):
    few = ["random", "graphdr_shuffled", "spectral_ucb"]
    before = {name: io.read("runs", paths.runs("all", name)) for name in few}
    with chdir(tmp_path):
        build(shrink(config, few[::-1]))
        for name in few:
            assert io.read("runs", paths.runs("all", name)).equals(before[name])


def test_measurements_are_means_over_the_seeds(plan):
    methods = plan.config["experiments"]["all"]["methods"]
    output = {"measurements": paths.measurements("all"), "curves": paths.curves("all")}
    run("measure_experiment", jobs.measure_experiment(plan, "all"), **output)
    table = io.read("measurements", output["measurements"]).to_pandas()
    finals = {name: io.read("runs", paths.runs("all", name)).to_pandas().query("t == 80") for name in methods}
    for name, final in finals.items():
        shown = final[final["draw"] == 0].groupby(["problem", "instance"])["regret"].mean()
        found = table[(table["method"] == name) & (table["quantity"] == "regret")].set_index(["problem", "instance"])
        assert_allclose(found["value"].loc[shown.index], shown)
    facts = store.read_facts(paths.facts("all"))
    told = table[table["method"].isna()].set_index(["problem", "instance", "quantity"])["value"]
    assert told.to_dict() == facts
