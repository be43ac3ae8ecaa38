"""Contexts through the real stages and files: methods play what their twins play; single nodes are the node case."""

from contextlib import chdir

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from graphdr.bandit import environment
from graphdr.cache import io, paths
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.plan import design, jobs
from graphdr.plan.blocks import Factors
from graphdr.plan.problem import Problem
from graphdr.store.graphs import read_graphs, read_items
from graphdr.store.pilots import read_pilots
from graphdr.store.problems import read_arm_sets, read_facts, read_runs, read_thetas
from tests.support import twins
from tests.support.project import draw_ratings, write_toy
from tests.support.stages import kept, run_all, small

SMALL = {"dataset": "sbm", "n": 30, "blocks": 3, "p_in": 0.7, "p_out": 0.05, "tail": 0, "draws": 0}
METHODS = ["random", "linucb_full", "spectral_ucb", "graphdr", "graphdr_pooled", "graphdr_shuffled", "graph_pca"]
THEOREMS = ["graphdr_generic", "graphdr_oracle", "graphdr_estimated", "graphdr_uninflated"]
FACTS = ["zeta", "eps_l", "interior_gap", "contexts", "g", "g_pilot", "pilot_error"]
BUNDLE, SEGMENT = {"context": "bundle", "bundle_count": 60}, {"context": "segment"}
PROBLEMS = {  # experiment: the problem it starts from, what is set and what is varied
    "nodes": ("small", {}, {}),
    "bundles": ("small", BUNDLE, {"bundle": [1, 3], "bundle_sampling": ["uniform", "neighbourhood"]}),
    "segments": ("small", SEGMENT, {"segments": [1, 3], "segment_pattern": ["smooth", "rough"]}),
    "sources": ("small", BUNDLE | {"bundle": 3}, {"pilot_source": ["logged", "cross_fitted"]}),
    "chosen": ("toy", BUNDLE | {"bundle_sampling": "chosen"}, {"bundle": [2]}),
    "clusters": ("toy", SEGMENT | {"segments": 2, "segment_by": "cluster"}, {}),
}


@pytest.fixture(scope="module")
def plan(config, tmp_path_factory):
    """All of it, built once; the tests of this module work beside the files."""
    experiments = {
        name: {
            "problems": {"of": [of], "set": given, "vary": vary},
            "methods": [*METHODS, "graphdr_per_segment", *THEOREMS],
            "facts": FACTS,
        }
        for name, (of, given, vary) in PROBLEMS.items()
    }
    protocol = {"ridge": 1, "tail": 0, "instances": 1, "horizon": 60}
    problems = {"small": SMALL, "toy": {"dataset": "toy", "draws": 0}}
    settings = small(config, protocol, problems=problems, experiments=experiments)
    stages = ("build_graph", "compute_basis", "pose_problem", "estimate_pilot", "describe_problem", "run_bandit")
    with chdir(tmp_path_factory.mktemp("contexts")):
        write_toy(draw_ratings())
        made = design.expand(settings)
        run_all(made, [*stages, "measure_batch"])
        yield made


def low(adjacency, k):
    return np.linalg.eigh(twins.laplacian(adjacency))[1][:, 1 : k + 1]


def features_of(basis: str, adjacency, k: int, segments: int, rng) -> np.ndarray:
    """Return the features of the nodes that a basis stands for."""
    n = len(adjacency)
    if basis == "pooled_low":
        size = n // segments
        return np.tile(low(adjacency[:size, :size], k), (segments, 1)) / np.sqrt(segments)
    if basis == "graph_pca":
        return np.linalg.svd(adjacency - adjacency.mean(axis=0))[2][:k].T
    ways = {"identity": np.eye(n), "laplacian_low": low(adjacency, k)}
    return ways[basis] if basis in ways else low(adjacency, k)[rng.permutation(n)]


def contexts_of(plan, problem: Problem, instance: int) -> np.ndarray:
    """Return the contexts of a problem as dense rows."""
    batch = next(name for name, batch in plan.batches.items() if problem.name in batch.problems)
    thetas = kept(read_thetas, paths.theta(batch))
    pool = read_arm_sets(paths.contexts(batch), {problem.name: problem.segments}, thetas)[problem.name, instance]
    return np.eye(len(thetas[problem.name, instance])) if pool.rows is None else pool.rows.toarray()


