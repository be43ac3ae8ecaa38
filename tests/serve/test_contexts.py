"""A served policy plays vectors over its arms as the kernel does, in whatever form they come, and segments share it."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.graphs import contexts, records
from graphdr.serve.basis import SERVED
from graphdr.serve.policy import GraphDRLinUCB
from tests.support.policies import GRAPH, NAMES, THETA, assert_same, fit, linucb

AGES = {"young": {"middle": 1.0}, "middle": {"old": 0.5}, "old": {}}
WEIGHTS = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.5], [0.0, 0.5, 0.0]])


def bundles(count: int, rng: np.random.Generator) -> sp.csr_array:
    """Draw contexts of one to five nodes, of unequal weights and of length one."""
    sizes = rng.integers(1, 6, size=count)
    columns = np.concatenate([rng.choice(GRAPH.n, size, replace=False) for size in sizes])
    rows = sp.csr_array((rng.random(len(columns)) + 0.1, columns, np.append(0, np.cumsum(sizes))), (count, GRAPH.n))
    return contexts.context_rows(sp.diags_array(1 / records.row_norms(rows)) @ rows, GRAPH.n)


def weights(rows: sp.csr_array) -> list[dict]:
    """Return contexts as names and weights, in no particular order."""
    return [{NAMES[i]: row[i] for i in np.flatnonzero(row)[::-1]} for row in rows.toarray()]


ROWS = bundles(400, np.random.default_rng(1))


def taught(**parameters) -> GraphDRLinUCB:
    """Fit a policy and tell it the rewards of some contexts."""
    policy = linucb(**parameters)
    segment = "old" if "segments" in parameters else None
    policy.update_many(vectors=ROWS[:50], rewards=ROWS[:50] @ THETA, segment=segment)
    return policy


def test_estimate_and_width_are_those_of_ridge_regression_on_projected_contexts():
    policy = taught(ridge=0.7)
    z, basis = ROWS[:50] @ policy._posterior.rows, policy._posterior.rows
    v = 0.7 * np.eye(5) + z.T @ z
    new = ROWS[50:] @ basis
    mean, width = policy.expect(vectors=ROWS[50:])
    assert_allclose(mean, new @ np.linalg.solve(v, z.T @ (ROWS[:50] @ THETA)), rtol=0, atol=1e-12)
    assert_allclose(width, np.sqrt(np.sum(new @ np.linalg.inv(v) * new, axis=1)), rtol=0, atol=1e-12)
    assert policy.recommend(vectors=ROWS[50:]) == np.argmax(mean + width)


# Their forms


FORMS = {
    "names": weights,
    "dense": lambda rows: rows.toarray(),
    "lists": lambda rows: rows.toarray().tolist(),
    "matrix": sp.csr_matrix,
    "columns": lambda rows: rows.tocsc(),
    "entries": lambda rows: rows.tocoo(),
    "unsorted": lambda rows: sp.csr_array(rows[:, ::-1])[:, ::-1],
    "iterator": lambda rows: iter(weights(rows)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("segment", [None, "middle"])
def test_contexts_are_the_same_in_every_form(form, segment):
    parameters = {} if segment is None else {"segments": AGES}
    plain, other = taught(**parameters), taught(**parameters)
    some = ROWS[100:140]
    assert other.recommend(vectors=form(some), segment=segment) == plain.recommend(vectors=some, segment=segment)
    assert_array_equal(other.expect(vectors=form(some), segment=segment), plain.expect(vectors=some, segment=segment))
    plain.update_many(vectors=some, rewards=some @ THETA, segment=segment)
    other.update_many(vectors=form(some), rewards=some @ THETA, segment=segment)
    assert_same(plain, other)


def test_a_single_context_is_a_row_a_vector_or_names_and_weights():
    expected, at = linucb(), int(np.argmax(np.diff(ROWS.indptr)))
    expected.update(reward=0.5, vector=ROWS[at])
    for vector in (ROWS[[at]], ROWS[at].toarray(), ROWS[at].toarray().tolist(), weights(ROWS[[at]])[0]):
        policy = linucb()
        policy.update(reward=0.5, vector=vector)
        assert_same(expected, policy)


@pytest.mark.parametrize("basis", SERVED)
def test_contexts_of_one_node_are_plain_arms(basis):
    plain, other = linucb(4, basis=basis), linucb(4, basis=basis)
    unit, rng = sp.eye_array(GRAPH.n).tocsr(), np.random.default_rng(2)
    for _ in range(100):
        places = rng.integers(GRAPH.n, size=20)
        arm = plain.recommend([NAMES[place] for place in places])
        place = places[other.recommend(vectors=unit[places])]
        assert arm == NAMES[place]
        plain.update(arm, THETA[place])
        other.update(reward=THETA[place], vector=unit[[place]])
    for name in ("inverse", "mean"):
        assert_array_equal(getattr(plain._posterior, name), getattr(other._posterior, name))
    assert plain.rounds == other.rounds == 100


def test_contexts_looked_up_once_and_many_sets_of_them_are_the_same_contexts():
    policy = taught()
    sets = [ROWS[:7], ROWS[100:300], ROWS[3:4]]
    chosen = [policy.recommend(vectors=own) for own in sets]
    held = [policy.candidates(vectors=own) for own in sets]
    assert [policy.recommend(own) for own in held] == policy.recommend_many(held) == chosen
    assert policy.recommend_many(vectors=[weights(sets[0]), sets[1].toarray(), sets[2]]) == chosen
    assert all(type(index) is int for index in chosen)
    arms = NAMES[:9]
    assert policy.recommend_many([held[1], arms]) == [chosen[1], policy.recommend(arms)]
    assert_array_equal(policy.expect(held[1]), policy.expect(vectors=sets[1]))
    other = taught()
    policy.update_many(held[0], np.ones(7))
    other.update_many(vectors=sets[0], rewards=np.ones(7))
    assert_same(policy, other)
    assert policy.recommend(vectors=np.repeat(ROWS[:1].toarray(), 3, axis=0)) == 0  # the first on a tie
    assert policy.recommend_many(vectors=[]) == []
    policy.update_many(vectors=[], rewards=[])
    assert policy.rounds == 57


def test_a_context_may_have_arms_that_were_added():
    policy = taught()
    held = policy.candidates(vectors=ROWS[:20])
    before = policy.expect(held)
    policy.add({"new": {NAMES[0]: 1.0, NAMES[1]: 2.0}})
    assert_array_equal(policy.expect(held), before)
    mixed = policy.candidates(vectors=[{"new": 0.5, NAMES[0]: 0.5}]).rows[0]
    assert_allclose(mixed, (policy._posterior.rows[-1] + policy._posterior.rows[0]) / 2)


def test_what_the_caller_gave_is_left_as_it_was():
    parts = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 2, 1, 0]), np.array([0, 2, 4])  # repeated and unsorted
    rows = sp.csr_array(tuple(part.copy() for part in parts), (2, GRAPH.n))
    linucb().recommend(vectors=rows)
    for part, before in zip((rows.data, rows.indices, rows.indptr), parts, strict=True):
        assert_array_equal(part, before)


# Segments


@pytest.mark.parametrize(
    "parameters", [{}, {"basis": "identity"}, {"basis": "laplacian_low_shuffled"}, {"graph prior": True}]
)
@pytest.mark.parametrize("segments", [AGES, WEIGHTS, sp.csr_array(WEIGHTS)], ids=["names", "matrix", "sparse"])
def test_segments_are_a_policy_on_the_product_graph(parameters, segments):
    make = fit if "graph prior" in parameters else partial(linucb, **parameters)
    names = list(AGES) if segments is AGES else [0, 1, 2]
    policy = make(6, segments=segments, segment_coupling=0.3)
    pairs = make(6, source=contexts.product(GRAPH, WEIGHTS, 0.3), names=None)
    rng = np.random.default_rng(4)
    for _ in range(200):
        segment, places = rng.integers(3), rng.integers(GRAPH.n, size=15)
        arm = policy.recommend([NAMES[place] for place in places], segment=names[segment])
        pair = pairs.recommend(segment * GRAPH.n + places)
        assert (NAMES.index(arm), segment) == (pair % GRAPH.n, pair // GRAPH.n)
        reward = THETA[pair % GRAPH.n] * (segment - 1) + 0.1 * rng.standard_normal()
        policy.update(arm, reward, segment=names[segment])
        pairs.update(pair, reward)
    assert_same(policy, pairs)
    assert (policy._ready, policy.n_features_in_) == (True, GRAPH.n)
    assert_array_equal(policy.expect(NAMES[:5], segment=names[1]), pairs.expect(GRAPH.n + np.arange(5)))
    policy.remove(["item 0"])
    assert len(policy.expect(segment=names[2])[0]) == GRAPH.n - 1
    assert policy.recommend(["item 149"], segment=names[2]) == "item 149"


def test_vectors_of_a_segment_lie_in_its_block():
    policy, pairs = linucb(6, segments=AGES), linucb(6, source=contexts.product(GRAPH, WEIGHTS), names=None)
    nothing = sp.csr_array((20, GRAPH.n))
    blocks = {"young": [ROWS[:20], nothing, nothing], "old": [nothing, nothing, ROWS[:20]]}
    for name, block in blocks.items():
        policy.update_many(vectors=ROWS[:20], rewards=ROWS[:20] @ THETA, segment=name)
        pairs.update_many(vectors=sp.hstack(block), rewards=ROWS[:20] @ THETA)
    assert_same(policy, pairs)
    policy.update_many(vectors=ROWS[:2], rewards=[1.0, 2.0], segment=["old", "young"])
    pairs.update(reward=1.0, vector=sp.hstack([nothing[[0]], nothing[[0]], ROWS[[0]]]))
    pairs.update(reward=2.0, vector=sp.hstack([ROWS[[1]], nothing[[0]], nothing[[0]]]))
    assert_same(policy, pairs)


def test_what_one_segment_learns_tells_the_next_one_more_than_the_one_after():
    policy = linucb(20, segments=AGES, segment_coupling=0.1)
    before = [policy.expect(NAMES, segment=name)[1] for name in AGES]
    policy.update_many(NAMES * 5, np.zeros(5 * GRAPH.n), segment="young")
    left = [np.mean(policy.expect(NAMES, segment=name)[1] / width) for name, width in zip(AGES, before, strict=True)]
    assert left[0] < left[1] < left[2] < 1


@pytest.mark.parametrize("basis", ["laplacian_low", "identity"])
def test_many_rewards_and_sets_have_a_segment_for_all_or_one_each(basis):
    many, single = linucb(6, basis=basis, segments=AGES), linucb(6, basis=basis, segments=AGES)
    rng = np.random.default_rng(5)
    arms, who, rewards = rng.choice(NAMES, 90), rng.choice(list(AGES), 90), rng.standard_normal(90)
    many.update_many(arms, rewards, segment=who)
    many.update_many(arms, rewards, segment="old")
    for segments in (who, ["old"] * 90):
        for arm, segment, reward in zip(arms, segments, rewards, strict=True):
            single.update(arm, reward, segment=segment)
    assert_same(many, single)
    sets = [rng.choice(NAMES, size).tolist() for size in (3, 20, 7)]
    assert many.recommend_many(sets, segment=list(AGES)) == [
        many.recommend(own, segment=segment) for own, segment in zip(sets, AGES, strict=True)
    ]
    held = [many.candidates(own, segment="middle") for own in sets]
    assert many.recommend_many(held) == many.recommend_many(sets, segment="middle")


def test_the_mean_of_rewards_is_a_column_of_contexts():
    """Contexts whose weights sum to one share the mean: the column of ones is the sum of the weights."""
    policy = GraphDRLinUCB(5, prior="ridge", ridge=0.7, radius=1.0).fit(GRAPH, names=NAMES)
    share = ROWS.toarray() / ROWS.sum(axis=1)[:, None]
    rewards = 100.0 + share @ THETA
    policy.update_many(vectors=share[:50], rewards=rewards[:50])
    assert_allclose(policy.expect(vectors=share[50:])[0], rewards[50:], rtol=0, atol=0.5)
    z = share[:50] @ policy._posterior.rows
    v = policy._posterior.precision + z.T @ z
    assert_allclose(policy._posterior.mean, np.linalg.solve(v, z.T @ rewards[:50]), rtol=1e-6)
