"""What is random in a served policy: draws of the posterior, random rounds, and the propensities that a log needs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.serve import policy as served
from graphdr.serve.policy import GraphDRLinUCB
from graphdr.serve.posterior import Posterior
from graphdr.serve.round_log import Choice
from tests.support.policies import GRAPH, linucb

SOME = [3, 40, 41, 90, 120]
CALLS = 2000


def taught(explore="ucb", seed=0, **parameters) -> GraphDRLinUCB:
    """Return a policy that knows a little of every arm, so that several are worth a try."""
    policy = GraphDRLinUCB(5, explore=explore, random_state=seed, **parameters).fit(GRAPH.adjacency)
    rng = np.random.default_rng(11)
    arms = rng.integers(GRAPH.n, size=320)
    theta = policy._posterior.rows[:, -5:] @ np.array([3.0, -2.0, 2.0, 1.0, 0.0]) + 0.3 * np.sin(np.arange(GRAPH.n))
    policy.update_many(arms, 2.0 + theta[arms] + rng.standard_normal(320))
    return policy


def posterior(policy: GraphDRLinUCB) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of all expected rewards f = X w + e, from the precision of (w, e) jointly."""
    known = policy._posterior
    size, n = len(known.precision), len(known.rows)
    design = np.column_stack([known.rows[:, :size], np.eye(n)])
    precision = np.zeros((size + n, size + n))
    precision[:size, :size] = known.precision
    precision[size:, size:] = np.eye(n) / known.residual
    precision += design.T @ (known.pulls[:, None] * design)
    inverse = np.linalg.inv(precision)
    return design @ (inverse @ (design.T @ known.sums)), known.noise * design @ inverse @ design.T


@pytest.fixture(scope="module")
def thompson() -> GraphDRLinUCB:
    policy = taught("ts")
    assert policy._posterior.residual > 0  # arms have a part of their own
    assert len(policy._posterior.mean) > 1  # and one of the graph's
    return policy


