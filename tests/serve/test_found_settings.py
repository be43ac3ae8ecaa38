"""Settings found from the rewards: a served policy plays the graph prior round by round, whatever the rewards' unit."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import graphdr
from graphdr.bandit.graph_prior import evidence, model
from graphdr.serve import tuning
from graphdr.serve.policy import GraphDRLinUCB
from graphdr.serve.posterior import Prior
from tests.support.policies import GRAPH, MODES, NAMES, assert_same, assert_same_knowledge, assert_unchanged, fit

K, ROUNDS, FIRST = 20, 4000, 20
LOW = graphdr.low_eigenpairs(GRAPH, K + 1)
COLUMNS = LOW.vectors[:, 1:], LOW.values[1:]  # the mean takes the place of u_1
SETTING = graphdr.RoundsSpec(ROUNDS, 10, noise=0.1)


def rewards_of(kind: str) -> np.ndarray:
    """Return expected rewards that the graph explains, in part, or not at all."""
    rng = np.random.default_rng(7)
    smooth, own = LOW.vectors[:, 1:5] @ rng.standard_normal(4), rng.standard_normal(GRAPH.n) / np.sqrt(GRAPH.n)
    return {"graph": smooth, "both": smooth + 0.3 * own, "alone": own}[kind]


def simulated(theta: np.ndarray, seed: int, **setting) -> tuple:
    """Return a run of the package's own graph prior: rounds, the columns of the first ones, and its outcome."""
    features, roughness = COLUMNS
    rounds = graphdr.draw_rounds(0, replace(SETTING, **setting), GRAPH.n, instance=0, seed=seed)
    problem = graphdr.BanditProblem(theta, features, roughness=roughness)
    first = graphdr.stream(seed, "first").integers(rounds.arms.shape[1], size=FIRST)
    return rounds, first, graphdr.simulate(problem, graphdr.GraphPrior(), rounds, graphdr.stream(seed, "first"))


def started(rounds, first, reward, **parameters) -> GraphDRLinUCB:
    """Return a policy that was told the rewards of the first rounds."""
    policy = GraphDRLinUCB(K, random_state=0, **parameters).fit(GRAPH.adjacency)
    for t, column in enumerate(first):
        assert not policy._ready
        policy.update(rounds.arms[t, column], reward(t, rounds.arms[t, column]))
    return policy


def serve(policy: GraphDRLinUCB, rounds, reward, start=FIRST, stop=None) -> list[int]:
    chosen = []
    for t in range(start, stop or len(rounds.arms)):
        chosen.append(policy.recommend(rounds.arms[t]))
        policy.update(chosen[-1], reward(t, chosen[-1]))
    return chosen


@pytest.fixture
def one_point(monkeypatch):
    """Let a policy take the single prior of the largest evidence, as the simulated graph prior does."""

    def largest(seen, basis):
        weights = evidence.fit(seen, basis)
        variance = weights.scale * model.shares(basis, weights.rho)[: weights.columns]
        return Prior(tuning.flat(1.0 / variance), weights.residual, weights.noise)

    monkeypatch.setitem(tuning.PRIORS, "graph", largest)


@pytest.mark.usefixtures("one_point")
@pytest.mark.parametrize("kind", ["graph", "both", "alone"])
def test_every_round_is_that_of_the_graph_prior(kind):
    theta = rewards_of(kind)
    rounds, first, outcome = simulated(theta, seed=3)
    policy = started(rounds, first, lambda t, arm: theta[arm] + rounds.noise[t])
    assert serve(policy, rounds, lambda t, arm: theta[arm] + rounds.noise[t]) == outcome.arms[FIRST:].tolist()
    assert len(policy._posterior.mean) == 1 + outcome.fit.fit_columns
    assert_allclose(policy._posterior.residual, outcome.fit.fit_residual)
    assert_allclose(policy._posterior.noise, outcome.fit.fit_noise, rtol=1e-9)
    assert (outcome.fit.fit_residual > 0) == (kind != "graph")  # both models are played


