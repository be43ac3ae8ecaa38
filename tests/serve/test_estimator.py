"""The conventions of scikit-learn: parameters, copies, what is not fitted, and what was changed since."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from graphdr.serve import tuning
from graphdr.serve.policy import GraphDRLinUCB
from tests.support.policies import GRAPH, NAMES, THETA, assert_same, linucb, refused

GIVEN = {"k": 4, "prior": "ridge", "ridge": 0.5, "radius": 2.0, "explore": 0.1, "segments": {"a": {"b": 1.0}, "b": {}}}


def test_parameters_are_those_of_the_constructor():
    policy = GraphDRLinUCB(**GIVEN)
    assert policy.get_params() == GraphDRLinUCB().get_params() | GIVEN
    assert set(GraphDRLinUCB().get_params()) == {
        "k", "basis", "prior", "ridge", "radius", "laplacian", "intercept", "explore", "forget", "components",
        "self_loops", "segments", "segment_coupling", "random_state",
    }  # fmt: skip
    assert repr(GraphDRLinUCB(5, explore="ts").fit(GRAPH)) == "GraphDRLinUCB(explore='ts', k=5)"
    assert policy.set_params(k="many", forget=0.9) is policy
    assert (policy.k, policy.forget) == ("many", 0.9)
    with pytest.raises(ValueError, match="k is a whole number from 1 on, not 'many'"):
        policy.fit(GRAPH)
    assert not policy.__sklearn_is_fitted__()
    with pytest.raises(ValueError, match="Invalid parameter 'wings'"):
        policy.set_params(wings=2)


def test_a_clone_and_a_policy_fitted_again_know_the_parameters_alone():
    policy = linucb(4, explore=0.25)
    policy.update_many(NAMES, THETA)
    other = clone(policy)
    assert other.get_params() == policy.get_params()
    with pytest.raises(NotFittedError):
        check_is_fitted(other)
    assert other.fit(GRAPH, None, names=NAMES) is other
    check_is_fitted(other)
    assert (other.rounds, other.n_features_in_) == (0, GRAPH.n)
    assert_same(policy.fit(GRAPH, names=NAMES), other)


CALLS = {
    "recommend": (["a"],), "recommend_many": ([["a"]],), "choose": (), "probabilities": (), "expect": (),
    "candidates": (["a"],), "update": ("a", 1.0), "update_many": (["a"], [1.0]), "tune": (),
    "add": ({"b": {"a": 1.0}},), "remove": (["a"],), "snapshot": (), "worker": (), "delta": (), "merge": (),
    "save": ("none.parquet",),
}  # fmt: skip
NEITHER = {"refit": (GRAPH,), "__len__": (), "__contains__": ("a",)}  # refused before fit alone


@pytest.mark.parametrize("call", [*CALLS, *NEITHER])
def test_what_is_not_fitted_or_was_changed_since_says_so(call, workdir):
    with pytest.raises(NotFittedError, match=r"^this policy is not fitted yet: call fit\(graph\) first$"):
        getattr(GraphDRLinUCB(), call)(*(CALLS | NEITHER)[call])
    policy = linucb(4).set_params(k=3)
    if call in CALLS:
        with refused("^k was changed after fit: call fit again, or refit to keep"):
            getattr(policy, call)(*CALLS[call])
    assert not list(workdir.iterdir())
    assert policy.names == NAMES  # which is no play
    assert policy.fit(GRAPH, names=NAMES).recommend(NAMES) in NAMES
    assert policy._posterior.rows.shape == (GRAPH.n, 3)


CHANGED = {"basis": "laplacian_low_shuffled", "prior": "graph", "ridge": 9.0, "laplacian": 1.0, "intercept": True}


@pytest.mark.parametrize("name", CHANGED)
def test_all_that_fit_looks_at_is_guarded(name):
    policy = linucb(4)
    policy.set_params(**policy.get_params())
    assert policy.recommend(NAMES) in NAMES
    with refused(f"^{name} was changed after fit"):
        policy.set_params(**{name: CHANGED[name]}).recommend(NAMES)


def test_what_is_played_counts_at_once():
    policy = linucb(4, radius=0.0, ridge=0.01)
    policy.update_many(NAMES[:40], THETA[:40])
    mean, width = policy.expect()
    assert policy.recommend() == NAMES[mean.argmax()]
    policy.radius = 50.0
    assert policy.recommend() == NAMES[(mean + 50 * width).argmax()] != NAMES[mean.argmax()]
    policy.explore = 1.0
    assert len({policy.recommend() for _ in range(50)}) > 20
    for wrong in ({"radius": -1.0}, {"radius": "x"}, {"explore": "none"}, {"explore": 2}, {"forget": 2.0}):
        right = policy.get_params()
        policy.set_params(**wrong)
        for call in (policy.recommend, lambda: policy.update(NAMES[0], 1.0)):
            with refused(f"^{next(iter(wrong))} is "):
                call()
        policy.set_params(**right)
    policy.radius = None
    with refused("without an intercept"):
        policy.recommend()
    assert policy.rounds == 40


def test_a_radius_may_be_given_and_taken_back():
    rng, parameters = np.random.default_rng(0), {"prior": "ridge", "ridge": 0.5, "random_state": 0}
    policy, given = (GraphDRLinUCB(4, radius=radius, **parameters).fit(GRAPH.adjacency) for radius in (None, 3.0))
    arms, paid = rng.integers(GRAPH.n, size=15), rng.standard_normal(15)
    for one in (policy, given):
        one.update_many(arms, paid)
    policy.radius = 3.0  # before the noise was found
    assert policy.recommend() == given.recommend()
    policy.radius = None
    assert len({policy.recommend() for _ in range(50)}) > 20  # at random, until it is
    arms = np.repeat(np.arange(GRAPH.n), 5)
    policy.update_many(arms, THETA[arms] + rng.standard_normal(5 * GRAPH.n))  # the noise alone is found
    assert_array_equal(policy._posterior.precision, np.diag([tuning.WIDE, 0.5, 0.5, 0.5, 0.5]))
    assert_allclose(policy._posterior.noise, 1.0, atol=0.2)
    assert len({policy.recommend() for _ in range(50)}) == 1
    given.update_many(arms, THETA[arms])
    given.radius = None
    given.update(0, 1.0)
    assert given._posterior.noise > 0
    graph = GraphDRLinUCB(4, radius=3.0, random_state=0).fit(GRAPH.adjacency)
    assert len({graph.recommend() for _ in range(50)}) > 20  # its prior is still to be found
