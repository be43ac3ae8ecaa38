"""Rewards drawn from ratings: theirs on average, the same for every method, and played as the twins play them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.bandit import adaptive_k, environment, linucb_batched, rewards
from graphdr.bandit.environment import Rounds, RoundsSpec, by_candidate
from graphdr.bandit.graph_prior import play as graph_prior
from graphdr.bandit.method import BanditProblem
from tests.support import graph_prior_twin, twins
from tests.support.playing import play_linucb, run_of

SPEC = RoundsSpec(50, 4)
SEEDS = st.integers(0, 2**32 - 1)


def rated(n: int, seed: int) -> tuple[np.ndarray, environment.EmpiricalNoise, list[np.ndarray]]:
    """Draw ratings of n nodes; return their reward, how far ratings are from it, and the ratings in its units."""
    rng = np.random.default_rng(seed)
    ratings = [rng.integers(1, 6, rng.integers(1, 9)).astype(float) for _ in range(n)]
    means = np.array([own.mean() for own in ratings])
    theta = rewards.centred(means)
    scaled = [rewards.in_units(own, means) for own in ratings]
    rows = [np.unique(own, return_counts=True) for own in scaled]
    arms = np.repeat(np.arange(n), [len(values) for values, _ in rows])
    values, counts = (np.concatenate(column) for column in zip(*rows, strict=True))
    return theta, environment.empirical_noise(theta, arms, values, counts), scaled


@given(n=st.integers(4, 20), seed=SEEDS)
def test_every_reward_is_a_rating_of_its_node(n, seed):
    theta, paid, scaled = rated(n, seed)
    arms, noise = environment.draw_rounds(0, replace(SPEC, noise=paid), n, 0, 0)
    for arm, reward in zip(arms.ravel(), (theta[arms] + noise).ravel(), strict=True):
        assert np.abs(scaled[arm] - reward).min() < 1e-12
    for arm, own in enumerate(scaled):
        deviations = paid.values[paid.starts[arm] : paid.starts[arm + 1]]
        assert_allclose(np.sort(theta[arm] + deviations), np.sort(own), atol=1e-12)
        assert abs(deviations.mean()) < 1e-12
    assert_allclose(paid.size, np.sqrt(np.mean([own.var() for own in scaled])))


def test_a_reward_has_the_mean_and_spread_of_the_ratings():
    theta, paid, scaled = rated(8, 1)
    arms, noise = environment.draw_rounds(0, replace(SPEC, horizon=40_000, noise=paid), 8, 0, 0)
    for arm, own in enumerate(scaled):
        drawn = theta[arm] + noise[arms == arm]
        assert abs(drawn.mean() - theta[arm]) < 5 * own.std() / np.sqrt(len(drawn)) + 1e-12
        assert_allclose(drawn.std(), own.std(), rtol=0.05, atol=1e-12)


def test_more_rounds_extend_fewer_and_the_candidates_are_those_of_any_noise():
    _, paid, _ = rated(12, 2)
    short = environment.draw_rounds(0, replace(SPEC, noise=paid), 12, 0, 3)
    long = environment.draw_rounds(0, replace(SPEC, horizon=90, noise=paid), 12, 0, 3)
    assert_array_equal(short.arms, long.arms[:50])
    assert_array_equal(short.noise, long.noise[:50])
    assert_array_equal(short.arms, environment.draw_rounds(0, replace(SPEC, noise=0.1), 12, 0, 3).arms)
    other = environment.draw_rounds(0, replace(SPEC, noise=paid), 12, 0, 4)
    assert not np.array_equal(short.noise, other.noise)


@pytest.mark.parametrize("m", [1, 4])
def test_kernels_meet_one_kind_of_array(m):
    """However the noise came about, so that none is compiled twice."""
    from numba import typeof

    _, paid, _ = rated(12, 2)
    arms = environment.draw_rounds(0, replace(SPEC, arms=m, noise=0.1), 12, 0, 0).arms
    kinds = np.zeros(50), np.zeros((50, m)), np.zeros((50, m + 2))[:, :m]
    drawn = environment.draw_rounds(0, replace(SPEC, arms=m, noise=paid), 12, 0, 0)
    types = {typeof(by_candidate(Rounds(arms, noise))) for noise in kinds} | {typeof(by_candidate(drawn))}
    assert len(types) == 1
    assert by_candidate(drawn) is drawn.noise


def pose(seed: int, n: int, k: int, m: int, rounds: int):
    """Draw features, a reward, and rounds in which every candidate has a noise of its own."""
    rng = np.random.default_rng(seed)
    arms = np.array([rng.permutation(n)[:m] for _ in range(rounds)], np.uint32)
    features = np.linalg.qr(rng.standard_normal((n, k)))[0]
    return features, rng.standard_normal(n), arms, rng.standard_normal((rounds, m))


@settings(max_examples=25)
@given(seed=SEEDS, k=st.sampled_from([3, 12]), m=st.integers(1, 6), rounds=st.integers(1, 60))
def test_linucb_learns_from_the_candidate_that_it_played(seed, k, m, rounds):
    features, theta, arms, noise = pose(seed, 16, k, m, rounds)
    radius, met = np.full(rounds, 0.5), Rounds(arms, noise)
    expected = twins.linucb(features, np.eye(k), theta, arms, noise, radius).arms
    runs = [run_of(theta, met, features)] * linucb_batched.LANES
    for outcome in play_linucb(runs, 0.5, every=1):
        assert_array_equal(outcome.arms, expected)
    expected = twins.one_hot(1.0, theta, arms, noise, radius).arms
    assert_array_equal(play_linucb([run_of(theta, met)], 0.5, every=1)[0].arms, expected)
    dense = run_of(theta, met, v0_inverse=np.eye(16))
    assert_array_equal(play_linucb([dense], 0.5, every=1)[0].arms, expected)


def test_an_adaptive_k_learns_from_the_candidate_that_it_played():
    features, theta, arms, noise = pose(3, 16, 7, 5, 80)
    constants = {"ridge": 1.0, "sigma": 0.1, "delta": 0.05}
    problem = BanditProblem(theta, features, noise=0.1)
    played = adaptive_k.play(problem, Rounds(arms, noise), [1, 3, 7], alpha=0.8, ridge=1.0, delta=0.05)
    twin = twins.adaptive(features, [1, 3, 7], theta, arms, noise, 0.8, **constants)
    assert_array_equal(played.arms, twin.arms)


@pytest.mark.parametrize("thompson", [False, True])
def test_the_graph_prior_learns_from_the_candidate_that_it_played(thompson):
    features, theta, arms, noise = pose(4, 16, 6, 5, 150)
    roughness, columns = np.linspace(0, 1, 6), np.random.default_rng(0).integers(5, size=150)
    one, other = (np.random.default_rng(3) if thompson else None for _ in range(2))
    run = run_of(theta, Rounds(arms, noise), features, roughness=roughness)
    chosen, _ = graph_prior_twin.play(features, roughness, theta, arms, noise, columns, other)
    assert_array_equal(graph_prior.play(run.problem, run.rounds, columns, one).arms, chosen)
