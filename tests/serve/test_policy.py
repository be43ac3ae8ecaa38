"""A served policy plays as the simulation does, survives a restart, takes new arms and refuses what makes no sense."""

import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import graphdr
from graphdr.bandit import environment
from graphdr.bandit import linucb as kernels
from graphdr.cache import io
from graphdr.core.errors import UserError
from graphdr.graphs import from_data, model, spectral
from graphdr.graphs.records import Records
from graphdr.serve import learned
from graphdr.serve.knobs import SERVED
from graphdr.serve.policy import GraphDRLinUCB
from tests.support import twins
from tests.support.policies import GRAPH, NAMES, THETA, assert_same, linucb
from tests.support.project import ROOT

ROUNDS = 2000
SETTING = {"arms": 10, "candidates": "uniform", "horizon": ROUNDS, "noise": 0.1}
STREAM = environment.draw(0, SETTING, GRAPH.n, instance=0, seed=0)


def numbered(k=5, source=GRAPH.adjacency, **knobs) -> GraphDRLinUCB:
    return linucb(k, names=None, source=source, **knobs)


def serve(policy: GraphDRLinUCB, rounds=slice(None)) -> list:
    """Recommend and update round by round; return the arms."""
    played = []
    for candidates, noise in zip(STREAM.arms[rounds], STREAM.noise[rounds], strict=True):
        arm = policy.recommend([policy.names[place] for place in candidates])
        policy.update(arm, THETA[NAMES.index(arm)] + noise)
        played.append(arm)
    return played


# The simulation


@pytest.mark.parametrize("k", [1, 5, 20])
@pytest.mark.parametrize("laplacian", [0.0, 2.0])
def test_every_round_is_that_of_the_simulation(k, laplacian):
    policy = linucb(k, laplacian=laplacian, ridge=0.5, radius=0.3)
    features, v0_inverse = policy._learned.rows.copy(), policy._learned.inverse.copy()
    values = spectral.low_eigenpairs(GRAPH, k + 1).values[1:]
    assert_allclose(v0_inverse, np.diag(1 / (0.5 + laplacian * values)), rtol=0, atol=1e-10)
    radius = np.full(ROUNDS, 0.3)
    chosen, _, spent = kernels.projected(features, v0_inverse, THETA, *STREAM, radius, every=1)
    widths = np.diff(spent, prepend=0.0)
    v, b = np.linalg.inv(v0_inverse), np.zeros(k)
    for t, candidates in enumerate(STREAM.arms):
        arm = policy.recommend([NAMES[place] for place in candidates])
        place, reward = chosen[t], THETA[chosen[t]] + STREAM.noise[t]
        assert arm == NAMES[place]
        assert abs(policy.expect([arm])[1][0] - widths[t]) < 1e-10
        policy.update(arm, reward)
        v, b = v + np.outer(features[place], features[place]), b + features[place] * reward
        inverse = np.linalg.inv(v)
        assert np.abs(policy._learned.inverse - inverse).max() < 1e-10
        assert np.abs(policy._learned.mean - inverse @ b).max() < 1e-10
    assert policy.rounds == ROUNDS


def test_a_long_run_saved_and_loaded_half_way_is_that_of_the_kernel(tmp_path):
    rounds = 20_000
    met = environment.draw(0, SETTING | {"horizon": rounds}, GRAPH.n, instance=0, seed=1)
    policy = numbered(10)
    state = policy._learned.rows.copy(), policy._learned.inverse.copy()
    expected = kernels.projected(*state, THETA, *met, np.ones(rounds))[0]
    for t, (candidates, noise) in enumerate(zip(met.arms, met.noise, strict=True)):
        if t == rounds // 2:
            policy.save(tmp_path / "policy.parquet")
            policy = GraphDRLinUCB.load(tmp_path / "policy.parquet")
        arm = policy.recommend(candidates)
        assert arm == expected[t]
        policy.update(arm, THETA[arm] + noise)


