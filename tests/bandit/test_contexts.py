"""Kinds of context under one contract, and LinUCB on pools of them against LinUCB in d dimensions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.bandit import contexts, environment, linucb, rewards
from graphdr.bandit.arm_set import ArmSet, ContextSpec, covariance
from graphdr.bandit.environment import CandidateSource, Rounds, RoundsSpec
from graphdr.bandit.method import ArmFeatures
from graphdr.bandit.policies.linucb import LinUCB, PerSegment
from graphdr.core.errors import DENSE_LIMIT, UserError
from graphdr.graphs.contexts import context_rows, distinct, ring
from tests.support import twins
from tests.support.playing import play_linucb, run_of
from tests.support.project import draw_sbm

SPEC = ContextSpec("bundle", bundle=3, bundle_sampling="uniform", bundle_count=50, segments=4)
SEEDS = st.integers(0, 2**32 - 1)


def arena_of(graph) -> CandidateSource:
    return CandidateSource(graph.adjacency.sum(axis=1), graph.adjacency.indptr, graph.adjacency.indices)


def choices_of(lengths, n: int, rng) -> contexts.Choices:
    """Let users choose so many nodes each."""
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return contexts.Choices(starts, np.concatenate([rng.permutation(n)[:length] for length in lengths]))


def draw(kind: str, spec: dict, seed: int = 0) -> ArmSet:
    graph = draw_sbm(1)
    choices = choices_of([1, 4, 7, 12], graph.n, np.random.default_rng(9))
    return contexts.CONTEXTS[kind](
        replace(SPEC, **spec), graph.n, np.random.default_rng(seed), arena_of(graph), choices
    )


# One contract for all kinds


@pytest.mark.parametrize("bundle_sampling", contexts.BUNDLES)
@pytest.mark.parametrize("kind", contexts.CONTEXTS)
def test_a_pool_has_contexts_of_length_one_and_equal_blocks(kind, bundle_sampling):
    pool, n = draw(kind, {"bundle_sampling": bundle_sampling}), draw_sbm(1).n
    again, other = (
        draw(kind, {"bundle_sampling": bundle_sampling}),
        draw(kind, {"bundle_sampling": bundle_sampling}, seed=1),
    )
    theta = np.random.default_rng(3).standard_normal(n)
    size = n if pool.rows is None else pool.rows.shape[0]
    assert pool(theta).shape == (size,)
    assert pool(np.tile(theta, (2, 1)).T).shape == (size, 2)
    assert pool(theta).flags.c_contiguous
    assert np.array_equal(pool(theta), again(theta))
    assert pool.longest == pytest.approx(1, abs=1e-12)
    assert size % pool.blocks == 0
    if pool.rows is not None:
        assert not np.array_equal(pool(theta)[:3], other(theta)[:3])
        context_rows(pool.rows, n)
        assert_allclose(pool(theta), pool.rows.toarray() @ theta, atol=1e-12)


@pytest.mark.parametrize("bundle_sampling", contexts.BUNDLES)
def test_a_bundle_holds_so_many_nodes_with_one_weight(bundle_sampling):
    pool = draw("bundle", {"bundle_sampling": bundle_sampling, "bundle": 4})
    dense = pool.rows.toarray()
    assert ((dense > 0).sum(axis=1) == 4).all()
    assert_allclose(dense[dense > 0], 0.5)
    assert len(np.unique(dense, axis=0)) == len(dense) <= SPEC.bundle_count


def test_bundles_along_the_graph_are_connected_and_chosen_ones_are_a_users():
    graph = draw_sbm(1)
    for row in draw("bundle", {"bundle_sampling": "neighbourhood", "bundle": 2}).rows.toarray():
        one, other = np.flatnonzero(row)
        assert graph.adjacency[[one]][:, [other]].sum() > 0
    choices = choices_of([1, 4, 7, 12], graph.n, np.random.default_rng(9))
    own = [set(choices.nodes[a:b]) for a, b in zip(choices.starts[:-1], choices.starts[1:], strict=True)]
    rows = draw("bundle", {"bundle_sampling": "chosen", "bundle": 5}).rows
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        assert any(set(rows.indices[start:end]) <= nodes for nodes in own[2:])


@pytest.mark.parametrize("bundle_sampling", contexts.BUNDLES)
def test_a_bundle_of_one_node_and_a_single_segment_are_the_nodes(bundle_sampling):
    assert (
        draw("bundle", {"bundle": 1, "bundle_sampling": bundle_sampling})
        == draw("segment", {"segments": 1})
        == draw("node", {})
    )


def test_bundles_that_nobody_has_chosen_are_refused():
    for choices in (None, choices_of([1, 2], 40, np.random.default_rng(0))):
        with pytest.raises(UserError, match="no user has chosen 3 nodes of this graph; take smaller bundles"):
            contexts.chosen(5, 3, np.random.default_rng(0), choices)


# Rounds with segments


def test_a_round_offers_arms_of_the_segment_that_arrives():
    spec = RoundsSpec(4000, 3, noise=0.1)
    popularity = np.repeat([1.0, 2.0, 5.0], 10)
    candidate_source = CandidateSource(popularity, np.empty(0), np.empty(0))
    plain = environment.draw_rounds(0, spec, 30, 0, 0)
    arms, noise = environment.draw_rounds(0, replace(spec, blocks=3), 30, 0, 0, candidate_source)
    assert arms.dtype == np.uint32
    segment = arms // 10
    assert (segment == segment[:, :1]).all()
    assert_allclose(np.bincount(segment[:, 0]) / 4000, [1 / 8, 2 / 8, 5 / 8], atol=0.03)
    assert (np.sort(arms, axis=1)[:, 1:] > np.sort(arms, axis=1)[:, :-1]).all()
    assert np.array_equal(noise, plain.noise)
    assert all(map(np.array_equal, plain, environment.draw_rounds(0, spec, 30, 0, 0, candidate_source)))
    with pytest.raises(ValueError, match="3 candidates per round are more than 2 arms"):
        environment.draw_rounds(0, replace(spec, blocks=15), 30, 0, 0, candidate_source)


@given(seed=SEEDS, rough=st.booleans(), count=st.sampled_from([2, 4, 7]))
def test_segments_share_a_reward_and_differ_as_told(seed, rough, count):
    vectors = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 4)))[0]

    def reward(differ):
        streams = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        return rewards.segment_rewards(vectors, ring(count), differ, rough, *streams).reshape(count, -1)

    theta = reward(0.7)
    assert np.linalg.norm(theta) == pytest.approx(1)
    assert_allclose(theta @ vectors @ vectors.T, theta, atol=1e-12)
    shared = rewards.smooth(vectors, np.random.default_rng(seed))
    assert_allclose(reward(0.0), np.tile(shared, (count, 1)) / np.sqrt(count), atol=1e-12)
    assert_allclose(rewards.unit(theta.mean(axis=0)), shared, atol=1e-9)


def test_smooth_differences_vary_less_along_the_ring_than_rough_ones():
    def roughness(rough):
        streams = np.random.default_rng(0), np.random.default_rng(1)
        theta = rewards.segment_rewards(np.eye(5), ring(16), 1.0, rough, *streams).reshape(16, -1)
        theta -= theta.mean(axis=0)
        return np.sum((theta - np.roll(theta, 1, axis=0)) ** 2) / np.sum(theta**2)

    assert roughness(False) < 0.7 < 1.4 < roughness(True)


# LinUCB on pools


def pose(seed: int, n: int, count: int, size: int, rounds: int, m: int = 6, sigma: float = 0.1):
    """Draw contexts, some of them repeated, a reward of the nodes, and rounds."""
    rng = np.random.default_rng(seed)
    members = np.array([rng.permutation(n)[:size] for _ in range(count)])
    rows = contexts.bundles(members[rng.integers(count, size=count)], n)
    arms = np.array([rng.permutation(count)[:m] for _ in range(rounds)], np.uint32)
    return rows, rewards.unit(rng.standard_normal(n)), Rounds(arms, sigma * rng.standard_normal(rounds))


def plain_linucb(rows, v0, theta, stream, radius: float):
    """Play LinUCB in as many dimensions as nodes; scores of repeated contexts are equal, and the first is played."""
    x, inverse, b, chosen = rows.toarray(), np.linalg.inv(v0), np.zeros(len(v0)), []
    _, place = distinct(rows)
    for candidates, noise in zip(*stream, strict=True):
        z = x[candidates]
        scores = z @ (inverse @ b) + radius * np.sqrt(np.einsum("ci,ij,cj->c", z, inverse, z))
        first = {}
        for at, where in enumerate(place[candidates]):
            scores[at] = scores[first.setdefault(where, at)]
        arm = candidates[np.argmax(scores)]
        u = inverse @ x[arm]
        inverse -= np.outer(u, u) / (1 + x[arm] @ u)
        b += x[arm] * (x[arm] @ theta + noise)
        chosen.append(arm)
    return np.array(chosen), x @ inverse @ b, np.sqrt(np.einsum("ci,ij,cj->c", x, inverse, x))


@pytest.mark.parametrize("penalised", [False, True])
@pytest.mark.parametrize(("n", "count", "size"), [(30, 20, 3), (60, 200, 4), (120, 90, 10), (25, 400, 2)])
def test_full_linucb_on_a_pool_is_linucb_in_d_dimensions(n, count, size, penalised):
    rows, theta, stream = pose(n, n, count, size, 5000)
    factor = np.random.default_rng(5).standard_normal((n, n)) / n
    v0 = 0.5 * np.eye(n) + (factor @ factor.T if penalised else 0)
    once, place = distinct(rows)
    assert len(place) > once.shape[0]
    dense = covariance(once, np.linalg.inv(v0) if penalised else None, 0.5)
    radius = np.full(5000, 0.7)
    arm_features_for = linucb.node_space(dense, once @ theta, place[stream.arms], stream.noise, radius)
    chosen, estimate, widths = plain_linucb(rows, v0, theta, stream, 0.7)
    assert np.array_equal(arm_features_for[0], place[chosen])
    assert_allclose(arm_features_for[1][place], estimate, rtol=0, atol=1e-8)
    assert_allclose(np.sqrt(arm_features_for[2])[place], widths, rtol=0, atol=1e-8)


@settings(max_examples=30)
@given(seed=SEEDS, n=st.integers(4, 12), count=st.integers(3, 20), size=st.integers(1, 4), k=st.sampled_from([1, 3]))
def test_features_of_a_pool_are_played_as_algorithm_1_is_printed(seed, n, count, size, k):
    rows, theta, stream = pose(seed, n, count, size, 60, m=min(6, count))
    features = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, k)))[0]
    pool = ArmSet(rows)
    nodes = ArmFeatures(features, second_basis=(features[::-1], np.arange(k)))
    arms = LinUCB(ridge=1.0).on_arm_set(nodes, pool)
    z = rows.toarray() @ features
    assert_allclose(arms.features, z, atol=1e-12)
    assert_allclose(arms.second_basis[0], rows.toarray() @ features[::-1], atol=1e-12)
    twin = twins.linucb(arms.features, np.eye(k), pool(theta), *stream, np.ones(60))
    (outcome,) = play_linucb([run_of(pool(theta), stream, arms.features)], 1.0, every=1)
    assert np.array_equal(outcome.arms, twin.arms)
    assert_allclose(outcome.regret, twin.regret, atol=1e-9)


def test_one_model_per_segment_is_so_many_models():
    rng, blocks, size, k = np.random.default_rng(2), 3, 20, 3
    features, theta = rng.standard_normal((blocks * size, k)), rng.standard_normal(blocks * size)
    candidate_source = CandidateSource(np.ones(blocks * size), np.empty(0), np.empty(0))
    stream = environment.draw_rounds(0, RoundsSpec(900, 5, noise=0.1, blocks=3), 60, 0, 0, candidate_source)
    arms = PerSegment().on_arm_set(ArmFeatures(features), ArmSet(blocks=blocks))
    (together,) = play_linucb([run_of(theta, stream, arms.features)], 1.0)
    for segment in range(blocks):
        own = stream.arms[:, 0] // size == segment
        part = Rounds(np.ascontiguousarray(stream.arms[own]), stream.noise[own])
        (alone,) = play_linucb([run_of(theta, part, np.ascontiguousarray(features))], 1.0)
        assert np.array_equal(together.arms[own], alone.arms)


def test_a_pool_too_large_for_a_dense_method_is_refused_in_one_line():
    rows = contexts.bundles(np.zeros((DENSE_LIMIT + 1, 1), int), 2)
    with pytest.raises(UserError, match=r"20,001 contexts need a dense matrix of 3 GB; leave it out, or take at most"):
        LinUCB(ridge=1.0).on_arm_set(ArmFeatures(), ArmSet(rows))
