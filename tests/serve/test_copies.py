"""Copies of a policy and changes of its graph: workers, snapshots, refits, arms that go and arms without neighbours."""

import itertools
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.graphs import model
from graphdr.serve.policy import GraphDRLinUCB
from tests.support.policies import (
    AGES,
    GIVEN,
    GRAPH,
    MODES,
    NAMES,
    THETA,
    assert_same,
    assert_unchanged,
    fit,
    linucb,
    refused,
)

CLOSE = {"rtol": 1e-7, "atol": 1e-9}
UNFADING = ["graph", "ridge", "noise", "given", "linucb", "full"]


def lots(count=3, size=70) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return lots of rewards, of arms that lots share and of some that a single one has."""
    rng = np.random.default_rng(2)
    return [(rng.choice(NAMES[20 * at : 20 * at + 60], size), rng.standard_normal(size)) for at in range(count)]


def told(arms, rewards, *policies: GraphDRLinUCB, **further) -> None:
    """Tell several policies the same."""
    for policy in policies:
        policy.update_many(arms, rewards, **further)


# Workers


@pytest.mark.parametrize("mode", [*UNFADING, "segments"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0), None], ids=["together", "reversed", "lot by lot"])
def test_two_workers_merged_are_one_policy_told_all(mode, order):
    first, *rest = lots(5, 40)
    policy, whole = fit(**MODES[mode]), fit(**MODES[mode])
    segments = ["young", 7] if mode == "segments" else [None, None]
    told(*first, policy, whole, segment=segments[0])
    workers = [policy.worker(), policy.worker()]
    for turn, lot in enumerate(rest):
        told(*lot, workers[turn % 2], whole, segment=segments[turn % 2])
        if order is None:
            policy.merge(pickle.loads(pickle.dumps(workers[turn % 2].delta())))
    if order is not None:
        assert policy.rounds == 40
        deltas = [worker.delta() for worker in workers]
        policy.merge(*(deltas[at] for at in order))
    policy.merge(workers[0].delta())  # which is empty by now
    for one in (policy, whole):
        one.tune()
    assert_same(policy, whole, **CLOSE)
    assert policy.recommend(segment=segments[0]) == whole.recommend(segment=segments[0])


def test_workers_may_know_new_arms_and_contexts():
    rows = np.eye(30, GRAPH.n + 1) + np.eye(30, GRAPH.n + 1, 40)
    policy, whole = fit(**GIVEN), fit(**GIVEN)
    for each in (policy, whole):
        each.add({"new": {"item 1": 1.0}})
    first, second = policy.worker(), policy.worker()
    first.update_many(vectors=rows[:10], rewards=np.ones(10))
    second.update_many(vectors=rows[10:], rewards=-np.ones(20))
    second.update("new", 3.0)
    policy.merge(second.delta(), first.delta())
    whole.update_many(vectors=rows, rewards=np.repeat([1.0, -1.0], [10, 20]))
    whole.update("new", 3.0)
    assert_same(policy, whole, **CLOSE)


def test_a_worker_and_its_policy_add_arms_of_their_own():
    policy = fit(**GIVEN)
    worker = policy.worker()
    policy.add({"mine": {"item 3": 1.0}})
    worker.add({"yours": {"item 4": 1.0}})
    worker.update_many(["item 5", "item 5"], [1.0, 2.0])
    policy.merge(worker.delta())
    assert policy._posterior.pulls[5] == 2
    worker.update("yours", 1.0)
    delta, before = worker.delta(), policy._posterior.copied()
    with refused("no arm 'yours'"):
        policy.merge(delta)
    assert_unchanged(policy, before)
    policy.add({"yours": {"item 4": 1.0}})
    policy.merge(delta)
    assert policy._posterior.pulls[-1] == 1


def test_workers_explore_each_in_their_own_way_and_repeatably():
    def played() -> list[list]:
        policy = fit(explore=1.0, random_state=4)
        policies = [policy, policy.worker(), policy.worker(), policy.snapshot(), policy.snapshot()]
        return [[one.recommend(NAMES) for _ in range(20)] for one in policies]

    runs = played()
    assert all(one != other for one, other in itertools.combinations(runs, 2))
    assert runs == played()


# Snapshots


def test_a_snapshot_does_not_change():
    policy = fit(**GIVEN)
    policy.update_many(*lots()[0])
    snapshot = policy.snapshot()
    before = [part.copy() for part in snapshot.expect()]
    policy.update_many(*lots()[1])
    policy.add({"new": {"item 1": 1.0}})
    policy.remove(["item 2"])
    policy.tune()
    assert_array_equal(snapshot.expect(), before)
    assert snapshot.names == NAMES
    assert snapshot.rounds == 70
    changes = {"update": ("item 1", 1.0), "update_many": (["item 1"], [1.0]), "add": ({"new": {"item 1": 1.0}},)}
    changes |= {"remove": (["item 1"],), "tune": (), "merge": (), "worker": (), "refit": (GRAPH,)}
    for change, values in changes.items():
        with refused("a snapshot does not change: tell the policy that it was taken of"):
            getattr(snapshot, change)(*values)
    assert_array_equal(snapshot.expect(), before)


def test_candidates_are_valid_where_their_places_mean_the_same():
    policy = fit(**GIVEN)
    held = policy.candidates(NAMES[:9])
    snapshot, worker = policy.snapshot(), policy.worker()
    policy.add({"mine": {"item 3": 1.0}})
    worker.add({"yours": {"item 4": 1.0}})
    for one in (policy, snapshot, worker):
        assert one.recommend(held) in NAMES[:9]
    later = policy.candidates(["mine"])
    assert policy.recommend(later) == "mine"
    for one in (snapshot, worker):  # which has no such arm, and another in its place
        with refused("looked up in another policy"):
            one.recommend(later)
    assert policy.snapshot().recommend(later) == "mine"
    policy.remove(["item 1"])
    for old in (held, later):
        with refused("or before its arms were changed"):
            policy.recommend(old)


def test_readers_of_snapshots_are_not_disturbed_by_a_writer():
    policy = fit(k=20)
    rng = np.random.default_rng(0)
    policy.update_many(NAMES * 20, np.tile(10 * THETA, 20))
    assert policy._ready  # choices are not random
    shared, stop = [policy.snapshot()], threading.Event()

    def read() -> None:
        while not stop.is_set():
            snapshot = shared[-1]
            choice, expected = snapshot.recommend(), snapshot.expect()
            for _ in range(5):
                assert snapshot.recommend() == choice
                assert_array_equal(snapshot.expect(), expected)

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for turn in range(60):
                policy.update_many(NAMES[100:], 10 * THETA[100:] + rng.standard_normal(50))
                if turn % 10 == 5:
                    policy.add({f"new {turn}": {"item 149": 1.0}})
                    policy.remove([f"item {turn}"])
                shared.append(policy.snapshot())
        finally:
            stop.set()
    assert [reader.result() for reader in readers] == [None] * 3
    assert len({snapshot.rounds for snapshot in shared}) == 61


# Refits


def moved() -> model.Graph:
    """Return the graph with its nodes in another order, and an edge more."""
    order = np.random.default_rng(0).permutation(GRAPH.n)
    weights = GRAPH.adjacency.toarray()
    weights[0, 149] = weights[149, 0] = 1.0
    return model.Graph(sp.csr_array(weights[np.ix_(order, order)]), np.array(NAMES, object)[order])


@pytest.mark.parametrize("mode", [*UNFADING, "segments"])
def test_a_refitted_policy_is_a_new_one_told_the_same_rewards(mode):
    policy, fresh = fit(**MODES[mode]), fit(source=moved(), names=None, **MODES[mode])
    segments = ["young", 7, "young"] if mode == "segments" else [None] * 3
    for lot, segment in zip(lots(), segments, strict=True):
        told(*lot, policy, fresh, segment=segment)
    assert policy.refit(moved()) is policy
    fresh.tune()
    assert policy.names == moved().origin.tolist()
    assert_same(policy, fresh, **CLOSE)
    assert policy.rounds == 210
    assert policy.recommend(segment=segments[0]) == fresh.recommend(segment=segments[0])


@pytest.mark.parametrize("mode", ["graph", "given"])
def test_a_refitted_policy_forgets_arms_that_are_gone_and_takes_new_ones(mode):
    policy = fit(**MODES[mode])
    for lot in lots():
        policy.update_many(*lot)
    pulls, sums = policy._posterior.pulls[30:].copy(), policy._posterior.sums[30:].copy()
    left = model.induced(GRAPH, np.arange(30, GRAPH.n))
    wide = sp.block_array([[left.adjacency, None], [None, sp.csr_array((2, 2))]]).tolil()
    for i, j in ((0, 120), (120, 121)):
        wide[i, j] = wide[j, i] = 1.0
    policy.refit(wide.tocsr(), names=[*NAMES[30:], "new", "newer"])
    assert_array_equal(policy._posterior.pulls, [*pulls, 0.0, 0.0])
    assert_array_equal(policy._posterior.sums, [*sums, 0.0, 0.0])
    assert policy.recommend(["new", "newer"]) in ("new", "newer")
    with refused("no arm 'item 3'"):
        policy.update("item 3", 1.0)


def test_the_noise_of_arms_that_are_gone_is_not_counted_for_those_that_stay():
    """Squares within arms are kept for all arms together: those that stay have their share by degrees of freedom."""
    rng = np.random.default_rng(4)
    policy = fit()
    policy.update_many(NAMES * 20, 0.5 * rng.standard_normal(20 * GRAPH.n))
    policy.refit(model.induced(GRAPH, np.arange(30)), names=NAMES[:30])
    assert_allclose(policy._posterior.noise, 0.25, rtol=0.15)


def test_a_refitted_policy_has_the_segments_that_it_had():
    policy = fit(segments=AGES)
    told(*lots()[0], policy, segment="old")
    before = policy._posterior.copied()
    policy.segments = {"young": {}}
    with refused("a refitted policy has the segments that it had"):
        policy.refit(GRAPH, names=NAMES)
    assert_unchanged(policy, before)


@pytest.mark.parametrize("fading", [{}, {"forget": 0.9975}])
def test_refit_takes_parameters_that_were_changed_and_does_not_put_off_what_is_due_to_be_forgotten(fading):
    policy, fresh = fit(**fading), fit(k=3, **fading, **GIVEN)
    (arms, paid), *_ = lots()
    told(arms[:3], paid[:3], policy, fresh)
    policy.set_params(k=3, **GIVEN)
    policy.refit(GRAPH, names=NAMES)
    told(arms[3:], paid[3:], policy, fresh)
    assert_same(policy, fresh, **CLOSE)


# Arms that go, and arms without neighbours


def test_removed_arms_are_unknown_until_others_have_their_names():
    policy = linucb()
    told(NAMES, THETA, policy)
    policy.remove(["item 3", "item 4"])
    assert "item 3" not in policy
    assert len(policy) == GRAPH.n - 2
    for call in (policy.recommend, policy.candidates, policy.expect, lambda arms: policy.update(arms[1], 1.0)):
        with refused("no arm 'item 4'"):
            call(["item 1", "item 4"])
    numbered = linucb(names=None)
    numbered.remove(np.array([3]))
    with refused("no arm 3"):  # whose place another arm has by now
        numbered.recommend(np.array([2, 3]))
    policy.add({"item 3": {"item 5": 1.0}})
    assert (policy.names[-1], policy._posterior.pulls[-1]) == ("item 3", 0)
    assert policy.recommend(["item 3"]) == "item 3"


def test_an_arm_without_neighbours_has_a_part_of_its_own_alone():
    rng = np.random.default_rng(1)
    policy = fit(k=4)
    arms = rng.choice(GRAPH.n, 640)
    theta = np.sin(np.arange(GRAPH.n)) + policy._posterior.rows[:, 1] * 5  # part graph, part own
    policy.update_many([NAMES[arm] for arm in arms], theta[arms] + 0.3 * rng.standard_normal(640))
    assert policy._posterior.residual > 0
    policy.add({"lonely": {}})
    assert_array_equal(policy._posterior.rows[-1, 1:], 0.0)
    mean, _ = policy.expect(["lonely"])
    assert_allclose(mean, policy._posterior.mean[0])  # the mean of all
    others = policy.expect(NAMES)[0]
    policy.update_many(["lonely"] * 30, np.full(30, 50.0))
    assert policy.recommend() == "lonely"
    assert np.abs(policy.expect(NAMES)[0] - others).max() < 2.0


def test_nodes_without_edges_are_served_where_components_are_kept():
    weights = sp.block_diag([GRAPH.adjacency, sp.csr_array((2, 2))]).tocsr()
    with refused("3 components"):
        fit(source=weights, names=None)
    policy = fit(source=weights, names=None, components="keep")
    rng = np.random.default_rng(0)
    policy.update_many(rng.integers(152, size=640), rng.standard_normal(640))
    policy.update_many([151] * 200, np.full(200, 9.0))
    policy.tune()
    assert policy.recommend() == 151
