"""Rivals: every kernel makes the choices of its twin, and every policy keeps the contract of all policies."""

import typing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.bandit import environment, linucb, methods
from graphdr.bandit.environment import Edges, Luck, Stream, by_candidate
from graphdr.bandit.rivals import club, corral, graph_ucb, thompson
from graphdr.core.rng import stream
from graphdr.graphs.model import Graph, from_edges, laplacian
from graphdr.plan.blocks import Method
from tests.support import rival_twins, twins
from tests.support.small_bandits import connected

problems = given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(6, 20),
    rounds=st.integers(1, 120),
    m=st.integers(1, 6),
    alpha=st.sampled_from([0.03, 0.3, 1.0]),
    noise=st.sampled_from([0.0, 0.1, 1.0]),
)


def edges_of(graph: Graph) -> Edges:
    matrix = graph.adjacency.sorted_indices()
    return Edges(matrix.indptr, matrix.indices, matrix.data)


def pose(seed, n, rounds, m, noise, k=5) -> tuple[linucb.Run, np.ndarray]:
    """Draw a graph, features, rewards of unit norm and rounds; return a run, and the dense adjacency matrix."""
    rng = np.random.default_rng(seed)
    graph = connected(n, 0.3, rng)
    features = np.linalg.qr(rng.standard_normal((n, k)))[0]
    theta = features @ rng.standard_normal(k) + 0.3 * rng.standard_normal(n)
    arms = np.array([rng.permutation(n)[:m] for _ in range(rounds)], np.uint32)
    stream = Stream(arms, noise * rng.standard_normal(rounds))
    run = linucb.Run(theta / np.linalg.norm(theta), stream, features, edges=edges_of(graph))
    return run, graph.adjacency.toarray()


def met(run: linucb.Run) -> tuple:
    return run.theta, run.stream.arms, by_candidate(run.stream)


@settings(max_examples=25, deadline=None)
@problems
def test_thompson_sampling_plays_as_its_twin(seed, n, rounds, m, alpha, noise):
    run, adjacency = pose(seed, n, rounds, m, noise)
    for v0 in (0.7 * np.eye(5), 0.2 * np.eye(5) + run.features.T @ twins.laplacian(adjacency) @ run.features):
        own = run if v0[0, 0] == 0.7 else run._replace(v0_inverse=np.linalg.inv(v0))
        chosen = thompson.play(own, alpha, 0.7, np.random.default_rng(seed))
        expected = rival_twins.thompson(run.features, v0, *met(run), alpha, np.random.default_rng(seed))
        assert_array_equal(chosen, expected)


def test_thousands_of_rounds_of_thompson_sampling_are_those_of_the_twin():
    run, _ = pose(3, 40, 4000, 5, 0.1, k=12)
    chosen = thompson.play(run, 0.1, 0.01, np.random.default_rng(0))
    expected = rival_twins.thompson(run.features, 0.01 * np.eye(12), *met(run), 0.1, np.random.default_rng(0))
    assert_array_equal(chosen, expected)


@settings(max_examples=25, deadline=None)
@problems
def test_graph_ucb_plays_as_its_twin(seed, n, rounds, m, alpha, noise):
    run, adjacency = pose(seed, n, rounds, m, noise)
    for weight in (0.3, 3.0):
        inverse = np.linalg.inv(weight * twins.laplacian(adjacency) + graph_ucb.RIDGE * np.eye(n))
        chosen = graph_ucb.play(run._replace(v0_inverse=inverse), alpha, weight, noise, 0.05)
        expected = rival_twins.graph_ucb(adjacency, *met(run), alpha, weight, noise, 0.05)
        assert_array_equal(chosen, expected)


def test_graph_ucb_flushes_its_block_as_its_twin_plays_on():
    run, adjacency = pose(0, 90, 400, 8, 0.1)
    inverse = np.linalg.inv(twins.laplacian(adjacency) + graph_ucb.RIDGE * np.eye(90))
    chosen = graph_ucb.play(run._replace(v0_inverse=inverse), 0.3, 1.0, 0.1, 0.05)
    assert len(np.unique(chosen)) > 40  # more distinct arms than a block holds
    assert_array_equal(chosen, rival_twins.graph_ucb(adjacency, *met(run), 0.3, 1.0, 0.1, 0.05))


@settings(max_examples=40, deadline=None)
@problems
def test_club_plays_as_its_twin(seed, n, rounds, m, alpha, noise):
    run, adjacency = pose(seed, n, rounds, m, noise)
    for width in (alpha, 0.1 * alpha):
        assert_array_equal(club.play(run, width), rival_twins.club(adjacency, *met(run), width))


