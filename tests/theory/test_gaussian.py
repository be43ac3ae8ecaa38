"""Theory of the graph prior with known weights: gains are those of dense Gaussians, bounds hold on draws from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import ndtr

from graphdr.bandit.environment import Rounds
from graphdr.bandit.graph_prior import model, play
from graphdr.bandit.graph_prior.evidence import fit
from graphdr.bandit.graph_prior.model import predict
from graphdr.bandit.method import BanditProblem, Choices
from graphdr.bandit.simulate import measure
from graphdr.core.rng import stream
from graphdr.graphs import arm_features, random_graphs
from graphdr.graphs.model import largest_component
from graphdr.graphs.spectral import low_eigenpairs
from graphdr.theory import gaussian
from tests.support.playing import run_of

NOISE, FIRST = 0.04, play.FIRST


def greatest_gain(columns: np.ndarray, residual: float, rounds: int) -> float:
    """Bound the information gain of any run of so many rounds: 1/2 [ln T + J ln(1 + T L^2 / J) + n ln(1 + T r / n)].

    L is the length of the longest row. Only arms that can be pulled count among the n.
    """
    size, arms = columns.shape[1], min(len(columns), rounds)
    graph = size * np.log1p(rounds * np.einsum("ij,ij->i", columns, columns).max(initial=0.0) / size) if size else 0.0
    return float(0.5 * (np.log(rounds) + graph + arms * np.log1p(rounds * residual / arms)))


def expected_crw(zeta: float, n: int, candidates: int, rounds: int) -> float:
    """Return the CRW_T of a residual of norm zeta with normal entries, for uniform candidates."""
    z = np.linspace(-9.0, 9.0, 2001)
    between = 1.0 - ndtr(z) ** candidates - ndtr(-z) ** candidates  # chance that z is between least and largest
    return float(rounds * zeta / np.sqrt(n) * np.trapezoid(between, z))


def prior(seed: int, n: int = 30, size: int = 4, residual: float = 0.05):
    """Draw the columns of a prior; return them with the residual, and generators."""
    rng = np.random.default_rng(seed)
    return 0.5 * rng.standard_normal((n, size)), residual, rng


def covariance(columns, residual):
    return columns @ columns.T + residual * np.eye(len(columns))


def draw(columns, residual, rng, mean=3.0):
    """Draw the expected rewards of all arms."""
    parts = columns @ rng.standard_normal(columns.shape[1]) + np.sqrt(residual) * rng.standard_normal(len(columns))
    return mean + np.sqrt(NOISE) * parts


def offer(n, rounds, m, rng):
    return np.array([rng.permutation(n)[:m] for _ in range(rounds)], np.uint32)


cases = given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(0, 6),
    rounds=st.integers(1, 40),
    residual=st.sampled_from([0.0, 0.01, 3.0]),
)


@cases
def test_the_information_gain_is_that_of_a_dense_gaussian(seed, size, rounds, residual):
    """That of all rewards with a very wide prior of the mean, less that of the first."""
    columns, residual, rng = prior(seed, 12, size, residual)
    arms = rng.integers(12, size=rounds)
    total = covariance(columns, residual)[np.ix_(arms, arms)] + np.eye(rounds)
    dense = 0.5 * (np.linalg.slogdet(total)[1] + np.log(np.linalg.inv(total).sum()))
    found = gaussian.information_gain(columns, residual, np.bincount(arms, minlength=12).astype(float))
    assert_allclose(found, dense, rtol=1e-8, atol=1e-8)
    wide = 1e6
    limit = 0.5 * (np.linalg.slogdet(total + wide)[1] - np.log(total[0, 0] + wide))
    assert_allclose(found, limit, rtol=1e-3, atol=1e-3)


@cases
def test_the_information_gain_adds_up_over_the_rounds(seed, size, rounds, residual):
    """Every round adds half of ln(1 + variance of the arm played, over the noise)."""
    columns, residual, rng = prior(seed, 12, size, residual)
    arms = rng.integers(12, size=rounds)
    basis = model.Columns(columns, np.zeros(size), np.full(size, 12.0 / max(size, 1)))
    weights = model.Weights(size, 0.0, 1.0, residual, 1.0)  # with these lengths all shares are one
    total = 0.0
    for t in range(1, rounds):
        seen = model.statistics(12, arms[:t], np.zeros(t))
        total += 0.5 * np.log1p(predict(weights, seen, basis)[1][arms[t]])
    assert_allclose(gaussian.information_gain(columns, residual, np.bincount(arms, minlength=12)), total, atol=1e-8)


@cases
def test_no_run_gains_more_than_the_greatest_gain(seed, size, rounds, residual):
    columns, residual, rng = prior(seed, 12, size, residual)
    most = greatest_gain(columns, residual, rounds)
    for arms in (rng.integers(12, size=rounds), np.arange(rounds) % 12, np.zeros(rounds, int)):
        pulls = np.bincount(arms, minlength=12).astype(float)
        assert gaussian.information_gain(columns, residual, pulls) <= most + 1e-9


def ucb(columns, residual, theta, arms, noise, at_random):
    """Play UCB with known weights and sqrt(beta_t) standard deviations, on a dense posterior; return the arms."""
    cov, mean = 1e6 + covariance(columns, residual), np.zeros(len(theta))  # in units of the noise; a wide prior of b
    chosen = np.empty(len(arms), np.uint32)
    for t, offered in enumerate(arms):
        beta = 2 * np.log(len(offered) * ((t + 1) ** 2 + 1) / np.sqrt(2 * np.pi))
        scores = mean + np.sqrt(beta * NOISE * np.maximum(np.diagonal(cov), 0.0))
        arm = offered[at_random[t]] if t < FIRST else offered[scores[offered].argmax()]
        gain = cov[:, arm] / (cov[arm, arm] + 1.0)
        mean = mean + gain * (theta[arm] + noise[t] - mean[arm])
        cov = cov - np.outer(gain, cov[arm])
        chosen[t] = arm
    return chosen


@pytest.mark.parametrize("thompson", [True, False])
@pytest.mark.parametrize("residual", [0.0, 0.2])
def test_mean_regret_of_rewards_from_the_prior_is_below_the_bound(thompson, residual, monkeypatch):
    rounds, m, n, draws = 800, 5, 30, 25
    columns, residual, rng = prior(1, n, 4, residual)
    weights = model.Weights(4, 0.0, 1.0, residual, NOISE)
    monkeypatch.setattr(play, "fit", lambda seen, basis: weights)
    monkeypatch.setattr("graphdr.bandit.graph_prior.model.shares", lambda basis, rho: np.ones(4))
    lost, worst, gains = [], [], []
    for _ in range(draws):
        theta, arms = draw(columns, residual, rng), offer(n, rounds, m, rng)
        noise, at_random = np.sqrt(NOISE) * rng.standard_normal(rounds), rng.integers(m, size=rounds)
        run = run_of(theta, Rounds(arms, noise), columns, roughness=np.zeros(4))._replace(checkpoint=rounds)
        if thompson:
            chosen = play.play(run.problem, run.rounds, at_random, rng).arms
        else:
            chosen = ucb(columns, residual, theta, arms, noise, at_random)
        lost.append(measure(run, Choices(chosen)).regret[-1])
        worst.append(measure(run, Choices(arms[np.arange(rounds), theta[arms].argmin(axis=1)])).regret[-1])
        gains.append(gaussian.information_gain(columns, residual, np.bincount(chosen, minlength=n).astype(float)))
    bound = gaussian.thompson_bound if thompson else gaussian.ucb_bound
    kappa = gaussian.greatest_variance(columns, residual)
    allowed = bound(np.mean(gains), kappa, NOISE, rounds, m, FIRST)
    assert 0 < np.mean(lost) < allowed
    assert thompson is False or allowed < np.mean(worst)  # it says something


@pytest.mark.parametrize("bound", [gaussian.thompson_bound, gaussian.ucb_bound])
def test_bounds_grow_with_all_that_makes_a_problem_hard(bound):
    base = {"gain": 20.0, "kappa": 1.0, "noise": 0.01, "rounds": 5000, "candidates": 10, "first": 20}
    for name in base:
        if name != "first":
            assert bound(**base | {name: 2 * base[name]}) > bound(**base)
    assert_allclose(bound(**base | {"noise": 0.04}), 2 * bound(**base))
    assert bound(**base | {"candidates": 1}) == 0.0


def mean_shares(columns, residual, k, rng, draws=4000):
    """Return the squares outside of a constant and k columns over all around the mean, each a mean over draws."""
    theta = np.array([draw(columns, residual, rng) for _ in range(draws)]).T
    left = np.sum(gaussian.outside(theta, columns[:, :k]) ** 2)
    return left / np.sum((theta - theta.mean(axis=0)) ** 2)


@pytest.mark.parametrize("k", [0, 2, 4])
@pytest.mark.parametrize("residual", [0.0, 0.3])
def test_the_expected_share_is_that_of_draws(k, residual):
    columns, residual, rng = prior(2, 40, 4, residual)
    found = gaussian.expected_share(columns, residual, k)
    assert_allclose(found, mean_shares(columns, residual, k, rng), rtol=0.05, atol=1e-12)


def test_the_share_of_orthonormal_columns_is_that_of_the_variances():
    n, k, residual = 50, 6, 0.2
    columns, _ = np.linalg.qr(np.column_stack([np.ones(n), np.random.default_rng(0).standard_normal((n, k))]))
    graph, own = k * 3.0**2, n * residual  # summed variances of both parts
    expected = own * (n - 1 - k) / n / (graph + own * (n - 1) / n)
    assert_allclose(gaussian.expected_share(3.0 * columns[:, 1:], residual, k), expected)
    assert gaussian.expected_share(np.empty((n, 0)), residual, 0) == 1.0
    assert np.isnan(gaussian.expected_share(np.empty((n, 0)), 0.0, 0))


def test_the_true_share_is_the_square_of_zeta():
    columns, residual, rng = prior(3, 40)
    inside, _ = np.linalg.qr(columns - columns.mean(axis=0))
    theta = draw(columns, residual, rng)
    theta = (theta - theta.mean()) / np.linalg.norm(theta - theta.mean())
    assert_allclose(gaussian.true_share(theta, columns), arm_features.tail(theta, inside) ** 2)
    assert np.isnan(gaussian.true_share(np.ones(40), columns))


def test_the_share_that_evidence_finds_is_near_the_true_one():
    """On block models with a reward that has a tail: the median is right, and each is as near as the grid allows."""
    ratios = []
    for seed in range(24):
        graph = largest_component(random_graphs.sbm(120, stream(seed, "graph"), blocks=4, p_in=0.3, p_out=0.02))
        low, rng = low_eigenpairs(graph, 12), np.random.default_rng(seed)
        theta = low.vectors[:, 1:4] @ rng.standard_normal(3)
        own = 10 ** rng.uniform(-0.5, 0.5) / np.sqrt(graph.n)
        theta = theta / np.linalg.norm(theta) + own * rng.standard_normal(graph.n)
        arms = rng.integers(graph.n, size=4000)
        features, roughness = arm_features.graded("laplacian_low", low)
        basis = model.columns(features, roughness)
        weights = fit(model.statistics(graph.n, arms, theta[arms] + 0.1 * rng.standard_normal(4000)), basis)
        columns = play.prior_columns(weights, basis)
        expected = gaussian.expected_share(columns, weights.residual, weights.columns)
        ratios.append(expected / gaussian.true_share(theta, columns))
    assert 0.7 < np.median(ratios) < 1.4
    assert max(ratios) < np.sqrt(10)
    assert min(ratios) > np.sqrt(0.1)


def test_a_normal_residual_has_the_expected_candidate_width():
    n, m, rounds, rng = 400, 7, 4000, np.random.default_rng(0)
    residual = rng.standard_normal(n)
    residual *= 0.6 / np.linalg.norm(residual)
    drawn = Rounds(offer(n, rounds, m, rng), np.zeros(rounds))
    run = run_of(np.zeros(n), drawn, np.ones((n, 1)), residual=residual)._replace(checkpoint=rounds)
    [crw] = measure(run, Choices(drawn.arms[:, 0])).crw
    assert_allclose(crw, expected_crw(0.6, n, m, rounds), rtol=0.03)
    assert_allclose(expected_crw(1.0, 1, 2, 1), 2 / np.sqrt(np.pi), rtol=1e-4)  # of two normals


@pytest.mark.parametrize("spread", [lambda rng, n: rng.standard_normal(n), lambda rng, n: np.arange(n) == 0])
def test_width_and_leverage_of_any_residual_are_bounded(spread):
    n, m, rounds, rng = 60, 6, 300, np.random.default_rng(1)
    residual = np.asarray(spread(rng, n), float)
    residual *= 0.6 / np.linalg.norm(residual)
    crw, srl = [], []
    for _ in range(40):
        arms = offer(n, rounds, m, rng)
        features = rng.standard_normal((n, 3))
        run = run_of(np.zeros(n), Rounds(arms, np.zeros(rounds)), features, residual=residual)
        outcome = measure(run._replace(checkpoint=rounds), Choices(arms[:, 0]))
        crw.append(outcome.crw[-1])
        srl.append(outcome.srl[-1])
    assert np.mean(crw) <= rounds * 0.6 * np.sqrt(2 * (m - 1) / (n - 1))
    assert np.sqrt(np.mean(np.square(srl))) <= 0.6 * np.sqrt(rounds / n)


@pytest.mark.parametrize("thompson", [True, False])
def test_a_run_is_described_by_its_last_fit(thompson):
    rng = np.random.default_rng(0)
    features, theta = rng.standard_normal((25, 6)) / 5, rng.standard_normal(25)
    rounds = Rounds(offer(25, 200, 4, rng), 0.2 * rng.standard_normal(200))
    problem = BanditProblem(theta, features, roughness=np.arange(6.0))
    choices = play.play(problem, rounds, rng.integers(4, size=200), rng if thompson else None)
    bound = gaussian.thompson_bound if thompson else gaussian.ucb_bound
    found = play.describe(problem, rounds, choices, bound)
    assert found[:6] == choices.fits[-1][1]
    assert 0 <= found.fit_share <= 1
    columns = play.prior_columns(choices.fits[-1][1], model.columns(features, problem.roughness))
    assert 0 < found.gain < greatest_gain(columns, found.fit_residual, 200)
    assert play.describe(problem, rounds, choices._replace(fits=[]), bound) is None


def test_a_run_on_two_bases_is_described_by_the_columns_that_were_taken():
    """With a reward on the second basis, that one is found, and nothing of the reward is outside of its columns."""
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 40, 4)) / 6
    theta, rounds = second.sum(axis=1), Rounds(offer(40, 400, 4, rng), 0.05 * rng.standard_normal(400))
    problem = BanditProblem(theta, first, roughness=np.zeros(4), second_basis=(second, np.zeros(4)))
    choices = play.play(problem, rounds, rng.integers(4, size=400))
    found = play.describe(problem, rounds, choices, gaussian.ucb_bound)
    assert (found.fit_basis, found.fit_columns) == (1, 4)
    assert found.true_share < 1e-12
