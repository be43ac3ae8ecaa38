"""The graph prior: evidence and posterior are those of dense Gaussians, and kernels choose what their twin chooses."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.bandit.environment import Rounds
from graphdr.bandit.graph_prior import model, play
from graphdr.bandit.graph_prior.evidence import evidence, fit, log_bayes_factor
from graphdr.bandit.graph_prior.model import normal_equations, predict
from graphdr.bandit.method import BanditProblem
from graphdr.core.rng import stream
from graphdr.graphs import arm_features, random_graphs
from graphdr.graphs.model import largest_component
from graphdr.graphs.spectral import low_eigenpairs
from tests.support import graph_prior_twin as twin
from tests.support.project import ROOT


def pose(seed: int, n: int, columns: int, rounds: int, m: int = 5, own: float = 0.3, mean: float = 0.0):
    """Draw features, their roughness, rewards that are part graph, part of each arm alone, and rounds."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, columns)) / np.sqrt(n)
    roughness = np.sort(rng.uniform(0, 1, columns))
    theta = features[:, : max(columns // 2, 1)].sum(axis=1) + own * rng.standard_normal(n) / np.sqrt(n) + mean
    arms = np.array([rng.permutation(n)[:m] for _ in range(rounds)], np.uint32)
    return features, roughness, theta, arms, 0.2 * rng.standard_normal(rounds), rng.integers(m, size=rounds)


cases = given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 30),
    columns=st.one_of(st.integers(1, 14), st.just(64)),
    rounds=st.integers(2, 60),
    few=st.booleans(),
    mean=st.sampled_from([0.0, -3.0, 1000.0]),
)