def test_full_linucb_plays_every_round_as_the_simulation():
    policy = linucb(basis="identity", ridge=0.7, radius=0.3)
    played = serve(policy)
    assert played == [NAMES[a] for a in kernels.one_hot(0.7, THETA, *STREAM, np.full(ROUNDS, 0.3))]
    twin = twins.one_hot(0.7, THETA, *STREAM, np.full(ROUNDS, 0.3))
    assert_array_equal(policy._learned.pulls, np.bincount(twin.arms, minlength=GRAPH.n))


@pytest.mark.parametrize("basis", SERVED)
@pytest.mark.parametrize("size", [1, 2, learned.LANES - 1, learned.LANES, learned.LANES + 1, 1000])
def test_the_choice_is_the_first_best_of_estimate_plus_radius_times_width(basis, size):
    policy = linucb(4, basis=basis)
    serve(policy, slice(100))
    rng = np.random.default_rng(size)
    sets = [[NAMES[place] for place in rng.integers(GRAPH.n, size=size)] for _ in range(20)]
    for candidates in sets:
        mean, width = policy.expect(candidates)
        scores = np.round(mean + width, 12)  # the twin adds in another order: its ties are within rounding
        assert policy.recommend(candidates) == candidates[np.argmax(scores)]


# Many at once


@pytest.mark.parametrize("basis", SERVED)
def test_many_sets_and_many_rewards_are_as_many_single_ones(basis):
    policy, single = linucb(4, basis=basis), linucb(4, basis=basis)
    rng = np.random.default_rng(1)
    arms, rewards = rng.choice(NAMES, 300), rng.standard_normal(300)
    policy.update_many(arms, rewards)
    for arm, reward in zip(arms, rewards, strict=True):
        single.update(arm, reward)
    assert_same(policy, single)
    sets = [rng.choice(NAMES, size).tolist() for size in (1, 7, 300, 20)]
    assert policy.recommend_many(sets) == [single.recommend(own) for own in sets]
    assert policy.recommend_many([]) == []
    policy.update_many([], [])
    assert policy.rounds == single.rounds == 300


def test_candidates_looked_up_once_or_given_as_numbers_are_the_same_candidates():
    by_number, named = numbered(), linucb()
    for policy in (by_number, named):
        policy.update_many(policy.names, THETA)
    for places in STREAM.arms[:50]:
        names = [NAMES[place] for place in places]
        arm = named.recommend(names)
        assert named.recommend(named.candidates(names)) == named.recommend(np.array(names)) == arm
        assert NAMES[by_number.recommend(places)] == NAMES[by_number.recommend(places.tolist())] == arm
    held = by_number.candidates(own := STREAM.arms[0].copy())
    own[:] = 10**9
    assert by_number.recommend(held) == by_number.recommend(STREAM.arms[0])
    assert by_number.recommend_many(STREAM.arms[:50]) == [by_number.recommend(own) for own in STREAM.arms[:50]]


def test_ties_go_to_the_first_candidate():
    path = model.from_edges(6, np.array([0, 1, 2, 3, 4]), np.array([5, 5, 5, 5, 5]))  # a star: its leaves are alike
    policy = numbered(source=path, basis="identity")
    assert policy.recommend([3, 1, 2]) == 3
    policy.update(3, -1.0)
    assert policy.recommend([3, 1, 2]) == 1
    named = linucb()
    named.add({"twin": {NAMES[0]: 1.0}, "other twin": {NAMES[0]: 1.0}})
    assert named.recommend(["twin", "other twin"]) == "twin"
    assert named.recommend(["other twin", "twin"]) == "other twin"


# What it is fitted to


def test_interactions_are_joined_by_their_similarity():
    rng = np.random.default_rng(2)
    who, item = rng.integers(40, size=600), rng.integers(30, size=600)
    weight = rng.integers(1, 5, size=600)
    table = {"user": who, "item": item, "value": weight}
    policy = numbered(4, graphdr.from_interactions(table, neighbours=3))
    graph = from_data.knn(30, Records(who, item, weight, np.bincount(item)), neighbours=3)
    assert policy.names == graph.origin.tolist()
    assert_array_equal(policy._learned.rows, numbered(4, graph)._learned.rows)
    texts = np.array([f"{number:02}" for number in range(30)])
    named = numbered(2, graphdr.from_interactions({"user": np.array(["u", "v"])[who % 2], "item": texts[item]}))
    assert set(named.names) <= set(texts.tolist())


