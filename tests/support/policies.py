"""Policies to serve, small enough for tests: a graph, names, LinUCB with settings that are given, and what it knows."""

import io

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.serve.policy import GraphDRLinUCB
from tests.support.project import draw_sbm

GRAPH = draw_sbm(3, n=150, blocks=5, p_in=0.3, p_out=0.02)
NAMES = [f"item {node}" for node in range(GRAPH.n)]
THETA = np.random.default_rng(0).standard_normal(GRAPH.n) / np.sqrt(GRAPH.n)
EXACT = ("rows", "pulls", "sums", "precision", "inverse", "mean")
ADDED = ("within", "context_v", "context_right")  # in another order, if rewards come in batches


def linucb(k=5, *, names=NAMES, source=GRAPH, ridge=1.0, radius=1.0, **knobs) -> GraphDRLinUCB:
    """Fit LinUCB on k features, as the kernels play it."""
    policy = GraphDRLinUCB(k, prior="ridge", ridge=ridge, radius=radius, intercept=False, random_state=0, **knobs)
    return policy.fit(source, names=names)


def assert_same(one: GraphDRLinUCB, other: GraphDRLinUCB, fields=EXACT, **tolerance) -> None:
    """Compare what two policies know: exactly, or within a tolerance."""
    assert one.rounds == other.rounds
    assert_same_knowledge(one, other, fields, **tolerance)


def assert_same_knowledge(one: GraphDRLinUCB, other: GraphDRLinUCB, fields=EXACT, **tolerance) -> None:
    """Compare what two policies know, however many rewards they were told it with."""
    for name in fields:
        mine, others = getattr(one._learned, name), getattr(other._learned, name)
        if tolerance:
            assert_allclose(mine, others, err_msg=name, **tolerance)
        else:
            assert_array_equal(mine, others, err_msg=name)
    if not tolerance:
        tolerance = {"rtol": 1e-9, "atol": 1e-12}
    for name in ADDED:
        assert_allclose(getattr(one._learned, name), getattr(other._learned, name), err_msg=name, **tolerance)
    for name in ("residual", "noise", "boost"):
        mine, others = getattr(one._learned, name), getattr(other._learned, name)
        assert (mine is None) == (others is None), name
        if mine is not None:
            assert_allclose(mine, others, err_msg=name, rtol=1e-9)


def reloaded(policy: GraphDRLinUCB) -> GraphDRLinUCB:
    """Return a policy as it comes out of its file."""
    file = io.BytesIO()
    policy.save(file)
    file.seek(0)
    return GraphDRLinUCB.load(file)
