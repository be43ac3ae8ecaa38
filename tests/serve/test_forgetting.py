"""A policy that forgets knows what discounted rewards say, returns to its prior, and never winds up."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.bandit.graph_prior.model import Statistics
from graphdr.serve import tuning
from graphdr.serve.policy import GraphDRLinUCB
from tests.support.policies import GRAPH, NAMES, THETA, assert_same, linucb

RNG = np.random.default_rng(8)
ARMS, PAID = RNG.integers(30, size=1500), RNG.standard_normal(1500)


def discounted(forget: float, block: int, count: int) -> Statistics:
    """Return pulls, sums and squares within arms of rewards that fade at the end of every block."""
    weights = np.zeros(count)
    for start in range(0, count, block):
        stop = min(start + block, count)
        weights[start:stop] = 1.0
        if stop - start == block:
            weights[:stop] *= forget**block
    arms, paid = ARMS[:count], PAID[:count]
    pulls = np.bincount(arms, weights, minlength=GRAPH.n)
    sums = np.bincount(arms, weights * paid, minlength=GRAPH.n)
    means = sums / np.where(pulls > 0, pulls, 1.0)
    return Statistics(pulls, sums, float(weights @ (paid - means[arms]) ** 2))


def posterior(policy: GraphDRLinUCB, seen: Statistics) -> tuple[np.ndarray, np.ndarray]:
    """Return V^-1 and the mean, from the rewards alone."""
    state = policy._posterior
    x = state.rows[:, : len(state.precision)]
    kept = 1.0 / (1.0 + seen.pulls * state.residual)
    inverse = np.linalg.inv(state.precision + x.T @ ((seen.pulls * kept)[:, None] * x))
    return inverse, inverse @ (x.T @ (kept * seen.sums))


@pytest.mark.parametrize(("forget", "block"), [(0.5, 1), (0.99, 1), (0.999, 10), (0.9975, 4)])
@pytest.mark.parametrize("batch", [1, 7, 1500])
def test_what_is_known_is_what_discounted_rewards_say(forget, block, batch):
    policy = linucb(5, names=None, ridge=0.5, forget=forget)
    for start in range(0, 1500, batch):
        policy.update_many(ARMS[start : start + batch], PAID[start : start + batch])
    seen = discounted(forget, block, 1500)
    state = policy._posterior
    for name in ("pulls", "sums", "within"):
        assert_allclose(getattr(state, name), getattr(seen, name), rtol=1e-6, atol=1e-5, err_msg=name)
    inverse, mean = posterior(policy, seen)
    assert_allclose(state.inverse, inverse, rtol=1e-6, atol=1e-6)
    assert_allclose(state.mean, mean, rtol=1e-5, atol=1e-5)
    assert seen.pulls.sum() < 1.01 / (1 - forget)


def test_settings_are_found_from_discounted_rewards():
    policy = GraphDRLinUCB(6, forget=0.999).fit(GRAPH.adjacency)
    policy.update_many(ARMS, PAID)
    policy.tune()
    seen, state = discounted(0.999, 10, 1500), policy._posterior
    found = tuning.graph_prior(seen, tuning.columns(state.rows, 1, policy._state.roughness))
    assert_allclose(state.precision, found.precision, rtol=1e-6)
    assert_allclose([state.residual, state.noise], [found.residual, found.noise], rtol=1e-6)


def test_contexts_fade_as_arms_do():
    rows = np.eye(GRAPH.n)[ARMS[:300]]
    for batch in (1, 300):
        arms, contexts = (linucb(5, names=None, forget=0.99) for _ in range(2))
        arms.update_many(ARMS[:300], PAID[:300])
        for start in range(0, 300, batch):
            part = slice(start, start + batch)
            contexts.update_many(vectors=rows[part], rewards=PAID[:300][part])
        assert_allclose(contexts._posterior.inverse, arms._posterior.inverse, rtol=1e-6, atol=1e-8)
        assert_allclose(contexts._posterior.mean, arms._posterior.mean, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("removed", [0, 40])
@pytest.mark.parametrize("parameters", [{}, {"laplacian": 2.0}, {"basis": "identity"}])
def test_without_new_rewards_the_posterior_returns_to_the_prior(parameters, removed):
    policy, fresh = linucb(5, forget=0.99, **parameters), linucb(5, forget=0.99, **parameters)
    policy.update_many(NAMES, THETA)
    policy.remove(NAMES[:removed])
    before = policy.expect()[1]
    for _ in range(60):
        policy._posterior.decay(0.7)
        width = policy.expect()[1]
        assert np.all(width >= before - 1e-12)
        before = width
    mean, width = policy.expect()
    assert_allclose(mean, 0.0, atol=1e-5)
    assert_allclose(width, fresh.expect(policy.names)[1], rtol=1e-5)
    assert not policy._posterior.pulls.any()
    assert not policy._posterior.retired


def test_a_mean_of_which_all_is_forgotten_does_no_harm():
    policy = GraphDRLinUCB(5, forget=0.99, random_state=0).fit(GRAPH.adjacency)
    policy.update_many(ARMS[:300], PAID[:300] + ARMS[:300])
    assert policy._ready
    for _ in range(60):
        policy._posterior.decay(0.5)
    assert not policy._posterior.pulls.any()
    assert policy.recommend() in range(GRAPH.n)
    policy.tune()
    policy.update_many(ARMS[:300], PAID[:300] + ARMS[:300])
    assert policy._ready
    assert np.isfinite(policy.expect()).all()


def test_a_policy_that_forgets_finds_what_became_the_best():
    rng = np.random.default_rng(3)
    kept, fading = (GraphDRLinUCB(5, forget=forget, random_state=0).fit(GRAPH.adjacency) for forget in (1.0, 0.99))
    theta = fading._posterior.rows[:, 1] * 10
    for policy in (kept, fading):
        for sign, rounds in ((1, 2000), (-1, 500)):
            sets = rng.integers(GRAPH.n, size=(rounds, 10))
            earned = []
            for own in sets:
                arm = policy.recommend(own)
                earned.append(sign * theta[arm])
                policy.update(arm, sign * theta[arm] + rng.standard_normal() / 3)
        policy.late = np.mean(earned[-200:])
    assert fading.late > 0.5
    assert fading.late > kept.late + 0.5


def test_forget_may_be_changed_while_playing():
    policy, whole = linucb(5, names=None, forget=0.5), linucb(5, names=None)
    policy.update_many(ARMS[:100], PAID[:100])
    assert policy._posterior.pulls.sum() < 3
    policy.forget = 1
    pulls = policy._posterior.pulls.copy()
    policy.update(0, 1.0)
    pulls[0] += 1
    assert_array_equal(policy._posterior.pulls, pulls)
    policy.fit(GRAPH.adjacency).update_many(ARMS[:110], PAID[:110])
    whole.update_many(ARMS[:110], PAID[:110])
    assert_same(policy, whole)