@pytest.mark.parametrize("shape", [sp.csr_matrix, sp.coo_array, np.asarray])
def test_a_graph_may_be_a_matrix_of_any_kind(shape):
    policy = numbered(3, shape(GRAPH.adjacency.toarray()))
    assert policy.names == list(range(GRAPH.n))
    assert policy.n_features_in_ == GRAPH.n
    assert_array_equal(policy._learned.rows, linucb(3)._learned.rows)


def test_a_small_graph_has_as_many_features_as_it_can():
    path = model.from_edges(4, np.arange(3), np.arange(1, 4))
    assert numbered(20, path)._learned.rows.shape == (4, 3)
    assert GraphDRLinUCB(20).fit(path)._learned.rows.shape == (4, 4)  # with the mean's column
    assert_array_equal(numbered(3, path)._learned.rows, numbered(20, path)._learned.rows)


ONE_WAY = sp.csr_array(np.triu(GRAPH.adjacency.toarray()))
TWO_PARTS = sp.block_diag([GRAPH.adjacency, GRAPH.adjacency]).tocsr()
UNFIT = {
    "square and symmetric": lambda: numbered(3, ONE_WAY),
    "finite and not negative$": lambda: numbered(3, -GRAPH.adjacency),
    "2 components, of 150, 150 nodes": lambda: numbered(3, TWO_PARTS),
    "the graph has no nodes": lambda: numbered(3, sp.csr_array((0, 0))),
    "k is a whole number from 1 on, not None": lambda: linucb(None),
    "from 1 on, not 2.5": lambda: linucb(2.5),
    "from 1 on, not 0": lambda: linucb(0),
    "from 1 on, not True": lambda: linucb(True),
    "no basis 'wavelets'; there are: identity, laplacian_low": lambda: linucb(3, basis="wavelets"),
    "no basis 'content_pca'": lambda: linucb(3, basis="content_pca"),
    "no prior 'flat'; there are: graph, ridge": lambda: GraphDRLinUCB(prior="flat").fit(GRAPH),
    r"no prior \['graph'\]": lambda: GraphDRLinUCB(prior=["graph"]).fit(GRAPH),
    "a Laplacian penalty needs a ridge": lambda: linucb(3, basis="identity", laplacian=1.0),
    "Laplacian penalty": lambda: GraphDRLinUCB(prior="ridge", laplacian=1.0).fit(GRAPH),
    "belong to prior='ridge'": lambda: GraphDRLinUCB(ridge=1.0).fit(GRAPH),
    "ridge and laplacian belong": lambda: GraphDRLinUCB(laplacian=1.0).fit(GRAPH),
    "without an intercept, prior='ridge' with a": lambda: GraphDRLinUCB(intercept=False).fit(GRAPH),
    "without an intercept": lambda: linucb(3, ridge=None),
    "ridge and a radius is needed": lambda: linucb(3, radius=None),
    "radius is finite and not negative, or None .*, not -1": lambda: linucb(3, radius=-1),
    "radius is finite .*, not 'wide'": lambda: linucb(3, radius="wide"),
    "laplacian is finite and not negative, not nan": lambda: linucb(3, laplacian=np.nan),
    "ridge is finite and positive, .*, not 0": lambda: linucb(3, ridge=0),
    "explore is 'ucb', 'ts' or the share .*, not 'greedy'": lambda: linucb(3, explore="greedy"),
    "share of random rounds, from 0 to 1, not 1.5": lambda: linucb(3, explore=1.5),
    "above 0 and at most 1, not 0": lambda: linucb(3, forget=0),
    "above 0 and at most 1, not 1.01": lambda: linucb(3, forget=1.01),
    "components is one of 'refuse', 'largest', 'keep', not 'some'": lambda: linucb(3, components="some"),
    "random_state is a seed .*, not 'now'": lambda: GraphDRLinUCB(random_state="now").fit(GRAPH),
    "2 names for a graph of 150": lambda: linucb(3, names=["a", "b"]),
    "same name": lambda: linucb(3, names=["a"] * GRAPH.n),
    "whole number, not 0.5": lambda: linucb(3, names=[0.5] * GRAPH.n),
}


