"""Rivals: every kernel makes the choices of its twin, and every policy keeps the contract of all policies."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from graphdr.bandit.environment import Edges, OneGenerator, Rounds, by_candidate
from graphdr.bandit.method import Method, Run
from graphdr.bandit.policies import graph_ucb
from graphdr.bandit.policies.club import Club
from graphdr.bandit.policies.corral import Corral
from graphdr.bandit.policies.graph_ucb import GraphUCB
from graphdr.bandit.policies.thompson import Thompson
from graphdr.graphs.model import Graph, from_edges
from tests.support import rival_twins, twins
from tests.support.playing import play_linucb, run_of
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


def pose(seed, n, rounds, m, noise, k=5) -> tuple[Run, np.ndarray]:
    """Draw a graph, features, rewards of unit norm and rounds; return a run, and the dense adjacency matrix."""
    rng = np.random.default_rng(seed)
    graph = connected(n, 0.3, rng)
    features = np.linalg.qr(rng.standard_normal((n, k)))[0]
    theta = features @ rng.standard_normal(k) + 0.3 * rng.standard_normal(n)
    arms = np.array([rng.permutation(n)[:m] for _ in range(rounds)], np.uint32)
    stream = Rounds(arms, noise * rng.standard_normal(rounds))
    run = run_of(theta / np.linalg.norm(theta), stream, features, edges=edges_of(graph))
    return run, graph.adjacency.toarray()


def met(run: Run) -> tuple:
    return run.problem.theta, run.rounds.arms, by_candidate(run.rounds)


def choose(method: Method, run: Run, seed: int = 0, **known) -> np.ndarray:
    """Return the arms that a method plays on a run, with other knowledge about its arms."""
    rng = OneGenerator(np.random.default_rng(seed))
    return method.play(replace(run.problem, **known), run.rounds, rng).arms


@settings(max_examples=25, deadline=None)
@problems
def test_thompson_sampling_plays_as_its_twin(seed, n, rounds, m, alpha, noise):
    run, adjacency = pose(seed, n, rounds, m, noise)
    for v0 in (
        0.7 * np.eye(5),
        0.2 * np.eye(5) + run.problem.features.T @ twins.laplacian(adjacency) @ run.problem.features,
    ):
        inverse = None if v0[0, 0] == 0.7 else np.linalg.inv(v0)
        chosen = choose(Thompson(alpha=alpha, ridge=0.7), run, seed, v0_inverse=inverse)
        expected = rival_twins.thompson(run.problem.features, v0, *met(run), alpha, np.random.default_rng(seed))
        assert_array_equal(chosen, expected)


def test_thousands_of_rounds_of_thompson_sampling_are_those_of_the_twin():
    run, _ = pose(3, 40, 4000, 5, 0.1, k=12)
    chosen = choose(Thompson(alpha=0.1, ridge=0.01), run)
    expected = rival_twins.thompson(run.problem.features, 0.01 * np.eye(12), *met(run), 0.1, np.random.default_rng(0))
    assert_array_equal(chosen, expected)


@settings(max_examples=25, deadline=None)
@problems
def test_graph_ucb_plays_as_its_twin(seed, n, rounds, m, alpha, noise):
    run, adjacency = pose(seed, n, rounds, m, noise)
    for weight in (0.3, 3.0):
        inverse = np.linalg.inv(weight * twins.laplacian(adjacency) + graph_ucb.RIDGE * np.eye(n))
        chosen = choose(GraphUCB(alpha=alpha, laplacian=weight, delta=0.05), run, v0_inverse=inverse, noise=noise)
        expected = rival_twins.graph_ucb(adjacency, *met(run), alpha, weight, noise, 0.05)
        assert_array_equal(chosen, expected)


def test_graph_ucb_flushes_its_block_as_its_twin_plays_on():
    run, adjacency = pose(0, 90, 400, 8, 0.1)
    inverse = np.linalg.inv(twins.laplacian(adjacency) + graph_ucb.RIDGE * np.eye(90))
    chosen = choose(GraphUCB(alpha=0.3, delta=0.05), run, v0_inverse=inverse, noise=0.1)
    assert len(np.unique(chosen)) > 40  # more distinct arms than a block holds
    assert_array_equal(chosen, rival_twins.graph_ucb(adjacency, *met(run), 0.3, 1.0, 0.1, 0.05))


@settings(max_examples=40, deadline=None)
@problems
def test_club_plays_as_its_twin(seed, n, rounds, m, alpha, noise):
    run, adjacency = pose(seed, n, rounds, m, noise)
    for width in (alpha, 0.1 * alpha):
        assert_array_equal(choose(Club(alpha=width), run), rival_twins.club(adjacency, *met(run), width))


def test_club_finds_two_groups_and_starts_from_several_components():
    """Two groups of arms joined by one edge, and a third apart: after many rounds only the best group is played."""
    groups = np.repeat([0, 1, 2], 5)
    pairs = [(i, j) for j in range(15) for i in range(j) if groups[i] == groups[j]] + [(4, 5)]
    graph = from_edges(15, *np.array(sorted(pairs)).T)
    theta = np.array([0.0, 1.0, 0.2])[groups]
    rng = np.random.default_rng(0)
    arms = np.array([rng.permutation(15) for _ in range(600)], np.uint32)
    run = run_of(theta, Rounds(arms, 0.1 * rng.standard_normal(600)), edges=edges_of(graph))
    chosen = choose(Club(alpha=0.3), run)
    assert_array_equal(chosen, rival_twins.club(graph.adjacency.toarray(), *met(run), 0.3))
    assert (groups[chosen[-300:]] == 1).mean() > 0.95


@settings(max_examples=25, deadline=None)
@problems
def test_corral_plays_as_its_twin(seed, n, rounds, m, alpha, noise):
    run, _ = pose(seed, n, rounds, m, noise)
    for grid in ([1, 3, 5], [2]):
        chosen = choose(Corral(k_grid=grid, alpha=alpha, ridge=0.5), run, seed)
        expected = rival_twins.corral(run.problem.features, grid, *met(run), alpha, 0.5, np.random.default_rng(seed))
        assert_array_equal(chosen, expected)


def test_thousands_of_rounds_of_corral_are_those_of_the_twin():
    """Long enough for learning rates to grow."""
    run, _ = pose(1, 40, 3000, 5, 0.1)
    chosen = choose(Corral(k_grid=[1, 2, 5], alpha=0.1, ridge=0.01), run)
    expected = rival_twins.corral(run.problem.features, [1, 2, 5], *met(run), 0.1, 0.01, np.random.default_rng(0))
    assert_array_equal(chosen, expected)


def test_corral_over_one_learner_is_linucb():
    run, _ = pose(2, 30, 300, 4, 0.1)
    (plain,) = play_linucb([run], 0.3, ridge=0.5)
    assert_array_equal(choose(Corral(k_grid=[5], alpha=0.3, ridge=0.5), run), plain.arms)