def play_twin(plan, method: dict, problem: Problem, instance: int, seed: int) -> np.ndarray:
    """Return the regret of Algorithm 1 as it is printed: features z = E^T x of the candidates x of every round."""
    graph = kept(read_graphs, paths.nodes(problem.graph), paths.edges(problem.graph))[instance]
    popularity = kept(read_items, paths.nodes(problem.graph))[instance].popularity
    batch = next(name for name, batch in plan.batches.items() if problem.name in batch.problems)
    theta = kept(read_thetas, paths.theta(batch))[problem.name, instance]
    rows, segments = contexts_of(plan, problem, instance), problem.segments
    candidate_source = environment.CandidateSource(popularity, np.empty(0), np.empty(0))
    spec = environment.RoundsSpec(problem.horizon, problem.arms, noise=problem.noise, blocks=segments)
    met = environment.draw_rounds(plan.config.seed, spec, len(rows), instance, seed, candidate_source)
    if method.get("policy") == "random":
        key = {"instance": instance, "n": len(rows), "m": problem.arms, "candidates": "uniform", "run": seed}
        rng = stream(plan.config.seed, "random", **key)
        return twins.random_policy(problem.arms, met.arms, rows @ theta, rng).regret
    stream_name = {"laplacian_low_shuffled": "shuffled"}.get(method["basis"], method["basis"])
    key = {"basis": stream_name, "n": graph.n, "instance": instance, "draw": 0}
    adjacency = graph.adjacency.toarray()
    own = features_of(method["basis"], adjacency, problem.k, segments, stream(plan.config.seed, "basis", **key))
    v0 = problem.ridge * np.eye(own.shape[1])
    v0 += method.get("laplacian", 0) * own.T @ twins.laplacian(adjacency) @ own
    if method.get("policy") == "per_segment":
        segment = np.arange(graph.n) // (graph.n // segments)
        own = np.hstack([own * (segment == number)[:, None] for number in range(segments)])
        v0 = problem.ridge * np.eye(own.shape[1])
    return twins.linucb(rows @ own, v0, rows @ theta, *met, np.full(problem.horizon, problem.alpha)).regret


def runs_of(plan, problem: str, method: str) -> pd.DataFrame:
    played = plan.played[problem, method]
    return pd.DataFrame(kept(read_runs, played.path)[played.method, played.problem])


@pytest.mark.parametrize("method", [*METHODS, "graphdr_per_segment"])
def test_methods_play_algorithm_1_on_every_kind_of_context(plan, method):
    for name, problem in plan.problems.items():
        if method == "graphdr_shuffled" and problem.segments > 1:
            continue  # segments of a ring are alike: a twin's rounding would break ties between their nodes
        for (instance, seed), part in runs_of(plan, name, method).groupby(["instance", "seed"]):
            twin = play_twin(plan, plan.config.methods[method].plain(), problem, instance, seed)
            assert_allclose(part["regret"], twin, rtol=0, atol=1e-9, err_msg=f"{method} on {name}")


def alone(plan) -> list[str]:
    """Return the problems whose arms are single nodes by another name."""
    named = {name: (p.context, p.bundle, p.segments) for name, p in plan.problems.items()}
    single = [name for name, kind in named.items() if kind in (("bundle", 1, 1), ("segment", 1, 1))]
    assert len(single) == 4
    return single


@pytest.mark.parametrize("method", [*METHODS, "graphdr_per_segment", *THEOREMS])
def test_bundles_of_one_node_and_a_single_segment_are_the_node_case_value_by_value(plan, method):
    expected = runs_of(plan, "small", method)
    for name in alone(plan):
        pd.testing.assert_frame_equal(runs_of(plan, name, method), expected, check_exact=True)


def test_facts_pilots_and_measurements_of_single_nodes_are_those_of_nodes(plan):
    facts = {fact: value for (_, i, fact), value in kept(read_facts, paths.facts("nodes")).items() if i == 0}
    pilots = kept(read_pilots, paths.pilot("nodes"))["small", 0]
    for name in alone(plan):
        batch = next(batch for batch, spec in plan.batches.items() if name in spec.problems)
        assert {f: v for (p, i, f), v in kept(read_facts, paths.facts(batch)).items() if (p, i) == (name, 0)} == facts
        for budget, own in kept(read_pilots, paths.pilot(batch))[name, 0].items():
            assert np.array_equal(own.theta, pilots[budget].theta)
            assert np.array_equal(own.pulls, pilots[budget].pulls)