@pytest.mark.parametrize("message", UNFIT)
def test_what_cannot_be_fitted_is_refused(message):
    with pytest.raises(ValueError, match=message) as caught:
        UNFIT[message]()
    assert "\n" not in str(caught.value)


def test_a_policy_that_cannot_be_fitted_again_stays_as_it_was():
    policy, other = linucb(3), linucb(3)
    for one in (policy, other):
        one.update_many(NAMES, THETA)
    with pytest.raises(ValueError, match="no edges"):
        policy.fit(sp.csr_array((1, 1)))
    with pytest.raises(ValueError, match="2 components"):
        policy.fit(TWO_PARTS)
    assert_same(policy, other)
    assert policy.recommend(NAMES) == other.recommend(NAMES)


OTHER = linucb(2).candidates(NAMES[:3])
MISUSE = {
    "no arm 'nobody'": lambda policy: policy.recommend([NAMES[0], "nobody"]),
    "no arm 'somebody'": lambda policy: policy.update("somebody", 1.0),
    "no arm 'anybody'": lambda policy: policy.recommend([*NAMES, "anybody"]),
    "no candidates": lambda policy: policy.recommend([]),
    "at least one arm": lambda policy: policy.recommend_many([NAMES[:2], []]),
    "n is from 1 to the 3 candidates, not 4": lambda policy: policy.recommend(NAMES[:3], n=4),
    "candidates, not 0": lambda policy: policy.recommend(NAMES[:3], n=0),
    "candidates, not 1.5": lambda policy: policy.recommend(NAMES[:3], n=1.5),
    "a reward is nan": lambda policy: policy.update(NAMES[0], np.nan),
    "a reward is inf": lambda policy: policy.update_many(NAMES[:2], [1.0, np.inf]),
    "rewards are finite numbers, not": lambda policy: policy.update(NAMES[0], "much"),
    "rewards are finite numbers, not .*{": lambda policy: policy.update(NAMES[0], {}),
    "2 arms, but rewards of shape": lambda policy: policy.update_many(NAMES[:2], [1.0]),
    "a weight is 0.0; weights are positive": lambda policy: policy.update(NAMES[0], 1.0, weight=0.0),
    "a weight is -1": lambda policy: policy.update_many(NAMES[:2], [1.0, 1.0], weights=[1.0, -1.0]),
    "a weight is nan": lambda policy: policy.update(NAMES[0], 1.0, weight=np.nan),
    "2 arms, but weights of shape": lambda policy: policy.update_many(NAMES[:2], [1.0, 1.0], weights=[1.0]),
    "another policy": lambda policy: policy.recommend(OTHER),
    "sequence of their names, not as 3": lambda policy: policy.recommend(3),
    "not as 'item 1'": lambda policy: policy.recommend("item 1"),
    "not as": lambda policy: policy.recommend([NAMES[:2]]),
    "there is an arm 'item 1' already": lambda policy: policy.add({"item 1": {"item 2": 1.0}}),
    "no arm 'item x' to be joined to": lambda policy: policy.add({"new": {"item 1": 1.0}, "newer": {"item x": 1.0}}),
    "'newer': needs edges": lambda policy: policy.add({"new": {"item 1": 1.0}, "newer": {}}),
    "positive finite weight": lambda policy: policy.add({"new": {"item 1": -1.0}}),
    "weights are numbers, not 'much'": lambda policy: policy.add({"new": {"item 1": "much"}}),
    "not None": lambda policy: policy.add({None: {"item 1": 1.0}}),
    "no arm 'item y'": lambda policy: policy.remove(["item 1", "item y"]),
    "only a worker has a delta": lambda policy: policy.delta(),
    "radius is finite .*, not 'x'": lambda policy: setattr(policy, "radius", "x"),
    "explore is": lambda policy: policy.set_params(explore=2),
    "forget is what is kept": lambda policy: setattr(policy, "forget", -1),
    "without an intercept": lambda policy: setattr(policy, "radius", None),
    "the graph has 2 components": lambda policy: policy.refit(TWO_PARTS),
    "the graph has no edges": lambda policy: policy.refit(sp.csr_array((1, 1))),
}


