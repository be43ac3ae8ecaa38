"""An adaptive k: the kernel makes the choices of its twin, and a learner whose model holds is not eliminated."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from graphdr.bandit import adaptive_k
from graphdr.bandit.environment import Rounds
from graphdr.bandit.method import BanditProblem
from graphdr.scores import measure
from tests.support import twins
from tests.support.playing import play_linucb, run_of

GRID = [1, 2, 4, 7]
CONSTANTS = {"ridge": 0.7, "sigma": 0.1, "delta": 0.05}


def pose(seed: int, n: int, kept: int, rounds: int, m: int = 5, columns: int = 7, size: float = 1.0):
    """Draw orthonormal features, a reward of unit norm inside the first ``kept`` of them, and rounds."""
    rng = np.random.default_rng(seed)
    features = np.linalg.qr(rng.standard_normal((n, columns)))[0]
    theta = features[:, :kept] @ rng.standard_normal(kept)
    arms = np.array([rng.permutation(n)[:m] for _ in range(rounds)], np.uint32)
    return features, size * theta / np.linalg.norm(theta), arms, CONSTANTS["sigma"] * rng.standard_normal(rounds)


def play(features, grid, theta, arms, noise, alpha):
    problem = BanditProblem(theta, features, noise=CONSTANTS["sigma"])
    return adaptive_k.play(problem, Rounds(arms, noise), grid, alpha, CONSTANTS["ridge"], CONSTANTS["delta"])


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(8, 20),
    rounds=st.integers(1, 40),
    ties=st.booleans(),
    size=st.sampled_from([1.0, 10.0]),
    grid=st.sets(st.integers(1, 7), min_size=1, max_size=4),
)
def test_every_choice_is_that_of_the_twin(seed, n, rounds, ties, size, grid):
    features, theta, arms, noise = pose(seed, n, 7, rounds, size=size)  # a larger reward is outside of all ellipsoids
    if ties:
        features = features[np.random.default_rng(seed).integers(n // 2, size=n)]
    played = play(features, sorted(grid), theta, arms, noise, 0.8)
    twin = twins.adaptive(features, sorted(grid), theta, arms, noise, 0.8, **CONSTANTS)
    for column, expected in zip(played, twin, strict=True):
        assert_array_equal(column, expected)


def test_learners_are_eliminated_while_the_twin_watches():
    met = pose(5, 12, 4, 1500)
    met = met[0], GRID, *met[1:], 0.8
    played, twin = play(*met), twins.adaptive(*met, **CONSTANTS)
    assert played.smallest_k[0] == 1
    assert played.smallest_k[-1] == 4
    for column, expected in zip(played, twin, strict=True):
        assert_array_equal(column, expected)


@pytest.mark.parametrize("kept", [1, 2, 4, 7])
def test_a_model_that_holds_is_kept_and_one_far_off_is_not(kept):
    """The chance to err is 0.05 at most over all rounds, and the bound is loose: none of 20 runs may."""
    for seed in range(20):
        features, *met = pose(seed, 30, kept, 2000)
        smallest = play(features, GRID, *met, 1.0).smallest_k
        assert smallest[-1] <= kept
        assert (np.diff(smallest) >= 0).all()
    features, *met = pose(0, 30, kept, 20_000)
    assert play(features, GRID, *met, 1.0).smallest_k[-1] == kept


def test_a_grid_of_one_k_is_linucb():
    features, *met = pose(1, 40, 4, 500)
    alone = play(features, [4], *met, 0.5)
    theta, arms, noise = met
    run = run_of(theta, Rounds(arms, noise), np.ascontiguousarray(features[:, :4]))
    (plain,) = play_linucb([run], 0.5, ridge=CONSTANTS["ridge"])
    assert_array_equal(alone.arms, plain.arms)


def test_the_oracle_is_the_best_k_of_every_instance_in_hindsight():
    index = pd.MultiIndex.from_product([["p"], [0, 1], [0, 1]], names=["problem", "instance", "seed"])
    fixed = {8: pd.Series([1.0, 5.0, 4.0, 4.0], index), 2: pd.Series([4.0, 4.0, 4.0, 4.0], index)}
    regret, k, gap = measure.hindsight(pd.Series([5.0, 5.0, 1.0, 2.0], index), fixed)
    assert k["value"].tolist() == [8, 2]  # on instance 1 they tie
    assert regret["value"].tolist() == [3.0, 4.0]
    assert gap["value"].tolist() == [2.0, -2.5]
    assert gap["sem"].tolist() == [2.0, 0.5]
    assert [part["quantity"].unique().item() for part in (regret, k, gap)] == list(measure.HINDSIGHT)
