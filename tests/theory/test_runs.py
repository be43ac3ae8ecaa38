"""Along any trajectory, widths, SRL and CRW are what Definition 1 says and stay below their envelopes."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.bandit import environment, linucb, residuals
from graphdr.bandit.method import Choices
from graphdr.bandit.simulate import measure
from graphdr.graphs import arm_features
from graphdr.theory import bounds, constants
from graphdr.theory.results import RunResult
from tests.support import twins
from tests.support.playing import run_of
from tests.support.small_bandits import bandits


class Trajectory(NamedTuple):
    """Arms of bounded length and residual, candidates, and the arms played, LinUCB's or not."""

    features: np.ndarray
    residual: np.ndarray
    arms: np.ndarray
    played: np.ndarray
    bound_x: float
    ridge: float

    @property
    def k(self) -> int:
        return self.features.shape[1]

    @property
    def potential(self) -> np.ndarray:
        return constants.potential(np.arange(1, 1 + len(self.played)), self.k, self.ridge, self.bound_x)


@st.composite
def trajectories(draw):
    """Draw rounds in which the first, the worst explored or a random candidate is played."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k, rounds = draw(st.integers(2, 12)), draw(st.sampled_from([1, 3, 5])), draw(st.integers(1, 80))
    m, bound_x = draw(st.integers(1, n)), draw(st.sampled_from([0.1, 1.0, 3.0]))
    features = rng.standard_normal((n, k))
    features *= bound_x / np.linalg.norm(features, axis=1, keepdims=True)
    if draw(st.booleans()):
        features *= rng.uniform(0, 1, (n, 1))
    residual = rng.choice([-1.0, 1.0], n) if draw(st.booleans()) else rng.uniform(-1, 1, n)
    arms = np.array([rng.permutation(n)[:m] for _ in range(rounds)], np.uint32)
    ridge = bound_x**2 * draw(st.sampled_from([1.0, 2.0]))
    policy = draw(st.sampled_from(["first", "widest", "random"]))
    if policy == "widest":
        wide = np.full(rounds, 1e9)
        played = linucb.projected(features, np.eye(k) / ridge, residual, arms, np.zeros(rounds), wide)[0]
    else:
        column = np.zeros(rounds, int) if policy == "first" else rng.integers(m, size=rounds)
        played = np.ascontiguousarray(arms[np.arange(rounds), column])
    return Trajectory(features, residual, arms, played, bound_x, ridge)


def measured(own: Trajectory, every: int = 1, **given: np.ndarray) -> RunResult:
    """Measure a trajectory; its residual serves as the reward as well."""
    rounds = environment.Rounds(own.arms, np.zeros(len(own.arms)))
    run = run_of(own.residual, rounds, own.features, residual=own.residual, **given)
    return measure(run._replace(checkpoint=every), Choices(own.played), own.ridge)


@given(own=trajectories(), has_matrix=st.booleans())
def test_a_run_is_measured_as_definition_1_says(own, has_matrix):
    """It starts from a matrix of its own, where there is one, or from that of the ridge."""
    v0 = own.ridge * np.eye(own.k) + has_matrix
    run = measured(own, **({"v0_inverse": np.linalg.inv(v0)} if has_matrix else {}))
    tolerance, z = {"rtol": 0, "atol": 1e-9}, own.features[own.played]
    widths = [twins.norm(z[t], np.linalg.inv(v0 + z[:t].T @ z[:t])) for t in range(len(z))]
    assert_allclose(run.widths, np.cumsum(widths), **tolerance)
    for t in {1, len(own.played) // 2 + 1, len(own.played)}:
        srl = twins.residual_leverage(own.features, v0, own.played[:t], own.residual)
        assert_allclose(run.srl[t - 1], srl, **tolerance)
        assert_allclose(run.crw[t - 1], twins.residual_width(own.arms[:t], own.residual), **tolerance)
    assert_allclose(run.regret, twins.regret(own.residual, own.arms, own.played), **tolerance)


@given(own=trajectories(), every=st.integers(1, 9))
def test_checkpoints_are_a_part_of_all_rounds(own, every):
    run, all_rounds = measured(own, every), measured(own)
    assert_allclose(run.t, np.arange(every, len(own.played) + 1, every))
    for name in ("t", "regret", "srl", "crw", "widths"):
        assert np.array_equal(getattr(run, name), getattr(all_rounds, name)[every - 1 :: every])


def test_widths_of_long_runs_do_not_drift():
    rng = np.random.default_rng(0)
    features, _ = np.linalg.qr(rng.standard_normal((60, 5)))
    played = rng.integers(60, size=20_000).astype(np.uint32)
    _, ours = residuals.residual_leverage(features, np.eye(5), played, np.zeros(60), 100)
    before = np.eye(5) + np.cumsum(features[played, :, None] * features[played, None, :], axis=0)
    before = np.concatenate([np.eye(5)[None], before[:-1]])
    squares = np.einsum("ti,tij,tj->t", features[played], np.linalg.inv(before), features[played])
    assert_allclose(ours, np.cumsum(np.sqrt(squares))[99::100], rtol=0, atol=1e-9)


@given(own=trajectories(), nu_k=st.floats(0.01, 3))
def test_widths_stay_below_the_elliptical_potential_and_residuals_below_their_envelopes(own, nu_k):
    own = own._replace(residual=nu_k * own.residual)
    run, c = measured(own), constants.Constants(own.k, 0.0, 0.05, own.ridge, own.bound_x)
    assert np.all(run.widths <= own.potential + 1e-9)
    assert np.all(run.widths <= run.t + 1e-9)  # since a ridge of L_x^2 leaves no width above one
    srl, crw = bounds.envelope(run.t, c, nu_k)
    assert np.all(run.srl <= srl + 1e-9)
    assert np.all(run.crw <= crw + 1e-9)


@given(bandit=bandits())
def test_no_arm_has_a_residual_above_nu(bandit):
    """What a tail and a noisy graph can do to one arm, and to the norm of the reward that is left inside."""
    nu_k, s_k_bar = bandit.robust
    assert bandit.pool.longest * arm_features.tail(bandit.theta, bandit.columns) <= nu_k + 1e-9
    assert np.abs(bandit.residual).max() <= nu_k + 1e-9
    assert bandit.constants.size <= s_k_bar + 1e-9


def test_candidates_drawn_alike_make_the_width_grow_with_the_rounds():
    """The condition on CRW of the corollary on benign residuals then fails, unless the residual is constant."""
    spec = environment.RoundsSpec(20_000, 5)
    stream = environment.draw_rounds(0, spec, 40, instance=0, seed=0)
    rng = np.random.default_rng(0)
    features, _ = np.linalg.qr(rng.standard_normal((40, 3)))
    residual = arm_features.residual(rng.standard_normal(40), features)
    always_the_same = Choices(np.full(20_000, 7, np.uint32))
    varied = measure(run_of(residual, stream, features, residual=residual), always_the_same)
    assert bounds.growth(varied.t, varied.crw) == pytest.approx(1, abs=0.01)
    assert bounds.growth(varied.t, varied.srl) == pytest.approx(0.5, abs=0.01)  # nothing cancels along a single arm
    level = measure(run_of(residual, stream, features, residual=np.ones(40)), always_the_same)
    assert bounds.growth(level.t, level.crw) == 0


def test_a_run_meets_the_bounds_that_apply_to_it():
    t, zero, some = np.array([1, 2]), np.zeros(2), np.array([0.5, 1.0])
    c = constants.Constants(2, 0.1)
    run = RunResult(t, some, zero, zero, some, 2 * some, 3 * some)
    assert set(bounds.checks(run, c)) == {"potential", "exact", "oracle", "uninflated"}
    run = run._replace(srl=some)
    assert set(bounds.checks(run, c)) == {"potential", "oracle", "uninflated"}
    assert set(bounds.checks(run, c, (0.3, 1.2), 0.2)) == {"potential", "srl", "crw", *bounds.BOUNDS} - {"exact"}


def test_nothing_of_nothing_is_a_ratio_of_zero_and_something_of_nothing_is_endless():
    check = bounds.Check(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 2.0, 0.0, 2.0]))
    assert check.ratio.tolist() == [0, 0, np.inf, 0.5]