def test_club_finds_two_groups_and_starts_from_several_components():
    """Two groups of arms joined by one edge, and a third apart: after many rounds only the best group is played."""
    groups = np.repeat([0, 1, 2], 5)
    pairs = [(i, j) for j in range(15) for i in range(j) if groups[i] == groups[j]] + [(4, 5)]
    graph = from_edges(15, *np.array(sorted(pairs)).T)
    theta = np.array([0.0, 1.0, 0.2])[groups]
    rng = np.random.default_rng(0)
    arms = np.array([rng.permutation(15) for _ in range(600)], np.uint32)
    run = linucb.Run(theta, Stream(arms, 0.1 * rng.standard_normal(600)), edges=edges_of(graph))
    chosen = club.play(run, 0.3)
    assert_array_equal(chosen, rival_twins.club(graph.adjacency.toarray(), *met(run), 0.3))
    assert (groups[chosen[-300:]] == 1).mean() > 0.95


@settings(max_examples=25, deadline=None)
@problems
def test_corral_plays_as_its_twin(seed, n, rounds, m, alpha, noise):
    run, _ = pose(seed, n, rounds, m, noise)
    for grid in ([1, 3, 5], [2]):
        chosen = corral.play(run, grid, alpha, 0.5, np.random.default_rng(seed))
        expected = rival_twins.corral(run.features, grid, *met(run), alpha, 0.5, np.random.default_rng(seed))
        assert_array_equal(chosen, expected)


def test_thousands_of_rounds_of_corral_are_those_of_the_twin():
    """Long enough for learning rates to grow."""
    run, _ = pose(1, 40, 3000, 5, 0.1)
    chosen = corral.play(run, [1, 2, 5], 0.1, 0.01, np.random.default_rng(0))
    expected = rival_twins.corral(run.features, [1, 2, 5], *met(run), 0.1, 0.01, np.random.default_rng(0))
    assert_array_equal(chosen, expected)


def test_corral_over_one_learner_is_linucb():
    run, _ = pose(2, 30, 300, 4, 0.1)
    (plain,) = linucb.play([run._replace(edges=None)], 0.3, ridge=0.5)
    assert_array_equal(corral.play(run, [5], 0.3, 0.5, np.random.default_rng(0)), plain.arms)


SPEC = {"arms": 5, "candidates": "uniform", "horizon": 150, "noise": 0.1, "delta": 0.05, "ridge": 0.5, "alpha": 0.3}
SPEC |= {"k_grid": [1, 3, 5], "checkpoint": 1}
CHOOSING = [name for name, policy in methods.POLICIES.items() if policy.choose is not None]


def choose(name: str, run: linucb.Run, adjacency: np.ndarray) -> np.ndarray:
    """Return what a policy chooses with the stated problem and a seed."""
    n = len(run.theta)
    if name == methods.GRAPH_UCB:
        run = run._replace(v0_inverse=np.linalg.inv(twins.laplacian(adjacency) + graph_ucb.RIDGE * np.eye(n)))
    if name in methods.GRAPH_PRIORS:
        run = run._replace(roughness=np.arange(1.0, 1 + run.features.shape[1]))
    return methods.POLICIES[name].choose({"laplacian": 1.0}, SPEC, run, Luck(0, SPEC, n, 0, 0)).arms


@pytest.mark.parametrize("name", CHOOSING)
def test_a_policy_plays_candidates_and_the_same_ones_again_and_looks_at_no_later_round(name):
    run, adjacency = pose(4, 25, 150, 5, 0.1)
    other, _ = pose(5, 25, 150, 5, 1.0)
    chosen = choose(name, run, adjacency)
    assert (chosen[:, None] == run.stream.arms).any(axis=1).all()
    assert_array_equal(chosen, choose(name, run, adjacency))
    for known in (1, 30, 100):
        arms, noise = (np.concatenate([a[:known], b[known:]]) for a, b in zip(run.stream, other.stream, strict=True))
        noise[known - 1] += 7.0  # the reward of round `known` itself comes after its choice
        changed = choose(name, run._replace(stream=Stream(arms, noise)), adjacency)
        assert_array_equal(changed[:known], chosen[:known])


@pytest.mark.parametrize("name", CHOOSING)
def test_a_policy_names_the_streams_that_it_draws(name, monkeypatch):
    drawn = set()
    monkeypatch.setattr(
        environment, "stream", lambda root, purpose, **key: drawn.add(purpose) or stream(root, purpose, **key)
    )
    choose(name, *pose(4, 25, 150, 5, 0.1))
    assert drawn == set(methods.POLICIES[name].streams)


def test_every_policy_can_be_named_in_a_configuration():
    assert set(typing.get_args(Method.model_fields["policy"].annotation)) == set(methods.POLICIES)


def test_the_symmetric_form_of_graph_ucb_is_the_random_walk_form():
    """(diag N + w L_rw)^-1 S = D^-1/2 (diag N + w L_sym)^-1 D^1/2 S."""
    rng = np.random.default_rng(0)
    graph = connected(12, 0.3, rng)
    adjacency, pulls, sums = graph.adjacency.toarray(), rng.integers(1, 5, 12), rng.standard_normal(12)
    degree = adjacency.sum(axis=1)
    walk = np.eye(12) - adjacency / degree[:, None]
    root = np.sqrt(degree)
    symmetric = np.linalg.solve(np.diag(pulls) + 2 * laplacian(graph).toarray(), root * sums) / root
    assert_allclose(symmetric, np.linalg.solve(np.diag(pulls) + 2 * walk, sums))
