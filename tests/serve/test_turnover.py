"""Arms come and go for as long as a policy lives: it stays finite, frees rows of removed arms and forgets nothing."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.bandit.graph_prior.evidence import evidence
from graphdr.bandit.graph_prior.model import Statistics, columns
from graphdr.serve.policy import GraphDRLinUCB
from graphdr.serve.posterior import Posterior, Prior
from tests.support.policies import AGES, GIVEN, GRAPH, MODES, NAMES, THETA, assert_same, fit, play, refused, reloaded
from tests.support.project import draw_sbm

PLAYED = [mode for mode in MODES if mode not in ("shuffled", "matrix of segments")]  # arms can be added
GONE = NAMES[:40]
STAY = NAMES[40:]


def without_gone(**parameters) -> GraphDRLinUCB:
    """Fit a policy, and remove arms."""
    policy = fit(**parameters)
    policy.remove(GONE)
    return policy


def expected(policy: GraphDRLinUCB, arms: list) -> np.ndarray:
    segments = list(policy._state.arms.segment) or [None]
    return np.array([policy.expect(arms, segment=segment) for segment in segments])


# A catalogue that is replaced again and again


RATES = np.array([0.1, 0.2, 0.3, 0.4, 0.6])  # of clicks, by community


def play_a_day(policy: GraphDRLinUCB, community: dict[int, int], rng: np.random.Generator) -> float:
    """Play 40 rounds; return what was earned in each, beyond random play."""
    sets = [rng.choice(policy.names, 20, replace=False) for _ in range(40)]
    arms = policy.recommend_many(sets)
    rates = RATES[[community[arm] for arm in arms]]
    policy.update_many(arms, (rng.random(40) < rates).astype(float))
    return float(rates.mean() - np.mean([RATES[community[arm]] for own in sets for arm in own.tolist()]))


def replace_some(policy: GraphDRLinUCB, community: dict[int, int], rng: np.random.Generator) -> None:
    """Replace 20 arms; a new one is joined to eight of its community, and now and then to one of another."""
    policy.remove(rng.choice(policy.names, 20, replace=False).tolist())
    live = [[arm for arm in policy.names if community[arm] == own] for own in range(5)]
    edges = {}
    for arm in range(len(community), len(community) + 20):
        community[arm] = own = int(rng.integers(5))
        edges[arm] = rng.choice(live[own], 8, replace=False).tolist()
        if rng.random() < 0.5:
            edges[arm][0] = int(rng.choice(live[(own + 1) % 5]))
    policy.add(edges)


def test_200_days_of_turnover_stay_finite_hold_no_more_rows_than_arms_and_are_learned():
    graph, rng = draw_sbm(0, n=200, blocks=5, p_in=0.3, p_out=0.02), np.random.default_rng(0)
    community = dict(enumerate((np.arange(200) // 40).tolist()))
    policy = GraphDRLinUCB(random_state=0).fit(graph, names=range(200))
    lengths = np.linalg.norm(policy._posterior.rows[:, 1:], axis=1)
    earned = []
    for _ in range(200):
        earned.append(play_a_day(policy, community, rng))
        replace_some(policy, community, rng)
        assert np.isfinite(policy.expect()[0]).all()
        assert len(policy._posterior.rows) == len(policy) == 200
        rows = np.linalg.norm(policy._posterior.rows[:, 1:], axis=1)
        assert rows.max() < 2 * lengths.max()
        assert np.median(rows) > 0.3 * np.median(lengths)
    assert np.mean(earned[100:]) > 0.2  # the best community is 0.28 above random play
    assert len(reloaded(policy)._posterior.rows) == 200


@pytest.mark.parametrize("links", [1, 30])
def test_features_neither_vanish_nor_grow_however_arms_are_joined(links):
    policy, first = fit(), fit()._posterior.rows[:, 1:]
    rng = np.random.default_rng(links)
    for day in range(100):
        policy.remove(rng.choice(policy.names, 15, replace=False).tolist())
        names = policy.names
        policy.add({f"{day}, {at}": rng.choice(names, links, replace=False).tolist() for at in range(15)})
    rows = policy._posterior.rows[:, 1:]
    assert np.abs(rows).max() < 10 * np.abs(first).max()
    assert np.linalg.norm(rows) > 0.1 * np.linalg.norm(first)
    policy, first = fit(), np.abs(first)
    policy.add({number: {number - 1 if number else NAMES[0]: 1.0} for number in range(500)})  # a chain
    assert np.abs(policy._posterior.rows[GRAPH.n :, 1:]).max() < 5 * first.max()


# What removed arms taught


@pytest.mark.parametrize("mode", PLAYED)
def test_a_policy_goes_on_after_rows_were_freed_which_changes_no_estimate_of_the_others(mode):
    policy = fit(**MODES[mode])
    play(policy, 200, seed=1)
    before = expected(policy, STAY)
    policy.remove(GONE)
    assert len(policy._posterior.rows) == len(STAY) * max(len(policy._state.arms.segment), 1)
    assert policy.names == STAY
    assert_array_equal(expected(policy, STAY), before)
    rebuilt = policy._copied()
    rebuilt._posterior.rebuild()
    exact = policy._posterior.residual == 0
    assert_allclose(expected(rebuilt, STAY), before, rtol=1e-9 if exact else 0.02, atol=1e-9 if exact else 0.02)
    if not policy._state.arms.segment:
        policy.add({"item 3": [NAMES[50], NAMES[51]], "newer": {"item 3": 1.0}})
    snapshot, loaded = policy.snapshot(), reloaded(policy)
    assert_same(policy, loaded)
    assert play(loaded, 300, seed=2) == play(policy, 300, seed=2)
    assert_same(policy, loaded)
    assert_array_equal(expected(snapshot, STAY), before)
    policy.tune()
    assert np.isfinite(expected(policy, STAY)).all()
    rounds = policy.rounds
    policy.refit(GRAPH, names=NAMES)
    assert (policy.names, policy.rounds, policy._posterior.retired) == (NAMES, rounds, None)
    assert play(policy, 50, seed=3)


def test_settings_are_found_from_removed_arms_too():
    policy, whole = fit(), fit()
    rng = np.random.default_rng(3)
    paid = np.repeat(10 * THETA, 6) + rng.standard_normal(6 * GRAPH.n)  # as many pulls of every arm
    for one in (policy, whole):
        one.update_many([name for name in NAMES for _ in range(6)], paid)
    policy.remove(GONE)
    for one in (policy, whole):
        one.tune()
    state, other = policy._posterior, whole._posterior
    assert_allclose([state.residual, state.noise], [other.residual, other.noise], rtol=0.02)
    assert_allclose(policy.expect(STAY), whole.expect(STAY), atol=0.05)


def test_evidence_of_groups_is_that_of_their_arms_if_pulls_are_equal():
    rng = np.random.default_rng(5)
    basis = columns(rng.standard_normal((60, 7)), np.linspace(0.1, 1.0, 7))
    pulls = np.repeat([1.0, 2.0, 3.0, 8.0, 0.0], 12)
    sums = pulls * (100.0 + rng.standard_normal(60))
    posterior = Posterior(np.column_stack([np.ones(60), basis.features]), Prior(np.zeros((1, 1))))
    posterior.pulls, posterior.sums = pulls, sums
    posterior.retire(np.arange(0, 60, 4))
    posterior.retire(np.arange(1, 45, 3))  # arms 2, 6, 10, …
    stay = np.arange(60) % 2
    groups = posterior.statistics.groups
    found = evidence(Statistics(pulls * stay, sums * stay, 50.0, groups), basis)
    for part, whole in zip(found, evidence(Statistics(pulls, sums, 50.0), basis), strict=True):
        assert_allclose(part, whole, rtol=1e-9)
    assert len(groups.arms) == 4


def test_equal_rewards_say_nothing_after_arms_were_removed():
    policy = fit()
    policy.update_many(NAMES * 3, np.full(3 * GRAPH.n, 0.1))
    policy.remove(GONE)
    policy.tune()
    assert not policy._ready
    assert_allclose(policy.expect()[0], 0.1)


def test_contexts_have_a_column_for_each_arm_that_is_there():
    policy, whole = fit(**GIVEN), fit(**GIVEN)
    for each in (policy, whole):
        each.update_many(NAMES, THETA)
        each.update(reward=2.0, vector={"item 1": 0.5, "item 60": 0.5})
    policy.remove(GONE)
    rows = np.eye(GRAPH.n)[40:60]
    assert_allclose(policy.expect(vectors=rows[:, 40:]), whole.expect(vectors=rows))
    assert_allclose(policy.expect(vectors=[{"item 60": 2.0}]), whole.expect(vectors=[{"item 60": 2.0}]))
    with refused(f"contexts over {GRAPH.n} nodes; the graph has {GRAPH.n - 40}"):
        policy.recommend(vectors=rows)
    with refused("no arm 'item 7'"):
        policy.recommend(vectors=[{"item 7": 1.0}])


def test_all_arms_may_go_and_others_come():
    policy = fit()
    play(policy, 100, seed=1)
    policy.remove(policy.names)
    policy.tune()
    assert len(policy._posterior.rows) == 0
    loaded = reloaded(policy)
    for one in (policy, loaded):
        one.add({"new": {}, "newer": ["new"]})
        one.update_many(["new"] * 50, np.ones(50))
        one.tune()
    assert np.isfinite(policy.expect()).all()
    assert_array_equal(policy.expect(), loaded.expect())


# Workers


@pytest.mark.parametrize("mode", ["graph", "given", "full", "segments"])
def test_a_worker_made_before_a_removal_is_merged(mode):
    """The other arms are learned exactly: as if the policy had been told their rewards alone."""
    policy, whole = fit(**MODES[mode]), fit(**MODES[mode])
    segment = "young" if mode == "segments" else None
    rng = np.random.default_rng(2)
    for one in (policy, whole):
        one.update_many(NAMES, THETA, segment=segment)
    worker = policy.worker()
    arms, paid = rng.choice(NAMES, 200), rng.standard_normal(200)
    worker.update_many(arms, paid, weights=np.full(200, 2.0), segment=segment)
    delta = pickle.loads(pickle.dumps(worker.delta()))
    for one in (policy, whole):
        one.remove(GONE)
    with pytest.raises(ValueError, match=r"no arm 'item \d+'; unknown='ignore' skips"):
        policy.merge(delta)
    policy.merge(delta, unknown="ignore")
    stays = np.isin(arms, STAY)
    whole.update_many(arms[stays], paid[stays], weights=np.full(stays.sum(), 2.0), segment=segment)
    for one in (policy, whole):
        one.tune()
    assert 0 < stays.sum() < 200
    assert_same(policy, whole, rtol=1e-7, atol=1e-9)


def test_a_worker_may_remove_arms_and_still_tells_what_it_learned_of_them():
    policy, whole = fit(), fit()
    worker = policy.worker()
    worker.update_many(NAMES[:60] * 2, np.arange(120.0))
    worker.remove(NAMES[:20])
    worker.update_many(NAMES[20:80], np.arange(60.0))
    worker.remove(NAMES[20:30])
    assert len(worker._posterior.rows) == GRAPH.n - 30
    policy.merge(worker.delta())
    whole.update_many(NAMES[:60] * 2 + NAMES[20:80], [*range(120), *range(60)])
    for one in (policy, whole):
        one.tune()
    assert_same(policy, whole, rtol=1e-7, atol=1e-9)
    policy.merge(worker.delta())
    assert policy.rounds == whole.rounds


# Rewards that come after their arm was removed


@pytest.mark.parametrize("shape", [list, np.array, iter])
def test_rewards_of_arms_that_are_not_there_are_skipped_where_that_is_asked_for(shape):
    policy, other = without_gone(), without_gone()
    rng = np.random.default_rng(0)
    arms, paid, weights = rng.choice(NAMES[36:44], 100), rng.standard_normal(100), rng.integers(1, 4, 100)
    stays = ~np.isin(arms, GONE)
    policy.update_many(shape(arms.tolist()), paid, weights=weights, unknown="ignore")
    policy.update("item 2", 9.0, unknown="ignore")
    policy.update("item 43", 1.0, unknown="ignore")
    other.update_many(arms[stays], paid[stays], weights=weights[stays])
    other.update("item 43", 1.0)
    assert_same(policy, other)
    assert policy.rounds == stays.sum() + 1 < 100


def test_rewards_that_are_not_skipped_keep_their_segment():
    policy, other = without_gone(segments=AGES), without_gone(segments=AGES)
    policy.update_many(["item 1", "item 43", "item 44"], [1, 2, 3], segment=["old", "young", "old"], unknown="ignore")
    other.update_many(["item 43", "item 44"], [2, 3], segment=["young", "old"])
    assert_same(policy, other)


def test_rewards_of_contexts_with_an_arm_that_is_not_there_are_skipped():
    policy, other = without_gone(**GIVEN), without_gone(**GIVEN)
    baskets = [{"item 1": 0.5, "item 43": 0.5}, {"item 43": 0.5, "item 44": 0.5}]
    row = np.eye(len(STAY))[[5]]  # a matrix has no other arms
    policy.update_many(vectors=baskets, rewards=[1.0, 2.0], unknown="ignore")
    policy.update(reward=3.0, vector=baskets[0], unknown="ignore")
    policy.update(reward=4.0, vector=row, unknown="ignore")
    other.update_many(vectors=baskets[1:], rewards=[2.0])
    other.update(reward=4.0, vector=row)
    assert_same(policy, other)