def assert_moments(drawn: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Compare mean and covariance of draws with what they should be; return the sampling error of the covariance."""
    variance = covariance.diagonal()
    assert np.all(np.abs(drawn.mean(axis=0) - mean) < 5 * np.sqrt(variance / len(drawn)))
    error = np.sqrt((np.outer(variance, variance) + covariance**2) / len(drawn))
    assert np.all(np.abs(np.cov(drawn.T) - covariance) < 5 * error)
    return error


def test_draws_have_the_mean_and_the_covariance_of_the_posterior(thompson):
    mean, covariance = posterior(thompson)
    places = np.array(SOME, np.uint32)
    mean, covariance = mean[SOME], covariance[np.ix_(SOME, SOME)]
    found, width = thompson.expect(SOME)
    own = thompson._posterior.residual / (1.0 + thompson._posterior.pulls[SOME] * thompson._posterior.residual)
    assert_allclose(found, mean, rtol=1e-8)
    # The width of what arms share counts more where the upper bound is played, and once in a draw.
    shared = (width**2 - own) / thompson._posterior.boost
    assert_allclose(thompson._posterior.noise * (own + shared), covariance.diagonal(), rtol=1e-8)
    drawn = thompson._posterior.draws(places, thompson._width_factor, 200_000, np.random.default_rng(0))
    error = assert_moments(drawn, mean, covariance)
    off = covariance[np.triu_indices(len(SOME), 1)]
    assert np.abs(off).max() > 20 * error.max()  # so that a draw without what arms share would be seen


def test_draws_without_an_own_part_are_those_of_ridge_regression():
    policy = linucb(5, names=None, ridge=0.5, radius=0.3, explore="ts")
    policy.update_many(np.arange(100), np.sin(np.arange(100)))
    drawn = policy._posterior.draws(np.array(SOME, np.uint32), 0.3, 100_000, np.random.default_rng(1))
    x = policy._posterior.rows[SOME]
    assert_moments(drawn, x @ policy._posterior.mean, 0.09 * x @ policy._posterior.inverse @ x.T)


def binomial_error(share: np.ndarray, count: int) -> np.ndarray:
    return 5 * np.sqrt(np.maximum(share * (1 - share), 1e-9) / count)


@pytest.fixture(scope="module")
def true_shares(thompson) -> np.ndarray:
    """How often each candidate is the best of a draw from the dense posterior."""
    mean, covariance = posterior(thompson)
    rng = np.random.default_rng(5)
    drawn = rng.multivariate_normal(mean[SOME], covariance[np.ix_(SOME, SOME)], 400_000).argmax(axis=1)
    shares = np.bincount(drawn, minlength=len(SOME)) / 400_000
    assert np.sort(shares)[-2] > 0.05  # several are worth a try
    return shares


def test_probabilities_of_many_arms_are_drawn_in_parts(thompson, monkeypatch, true_shares):
    monkeypatch.setattr(served, "AT_ONCE", 7 * len(SOME))
    asked, draws = [], Posterior.draws
    monkeypatch.setattr(Posterior, "draws", lambda *values: asked.append(values[3]) or draws(*values))
    found = thompson.probabilities(SOME)
    assert (sum(asked), max(asked)) == (served.DRAWS, 7)
    assert_allclose(found.sum(), 1.0)
    assert np.all(np.abs(found - true_shares) < binomial_error(true_shares, served.DRAWS))


@pytest.mark.parametrize("explore", ["ts", 0.3])
def test_choices_are_drawn_from_the_probabilities_that_they_come_with(explore, true_shares):
    policy = taught(explore)
    choices = [policy.choose(SOME) for _ in range(CALLS)]
    assert type(choices[0]) is Choice
    arms, propensities = np.array([SOME.index(arm) for arm, _ in choices]), np.array([p for _, p in choices])
    expected = true_shares if explore == "ts" else policy.probabilities(SOME)
    recommended = np.array([SOME.index(policy.recommend(SOME)) for _ in range(CALLS)])
    for played in (arms, recommended):
        found = np.bincount(played, minlength=len(SOME)) / CALLS
        assert np.all(np.abs(found - expected) < binomial_error(expected, CALLS))
    # Weighed by 1 / propensity, every arm with a fair chance counts once: what off-policy estimates rest on.
    for at in np.flatnonzero(expected > 0.02):
        weight = (arms == at) / propensities
        assert abs(weight.mean() - 1) < 5 * weight.std() / np.sqrt(CALLS)


@pytest.mark.parametrize("explore", ["ucb", 0.0, 0.2, 1.0])
def test_random_rounds_have_the_share_that_was_asked_for_and_the_largest_upper_bound_none(explore):
    policy, best = taught(explore), taught().recommend(SOME)
    share = 0.0 if explore == "ucb" else explore
    expected = np.full(len(SOME), share / len(SOME))
    expected[SOME.index(best)] += 1 - share
    assert_allclose(policy.probabilities(SOME), expected)
    played = np.array([SOME.index(policy.recommend(SOME)) for _ in range(CALLS)])
    assert np.all(np.abs(np.bincount(played, minlength=5) / CALLS - expected) <= binomial_error(expected, CALLS))
    assert {p for _, p in (policy.choose(SOME) for _ in range(200))} <= {*expected.tolist()}
    assert sorted(policy.recommend(SOME, n=5)) == SOME


def test_before_settings_are_found_all_have_the_same_chance():
    policy = GraphDRLinUCB(5, random_state=0).fit(GRAPH.adjacency)
    assert_allclose(policy.probabilities(SOME), 0.2)
    assert policy.choose(SOME).propensity == pytest.approx(0.2)
    played = np.array([SOME.index(policy.recommend(SOME)) for _ in range(CALLS)])
    assert np.all(np.abs(np.bincount(played) / CALLS - 0.2) < binomial_error(np.full(5, 0.2), CALLS))
    pairs = {tuple(policy.recommend(SOME, n=2)) for _ in range(500)}
    assert len(pairs) == 20  # of two different arms


# Several, and all


def test_the_n_best_are_in_their_order():
    policy = taught()
    mean, width = policy.expect(SOME)
    order = [SOME[at] for at in np.argsort(-(mean + policy._width_factor * width))]
    assert [policy.recommend(SOME, n=n) for n in range(1, 6)] == [order[0], *(order[:n] for n in range(2, 6))]
    assert policy.recommend([3, 3, 40, 40], n=4) in ([3, 3, 40, 40], [40, 40, 3, 3])


@pytest.mark.parametrize("explore", ["ucb", "ts", 0.5])
def test_without_candidates_all_arms_are_candidates_and_a_seed_repeats_what_is_random(explore):
    policy, other = taught(explore), taught(explore)
    every = list(range(GRAPH.n))
    assert policy.recommend() == other.recommend(every)
    assert policy.recommend(n=7) == other.recommend(every, n=7)
    assert_array_equal(policy.probabilities(), other.probabilities(every))
    assert_array_equal(policy.expect(), other.expect(every))
    assert policy.choose() == other.choose(every)


def test_many_sets_are_as_random_as_single_ones():
    one, other = taught("ts"), taught("ts")
    assert one.recommend_many([SOME] * 50) == [other.recommend(SOME) for _ in range(50)]
    mixed = taught(0.5)
    assert len(set(mixed.recommend_many([SOME] * 200))) == 5


# Seeds


KINDS = [lambda: 3, lambda: np.int64(3), lambda: np.random.default_rng(3), lambda: np.random.RandomState(3)]


@pytest.mark.parametrize("kind", KINDS, ids=["int", "int64", "generator", "random state"])
def test_random_states_of_all_kinds_repeat(kind):
    first, same, other = (
        GraphDRLinUCB(5, basis="gaussian", random_state=state).fit(GRAPH.adjacency) for state in (kind(), kind(), None)
    )
    assert_array_equal(first._posterior.rows, same._posterior.rows)
    choices = [[policy.recommend(SOME) for _ in range(60)] for policy in (first, same, other)]
    assert choices[0] == choices[1] != choices[2]
