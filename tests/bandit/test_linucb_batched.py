"""Runs side by side choose what each would choose alone, however many there are and whatever is beside them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphdr.bandit import environment, linucb_batched, linucb_core
from graphdr.bandit.method import Choices, Run
from graphdr.bandit.simulate import measure
from tests.support import twins
from tests.support.playing import play_linucb, run_of


def draw_run(seed: int, k: int, m: int, rounds: int, ties: bool) -> Run:
    """Draw a run of its own size; with ties, arms of different reward share their features."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(m, m + 20))
    features = rng.standard_normal((n, k)) / np.sqrt(k)
    if ties:
        features = features[rng.integers(max(n // 2, 1), size=n)]
    arms = np.array([rng.permutation(n)[:m] for _ in range(rounds)], np.uint32)
    factor = rng.standard_normal((k, k))
    v0_inverse = np.linalg.inv(0.5 * np.eye(k) + factor @ factor.T)
    rounds_met = environment.Rounds(arms, 0.1 * rng.standard_normal(rounds))
    return run_of(rng.standard_normal(n), rounds_met, features, v0_inverse=v0_inverse)


def with_residual(run: Run, residual: np.ndarray) -> Run:
    return run._replace(problem=replace(run.problem, residual=residual))


def chosen(runs, radius):
    return np.array([outcome.arms for outcome in play_linucb(runs, radius)])


@settings(max_examples=25)  # the slow twin plays every lane
@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.sampled_from([1, 3, 5, linucb_core.UNROLLED]),
    m=st.integers(1, 12),
    count=st.integers(2, 2 * linucb_batched.LANES + 1),
    ties=st.booleans(),
)
def test_every_lane_plays_algorithm_1(seed, k, m, count, ties):
    runs = [draw_run(seed + at, k, m, 40, ties) for at in range(count)]
    radius = np.random.default_rng(seed).uniform(0, 2, 40)
    together = chosen(runs, radius)
    for own, arms in zip(runs, together, strict=True):
        problem, v0 = own.problem, np.linalg.inv(own.problem.v0_inverse)
        assert np.array_equal(arms, twins.linucb(problem.features, v0, problem.theta, *own.rounds, radius).arms)


@pytest.mark.parametrize("k", [1, 5, linucb_core.UNROLLED, linucb_core.UNROLLED + 1])
def test_a_run_does_not_depend_on_what_runs_beside_it(k):
    """Not in a single round of runs long enough for a rounding error to show."""
    runs = [draw_run(at, k, 10, 5000, ties=False) for at in range(linucb_batched.LANES + 3)]
    together, alone = chosen(runs, 0.3), np.concatenate([chosen([own], 0.3) for own in runs])
    assert np.array_equal(together, alone)
    assert np.array_equal(chosen(runs[::-1], 0.3)[::-1], alone)


@pytest.mark.parametrize("inflation", [0.0, 1.0])
@pytest.mark.parametrize("k", [1, 5, linucb_core.UNROLLED])
def test_lanes_keep_the_leverage_and_the_widths_of_a_run_alone(k, inflation):
    runs = [draw_run(at, k, 6, 1000, ties=False) for at in range(linucb_batched.LANES)]
    residual = np.random.default_rng(k).standard_normal(40)
    runs = [with_residual(own, residual[: len(own.problem.theta)]) for own in runs]
    options = {"inflation": inflation, "every": 50}
    for own, together in zip(runs, play_linucb(runs, 0.3, **options), strict=True):
        (alone,) = play_linucb([own], 0.3, **options)
        replayed = measure(own._replace(checkpoint=50), Choices(alone.arms))
        for name in ("srl", "widths"):
            ours, theirs, again = (getattr(outcome, name) for outcome in (together, alone, replayed))
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)
            np.testing.assert_allclose(ours, again, rtol=1e-9)
        assert np.array_equal(together.arms, alone.arms)