@pytest.mark.usefixtures("one_point")
def test_what_is_expected_is_the_posterior_of_the_weights_found():
    theta = rewards_of("both")
    rng = np.random.default_rng(0)
    arms = rng.integers(GRAPH.n, size=640)
    paid = 5.0 + theta[arms] + 0.1 * rng.standard_normal(640)
    policy = GraphDRLinUCB(K).fit(GRAPH.adjacency)
    policy.update_many(arms, paid)
    seen = model.statistics(GRAPH.n, arms, paid)
    basis = model.columns(*COLUMNS)
    mean, variance = model.predict(evidence.fit(seen, basis), seen, basis)
    found, width = policy.expect()
    assert_allclose(found, mean, rtol=1e-8)
    assert_allclose(policy._posterior.noise * width**2, variance, rtol=1e-6)
    scores = mean + np.sqrt(variance)  # one deviation of the noise is the radius
    assert policy.recommend() == scores.argmax()
    policy.radius = 0.0
    assert policy.recommend() == mean.argmax()


def slow_prior(seen: model.Statistics, basis: model.Columns) -> Prior:
    """Weigh every point of the grid by its evidence and by how likely it is before any reward, one after the other."""
    found, n = evidence.evidence(seen, basis), len(basis.lengths)
    tried = model.grid_of_columns(n)
    gaps = [max(basis.roughness[j + 1] - basis.roughness[j], 0.0) if j + 1 < n else 0.0 for j in range(n)]
    points = []
    for i, residual in enumerate(model.RESIDUALS):
        own = likely(model.RESIDUALS)[i] if residual else 0.5 * likely(model.RESIDUALS)[1:].sum()
        points.append((np.log(0.25 * own) + found.independent[i], np.zeros(n), residual, found.independent_noise[i], 0))
        for (r, rho), (s, scale), (c, columns) in product(*map(enumerate, (model.RHOS, model.SCALES, tried))):
            first = tried[c - 1] if c else 0
            odds = 0.8 * sum(gaps[first:columns]) / sum(gaps) + 0.2 / len(tried)
            odds *= 0.75 * own * likely(model.SCALES)[s] / len(model.RHOS)
            variance = np.where(np.arange(n) < columns, scale * model.shares(basis, rho), 0.0)
            log, noise = np.log(odds) + found.graph[i, r, s, c], found.graph_noise[i, r, s, c]
            points.append((log, variance, residual, noise, 1))
    logs, *parts = (np.array(part) for part in zip(*points, strict=True))
    weights = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    variance, residual, noise, sure = (weights @ part for part in parts)
    return Prior(np.diag([0.0, *(1.0 / variance)]), residual, noise, 1.0 + 3.0 * sure**2)


def likely(variances: np.ndarray) -> np.ndarray:
    odds = np.array([np.exp(-0.5 * ((np.log10(max(v, 1e-9)) + 2.0) / 0.5) ** 2) for v in variances])
    return odds / odds.sum()


@pytest.mark.parametrize("kind", ["graph", "both", "alone"])
def test_the_prior_is_the_mean_over_the_grid(kind):
    theta, rng = rewards_of(kind), np.random.default_rng(8)
    arms = rng.integers(GRAPH.n, size=300)
    seen = model.statistics(GRAPH.n, arms, theta[arms] + 0.1 * rng.standard_normal(300))
    basis = model.columns(COLUMNS[0][:, :7], COLUMNS[1][:7])
    found, twin = tuning.graph_prior(seen, basis), slow_prior(seen, basis)
    assert_allclose(found.precision, twin.precision, rtol=1e-9)
    assert_allclose(found[1:], twin[1:], rtol=1e-9)


def test_settings_are_found_whenever_the_rewards_have_doubled():
    policy = GraphDRLinUCB(5).fit(GRAPH.adjacency)
    rng, found, last = np.random.default_rng(1), [], None
    for t in range(1, 700):
        policy.update(int(rng.integers(GRAPH.n)), rng.standard_normal())
        if policy._posterior.noise != last:
            found.append(t)
            last = policy._posterior.noise
    assert found == [20, 40, 80, 160, 320, 640]