def test_theorems_keep_their_bounds_with_contexts(plan):
    for batch in plan.batches:
        table = io.read("measurements", paths.measurements(batch)).to_pandas()
        ratios = table[table["quantity"] == "bound_ratio"]
        assert set(ratios["method"]) == set(THEOREMS)
        assert (ratios["value"] <= 1).all()


def test_a_bundle_problem_is_about_as_many_arms_as_its_pool(plan):
    facts = kept(read_facts, paths.facts("bundles"))
    for name in plan.batches["bundles"].problems:
        rows = contexts_of(plan, plan.problems[name], 0)
        assert facts[name, 0, "contexts"] == len(rows) <= max(60, rows.shape[1])
        assert_allclose(np.linalg.norm(rows, axis=1), 1)


def test_every_source_of_a_pilot_estimates_the_same_reward(plan):
    errors = {}
    for batch in ("bundles", "sources"):
        for (problem, _, fact), value in kept(read_facts, paths.facts(batch)).items():
            if fact == "pilot_error" and plan.problems[problem].bundle == 3:
                errors.setdefault(plan.problems[problem].pilot_source, []).append(value)
    assert set(errors) == {"prefix", "logged", "cross_fitted"}
    assert max(map(np.mean, errors.values())) < 2 * min(map(np.mean, errors.values()))


def test_a_pair_of_a_segment_and_an_item_pays_what_the_segment_rates_it(plan):
    (name,) = plan.batches["clusters"].problems
    problem = plan.problems[name]
    (items,) = kept(read_items, paths.nodes(problem.graph))
    theta = kept(read_thetas, paths.theta("clusters"))[name, 0]
    n = len(theta) // 2
    assert np.array_equal(items.item[:n], items.item[n:])
    centred = items.reward - items.reward.mean()
    assert_allclose(theta, centred / np.linalg.norm(centred))
    assert not np.allclose(theta[:n], theta[n:])
    ratings = draw_ratings()
    assert items.popularity.sum() <= np.sum(~np.isnan(ratings))


WRONG = {
    "no kind of context 'basket'": {"context": "basket"},
    "no way to bundle 'twos'": {"context": "bundle", "bundle_sampling": "twos"},
    "no source of a pilot 'guess'": {"pilot_source": "guess"},
    "no segmentation 'age'; there are: ring": {"segment_by": "age"},
    "candidates = 'popularity' are nodes; contexts are offered 'uniform'": BUNDLE | {"candidates": "popularity"},
    "bundle_sampling = 'chosen' comes from data, and a random graph has none": BUNDLE | {"bundle_sampling": "chosen"},
    "bundle has at most n = 30 nodes, and arms at most bundle_count = 60": BUNDLE | {"bundle": 31},
    "segments = 2 needs context = 'segment', not 'node'": {"segments": 2},
    "tail = 0.2 is not drawn for segments; leave one of both out": SEGMENT | {"segments": 2, "tail": 0.2},
}


@pytest.mark.parametrize("message", WRONG)
def test_contexts_that_do_not_fit_are_one_clear_line(config, message):
    experiment = {"problems": {"of": ["small"], "set": WRONG[message]}, "methods": ["graphdr"], "facts": ["zeta"]}
    settings = small(config, problems={"small": SMALL}, experiments={"e": experiment})
    settings["protocol"] = config["protocol"]
    with pytest.raises(UserError) as refused:
        design.expand(settings)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_configuration_that_says_nothing_about_contexts_is_the_node_case(config):
    defaults = {name: info.default for name, info in Factors.model_fields.items() if info.default is not None}
    silent = {name: value for name, value in config["protocol"].items() if name not in defaults}
    experiment = {"problems": {"of": ["small"]}, "methods": ["graphdr"], "facts": ["zeta"]}
    settings = small(config, problems={"small": SMALL}, experiments={"e": experiment}) | {"protocol": silent}
    plan = design.expand(settings)
    (problem,) = plan.problems.values()
    assert {name: getattr(problem, name) for name in defaults} == defaults
    assert jobs.run_bandit(plan, "e", "plain").input.contexts == ""
