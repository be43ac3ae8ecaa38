"""Rewards: unit norm, smooth on the graph, with a tail of the stated weight."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.bandit import rewards
from graphdr.graphs import arm_features
from graphdr.graphs.spectral import low_eigenpairs

K_STAR = 4


@pytest.fixture(scope="module")
def vectors(small_graph):
    return low_eigenpairs(small_graph, small_graph.n).vectors


def draw(vectors, weight: float, seed: int = 0, first: int = 1) -> np.ndarray:
    streams = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    return rewards.tailed(vectors[:, : K_STAR + 1], K_STAR, weight, *streams, first=first)


def zeta(vectors, theta, k: int = K_STAR) -> float:
    return arm_features.tail(theta, arm_features.nontrivial(vectors, k))


@pytest.mark.parametrize("reward", rewards.PLANTED)
@given(weight=st.floats(0, 1), seed=st.integers(0, 999))
def test_the_tail_weight_fixes_zeta(vectors, reward, weight, seed):
    first = rewards.PLANTED[reward]
    theta = draw(vectors, weight, seed, first)
    assert_allclose(np.linalg.norm(theta), 1)
    tail = arm_features.tail(theta, vectors[:, first : first + K_STAR])
    assert_allclose(tail, weight / np.hypot(1 - weight, weight), atol=1e-9)
    assert first == 0 or abs(vectors[:, 0] @ theta) < 1e-9


@pytest.mark.parametrize(
    ("weight", "printed"), [(0, 0), (0.1, 0.110), (0.2, 0.243), (0.3, 0.394), (0.4, 0.555), (0.5, 0.707)]
)
def test_the_sweep_has_the_printed_tails(vectors, weight, printed):
    assert round(zeta(vectors, draw(vectors, weight)), 3) == printed


def test_a_larger_weight_moves_the_same_smooth_reward_towards_the_same_tail(vectors):
    smooth, tail, mixed = (draw(vectors, weight) for weight in (0, 1, 0.3))
    assert_allclose(mixed, rewards.unit(0.7 * smooth + 0.3 * tail), atol=1e-12)


def test_smooth_rewards_cover_their_span_evenly(vectors):
    u, rng = vectors[:, 1 : K_STAR + 1], np.random.default_rng(0)
    energy = np.mean([(u.T @ rewards.smooth(u, rng)) ** 2 for _ in range(2000)], axis=0)
    assert_allclose(energy, 1 / K_STAR, atol=0.03)


def test_outside_rewards_cover_the_complement_evenly(vectors):
    u, rng = vectors[:, : K_STAR + 1], np.random.default_rng(0)
    energy = np.mean([(vectors.T @ rewards.outside(u, rng)) ** 2 for _ in range(2000)], axis=0)
    left = len(vectors) - K_STAR - 1
    assert_allclose(energy[: K_STAR + 1], 0, atol=1e-12)
    assert_allclose(energy[K_STAR + 1 :], 1 / left, atol=0.2 / left)