@pytest.mark.parametrize("message", MISUSE)
def test_misuse_is_one_clear_error_and_changes_nothing(message):
    policy, before = linucb(2), linucb(2)
    for one in (policy, before):
        one.update(NAMES[0], 1.0)
    with pytest.raises(ValueError, match=message) as caught:
        MISUSE[message](policy)
    assert "\n" not in str(caught.value)
    assert policy.names == before.names
    assert policy.get_params() == before.get_params()
    assert_same(policy, before)
    assert policy.recommend(NAMES) == before.recommend(NAMES)


@pytest.mark.parametrize("wrong", [-1, GRAPH.n])
def test_numbers_beyond_the_arms_are_refused(wrong):
    with pytest.raises(ValueError, match=f"no arm {wrong}"):
        numbered(2).recommend(np.array([0, wrong]))


ARMS = {"a": ["b", "c", "ab"], "b": ["c"], "c": ["ab"], "ab": []}


def letters() -> GraphDRLinUCB:
    """Fit a policy to arms whose names are letters: a text of letters is no collection of arms."""
    edges = [(name, other) for name, others in ARMS.items() for other in others]
    source, target = zip(*edges, strict=True)
    return GraphDRLinUCB(2, random_state=0).fit({"source": source, "target": target})


TEXTS = {
    "remove": lambda policy, text: policy.remove(text),
    "recommend": lambda policy, text: policy.recommend(text),
    "recommend_many": lambda policy, text: policy.recommend_many(text),
    "recommend_many, names": lambda policy, text: policy.recommend_many([text]),
    "choose": lambda policy, text: policy.choose(text),
    "probabilities": lambda policy, text: policy.probabilities(text),
    "expect": lambda policy, text: policy.expect(text),
    "candidates": lambda policy, text: policy.candidates(text),
    "update_many": lambda policy, text: policy.update_many(text, [1.0, 1.0]),
    "add": lambda policy, text: policy.add(text),
    "add, neighbours": lambda policy, text: policy.add({"new": text}),
    "fit": lambda policy, text: policy.fit(GRAPH, names=text),
    "refit": lambda policy, text: policy.refit(GRAPH, names=text),
}


@pytest.mark.parametrize("text", ["ab", b"ab"])
@pytest.mark.parametrize("call", TEXTS)
def test_a_text_is_no_collection_of_arms(call, text):
    policy = letters()
    with pytest.raises(ValueError, match=f"not (as )?({text!r}|'a'|97)$") as caught:
        TEXTS[call](policy, text)
    assert "\n" not in str(caught.value)
    assert policy.names == ["a", "ab", "b", "c"]
    assert policy.rounds == 0


def test_an_arm_whose_name_is_several_letters_is_removed_alone():
    policy = letters()
    policy.remove(["ab"])
    assert policy.names == ["a", "b", "c"]
    with pytest.raises(ValueError, match="names are given as a sequence, such as \\[3\\], not as 3"):
        policy.remove(3)


# Calls of version 0.4


OLD = {
    "plain": {"k": 5},
    "settings": {"k": 5, "ridge": 0.5, "radius": 0.3, "laplacian": 2.0},
    "full": {"basis": "identity", "ridge": 0.7},
    "basis": {"k": 4, "basis": "shuffled", "seed": 3},
    "segments": {"k": 6, "segments": {"young": {"old": 1.0}, "old": {}}, "coupling": 0.5},
}


def old_fit(source=GRAPH, k=None, **knobs) -> GraphDRLinUCB:
    with pytest.warns(DeprecationWarning, match="will end with version 0.6") as caught:
        policy = GraphDRLinUCB.fit(source, k, **knobs)
    assert caught[0].filename == __file__
    return policy


