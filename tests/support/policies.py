"""Small policies for tests: a graph with names, policies fitted to it, and comparisons of their states."""

import io
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.serve.policy import GraphDRLinUCB
from graphdr.serve.posterior import Posterior
from tests.support.project import draw_sbm

GRAPH = draw_sbm(3, n=150, blocks=5, p_in=0.3, p_out=0.02)
NAMES = [f"item {node}" for node in range(GRAPH.n)]
THETA = np.random.default_rng(0).standard_normal(GRAPH.n) / np.sqrt(GRAPH.n)
GIVEN = {"prior": "ridge", "ridge": 0.5, "radius": 1.0}
MODES = {  # every kind of a policy
    "graph": {},
    "thompson": {"explore": "ts"},
    "random rounds": {"explore": 0.3},
    "ridge": {"prior": "ridge"},
    "noise": {"prior": "ridge", "ridge": 0.5, "laplacian": 2.0},
    "given": GIVEN | {"laplacian": 2.0},
    "linucb": GIVEN | {"intercept": False},
    "full": {"basis": "identity"},
    "full ridge": {"basis": "identity", "prior": "ridge"},
    "full given": GIVEN | {"basis": "identity", "intercept": False, "explore": "ts"},
    "forgets": {"forget": 0.99},
    "shuffled": {"basis": "laplacian_low_shuffled"},
    "segments": {"segments": {"young": {7: 2.0}, 7: {}}, "segment_coupling": 0.5},
    "matrix of segments": {"segments": np.array([[0.0, 1.0], [1.0, 0.0]])},
}
AGES = {"young": {"old": 1.0}, "old": {}}
EXACT = ("rows", "pulls", "sums", "precision", "inverse", "mean")
ADDED = ("within", "context_v", "context_right")  # in another order, if rewards come in batches


def fit(k=5, *, source=GRAPH, names=NAMES, random_state=0, **parameters) -> GraphDRLinUCB:
    """Fit a policy to the graph."""
    return GraphDRLinUCB(k, random_state=random_state, **parameters).fit(source, names=names)


def linucb(k=5, *, ridge=1.0, radius=1.0, **parameters) -> GraphDRLinUCB:
    """Fit LinUCB on k features, as the kernels play it."""
    return fit(k, prior="ridge", ridge=ridge, radius=radius, intercept=False, **parameters)


@contextmanager
def refused(message: str, kind: type[Exception] = ValueError) -> Iterator[None]:
    """Expect an error with this message, in one line."""
    with pytest.raises(kind, match=message) as caught:
        yield
    assert "\n" not in str(caught.value)


def assert_same(one: GraphDRLinUCB, other: GraphDRLinUCB, fields=EXACT, **tolerance) -> None:
    """Compare what two policies know: exactly, or within a tolerance."""
    assert one.rounds == other.rounds
    assert_same_knowledge(one, other, fields, **tolerance)


def assert_same_knowledge(one: GraphDRLinUCB, other: GraphDRLinUCB, fields=EXACT, **tolerance) -> None:
    """Compare what two policies know, however many rewards they were told it with."""
    for name in fields:
        mine, others = getattr(one._posterior, name), getattr(other._posterior, name)
        if tolerance:
            assert_allclose(mine, others, err_msg=name, **tolerance)
        else:
            assert_array_equal(mine, others, err_msg=name)
    if not tolerance:
        tolerance = {"rtol": 1e-9, "atol": 1e-12}
    for name in ADDED:
        assert_allclose(getattr(one._posterior, name), getattr(other._posterior, name), err_msg=name, **tolerance)
    for name in ("residual", "noise", "boost"):
        mine, others = getattr(one._posterior, name), getattr(other._posterior, name)
        assert (mine is None) == (others is None), name
        if mine is not None:
            assert_allclose(mine, others, err_msg=name, rtol=1e-9)


def assert_unchanged(policy: GraphDRLinUCB, before: Posterior) -> None:
    """Compare the posterior of a policy with a copy that was made before."""
    for name, value in vars(before).items():
        assert_array_equal(getattr(policy._posterior, name), value)


def play(policy: GraphDRLinUCB, rounds: int, seed: int) -> list:
    """Play and learn, with weights and in all segments; return the choices."""
    rng, played = np.random.default_rng(seed), []
    segments = list(policy._state.arms.segment) or [None]
    for turn in range(rounds):
        candidates, segment = rng.choice(policy.names, 8, replace=False).tolist(), segments[turn % len(segments)]
        arm = policy.recommend(candidates, segment=segment)
        reward = 10 * THETA[NAMES.index(arm) if arm in NAMES else 0] + rng.standard_normal()
        policy.update(arm, reward, weight=1.0 + turn % 3, segment=segment)
        played.append(arm)
    return played


def reloaded(policy: GraphDRLinUCB) -> GraphDRLinUCB:
    """Return a policy as it comes out of its file."""
    file = io.BytesIO()
    policy.save(file)
    file.seek(0)
    return GraphDRLinUCB.load(file)
