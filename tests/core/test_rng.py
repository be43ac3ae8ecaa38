"""Random streams are named: equal names give equal numbers, different names give others."""

import numpy as np
from hypothesis import assume, example, given
from hypothesis import strategies as st

from graphdr.core.rng import StreamRecord, opened_streams, recorded_streams, stream

keys = st.dictionaries(st.sampled_from(["instance", "n", "m", "run"]), st.integers(0, 999) | st.text(max_size=3))
names = st.tuples(st.integers(0, 99), st.sampled_from(["arms", "noise", "graph"]), keys)


def numbers(name) -> np.ndarray:
    seed, purpose, key = name
    return stream(seed, purpose, **key).random(4)


@given(name=names)
def test_equal_names_give_equal_streams_in_any_order_of_the_keys(name):
    seed, purpose, key = name
    assert np.array_equal(numbers(name), numbers((seed, purpose, dict(reversed(key.items())))))


@given(a=names, b=names)
@example(a=(0, "arms", {"n": 1}), b=(0, "arms", {"n": "1"}))
def test_different_names_give_different_streams(a, b):
    assume(a != b)
    assert not np.isin(numbers(a), numbers(b)).any()


def test_neighbouring_streams_are_uniform_and_uncorrelated():
    draws = np.array([stream(0, "arms", run=run).random(4000) for run in range(20)])
    assert np.abs(draws.mean(axis=1) - 0.5).max() < 5 * np.sqrt(1 / 12 / 4000)
    correlation = np.corrcoef(draws) - np.eye(20)
    assert np.abs(correlation).max() < 5 / np.sqrt(4000)


def test_a_job_records_the_streams_that_it_opens():
    with recorded_streams():
        for run in range(3):
            stream(0, "arms", n=40, run=run)
        stream(0, "noise", run=1, of="a")
        stream(0, "noise", run=7, of="b")
        described = opened_streams()
    arms, noise = "n 40, run 0 to 2", "2 values of of, 2 values of run"
    assert described == [StreamRecord(0, "arms", arms), StreamRecord(0, "noise", noise)]
    stream(0, "later")
    assert opened_streams() == []
