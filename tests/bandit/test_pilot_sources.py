"""Where a pilot's rewards come from: one contract for all sources, and estimates against what their formulas say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphdr.bandit import contexts, pilot, rewards
from graphdr.bandit.arm_set import ArmSet
from graphdr.bandit.pilot import SOURCES, Setting, fit, ridge
from graphdr.core.errors import DENSE_LIMIT, UserError

N, SIGMA = 20, 0.1


def setting(bundle: int = 3, noise: float = SIGMA, penalty: float = 1.0, seed: int = 0) -> Setting:
    """Pose a reward on nodes of unlike popularity, whose arms are all nodes or bundles of some."""
    rng = np.random.default_rng(seed)
    members = np.array([rng.permutation(N)[:bundle] for _ in range(60)])
    pool = ArmSet(contexts.bundles(members, N)) if bundle > 1 else ArmSet()
    return Setting(pool, rewards.centred(rng.standard_normal(N)), noise, penalty, 1 + rng.integers(9, size=N))


@pytest.mark.parametrize("bundle", [1, 3])
@pytest.mark.parametrize("source", SOURCES)
def test_a_source_finds_theta_and_the_better_the_more_rounds_it_has(source, bundle):
    posed, errors = setting(bundle), {}
    for rounds in (200, 20_000):
        found = [SOURCES[source](posed, rounds, np.random.default_rng(seed)) for seed in range(20)]
        errors[rounds] = np.mean([np.linalg.norm(own.theta - posed.theta) for own in found])
        assert all(own.theta.shape == own.pulls.shape == own.sums.shape == (N,) for own in found)
        assert all(len(own.nodes) == len(own.rewards) == rounds for own in found)
    assert errors[20_000] < 0.2 * errors[200]
    again = (SOURCES[source](posed, 50, np.random.default_rng(0)).theta for _ in range(2))
    assert np.array_equal(*again)


def test_nodes_from_a_prefix_are_the_plain_means():
    posed = setting(bundle=1)
    ours = SOURCES["prefix"](posed, 90, np.random.default_rng(1))
    plain = pilot.play(posed.theta, SIGMA, 90, np.random.default_rng(1))
    assert all(map(np.array_equal, ours, plain))


def test_a_ridge_regression_is_the_minimum_of_its_sum_of_squares():
    posed, rng = setting(), np.random.default_rng(3)
    arms = rng.integers(60, size=100)
    paid = rng.standard_normal(100)
    theta = fit(posed.arm_set, N, arms, paid, 0.7)
    x = posed.arm_set.rows.toarray()[arms]
    assert_allclose(theta, np.linalg.solve(x.T @ x + 0.7 * np.eye(N), x.T @ paid), atol=1e-10)


@pytest.mark.parametrize("rounds", [400, 4000])
def test_a_ridge_regression_errs_as_its_formula_says(rounds):
    """E ||theta-hat - theta||^2 = sigma^2 tr(V^-1 G V^-1) + penalty^2 ||V^-1 theta||^2 with V = G + penalty I."""
    posed, rng = setting(penalty=2.0), np.random.default_rng(4)
    pulls = np.bincount(rng.integers(60, size=rounds), minlength=60).astype(float)
    rows, mean = posed.arm_set.rows, posed.arm_set(posed.theta)
    dense = rows.toarray()
    gram = dense.T @ (dense * pulls[:, None])
    inverse = np.linalg.inv(gram + 2.0 * np.eye(N))
    expected = SIGMA**2 * np.trace(inverse @ gram @ inverse) + 4.0 * np.sum((inverse @ posed.theta) ** 2)
    errors = []
    for _ in range(400):
        sums = pulls * mean + SIGMA * np.sqrt(pulls) * rng.standard_normal(60)
        errors.append(np.sum((ridge(rows, pulls, sums, 2.0) - posed.theta) ** 2))
    assert np.mean(errors) == pytest.approx(expected, rel=0.1)


def test_logs_show_arms_by_their_chance():
    posed = setting(bundle=1)
    chance = pilot.propensities(posed)
    assert chance.sum() == pytest.approx(1)
    assert chance.min() >= pilot.EXPLORED / N
    assert np.array_equal(np.argsort(chance, kind="stable"), np.argsort(posed.popularity, kind="stable"))
    logged = SOURCES["logged"](posed, 50_000, np.random.default_rng(0))
    assert_allclose(logged.pulls / 50_000, chance, atol=0.005)


@pytest.mark.parametrize("bundle", [1, 3])
def test_a_doubly_robust_estimate_is_right_whatever_the_model(bundle):
    """On average over logs, the correction takes a wrong model to the true reward of every arm."""
    posed, rng = setting(bundle), np.random.default_rng(7)
    wrong, chance = rng.standard_normal(N), pilot.propensities(posed)
    truth = posed.arm_set(posed.theta)
    found = []
    for _ in range(400):
        played = pilot.play(truth, SIGMA, 500, rng, chance)
        found.append(pilot.corrected(posed.arm_set, played.nodes, played.rewards, chance, wrong))
    assert_allclose(np.mean(found, axis=0), truth, atol=4 * np.std(found, axis=0).max() / 20)
    assert np.abs(posed.arm_set(wrong) - truth).max() > 0.5


def test_no_round_corrects_the_model_that_it_was_fitted_to():
    """Without noise both sources are exact; with it, a mean has nothing to correct in its own rounds."""
    posed = setting(bundle=1, noise=0.0)
    plain, crossed = (SOURCES[name](posed, 4000, np.random.default_rng(0)) for name in ("logged", "cross_fitted"))
    assert np.array_equal(plain.nodes, crossed.nodes)
    assert_allclose(plain.theta, posed.theta, atol=1e-12)  # means of nodes have nothing left to correct
    assert_allclose(crossed.theta, posed.theta, atol=1e-12)
    noisy = setting(bundle=1, noise=1.0)
    plain, crossed = (SOURCES[name](noisy, 400, np.random.default_rng(0)) for name in ("logged", "cross_fitted"))
    assert not np.allclose(plain.theta, crossed.theta)


def test_a_regression_on_too_many_nodes_is_refused_in_one_line():
    rows = contexts.bundles(np.zeros((1, 1), int), DENSE_LIMIT + 1)
    with pytest.raises(UserError, match=r"a ridge regression: 20,001 nodes need a dense matrix of 3 GB"):
        ridge(rows, np.ones(1), np.ones(1), 1.0)
