"""A saved policy goes on exactly where it stopped, choice by choice, in every mode and at every moment."""

import io
import pickle

import numpy as np
import pyarrow.parquet as pq
import pytest

from graphdr.cache import io as cache_io
from graphdr.core.errors import UserError
from graphdr.serve import file
from graphdr.serve.policy import GraphDRLinUCB
from tests.support.policies import (
    EXACT,
    GIVEN,
    GRAPH,
    MODES,
    NAMES,
    THETA,
    assert_same,
    fit,
    linucb,
    play,
    refused,
    reloaded,
)


@pytest.mark.parametrize("rounds", [0, 7, 90])
@pytest.mark.parametrize("mode", MODES)
def test_a_loaded_policy_goes_on_choice_by_choice(mode, rounds):
    policy = fit(**MODES[mode])
    play(policy, rounds, seed=1)
    loaded = reloaded(policy)
    assert_same(policy, loaded)
    assert loaded.names == policy.names
    assert loaded.n_features_in_ == GRAPH.n
    assert play(loaded, 120, seed=2) == play(policy, 120, seed=2)
    assert_same(policy, loaded)
    segment = next(iter(policy._state.arms.segment)) if policy._state.arms.segment else None
    assert [loaded.choose(NAMES[:9], segment=segment) for _ in range(20)] == [
        policy.choose(NAMES[:9], segment=segment) for _ in range(20)
    ]


GENERATORS = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]


@pytest.mark.parametrize(
    "copied", [reloaded, lambda policy: pickle.loads(pickle.dumps(policy))], ids=["file", "pickle"]
)
@pytest.mark.parametrize("kind", GENERATORS)
def test_the_state_of_any_generator_is_saved(kind, copied):
    policy = fit(random_state=np.random.Generator(kind(5)), explore=0.7)
    play(policy, 50, seed=1)
    loaded = copied(policy)
    assert play(loaded, 100, seed=2) == play(policy, 100, seed=2)
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
    loaded = reloaded(policy)
    for one in (policy, loaded):
        one.set_params(forget=0.9).update_many(NAMES[:5], THETA[:5])
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


def test_a_loaded_policy_or_snapshot_is_refitted_and_merged_as_any():
    names = [1, "1", "é\n", 10**20, *NAMES[4:]]
    policy = fit(names=names)
    policy.update_many(names, THETA)
    merged, plain = reloaded(policy), reloaded(policy.snapshot())
    assert merged.names == names
    worker = merged.worker()
    worker.update_many(names, THETA)
    merged.merge(worker.delta())
    plain.update_many(names, THETA)
    for loaded in (merged, plain):
        loaded.refit(GRAPH, names=names)
    assert_same(merged, plain, EXACT, rtol=1e-9, atol=1e-12)


def test_a_file_that_is_no_saved_policy_is_one_line(tmp_path):
    path = tmp_path / "policy.parquet"
    linucb().save(path)
    table = pq.read_table(path)
    cache_io.write("theta", {"problem": [], "instance": [], "node": [], "theta": []}, str(tmp_path / "theta.parquet"))
    pq.write_table(table.slice(0, len(table) - 1), tmp_path / "changed.parquet")
    (tmp_path / "half.parquet").write_bytes(path.read_bytes()[:-99])
    settings, names, arrays = file.read(path)
    file.write(tmp_path / "later.parquet", settings | {"format": 99}, names, arrays)
    settings["learned"]["within"] = np.inf
    file.write(tmp_path / "infinite.parquet", settings, names, arrays)
    settings["learned"]["within"], arrays["rows"][3, 2] = 0.0, np.nan
    file.write(tmp_path / "missing.parquet", settings, names, arrays)
    for name, message in {
        "none": "no such file",
        "theta": "not a saved policy",
        "changed": "does not match its hash",
        "half": "not a readable parquet file",
        "later": "saved by another version of the package",
        "infinite": "has numbers that are not finite",
        "missing": "has numbers that are not finite",
    }.items():
        with refused(message, FileNotFoundError if name == "none" else UserError):
            GraphDRLinUCB.load(tmp_path / f"{name}.parquet")
    # Files of this format stay readable.
    assert {name: sorted(settings[name]) for name in ("learned", "play")} == {
        "learned": ["boost", "noise", "residual", "within"],
        "play": ["_due", "_next", "_ready", "rounds"],
    }
    assert {"format", "parameters", "segments", "retired_centre", "fitted", "nodes", "generator"} < set(settings)
    assert (settings["format"], names) == (3, NAMES)
    features = {"rows", "roughness", "eigenvalues", "degrees", "mean_squares"}
    learned = {"pulls", "sums", "precision", "inverse", "mean", "context_v", "context_right"}
    assert set(arrays) == features | learned