def observed(seed, n, columns, rounds, few, mean):
    """Draw rewards of arms that are pulled several times or never, some of them with equal features."""
    features, roughness, theta, *_ = pose(seed, n, columns, 1, m=1, mean=mean)
    rng = np.random.default_rng(seed)
    features = features[rng.integers(n, size=n)]
    arms = rng.integers(max(n // 3, 1) if few else n, size=rounds)
    return features, roughness, arms, theta[arms] + 0.2 * rng.standard_normal(rounds)


@settings(max_examples=30)
@cases
def test_evidence_and_noise_are_those_of_a_dense_gaussian(seed, n, columns, rounds, few, mean):
    features, roughness, arms, rewards = observed(seed, n, columns, rounds, few, mean)
    found = evidence(model.statistics(n, arms, rewards), model.columns(features, roughness))
    rng = np.random.default_rng(seed)
    for place, residual in enumerate(model.RESIDUALS):
        dense = twin.log_evidence(twin.covariance(features, roughness, 0, 0, 0, residual), arms, rewards - mean)
        assert_allclose([found.independent[place], found.independent_noise[place]], dense, rtol=1e-8, atol=1e-8)
    grid = model.grid_of_columns(columns)
    for _ in range(20):
        at = tuple(rng.integers(found.graph.shape))
        point = grid[at[3]], model.RHOS[at[1]], model.SCALES[at[2]], model.RESIDUALS[at[0]]
        dense = twin.log_evidence(twin.covariance(features, roughness, *point), arms, rewards - mean)
        assert_allclose([found.graph[at], found.graph_noise[at]], dense, rtol=1e-8, atol=1e-8)


@settings(max_examples=30)
@cases
def test_a_fit_is_the_first_best_point_of_the_whole_grid(seed, n, columns, rounds, few, mean):
    features, roughness, arms, rewards = observed(seed, n, columns, rounds, few, mean)
    seen, rng = model.statistics(n, arms, rewards), np.random.default_rng(seed)
    candidates = model.candidates((features, roughness), (features[rng.permutation(n)], roughness))
    every = [evidence(seen, basis) for basis in candidates]
    basis = int(np.argmax([found.graph.max() for found in every]))
    found = every[basis]
    residual, rho, scale, column = at = np.unravel_index(found.graph.argmax(), found.graph.shape)
    point = model.RHOS[rho], model.SCALES[scale], model.RESIDUALS[residual], found.graph_noise[at]
    expected = model.Weights(model.grid_of_columns(len(candidates[basis].lengths))[column], *point, basis)
    alone = int(every[0].independent.argmax())
    if every[0].independent[alone] >= found.graph[at]:
        expected = model.Weights(0, 0.0, 0.0, model.RESIDUALS[alone], every[0].independent_noise[alone])
    assert fit(seen, *candidates) == expected


@settings(max_examples=30)
@cases
def test_a_smaller_residual_gains_at_most_half_of_what_the_determinant_of_the_arms_loses(
    seed, n, columns, rounds, few, mean
):
    features, roughness, arms, rewards = observed(seed, n, columns, rounds, few, mean)
    seen = model.statistics(n, arms, rewards)
    found = evidence(seen, model.columns(features, roughness))
    logs = np.log1p(seen.pulls * model.RESIDUALS[:, None]).sum(axis=1)
    reach = found.graph + logs[:, None, None, None] / 2
    assert (np.diff(reach, axis=0) >= -1e-6).all()


@settings(max_examples=30)
@cases
def test_posterior_mean_and_variance_are_those_of_a_dense_gaussian(seed, n, columns, rounds, few, mean):
    features, roughness, arms, rewards = observed(seed, n, columns, rounds, few, mean)
    seen, rng = model.statistics(n, arms, rewards), np.random.default_rng(seed)
    for _ in range(10):
        point = [rng.choice(values) for values in (model.RHOS, model.SCALES, model.RESIDUALS)]
        weights = model.Weights(int(rng.integers(1 + min(columns, 60))), *point, 0.04)
        dense = twin.covariance(features, roughness, weights.columns, *point)
        center, covariance = twin.posterior(dense, weights.noise, arms, rewards - mean)
        found, variance = predict(weights, seen, model.columns(features, roughness))
        assert_allclose(found - mean, center, rtol=1e-8, atol=1e-8)
        assert_allclose(variance, np.diag(covariance), rtol=1e-8, atol=1e-8)


def test_mean_and_noise_are_integrated_out():
    """Differences of evidence are those of densities integrated over the noise, with a very wide prior of the mean."""
    features, roughness, arms, rewards = observed(3, 12, 6, 25, False, 0.0)
    found = evidence(model.statistics(12, arms, rewards), model.columns(features, roughness))
    places = [(0, 0, 8, 0), (6, 2, 4, 4), (9, 1, 10, 3)]
    noises = np.exp(np.linspace(-12, 8, 4001))
    logs = []
    for residual, rho, scale, columns in places:
        point = [1, 2, 3, 4, 6][columns], model.RHOS[rho], model.SCALES[scale], model.RESIDUALS[residual]
        prior = twin.covariance(features, roughness, *point)[np.ix_(arms, arms)] + np.eye(25)
        values, vectors = np.linalg.eigh(prior + 1e7)  # b ~ N(0, 1e7 noise)
        quad = np.sum((vectors.T @ rewards) ** 2 / values)
        density = -0.5 * (np.log(values).sum() + 25 * np.log(noises) + quad / noises) + 0.5 * np.log(noises)
        logs.append(np.log(np.trapezoid(np.exp(density - density.max()), np.log(noises))) + density.max())
    assert_allclose(np.diff([found.graph[place] for place in places]), np.diff(logs), atol=1e-3)


@settings(max_examples=15)
@cases
def test_mean_and_weights_have_the_covariance_of_a_dense_gaussian(seed, n, columns, rounds, few, mean):
    """What Thompson sampling draws, x_i^T (b, w) and then e_i, has mean and covariance of the posterior of all arms."""
    features, roughness, arms, rewards = observed(seed, n, columns, rounds, few, mean)
    seen, weights = model.statistics(n, arms, rewards), model.Weights(min(columns, 5), 10.0, 1.0, 0.1, 0.04)
    v, right = normal_equations(weights, seen, model.columns(features, roughness))
    kept = 1 / (1 + seen.pulls * weights.residual)
    rows = kept[:, None] * np.column_stack([np.ones(n), features[:, : weights.columns]])
    covariance = weights.noise * (rows @ np.linalg.inv(v) @ rows.T + np.diag(weights.residual * kept))
    dense = twin.posterior(twin.covariance(features, roughness, *weights[:4]), weights.noise, arms, rewards - mean)
    assert_allclose(covariance, dense[1], rtol=1e-8, atol=1e-8)
    center = rows @ np.linalg.solve(v, right) + weights.residual * kept * seen.sums
    assert_allclose(center - mean, dense[0], rtol=1e-8, atol=1e-8)


def compare(problem, thompson: bool, second_basis=None):
    """Play a problem and its twin; return the weights of the refits."""
    features, roughness, theta, arms, noise, columns = problem
    rngs = [np.random.default_rng(3) if thompson else None for _ in range(2)]
    bandit = BanditProblem(theta, features, roughness=roughness, second_basis=second_basis)
    played = play.play(bandit, Rounds(arms, noise), columns, rngs[0])
    chosen, fits = twin.play(*problem, rngs[1], second_basis)
    assert_array_equal(played.arms, chosen)
    told = [(t, *weights) for t, weights in played.fits]
    assert_allclose(told, fits, rtol=1e-7)
    return played.fits


@pytest.mark.parametrize("thompson", [False, True])
@settings(max_examples=6, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(5, 25),
    columns=st.integers(1, 11),
    rounds=st.integers(1, 150),
    own=st.sampled_from([0.0, 0.5, 3.0]),
    mean=st.sampled_from([0.0, 50.0]),
)
def test_every_choice_and_refit_is_that_of_the_twin(thompson, seed, n, columns, rounds, own, mean):
    compare(pose(seed, n, columns, rounds, own=own, mean=mean), thompson)


@pytest.mark.parametrize("thompson", [False, True])
@settings(max_examples=4, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(5, 25),
    widths=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    rounds=st.integers(1, 150),
    share=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_two_bases_are_played_as_by_the_twin(thompson, seed, n, widths, rounds, share):
    compare(*two_bases(seed, n, widths, rounds, share, thompson))


def two_bases(seed, n, widths, rounds, share, thompson):
    """Pose a problem whose reward is on a second basis in that share, with the first in its features."""
    features, roughness, theta, *game = pose(seed, n, widths[0], rounds, own=0.1)
    second, rough, other, *_ = pose(seed + 1, n, widths[1], 1, own=0.1)
    return (features, roughness, (1 - share) * theta + share * other, *game), thompson, (second, rough)


@pytest.mark.parametrize(("share", "basis"), [(0.0, 0), (1.0, 1), (0.5, 2)])
def test_the_rewards_choose_the_basis(share, basis):
    """The first, the second, or both: the one that the rewards are made of, and the twin agrees in every round."""
    fits = compare(*two_bases(0, 30, (5, 5), 700, share, False))
    assert fits[-1][1].basis == basis


def test_columns_of_two_bases_are_taken_in_turn():
    first, second = (np.arange(6.0).reshape(1, 6), np.arange(6.0)), (np.array([[10.0, 11.0]]), np.array([10.0, 11.0]))
    one, other, both = model.candidates(first, second)
    assert_array_equal(both.features, [[0, 10, 1, 11, 2, 3, 4, 5]])
    assert_array_equal(both.roughness, both.features[0])
    assert_array_equal(one.features, first[0])
    assert_array_equal(other.features, second[0])
    assert len(model.candidates(first)) == 1
    wide = np.ones((3, 64)), np.zeros(64)
    assert [len(basis.lengths) for basis in model.candidates(wide, wide)] == [60, 60, 60]


def test_of_equal_candidates_the_first_is_taken():
    features, roughness, arms, rewards = observed(4, 25, 8, 200, False, 0.0)
    seen, basis = model.statistics(25, arms, rewards), model.columns(features, roughness)
    assert fit(seen, basis, basis) == fit(seen, basis)
    empty = model.columns(np.empty((25, 0)), np.empty(0))
    assert fit(seen, empty, basis)[:5] == fit(seen, basis)[:5]
    assert fit(seen, empty, empty).columns == 0


@pytest.mark.parametrize("thompson", [False, True])
def test_thousands_of_rounds_are_those_of_the_twin(thompson):
    fits = compare(pose(1, 12, 6, 10_000 if not thompson else 4000, own=1.0), thompson)
    assert [t for t, _ in fits[:5]] == [20, 40, 80, 160, 320]
    assert fits[-1][1].columns


def test_arms_with_equal_features_tie_to_the_first():
    features, roughness, theta, arms, noise, columns = pose(2, 20, 4, 400)
    features = features[np.arange(20) // 2]
    compare((features, roughness, theta, arms, noise, columns), False)


def graph_problem(seed: int, rounds: int, own: float):
    """Draw a block model, a reward on its lowest eigenvectors with a part of every arm's own, and random pulls."""
    graph = largest_component(random_graphs.sbm(120, stream(seed, "graph"), blocks=4, p_in=0.3, p_out=0.02))
    low, rng = low_eigenpairs(graph, 20), np.random.default_rng(seed)
    theta = low.vectors[:, 1:4] @ rng.standard_normal(3)
    theta = theta / np.linalg.norm(theta) + own * rng.standard_normal(graph.n) / np.sqrt(graph.n)
    arms = rng.integers(graph.n, size=rounds)
    seen = model.statistics(graph.n, arms, theta[arms] + 0.1 * rng.standard_normal(rounds))
    return seen, low, rng.permutation(graph.n)


def test_the_bayes_factor_speaks_for_true_graphs_and_against_shuffled_ones():
    true, shuffled = [], []
    for seed in range(20):
        seen, low, permuted = graph_problem(seed, 1000, 0.5)
        true.append(log_bayes_factor(seen, model.columns(low.vectors, low.values)))
        shuffled.append(log_bayes_factor(seen, model.columns(low.vectors[permuted], low.values)))
    assert min(true) > 2
    assert max(shuffled) < 2
    assert np.median(shuffled) < 0


def test_the_bayes_factor_is_a_mean_over_the_grid():
    """With eight residuals per decade, in place of two."""
    seen, low, _ = graph_problem(0, 60, 0.5)
    basis, residuals = model.columns(low.vectors, low.values), np.array([0, *10 ** (np.arange(-32, 9) / 8)])
    found = evidence(seen, basis, residuals)
    means = [np.log(np.mean(np.exp(part - part.max()))) + part.max() for part in (found.graph, found.independent)]
    assert_allclose(log_bayes_factor(seen, basis), means[0] - means[1])
    coarse = np.searchsorted(residuals, model.RESIDUALS - 1e-12)
    assert_allclose(found.graph[coarse], evidence(seen, basis).graph)


def test_a_residual_between_two_values_of_the_grid_is_no_graph():
    """Arms that have nothing in common and are well known: columns that are almost a residual fill no gap."""
    rng, found = np.random.default_rng(0), []
    for _ in range(50):
        columns, _ = np.linalg.qr(rng.standard_normal((200, 60)))
        arms, theta = rng.integers(200, size=20_000), np.sqrt(0.5) * rng.standard_normal(200)
        seen = model.statistics(200, arms, theta[arms] + rng.standard_normal(20_000))
        found.append(log_bayes_factor(seen, model.columns(columns, np.linspace(0, 1, 60))))
    assert np.mean(np.array(found) > 2) <= 0.02


def test_neither_zero_nor_unit_of_the_rewards_matters():
    features, roughness, arms, rewards = observed(4, 25, 8, 200, False, 0.0)
    one = fit(model.statistics(25, arms, rewards), model.columns(features, roughness))
    other = fit(model.statistics(25, arms, 1000 * rewards - 7), model.columns(features, roughness))
    assert one[:4] == other[:4]
    assert_allclose(other.noise, 1e6 * one.noise)


def test_weights_are_found():
    """With many pulls, the point of the grid is near what the rewards were drawn with."""
    seen, low, permuted = graph_problem(0, 20_000, 0.0)
    true = fit(seen, model.columns(low.vectors, low.values))
    assert true.columns
    assert true.residual < 0.01
    assert_allclose(true.noise, 0.01, rtol=0.05)
    assert fit(seen, model.columns(low.vectors[permuted], low.values)).residual > 0.1


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("thompson", [False, True])
def test_equal_rewards_and_rewards_without_noise_are_played(noise, thompson):
    features, roughness, theta, arms, drawn, columns = pose(0, 20, 6, 300)
    for reward in (theta, np.full(20, 0.7)):
        problem = BanditProblem(reward, features, roughness=roughness)
        rng = np.random.default_rng(0) if thompson else None
        played = play.play(problem, Rounds(arms, noise * drawn), columns, rng)
        assert (played.arms[:, None] == arms).any(axis=1).all()
    assert all(np.isfinite(weights).all() for _, weights in played.fits)


@pytest.mark.parametrize("name", arm_features.all_bases())
def test_every_basis_will_do(name, small_graph):
    rng = np.random.default_rng(0)
    embedding = rng.standard_normal((small_graph.n, 9))
    source = arm_features.Source(small_graph.n, small_graph, embedding=embedding)
    features, roughness = arm_features.graded(name, arm_features.compute(name, source, 8, rng))
    assert features.shape == (small_graph.n, len(roughness))
    assert len(roughness) >= 7
    assert (roughness >= 0).all()
    _, _, theta, arms, noise, columns = pose(0, small_graph.n, 8, 35)  # one refit, and rounds after it
    compare((features, roughness, theta, arms, noise, columns), False)


def test_a_basis_without_columns_is_no_graph():
    _, _, theta, arms, noise, columns = pose(0, 15, 4, 100)
    fits = compare((np.empty((15, 0)), np.empty(0), theta, arms, noise, columns), False)
    assert {weights.columns for _, weights in fits} == {0}


def test_rows_are_met_in_chunks(monkeypatch):
    features, roughness, arms, rewards = observed(5, 30, 8, 100, False, 0.0)
    seen, basis = model.statistics(30, arms, rewards), model.columns(features, roughness)
    weights = fit(seen, basis)
    whole = *evidence(seen, basis), *predict(weights, seen, basis)
    monkeypatch.setattr(model, "CHUNK", 7)
    for one, other in zip(whole, (*evidence(seen, basis), *predict(weights, seen, basis)), strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_tests_that_the_derivation_names_are_here():
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs/graph_prior.md").read_text(encoding="utf-8")))
    assert len(named) > 5
    tests = (ROOT / "tests" / name for name in ("bandit/test_graph_prior.py", "theory/test_gaussian.py"))
    assert named <= {name for path in tests for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))}