@pytest.mark.parametrize("parameters", [{}, {"prior": "ridge"}], ids=["graph", "ridge"])
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 8.0), (-3.0, 1 / 1024), (1000.0, 3.0)])
def test_neither_the_zero_nor_the_unit_of_rewards_changes_a_choice(parameters, shift, scale):
    theta = rewards_of("both")
    rounds, first, _ = simulated(theta, seed=5, horizon=1500)

    def plain(t, arm):
        return theta[arm] + rounds.noise[t]

    def moved(t, arm):
        return shift + scale * plain(t, arm)

    one, other = started(rounds, first, plain, **parameters), started(rounds, first, moved, **parameters)
    assert serve(one, rounds, plain) == serve(other, rounds, moved)
    mean, width = one.expect()
    assert_allclose(other.expect()[0], shift + scale * mean, rtol=1e-7, atol=1e-9 * scale)
    assert_allclose(other.expect()[1], width, rtol=1e-7)


def test_the_ridge_found_is_that_of_the_largest_evidence():
    """Rewards are normal with covariance noise (I + s X X^T), a flat mean, and noise of prior 1 / noise."""
    theta = rewards_of("graph")
    rng = np.random.default_rng(2)
    arms = rng.integers(GRAPH.n, size=160)
    paid = theta[arms] + 0.1 * rng.standard_normal(160)
    policy = GraphDRLinUCB(6, prior="ridge").fit(GRAPH.adjacency)
    policy.update_many(arms, paid)
    x = LOW.vectors[arms, 1:7]
    # All columns have length one: the mean over the arms of the variance of u_i^T w is scale.
    found = []
    for scale in model.SCALES:
        variance = scale * GRAPH.n / 6
        inverse = np.linalg.inv(np.eye(160) + variance * x @ x.T)
        one = inverse.sum()
        square = paid @ inverse @ paid - (inverse @ paid).sum() ** 2 / one
        evidence_of = -0.5 * (-np.linalg.slogdet(inverse)[1] + np.log(one) + 159 * np.log(square))
        found.append((evidence_of, 1 / variance, square / 159))
    _, ridge, noise = max(found)
    assert_allclose(policy._posterior.precision, np.diag([0.0, *np.full(6, ridge)]), rtol=1e-9)
    assert_allclose(policy._posterior.noise, noise, rtol=1e-7)


# Rewards that say little


@pytest.mark.parametrize("prior", ["graph", "ridge"])
@pytest.mark.parametrize("reward", [0.0, 1.0, 0.1, -1e9 / 3])
def test_while_all_rewards_are_equal_play_is_random(prior, reward):
    policy = GraphDRLinUCB(5, prior=prior, random_state=0).fit(GRAPH.adjacency)
    rng = np.random.default_rng(0)
    policy.update_many(rng.integers(GRAPH.n, size=3000), np.full(3000, reward))
    assert not policy._ready
    played = [policy.recommend([1, 2, 3, 4]) for _ in range(400)]
    assert min(played.count(arm) for arm in (1, 2, 3, 4)) > 60
    mean, width = policy.expect()
    assert_allclose(mean, reward)
    assert np.isinf(width).all()
    policy.update_many(np.repeat(np.arange(GRAPH.n), 20), reward + np.repeat(rewards_of("graph"), 20) * 1e9)
    assert policy._ready
    assert np.isfinite(policy.expect()).all()


@pytest.mark.parametrize("explore", ["ucb", "ts"])
@pytest.mark.parametrize("prior", ["graph", "ridge"])
def test_rewards_without_noise_lead_to_the_best_arm(prior, explore):
    theta = LOW.vectors[:, 1:4] @ [1.0, -2.0, 1.5]
    policy = GraphDRLinUCB(5, prior=prior, explore=explore, random_state=0).fit(GRAPH.adjacency)
    rng = np.random.default_rng(1)
    for _ in range(700):
        arm = policy.recommend(rng.choice(GRAPH.n, 20, replace=False))
        policy.update(arm, theta[arm])
    assert theta[policy.recommend()] > np.sort(theta)[-2] - 1e-9
    assert np.isfinite(policy.expect()).all()


