"""A served policy plays as the simulation does, survives a restart, takes new arms and refuses what makes no sense."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.bandit import environment
from graphdr.bandit import linucb as kernels
from graphdr.graphs import model, spectral
from graphdr.serve import posterior
from graphdr.serve.parameters import SERVED
from graphdr.serve.policy import GraphDRLinUCB
from tests.support import twins
from tests.support.policies import GRAPH, NAMES, THETA, assert_same, linucb, refused
from tests.support.project import ROOT

ROUNDS = 1000
SETTING = environment.RoundsSpec(ROUNDS, 10, noise=0.1)
STREAM = environment.draw_rounds(0, SETTING, GRAPH.n, instance=0, seed=0)


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
    features, v0_inverse = policy._posterior.rows.copy(), policy._posterior.inverse.copy()
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
        assert np.abs(policy._posterior.inverse - inverse).max() < 1e-10
        assert np.abs(policy._posterior.mean - inverse @ b).max() < 1e-10
    assert policy.rounds == ROUNDS


def test_full_linucb_plays_every_round_as_the_simulation():
    policy = linucb(basis="identity", ridge=0.7, radius=0.3)
    played = serve(policy)
    assert played == [NAMES[a] for a in kernels.one_hot(0.7, THETA, *STREAM, np.full(ROUNDS, 0.3))]
    twin = twins.one_hot(0.7, THETA, *STREAM, np.full(ROUNDS, 0.3))
    assert_array_equal(policy._posterior.pulls, np.bincount(twin.arms, minlength=GRAPH.n))


@pytest.mark.parametrize("basis", SERVED)
@pytest.mark.parametrize("size", [1, posterior.LANES - 1, posterior.LANES, posterior.LANES + 1, 1000])
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
    by_number, named = linucb(names=None), linucb()
    for policy in (by_number, named):
        policy.update_many(policy.names, THETA)
    for places in STREAM.arms[:50].copy():
        names = [NAMES[place] for place in places]
        arm = named.recommend(names)
        assert named.recommend(named.candidates(names)) == named.recommend(np.array(names)) == arm
        assert NAMES[by_number.recommend(places)] == NAMES[by_number.recommend(places.tolist())] == arm
        held = by_number.candidates(places)
        places[:] = 10**9  # held candidates are a copy
        assert NAMES[by_number.recommend(held)] == arm


def test_ties_go_to_the_first_candidate():
    star = model.from_edges(6, np.arange(5), np.full(5, 5))  # leaves are alike
    policy = linucb(source=star, names=None, basis="identity")
    assert policy.recommend([3, 1, 2]) == 3
    policy.update(3, -1.0)
    assert policy.recommend([3, 1, 2]) == 1
    named = linucb()
    named.add({"twin": {NAMES[0]: 1.0}, "other twin": {NAMES[0]: 1.0}})
    assert named.recommend(["twin", "other twin"]) == "twin"
    assert named.recommend(["other twin", "twin"]) == "other twin"


# What it is fitted to


def test_a_small_graph_has_as_many_features_as_it_can():
    path = model.from_edges(4, np.arange(3), np.arange(1, 4))
    rows, all_rows = (linucb(k, source=path, names=None)._posterior.rows for k in (3, 20))
    assert all_rows.shape == (4, 3)
    assert GraphDRLinUCB(20).fit(path)._posterior.rows.shape == (4, 4)  # with the mean's column
    assert_array_equal(rows, all_rows)


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
    assert_allclose(policy._posterior.rows[-1], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [list, set, np.array, iter])
def test_a_new_arm_may_be_joined_to_one_that_is_hardly_older(shape):
    together, apart = linucb(3), linucb(3)
    together.add({"new": {NAMES[0]: 1.0, NAMES[1]: 2.0}, "newer": shape(["new"])})  # a weight of one
    apart.add({"new": {NAMES[0]: 1.0, NAMES[1]: 2.0}})
    apart.add({"newer": {"new": 1.0}})
    assert_allclose(together._posterior.rows, apart._posterior.rows, rtol=1e-12)
    *_, new, newer = together._posterior.rows
    # The degree of the new arm is 1 + 2. It was not fitted: its neighbour is exceeded as far as columns have shrunk.
    volume, squares = GRAPH.adjacency.sum(), np.sum(together._posterior.rows[:-1] ** 2, axis=0)
    assert_allclose(newer, 1 / np.sqrt(3) * new * np.sqrt((volume + 3) / volume / squares))


def test_a_node_left_out_comes_back_close_to_where_it_was():
    """Within the communities (k = 4 of 5 blocks) an arm's features differ by 5 % in the median, up to a rotation."""
    whole, error = linucb(4)._posterior.rows, []
    for node in range(0, GRAPH.n, 10):
        rest = np.delete(np.arange(GRAPH.n), node)
        policy = linucb(4, source=model.induced(GRAPH, rest), names=[NAMES[other] for other in rest])
        left, _, right = np.linalg.svd(policy._posterior.rows.T @ whole[rest])
        policy.add({NAMES[node]: joined(policy, GRAPH.adjacency[[node]].toarray()[0][rest])})
        found = policy._posterior.rows[-1] @ (left @ right)
        error.append(np.linalg.norm(found - whole[node]) / np.linalg.norm(whole[node]))
    assert np.median(error) < 0.05
    assert max(error) < 0.15


@pytest.mark.parametrize("basis", ["laplacian_low", "identity"])
def test_new_arms_join_the_game_and_change_nothing_else(basis):
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


def test_a_numbered_policy_that_gets_a_named_arm_knows_both():
    policy = linucb(2, names=None)
    policy.add({GRAPH.n: {0: 1.0}})
    assert policy.recommend(np.array([GRAPH.n])) == GRAPH.n
    policy.add({"named": {0: 1.0}})
    assert policy.recommend(np.array([0])) == 0
    with refused(f"no arm {GRAPH.n + 1}"):  # the named arm has this place, but not this name
        policy.recommend(np.array([GRAPH.n + 1]))


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
