"""A saved policy goes on exactly where it stopped, choice by choice, in every mode and at every moment."""

import io
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from graphdr.core.errors import UserError
from graphdr.serve.policy import GraphDRLinUCB
from tests.support.policies import EXACT, GRAPH, NAMES, THETA, assert_same, linucb, reloaded

GIVEN = {"prior": "ridge", "ridge": 0.5, "radius": 1.0}
MODES = {
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
    "shuffled": {"basis": "shuffled"},
    "segments": {"segments": {"young": {7: 2.0}, 7: {}}, "coupling": 0.5},
    "matrix of segments": {"segments": np.array([[0.0, 1.0], [1.0, 0.0]])},
}


def fit(**knobs) -> GraphDRLinUCB:
    return GraphDRLinUCB(5, **{"random_state": 0} | knobs).fit(GRAPH, names=NAMES)


def serve(policy: GraphDRLinUCB, rounds: int, seed: int) -> list:
    """Play and learn, with weights; return all choices."""
    rng, played = np.random.default_rng(seed), []
    segments = list(policy._arms.segment)
    for turn in range(rounds):
        some = rng.choice(policy.names, 8, replace=False).tolist()
        segment = segments[turn % 2] if segments else None
        arm = policy.recommend(some, segment=segment)
        reward = 10 * THETA[int(arm.split()[1]) % GRAPH.n] + rng.standard_normal()
        policy.update(arm, reward, weight=1.0 + turn % 3, segment=segment)
        played.append(arm)
    return played


@pytest.mark.parametrize("rounds", [0, 7, 20, 90])
@pytest.mark.parametrize("mode", MODES)
def test_a_loaded_policy_goes_on_choice_by_choice(mode, rounds):
    policy = fit(**MODES[mode])
    serve(policy, rounds, seed=1)
    loaded = reloaded(policy)
    assert_same(policy, loaded)
    assert loaded.names == policy.names
    assert loaded.n_features_in_ == GRAPH.n
    assert serve(loaded, 120, seed=2) == serve(policy, 120, seed=2)
    assert_same(policy, loaded)
    segment = next(iter(policy._arms.segment)) if policy._arms.segment else None
    assert [loaded.choose(NAMES[:9], segment=segment) for _ in range(20)] == [
        policy.choose(NAMES[:9], segment=segment) for _ in range(20)
    ]


@pytest.mark.parametrize("mode", ["graph", "given", "full"])
def test_arms_that_were_removed_and_added_are_saved(mode):
    policy = fit(**MODES[mode])
    serve(policy, 90, seed=1)
    policy.add({"new 3": {"item 3": 1.0}, "new 4": {"new 3": 2.0}})
    policy.remove(["item 5", "new 3"])
    policy.add({"item 5": {"item 6": 1.0}})
    loaded = reloaded(policy)
    assert loaded.names == policy.names
    with pytest.raises(ValueError, match="no arm 'new 3'"):
        loaded.recommend(["new 3"])
    for one in (policy, loaded):
        one.add({"new 9": {"new 4": 1.0}})
    assert serve(loaded, 300, seed=2) == serve(policy, 300, seed=2)
    assert_same(policy, loaded)
    assert_array_equal(reloaded(loaded).expect(), policy.expect())


GENERATORS = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]


@pytest.mark.parametrize("kind", GENERATORS)
def test_the_state_of_any_generator_is_saved(kind):
    policy = fit(random_state=np.random.Generator(kind(5)), explore=0.7)
    serve(policy, 50, seed=1)
    loaded = reloaded(policy)
    assert serve(loaded, 100, seed=2) == serve(policy, 100, seed=2)
    assert [loaded.worker().recommend() for _ in range(5)] == [policy.worker().recommend() for _ in range(5)]


def test_parameters_are_saved_but_for_the_objects_of_generators():
    policy = fit(random_state=np.random.default_rng(0), forget=0.5, explore=np.float64(0.5))
    loaded = reloaded(policy)
    assert loaded.get_params() == policy.get_params() | {"random_state": None}
    assert reloaded(fit(random_state=np.int64(4))).random_state == 4
    segments = reloaded(fit(**MODES["matrix of segments"])).segments
    assert segments == {0: {1: 1.0}, 1: {0: 1.0}}
    assert reloaded(fit(**MODES["segments"])).segments == MODES["segments"]["segments"]


def test_what_contexts_taught_is_saved():
    policy = fit(**GIVEN)
    policy.update_many(vectors=np.eye(GRAPH.n)[:40], rewards=THETA[:40])
    policy.update_many(NAMES, THETA)
    loaded = reloaded(policy)
    for one in (policy, loaded):
        one.forget = 0.9
        one.update_many(NAMES[:5], THETA[:5])
    assert_same(policy, loaded)


def test_a_file_is_the_same_by_path_and_by_stream(tmp_path):
    policy, stream = linucb(), io.BytesIO()
    policy.update_many(NAMES, THETA)
    policy.save(tmp_path / "policy.parquet")
    policy.save(stream)
    assert (tmp_path / "policy.parquet").read_bytes() == stream.getvalue()
    assert [path.name for path in tmp_path.iterdir()] == ["policy.parquet"]
    with (tmp_path / "open.parquet").open("wb") as file:
        policy.save(file)
    with (tmp_path / "open.parquet").open("rb") as file:
        assert_same(GraphDRLinUCB.load(file), policy)
    assert_same(GraphDRLinUCB.load(str(tmp_path / "open.parquet")), policy)


def test_a_snapshot_is_saved_as_a_policy_that_learns():
    policy = fit()
    serve(policy, 30, seed=0)
    loaded = reloaded(policy.snapshot())
    loaded.update("item 1", 1.0)
    assert loaded.rounds == 31


def test_a_loaded_policy_is_refitted_and_merged_as_any():
    policy = fit()
    serve(policy, 50, seed=0)
    one, other = reloaded(policy), reloaded(policy)
    worker = one.worker()
    worker.update_many(NAMES, THETA)
    one.merge(worker.delta())
    other.update_many(NAMES, THETA)
    for each in (one, other):
        each.refit(GRAPH, names=NAMES)
    assert_same(one, other, EXACT, rtol=1e-9, atol=1e-12)


def test_a_format_that_is_not_known_is_one_line(tmp_path):
    policy = linucb()
    policy.save(tmp_path / "policy.parquet")
    from graphdr.serve import file

    settings, names, arrays = file.read(tmp_path / "policy.parquet")
    file.write(tmp_path / "later.parquet", settings | {"format": 99}, names, arrays)
    with pytest.raises(UserError, match="saved by another version of the package") as caught:
        GraphDRLinUCB.load(tmp_path / "later.parquet")
    assert "\n" not in str(caught.value)
    assert json.loads(pq.read_table(tmp_path / "policy.parquet")["name"][0].as_py())["format"] == 3
