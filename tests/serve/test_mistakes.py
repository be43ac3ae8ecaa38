"""A mistake of the caller is one clear line, and changes nothing."""

from operator import methodcaller

import numpy as np
import pytest
import scipy.sparse as sp

from graphdr.graphs import model
from graphdr.serve.policy import GraphDRLinUCB
from tests.support.policies import AGES, GIVEN, GRAPH, NAMES, THETA, assert_same, fit, linucb, refused

TWO_PARTS = sp.block_diag([GRAPH.adjacency, GRAPH.adjacency]).tocsr()
STAR = model.from_edges(6, np.arange(5), np.full(5, 5))  # eigenvalues are 0, 1 (four times) and 2
ROWS = np.eye(3, GRAPH.n) + np.eye(3, GRAPH.n, 7)


def segmented(segments) -> GraphDRLinUCB:
    return linucb(2, segments=segments)


UNFIT = {
    "k is a whole number from 1 on, not None": lambda: linucb(None),
    "from 1 on, not True": lambda: linucb(True),
    "no basis 'wavelets'; there are: identity, .*laplacian_low": lambda: linucb(3, basis="wavelets"),
    "no prior 'flat'; there are: graph, ridge": lambda: fit(prior="flat"),
    r"no prior \['graph'\]": lambda: fit(prior=["graph"]),
    "a Laplacian penalty needs a ridge": lambda: linucb(3, basis="identity", laplacian=1.0),
    "belong to prior='ridge'": lambda: fit(ridge=1.0),
    "without an intercept, prior='ridge' with a": lambda: fit(intercept=False),
    "ridge and a radius is needed": lambda: linucb(3, radius=None),
    "laplacian is finite and not negative, not nan": lambda: linucb(3, laplacian=np.nan),
    "ridge is finite and positive, .*, not 0": lambda: linucb(3, ridge=0),
    "explore is 'ucb', 'ts' or the share .*, not 'greedy'": lambda: linucb(3, explore="greedy"),
    "random_state is a seed .*, not 'now'": lambda: fit(random_state="now"),
    "2 names for a graph of 150": lambda: linucb(3, names=["a", "b"]),
    # segments
    "which is none of the segments": lambda: segmented({"young": {"odl": 1.0}, "old": {}}),
    "^segments are a matrix of weights, or": lambda: segmented(["young", "old"]),
    "or {name: {name: weight}}$": lambda: segmented({"young": ["old"], "old": []}),
    "with zeros on its diagonal": lambda: segmented(np.ones((2, 2))),
    "is square and symmetric;": lambda: segmented({"young": {"old": 1.0}, "old": {"young": 2.0}}),
    "an adjacency matrix is square": lambda: segmented(np.ones((2, 3)) - np.eye(2, 3)),
    "a square matrix of weights": lambda: segmented({}),
    "the weight of 'young'–'old' is -1; weights of edges are": lambda: segmented({"young": {"old": -1.0}, "old": {}}),
    "the graph of segments has 2 components": lambda: segmented({"young": {"old": 0.0}, "old": {}}),
    "a segment's name is a text or a whole number, not 0.5": lambda: segmented({0.5: {}}),
    "segment_coupling is finite and positive, not 0": lambda: linucb(2, segments=AGES, segment_coupling=0),
    # settings that take no vectors
    "full LinUCB knows arms one by one and takes no vectors": lambda: linucb(basis="identity").recommend(vectors=ROWS),
    "vectors need prior='ridge' with a ridge and a radius": lambda: fit().recommend(vectors=ROWS),
}


@pytest.mark.parametrize("message", UNFIT)
def test_what_cannot_be_fitted_is_refused(message):
    with refused(message):
        UNFIT[message]()


@pytest.mark.parametrize("change", [GraphDRLinUCB.fit, GraphDRLinUCB.refit])
def test_a_policy_that_cannot_be_fitted_again_stays_as_it_was(change):
    policy, other = linucb(3), linucb(3)
    for one in (policy, other):
        one.update_many(NAMES, THETA)
    for source, message in ((sp.csr_array((1, 1)), "no edges"), (TWO_PARTS, "2 components")):
        with refused(message):
            change(policy, source)
    assert_same(policy, other)
    assert policy.recommend(NAMES) == other.recommend(NAMES)


