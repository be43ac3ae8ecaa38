"""Random streams are named: equal names give equal numbers, different names give others."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from graphdr.core.rng import stream

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
def test_different_names_give_different_streams(a, b):
    assume(a != b)
    assert not np.isin(numbers(a), numbers(b)).any()


def test_text_and_number_are_different_keys():
    assert not np.array_equal(numbers((0, "arms", {"n": 1})), numbers((0, "arms", {"n": "1"})))


def test_neighbouring_streams_are_uniform_and_uncorrelated():
    draws = np.array([stream(0, "arms", run=run).random(4000) for run in range(20)])
    assert np.abs(draws.mean(axis=1) - 0.5).max() < 5 * np.sqrt(1 / 12 / 4000)
    correlation = np.corrcoef(draws) - np.eye(20)
    assert np.abs(correlation).max() < 5 / np.sqrt(4000)