@pytest.mark.parametrize("call", OLD)
def test_an_old_call_warns_and_is_the_new_one(call):
    given = OLD[call]
    old = old_fit(names=NAMES, **given)
    new = {"prior": "ridge", "intercept": False, "ridge": 1.0, "radius": 1.0, "random_state": given.get("seed", 0)}
    new |= {name: value for name, value in given.items() if name != "seed"}
    if "ridge" not in given:
        new["ridge"] = np.sum(old._learned.rows**2) / len(old._learned.rows)
    assert_same(old, GraphDRLinUCB(**new).fit(GRAPH, names=NAMES))
    assert old.recommend(NAMES, segment="old" if "segments" in given else None) in NAMES


@pytest.mark.parametrize("basis", SERVED)
def test_before_the_first_round_the_mean_squared_width_of_an_old_call_is_one(basis):
    mean, width = old_fit(k=None if basis == "identity" else 4, basis=basis, names=NAMES).expect(NAMES)
    assert_allclose(np.mean(width**2), 1.0)
    assert not mean.any()


def test_interactions_as_a_tuple_are_those_of_a_table():
    rng = np.random.default_rng(2)
    who, item, weight = rng.integers(40, size=600), rng.integers(30, size=600), rng.integers(1, 5, size=600)
    graph = graphdr.from_interactions({"user": who, "item": item, "value": weight}, neighbours=3)
    assert_same(old_fit((who, item, weight), 4, neighbours=3, ridge=1.0), numbered(4, graph))