HELD, NEW = linucb(2).candidates(NAMES[:3]), {"new": {"item 1": 1.0}}
MISUSE = {
    # arms
    "no arm 'nobody'": lambda policy: policy.recommend([NAMES[0], "nobody"]),
    "no arm 'somebody'; unknown='ignore' skips": lambda policy: policy.update("somebody", 1.0),
    "no arm -1": lambda policy: linucb(2, names=None).recommend(np.array([0, -1])),
    f"no arm {GRAPH.n}": lambda policy: linucb(2, names=None).recommend(np.array([0, GRAPH.n])),
    "sequence of their names, not as 3": lambda policy: policy.recommend(3),
    "another policy": lambda policy: policy.recommend(HELD),
    "no candidates": lambda policy: policy.recommend([]),
    "at least one arm": lambda policy: policy.recommend_many([NAMES[:2], []]),
    "n is from 1 to the 3 candidates, not 4": lambda policy: policy.recommend(NAMES[:3], n=4),
    "candidates, not 1.5": lambda policy: policy.recommend(NAMES[:3], n=1.5),
    "no arm 'item y'": lambda policy: policy.remove(["item 1", "item y"]),
    r"names are given as a sequence, such as \[3\], not as 3": lambda policy: policy.remove(3),
    # rewards
    "a reward is nan": lambda policy: policy.update(NAMES[0], np.nan),
    "a reward is inf": lambda policy: policy.update_many(NAMES[:2], [1.0, np.inf]),
    "rewards are finite numbers, not": lambda policy: policy.update(NAMES[0], "much"),
    "2 arms, but rewards of shape": lambda policy: policy.update_many(NAMES[:2], [1.0]),
    "a weight is 0.0; weights are positive": lambda policy: policy.update(NAMES[0], 1.0, weight=0.0),
    "a weight is nan": lambda policy: policy.update(NAMES[0], 1.0, weight=np.nan),
    "2 arms, but weights of shape": lambda policy: policy.update_many(NAMES[:2], [1.0, 1.0], weights=[1.0]),
    # new arms
    "this one is 'laplacian_low_shuffled'": lambda policy: linucb(3, basis="laplacian_low_shuffled").add(NEW),
    "fit a smaller k": lambda policy: linucb(2, source=STAR, names=None).add({"new": {5: 1.0}}),
    # vectors
    "contexts over 149 nodes; the graph has 150": lambda policy: policy.recommend(vectors=ROWS[:, 1:]),
    "no arm 'no item'": lambda policy: policy.recommend(vectors=[{"item 1": 1.0}, {"no item": 1.0}]),
    "context 1 has length zero": lambda policy: policy.recommend(vectors=[{"item 1": 1.0}, {"item 2": 0.0}]),
    "context 0 has a weight that is no finite": lambda policy: policy.recommend(vectors=np.nan * ROWS),
    "rows over the arms, sparse or dense": lambda policy: policy.recommend(vectors=[{"item 1": 1.0}, 2.0]),
    "or mappings {name: weight}$": lambda policy: policy.recommend(vectors=[{"item 1": "much"}]),
    "vectors are rows": lambda policy: policy.recommend(vectors=7),
    "one of the two$": lambda policy: policy.candidates(),
    "by name or as vectors": lambda policy: policy.recommend(NAMES, vectors=ROWS),
    "2 vectors, but rewards of shape": lambda policy: policy.update_many(vectors=ROWS[:2], rewards=[1.0]),
    "belongs to the old features": lambda policy: policy.refit(GRAPH),
    # others
    "^this policy has no segments; fit one with segments$": lambda policy: policy.recommend(NAMES, segment="old"),
    "only a worker has a delta": lambda policy: policy.delta(),
    "unknown is 'raise' or 'ignore', not 'skip'": lambda policy: policy.update(NAMES[0], 1.0, unknown="skip"),
    "unknown is 'raise' or 'ignore', not None": lambda policy: policy.merge(unknown=None),
    "1 arms, but rewards of shape": lambda policy: policy.update_many(["nobody"], [], unknown="ignore"),
    "not as 'item 3'": lambda policy: policy.update_many("item 3", [1.0], unknown="ignore"),
}
SEGMENTED = {
    "no segment 'aged'; there are: 'young', 'old'": lambda policy: policy.recommend(NAMES, segment="aged"),
    "no segment given; there are: 'young'": lambda policy: policy.recommend(NAMES),
    "no segment 0": lambda policy: policy.recommend(vectors=ROWS, segment=0),
    r"no segment \['old'\]": lambda policy: policy.expect(NAMES[:1], segment=[["old"]]),
    "2 segments for 3: give one for all, or one": lambda policy: policy.expect(NAMES[:3], segment=["old", "young"]),
    "have their segment": lambda policy: policy.recommend(policy.candidates(NAMES, segment="old"), segment="old"),
    "cannot be added to a policy with segments": lambda policy: policy.add({"new": {"item 1": 1.0}}),
    "contexts over 300 nodes": lambda policy: policy.recommend(vectors=np.ones((1, 300)), segment="old"),
    "no segment 'middle'": lambda policy: policy.update("item 3", 1.0, segment="middle", unknown="ignore"),
}


