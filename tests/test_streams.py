"""Candidate sets and noise: without replacement, uniform, named, and the same for every method."""

import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from graphdr import streams
from graphdr.rng import stream

SPEC = {"horizon": 50, "arms": 4, "candidates": "uniform", "noise": 0.1}
SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("name", streams.CANDIDATES)
@given(data=st.data(), n=st.integers(1, 30), rounds=st.integers(1, 20), seed=SEEDS)
def test_candidates_are_distinct_arms_in_range(name, data, n, rounds, seed):
    m = data.draw(st.integers(1, n))
    arms = streams.CANDIDATES[name](n, rounds, m, np.random.default_rng(seed))
    assert arms.shape == (rounds, m)
    assert arms.min() >= 0
    assert arms.max() < n
    assert all(len(set(row)) == m for row in arms.tolist())


@given(data=st.data(), n=st.integers(1, 30), rounds=st.integers(1, 20), seed=SEEDS)
def test_uniform_candidates_are_a_partial_shuffle(data, n, rounds, seed):
    m = data.draw(st.integers(1, n))
    arms = streams.uniform(n, rounds, m, np.random.default_rng(seed))
    assert np.array_equal(arms, twins.candidates(n, rounds, m, np.random.default_rng(seed)))


def test_uniform_candidates_are_uniform_in_every_place_and_in_pairs():
    n, rounds = 12, 20_000
    arms = streams.uniform(n, rounds, 4, np.random.default_rng(0))
    for column in arms.T:
        assert chisquare(np.bincount(column, minlength=n)).pvalue > 1e-3
    for places in ((0, 1), (0, 3), (2, 3)):
        pairs = np.bincount(arms[:, places] @ [n, 1], minlength=n * n).reshape(n, n)
        assert chisquare(pairs[~np.eye(n, dtype=bool)]).pvalue > 1e-3
    following = np.bincount(n * arms[:-1, 3] + arms[1:, 0], minlength=n * n)  # rounds know nothing of each other
    assert chisquare(following).pvalue > 1e-3


def test_a_stream_is_named_by_instance_size_arms_construction_and_seed():
    key = {"instance": 2, "n": 30, "m": 4, "candidates": "uniform", "run": 1}
    met = streams.draw(7, SPEC, 30, 2, 1)
    assert np.array_equal(met.arms, twins.candidates(30, 50, 4, stream(7, "arms", **key)))
    assert np.array_equal(met.noise, 0.1 * stream(7, "noise", **key).standard_normal(50))
    choices = streams.random_choices(7, SPEC, 30, 2, 1)
    assert np.array_equal(choices, stream(7, "random", **key).integers(4, size=50))


OTHERS = {
    "root": (8, SPEC, 30, 2, 1),
    "n": (7, SPEC, 31, 2, 1),
    "arms": (7, SPEC | {"arms": 5}, 30, 2, 1),
    "instance": (7, SPEC, 30, 3, 1),
    "seed": (7, SPEC, 30, 2, 2),
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_set_up_meets_other_rounds(other):
    one, two = streams.draw(7, SPEC, 30, 2, 1), streams.draw(*OTHERS[other])
    assert not np.array_equal(one.arms[:, :4], two.arms[:, :4])
    assert not np.isin(one.noise, two.noise).any()


def test_what_a_stream_is_not_named_by_changes_no_round():
    short, loud = streams.draw(7, SPEC, 30, 2, 1), streams.draw(7, SPEC | {"horizon": 80, "noise": 0.3}, 30, 2, 1)
    assert np.array_equal(loud.arms[:50], short.arms)
    assert np.allclose(loud.noise[:50], 3 * short.noise, rtol=1e-14)


def test_noise_is_normal_with_the_given_deviation():
    noise = streams.draw(0, SPEC | {"horizon": 20_000}, 30, 0, 0).noise
    cells = np.histogram(noise / 0.1, [-np.inf, -1, 0, 1, np.inf])[0] / 20_000
    assert np.abs(cells - [0.1587, 0.3413, 0.3413, 0.1587]).max() < 4 * np.sqrt(0.25 / 20_000)