PAIR = (np.array([1, 2]), np.array([3, 4]))
OLD_UNFIT = {
    "from 1 to 149, not 150": lambda: GraphDRLinUCB.fit(GRAPH, 150),
    "from 1 to 149, not None": lambda: GraphDRLinUCB.fit(GRAPH),
    "neither k nor": lambda: GraphDRLinUCB.fit(GRAPH, 3, basis="identity"),
    "radius is finite": lambda: GraphDRLinUCB.fit(GRAPH, 3, radius=-1),
    "arrays of one length": lambda: GraphDRLinUCB.fit((PAIR[0], np.arange(3)), 1),
    "of 4 items only 2 are connected; take more": lambda: GraphDRLinUCB.fit((np.arange(8) // 4, np.arange(8) // 2), 1),
    "finite and positive": lambda: GraphDRLinUCB.fit((*PAIR, np.array([1.0, 0.0])), 1),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("message", OLD_UNFIT)
def test_what_an_old_call_cannot_fit_is_refused(message):
    with pytest.raises(ValueError, match=message):
        OLD_UNFIT[message]()


# New arms


def joined(policy: GraphDRLinUCB, row: np.ndarray) -> dict:
    return {policy.names[place]: row[place] for place in np.flatnonzero(row)}


def test_the_extension_is_the_row_of_the_normalised_adjacency_times_u_over_one_minus_lambda():
    policy = linucb(4)
    row = np.random.default_rng(3).integers(0, 3, GRAPH.n).astype(float)
    policy.add({"new": joined(policy, row)})
    degree = GRAPH.adjacency.toarray().sum(axis=0)
    low = spectral.low_eigenpairs(GRAPH, 5)
    expected = [
        sum(row[j] / np.sqrt(row.sum() * degree[j]) * low.vectors[j, c] for j in range(GRAPH.n)) / (1 - low.values[c])
        for c in range(1, 5)
    ]
    assert_allclose(policy._learned.rows[-1], expected, rtol=0, atol=1e-12)


def test_a_new_arm_may_be_joined_to_one_that_is_hardly_older():
    together, apart = linucb(3), linucb(3)
    edges = {"new": {NAMES[0]: 1.0, NAMES[1]: 2.0}, "newer": {"new": 4.0}}
    together.add(edges)
    for name, own in edges.items():
        apart.add({name: own})
    assert_allclose(together._learned.rows, apart._learned.rows, rtol=1e-12)
    *_, new, newer = together._learned.rows
    # The degree of the new arm is 1 + 2. It was not fitted: its neighbour is exceeded as far as columns have shrunk.
    volume, squares = GRAPH.adjacency.sum(), np.sum(together._learned.rows[:-1] ** 2, axis=0)
    assert_allclose(newer, 4 / np.sqrt(4 * 3) * new * np.sqrt((volume + 3) / volume / squares))


@pytest.mark.parametrize("k", [4, 20])
def test_a_twin_of_a_node_gets_its_row(k):
    policy = linucb(k)
    rows = GRAPH.adjacency.toarray()
    policy.add({f"twin {node}": joined(policy, rows[node]) for node in range(GRAPH.n)})
    assert_allclose(policy._learned.rows[GRAPH.n :], policy._learned.rows[: GRAPH.n], rtol=0, atol=1e-10)


def test_a_node_left_out_comes_back_close_to_where_it_was():
    """Within the communities (k = 4 of 5 blocks) an arm's features differ by 5 % in the median, up to a rotation."""
    whole, error = linucb(4)._learned.rows, []
    for node in range(0, GRAPH.n, 10):
        rest = np.delete(np.arange(GRAPH.n), node)
        policy = linucb(4, source=model.induced(GRAPH, rest), names=[NAMES[other] for other in rest])
        left, _, right = np.linalg.svd(policy._learned.rows.T @ whole[rest])
        policy.add({NAMES[node]: joined(policy, GRAPH.adjacency[[node]].toarray()[0][rest])})
        found = policy._learned.rows[-1] @ (left @ right)
        error.append(np.linalg.norm(found - whole[node]) / np.linalg.norm(whole[node]))
    assert np.median(error) < 0.05
    assert max(error) < 0.15


@pytest.mark.parametrize("basis", ["laplacian_low", "identity"])
def test_new_arms_join_the_game_and_change_nothing_else(basis, tmp_path):
    policy = linucb(4, basis=basis)
    serve(policy, slice(300))
    held, before = policy.candidates(NAMES), policy.expect(NAMES)
    policy.add({"new": {NAMES[0]: 1.0, NAMES[1]: 2.0}, "newer": {"new": 1.0}})
    assert_array_equal(before, policy.expect(held))
    assert len(policy) == GRAPH.n + 2
    assert "newer" in policy
    mean, width = policy.expect(["new", "newer"])
    policy.update_many(["new", "newer"] * 50, np.full(100, 9.0))
    assert np.all(policy.expect(["new", "newer"])[0] > mean)
    assert np.all(policy.expect(["new", "newer"])[1] < width)
    policy.save(tmp_path / "policy.parquet")
    again = GraphDRLinUCB.load(tmp_path / "policy.parquet")
    again.add({"newest": {"newer": 1.0}})
    policy.add({"newest": {"newer": 1.0}})
    assert_array_equal(policy.expect(["newest"]), again.expect(["newest"]))


def test_a_numbered_policy_that_gets_a_named_arm_knows_both():
    policy = numbered(2)
    policy.add({GRAPH.n: {0: 1.0}})
    assert policy.recommend(np.array([GRAPH.n])) == GRAPH.n
    policy.add({"named": {0: 1.0}})
    assert policy.recommend(np.array([0])) == 0
    with pytest.raises(
        ValueError, match=f"no arm {GRAPH.n + 1}"
    ):  # there is an arm in this place, but not of this name
        policy.recommend(np.array([GRAPH.n + 1]))
    assert policy.recommend([0, "named"]) in (0, "named")


@pytest.mark.parametrize("shape", [list, tuple, set, np.array, iter])
def test_neighbours_without_weights_have_weights_of_one(shape):
    listed, weighted = linucb(), linucb()
    listed.add({"new": shape([NAMES[1], NAMES[2]]), "newer": ["new"]})
    weighted.add({"new": {NAMES[1]: 1.0, NAMES[2]: 1.0}, "newer": {"new": 1.0}})
    assert_allclose(listed._learned.rows, weighted._learned.rows, rtol=1e-12)


@pytest.mark.parametrize(
    ("neighbours", "message"),
    [
        ("item 1", r"its neighbours are {neighbour: weight} or \[neighbour, …\], not 'item 1'"),
        (None, "its neighbours are .*, not None"),
        (3, "its neighbours are .*, not 3"),
        ([("item 1", 0.5)], r"a neighbour's name is a text or a whole number, not \('item 1', 0.5\)"),
        (["item 1", "nobody"], "no arm 'nobody' to be joined to"),
        (["item 1", "item 2", "item 1"], "joined twice to 'item 1'"),
        ([], "needs edges to known arms"),
    ],
)
def test_neighbours_that_cannot_be_understood_are_one_line_that_names_the_arm(neighbours, message):
    policy = linucb()
    with pytest.raises(ValueError, match=f"new arm 'new': {message}") as caught:
        policy.add({"new": neighbours})
    assert "\n" not in str(caught.value)
    assert policy.names == NAMES


def test_where_the_basis_cannot_be_extended_no_arm_is_added():
    with pytest.raises(ValueError, match="this one is 'shuffled'"):
        linucb(3, basis="shuffled").add({"new": {NAMES[0]: 1.0}})
    star = model.from_edges(6, np.arange(5), np.full(5, 5))  # its eigenvalues are 0, 1 (four times) and 2
    with pytest.raises(ValueError, match="fit a smaller k"):
        numbered(2, star).add({"new": {5: 1.0}})


# The file


@pytest.mark.parametrize("basis", SERVED)
def test_a_loaded_policy_goes_on_where_the_saved_one_stopped(basis, tmp_path):
    policy = linucb(4, basis=basis)
    serve(policy, slice(200))
    policy.save(tmp_path / "policy.parquet")
    moved = shutil.move(tmp_path / "policy.parquet", tmp_path / "moved.parquet")
    loaded = GraphDRLinUCB.load(moved)
    assert (loaded.names, loaded.get_params(), loaded.rounds) == (policy.names, policy.get_params(), 200)
    assert serve(loaded, slice(200, 400)) == serve(policy, slice(200, 400))
    assert_same(policy, loaded)


def test_names_of_both_kinds_and_a_single_feature_survive(tmp_path):
    names = [1, "1", "é\n", 10**20, *range(-GRAPH.n, -4)]
    policy = linucb(1, names=names)
    policy.save(tmp_path / "p.parquet")
    loaded = GraphDRLinUCB.load(tmp_path / "p.parquet")
    assert loaded.names == names
    assert loaded._learned.inverse.shape == (1, 1)


def test_a_file_that_is_no_saved_policy_is_one_line(tmp_path):
    path = tmp_path / "policy.parquet"
    linucb().save(path)
    table = pq.read_table(path)
    io.write("theta", {"problem": [], "instance": [], "node": [], "theta": []}, str(tmp_path / "theta.parquet"))
    pq.write_table(table.slice(0, len(table) - 1), tmp_path / "changed.parquet")
    (tmp_path / "half.parquet").write_bytes(path.read_bytes()[:-99])
    for name, message in {
        "none": "no such file",
        "theta": "not a saved policy",
        "changed": "does not match its hash",
        "half": "not a readable parquet file",
    }.items():
        with pytest.raises(UserError, match=message) as caught:
            GraphDRLinUCB.load(tmp_path / f"{name}.parquet")
        assert "\n" not in str(caught.value)
        assert isinstance(caught.value, FileNotFoundError) == (name == "none")


# The page


def test_the_loop_of_the_page_runs_as_printed(workdir, capsys):
    page = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    loop, *further = re.findall(r"```python\n(.*?)```", page, re.S)
    scope = {}
    exec(loop, scope)
    printed, shown = capsys.readouterr().out.splitlines(), re.search(r"```text\n(.*?)```", page, re.S)[1].splitlines()
    clicks, clicks_shown = float(printed[0].split()[0]), float(shown[0].split()[0])
    assert abs(clicks - clicks_shown) < 0.02  # another machine may round a tie to another film
    assert [printed[0].split(maxsplit=1)[1], *printed[1:]] == [shown[0].split(maxsplit=1)[1], *shown[1:]]
    assert Path("policy.parquet").exists()
    for block in further:
        exec(block, scope)