ADDED = {
    "there is an arm 'item 1' already": {"item 1": {"item 2": 1.0}},
    "no arm 'item x' to be joined to": {"new": {"item 1": 1.0}, "newer": {"item x": 1.0}},
    "'newer': needs edges": {"new": {"item 1": 1.0}, "newer": {}},
    "positive finite weight": {"new": {"item 1": -1.0}},
    "weights are numbers, not 'much'": {"new": {"item 1": "much"}},
    "not None": {None: {"item 1": 1.0}},
    r"'new': its neighbours are {neighbour: weight} or \[neighbour, …\], not 'item 1'": {"new": "item 1"},
    r"'new': a neighbour's name is a text or a whole number, not \('item 1', 0.5\)": {"new": [("item 1", 0.5)]},
    "'new': joined twice to 'item 1'": {"new": ["item 1", "item 2", "item 1"]},
}
MISUSE |= {message: methodcaller("add", arms) for message, arms in ADDED.items()}


@pytest.mark.parametrize("message", [*MISUSE, *SEGMENTED])
def test_misuse_is_one_clear_error_and_changes_nothing(message):
    segments, segment = (AGES, "old") if message in SEGMENTED else (None, None)
    policy, before = linucb(2, segments=segments), linucb(2, segments=segments)
    for one in (policy, before):
        one.update(NAMES[0], 1.0, segment=segment)
        one.update(reward=1.0, vector=ROWS[:1], segment=segment)
    with refused(message):
        (MISUSE | SEGMENTED)[message](policy)
    assert policy.names == before.names
    assert policy.get_params() == before.get_params()
    assert_same(policy, before)
    assert policy.recommend(NAMES, segment=segment) == before.recommend(NAMES, segment=segment)


COLLECTIONS = ["remove", "recommend", "recommend_many", "choose", "probabilities", "expect", "candidates", "add"]
TEXTS = {name: getattr(GraphDRLinUCB, name) for name in COLLECTIONS} | {
    "recommend_many, names": lambda policy, text: policy.recommend_many([text]),
    "update_many": lambda policy, text: policy.update_many(text, [1.0, 1.0]),
    "add, neighbours": lambda policy, text: policy.add({"new": text}),
    "fit": lambda policy, text: policy.fit(GRAPH, names=text),
    "refit": lambda policy, text: policy.refit(GRAPH, names=text),
}


@pytest.mark.parametrize("text", ["ab", b"ab"])
@pytest.mark.parametrize("call", TEXTS)
def test_a_text_is_no_collection_of_arms(call, text):
    """Not even where its letters are the names of arms."""
    edges = {"source": ["a", "a", "a", "b", "c"], "target": ["b", "c", "ab", "c", "ab"]}
    policy = GraphDRLinUCB(2, random_state=0).fit(edges)
    with refused(f"not (as )?({text!r}|'a'|97)$"):
        TEXTS[call](policy, text)
    assert (policy.names, policy.rounds) == (["a", "ab", "b", "c"], 0)


def test_what_cannot_be_merged_is_refused():
    plain, split, wide = (policy.worker() for policy in (fit(), fit(segments=AGES), fit(**GIVEN, k=9)))
    plain.update("item 1", 1.0)
    split.update("item 1", 1.0, segment="old")
    wide.update(reward=1.0, vector={"item 1": 1.0})
    for worker, policy, message in (
        (split, fit(), "a worker learned of segment 'old', which this policy does not have"),
        (plain, fit(segments=AGES), "a worker learned of segment None"),
        (wide, fit(**GIVEN), "what contexts taught a worker belongs to other features"),
    ):
        with refused(message):
            policy.merge(worker.delta())
        assert policy.rounds == 0
    wide.forget = 0.9
    for call in (fit(forget=0.9).worker, wide.delta):
        with refused("cannot be merged where rewards are forgotten"):
            call()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_weights_too_large_for_features_are_refused():
    policy = fit()
    with refused("the weights of their edges are too large"):
        policy.add({"new": {"item 1": 1e308, "item 2": 1e308}})
    assert policy.names == NAMES


@pytest.mark.parametrize("explore", ["ucb", "ts", 0.0])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_estimates_that_are_not_finite_are_refused(explore, tmp_path):
    policy = fit(explore=explore, **GIVEN)
    policy.update_many(NAMES, THETA)
    policy.update("item 1", 1e308)
    policy.update("item 1", 1e308, weight=1e300)
    calls = [policy.recommend, policy.choose, policy.probabilities, policy.expect]
    for call in (*calls, lambda: policy.recommend(NAMES[:5], n=2), lambda: policy.recommend_many([NAMES[:5]])):
        with refused(r"estimates are not finite: .*; load an earlier file, or fit again"):
            call()
    with refused("this policy cannot be saved: its estimates are not finite"):
        policy.save(tmp_path / "policy.parquet")
    assert not list(tmp_path.iterdir())