@pytest.mark.parametrize("arms", [[7] * 640, range(GRAPH.n)], ids=["one arm only", "no arm twice"])
def test_few_different_rewards_do_no_harm(arms):
    policy = GraphDRLinUCB(5, random_state=0).fit(GRAPH.adjacency)
    policy.update_many(arms, np.random.default_rng(0).standard_normal(len(arms)))
    assert np.isfinite(policy.expect()).all() or not policy._ready
    assert len(policy.recommend(n=3)) == 3


# Orders, weights, batches


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 120), st.integers(0, 2**20), st.sampled_from(["graph", "ridge", "given"]))
def test_rewards_in_any_order_and_in_any_batches_are_the_same_rewards(count, seed, mode):
    rng = np.random.default_rng(seed)
    arms, paid, weights = rng.integers(12, size=count), rng.standard_normal(count), rng.choice([0.5, 1.0, 3.0], count)
    one, other = fit(4, names=None, **MODES[mode]), fit(4, names=None, **MODES[mode])
    one.update_many(arms, paid, weights=weights)
    for part in np.split(rng.permutation(count), np.sort(rng.integers(count, size=rng.integers(9)))):
        if len(part) == 1:
            other.update(int(arms[part[0]]), paid[part[0]], weight=weights[part[0]])
        else:
            other.update_many(arms[part], paid[part], weights=weights[part])
    one.tune()
    other.tune()
    assert_same(one, other, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("parameters", [{}, {"prior": "ridge", "ridge": 0.5, "radius": 1.0}, {"basis": "identity"}])
def test_a_weight_of_three_is_three_rewards(parameters):
    one, other = (GraphDRLinUCB(5, **parameters).fit(GRAPH, names=NAMES) for _ in range(2))
    rng = np.random.default_rng(3)
    arms, paid = rng.choice(NAMES[:40], 100), rng.standard_normal(100)
    for policy in (one, other):
        policy.update_many(arms[:50], paid[:50])
        policy.tune()
        policy._state.next_tuning = 1000
    one.update_many(arms[50:], paid[50:], weights=np.full(50, 3.0))
    for arm, reward in zip(arms[50:], paid[50:], strict=True):
        other.update_many([arm] * 3, [reward] * 3)
    assert_same_knowledge(one, other, rtol=1e-9, atol=1e-12)
    assert one._posterior.pulls.sum() == 50 + 3 * 50
    assert (one.rounds, other.rounds) == (100, 200)


@pytest.mark.parametrize("as_vectors", [False, True])
def test_a_batch_whose_rewards_are_pending_spreads(as_vectors):
    policy = GraphDRLinUCB(5, prior="ridge", ridge=0.1, radius=1.0).fit(GRAPH, names=NAMES)
    policy.update_many(NAMES, rewards_of("graph"))
    before = policy._posterior.copied()
    sets = {"vectors": [np.eye(GRAPH.n)] * 30} if as_vectors else {"sets": [NAMES] * 30}
    alike, spread = policy.recommend_many(**sets), policy.recommend_many(**sets, pending=True)
    assert len(set(alike)) == 1
    assert spread[0] == alike[0]
    assert len(set(spread)) > 2
    assert_unchanged(policy, before)
    assert policy.rounds == GRAPH.n
    for arm in [NAMES[at] for at in spread] if as_vectors else spread:  # as if every play had paid what was expected
        assert policy.recommend(NAMES) == arm
        policy.update(arm, policy.expect([arm])[0][0])


def test_pending_batches_do_not_repeat_each_others_random_rounds():
    policy = GraphDRLinUCB(5, explore="ts", random_state=0).fit(GRAPH, names=NAMES)
    rng = np.random.default_rng(0)
    policy.update_many(rng.choice(NAMES, 160), rng.standard_normal(160))
    assert len({tuple(policy.recommend_many([NAMES] * 3, pending=True)) for _ in range(20)}) > 15
