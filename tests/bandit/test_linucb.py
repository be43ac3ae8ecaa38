"""Every compiled kernel makes the choices of Algorithm 1, round by round."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.bandit import linucb, linucb_core, residuals
from graphdr.bandit.environment import Rounds
from graphdr.theory.results import RunResult
from tests.support import twins
from tests.support.playing import play_linucb, run_of


class Problem(NamedTuple):
    """A random bandit: features with repeated rows, so that arms of different reward tie."""

    features: np.ndarray
    theta: np.ndarray
    arms: np.ndarray
    noise: np.ndarray
    radius: np.ndarray
    residual: np.ndarray
    ridge: float
    v0: np.ndarray  # k x k
    dense: np.ndarray  # n x n

    @property
    def rounds(self):
        return self.theta, self.arms, self.noise, self.radius


def pose(seed: int, n: int, k: int, m: int, rounds: int, sigma: float, ties: bool) -> Problem:
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, k)) / np.sqrt(k)
    if ties:
        features = features[rng.integers(n // 2, size=n)]
    arms = np.array([rng.permutation(n)[:m] for _ in range(rounds)], np.uint32)
    ridge = rng.uniform(0.2, 3)
    factor, wide = rng.standard_normal((k, k)), rng.standard_normal((n, n)) / np.sqrt(n)
    return Problem(
        features=features,
        theta=rng.standard_normal(n),
        arms=arms,
        noise=sigma * rng.standard_normal(rounds),
        radius=rng.uniform(0, 2, rounds),
        residual=rng.standard_normal(n),
        ridge=ridge,
        v0=ridge * np.eye(k) + factor @ factor.T,
        dense=ridge * np.eye(n) + wide @ wide.T,
    )


@st.composite
def problems(draw):
    n = draw(st.sampled_from([4, 5]) | st.integers(linucb_core.UNROLLED, 24))  # few sizes that are compiled apart
    return pose(
        seed=draw(st.integers(0, 2**32 - 1)),
        n=n,
        k=draw(st.sampled_from([1, 3, 5]) | st.integers(linucb_core.UNROLLED + 1, 17)),
        m=draw(st.integers(1, n)),
        rounds=draw(st.integers(2, 60)),  # a single round is another kind of array, compiled apart
        sigma=draw(st.sampled_from([0.0, 0.1, 1.0])),
        ties=draw(st.booleans()),
    )


def projected(problem: Problem, v0: np.ndarray, inflation=0.0, every=1):
    """Call the kernel on the features of a problem."""
    features, inverse = np.ascontiguousarray(problem.features), np.linalg.inv(v0)
    arms, *kept = linucb.projected(features, inverse, *problem.rounds, inflation, problem.residual, every)
    srl, widths = residuals.residual_leverage(features, inverse, arms, problem.residual, every)
    assert_same(kept, [srl, widths])
    regret = linucb.regret(problem.theta, problem.arms, arms, every)
    return twins.Play(arms, regret, srl, residuals.residual_width(problem.residual, problem.arms, every))


def one_hot(problem: Problem):
    return linucb.one_hot(problem.ridge, *problem.rounds)


def node_space(problem: Problem, v0: np.ndarray, **options):
    return linucb.node_space(np.linalg.inv(v0), *problem.rounds, **options)[0]


def assert_same(path, expected):
    assert_allclose(path, expected, rtol=0, atol=1e-9)


@given(problem=problems(), inflation=st.sampled_from([0.0, 1.0]))
def test_projected_plays_algorithm_1_and_measures_definition_1(problem, inflation):
    twin = twins.linucb(problem.features, problem.v0, *problem.rounds, problem.residual, inflation)
    path = projected(problem, problem.v0, inflation)
    assert_same(path.arms, twin.arms)
    assert_same(path.regret, twin.regret)
    assert_same(path.srl, twin.srl)
    assert_same(path.crw, twin.crw)
    assert_same(path.srl[-1], twins.residual_leverage(problem.features, problem.v0, twin.arms, problem.residual))
    assert_same(path.crw[-1], twins.residual_width(problem.arms, problem.residual))


def test_a_single_round_is_played_as_algorithm_1_does():
    problem = pose(seed=5, n=12, k=3, m=6, rounds=1, sigma=0.1, ties=False)
    twin = twins.linucb(problem.features, problem.v0, *problem.rounds, problem.residual, 1.0)
    assert_same(projected(problem, problem.v0, 1.0).arms, twin.arms)


def test_inflation_changes_what_is_played():
    problem = pose(seed=3, n=20, k=3, m=6, rounds=200, sigma=0.1, ties=False)
    assert not np.allclose(projected(problem, problem.v0, 1.0).regret, projected(problem, problem.v0, 0.0).regret)


@given(problem=problems())
def test_one_hot_plays_algorithm_1(problem):
    twin = twins.one_hot(problem.ridge, *problem.rounds)
    n = len(problem.theta)
    assert_same(one_hot(problem), twin.arms)
    assert_same(twins.linucb(np.eye(n), problem.ridge * np.eye(n), *problem.rounds).arms, twin.arms)


@given(problem=problems(), block=st.sampled_from([1, 2, 3, 7, linucb.BLOCK]))
def test_node_space_plays_algorithm_1_whatever_the_block(problem, block):
    twin = twins.linucb(np.eye(len(problem.theta)), problem.dense, *problem.rounds)
    assert_same(node_space(problem, problem.dense, block=block), twin.arms)


def test_block_updates_stay_with_a_fresh_inverse():
    """After 20,000 rounds the estimate and the diagonal of V^-1 are those of V itself."""
    problem = pose(seed=4, n=120, k=2, m=10, rounds=20_000, sigma=0.1, ties=False)
    played, estimate, diagonal = linucb.node_space(np.linalg.inv(problem.dense), *problem.rounds)
    inverse = np.linalg.inv(problem.dense + np.diag(np.bincount(played, minlength=120)))
    rewards = np.bincount(played, problem.theta[played] + problem.noise, minlength=120)
    assert_allclose(diagonal, inverse.diagonal(), rtol=0, atol=1e-8)
    assert_allclose(estimate, inverse @ rewards, rtol=0, atol=1e-8)


def play(problem: Problem, radius, features=None, v0=None, residual=None, **options) -> RunResult:
    """Play one run, V_0 given as itself."""
    v0_inverse = None if v0 is None else np.linalg.inv(v0)
    rounds = Rounds(problem.arms, problem.noise)
    run = run_of(problem.theta, rounds, features, v0_inverse=v0_inverse, residual=residual)
    return play_linucb([run], radius, **options)[0]


# Which kernel `play` takes: (arguments, features of the twin, V_0 of the twin), each from a problem.
DISPATCH = {
    "one-hot": lambda p: ({}, np.eye(len(p.theta)), p.ridge * np.eye(len(p.theta))),
    "dense": lambda p: ({"v0": p.dense}, np.eye(len(p.theta)), p.dense),
    "projected": lambda p: ({"features": p.features}, p.features, p.ridge * np.eye(p.features.shape[1])),
    "projected, own V_0": lambda p: ({"features": p.features, "v0": p.v0}, p.features, p.v0),
}


@pytest.mark.parametrize("way", DISPATCH)
@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("constant", [True, False])
def test_play_dispatches_and_keeps_every_checkpoint(way, every, constant):
    problem = pose(seed=1, n=20, k=3, m=6, rounds=100, sigma=0.1, ties=True)
    arguments, features, v0 = DISPATCH[way](problem)
    radius = 0.7 if constant else problem.radius
    path = play(problem, radius, ridge=problem.ridge, every=every, **arguments)
    twin = twins.linucb(features, v0, problem.theta, problem.arms, problem.noise, np.broadcast_to(radius, 100))
    assert_same(path.regret, twin.regret[every - 1 :: every])
    assert_same(path.t, np.arange(every, 101, every))
    assert path.srl is path.crw is path.widths is None


@pytest.mark.parametrize("inflation", [0.0, 1.0])
def test_play_measures_the_residual_that_it_is_given(inflation):
    problem = pose(seed=1, n=20, k=3, m=6, rounds=100, sigma=0.1, ties=False)
    arguments = {"features": problem.features, "v0": problem.v0, "every": 1}
    path = play(problem, problem.radius, residual=problem.residual, inflation=inflation, **arguments)
    twin = twins.linucb(problem.features, problem.v0, *problem.rounds, problem.residual, inflation)
    assert_same([path.regret, path.srl, path.crw], twin[1:])
    without = play(problem, problem.radius, **arguments)
    assert without.srl is without.crw is None


@pytest.mark.parametrize("projected", [True, False])
def test_play_rejects_an_initial_matrix_of_another_dimension(projected):
    problem = pose(seed=1, n=20, k=3, m=6, rounds=10, sigma=0.1, ties=False)
    features, wrong = (problem.features, problem.dense) if projected else (None, problem.v0)
    with pytest.raises(ValueError, match="dimension"):
        play(problem, 1.0, features=features, v0=wrong)


def test_ties_go_to_the_first_candidate():
    arms = np.array([[4, 2, 3], [3, 2, 4]], np.uint32)
    theta, noise, radius = np.arange(5.0), np.zeros(2), np.ones(2)
    same = np.ones((5, 3))
    first = twins.regret(theta, arms, arms[:, 0])
    assert_same(linucb.projected(same, np.eye(3), theta, arms, noise, radius)[0], arms[:, 0])
    assert_same(linucb.one_hot(1.0, theta, arms[:1], noise, radius), arms[:1, 0])
    assert_same(linucb.node_space(np.eye(5), theta, arms[:1], noise, radius)[0], arms[:1, 0])
    assert_same(linucb.regret(theta, arms, arms[:, 0].copy(), 1), first)


@given(problem=problems(), block=st.sampled_from([2, linucb.BLOCK]))
def test_a_ridge_as_dense_penalty_is_full_linucb(problem, block):
    assert_same(node_space(problem, problem.ridge * np.eye(len(problem.theta)), block=block), one_hot(problem))
