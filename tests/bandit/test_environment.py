"""Candidate sets and noise: without replacement, uniform, named, and the same for every method."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.stats import chisquare

from graphdr.bandit import environment
from graphdr.bandit.environment import RoundsSpec
from graphdr.core.rng import stream
from tests.support import twins

SPEC = RoundsSpec(50, 4, noise=0.1)
SEEDS = st.integers(0, 2**32 - 1)


def candidate_source(n: int, seed: int) -> environment.CandidateSource:
    """Return a connected random graph on n arms, with random popularities, some of them 0 where n allows."""
    rng = np.random.default_rng(seed)
    adjacency = np.triu(rng.random((n, n)) < 0.1, 1)
    adjacency[np.arange(n - 1), np.arange(1, n)] = True
    matrix = csr_array(adjacency | adjacency.T)
    return environment.CandidateSource(rng.integers(1, 9, n).astype(float), matrix.indptr, matrix.indices)


@pytest.mark.parametrize("name", environment.CANDIDATES)
@given(data=st.data(), n=st.integers(1, 30), rounds=st.integers(1, 20), seed=SEEDS)
def test_candidates_are_distinct_arms_in_range(name, data, n, rounds, seed):
    m = data.draw(st.integers(1, n))
    arms = environment.CANDIDATES[name](n, rounds, m, np.random.default_rng(seed), candidate_source(n, seed))
    assert arms.shape == (rounds, m)
    assert arms.min() >= 0
    assert arms.max() < n
    assert all(len(set(row)) == m for row in arms.tolist())


@given(data=st.data(), n=st.integers(1, 30), rounds=st.integers(1, 20), seed=SEEDS)
def test_uniform_candidates_are_a_partial_shuffle(data, n, rounds, seed):
    m = data.draw(st.integers(1, n))
    arms = environment.uniform(n, rounds, m, np.random.default_rng(seed))
    assert np.array_equal(arms, twins.candidates(n, rounds, m, np.random.default_rng(seed)))


def test_uniform_candidates_are_uniform_in_every_place_and_in_pairs():
    n, rounds = 12, 20_000
    arms = environment.uniform(n, rounds, 4, np.random.default_rng(0))
    for column in arms.T:
        assert chisquare(np.bincount(column, minlength=n)).pvalue > 1e-3
    for places in ((0, 1), (0, 3), (2, 3)):
        pairs = np.bincount(arms[:, places] @ [n, 1], minlength=n * n).reshape(n, n)
        assert chisquare(pairs[~np.eye(n, dtype=bool)]).pvalue > 1e-3
    following = np.bincount(n * arms[:-1, 3] + arms[1:, 0], minlength=n * n)  # rounds know nothing of each other
    assert chisquare(following).pvalue > 1e-3


def test_a_stream_is_named_by_instance_size_arms_construction_and_seed():
    key = {"instance": 2, "n": 30, "m": 4, "candidates": "uniform", "run": 1}
    met = environment.draw_rounds(7, SPEC, 30, 2, 1)
    assert np.array_equal(met.arms, twins.candidates(30, 50, 4, stream(7, "arms", **key)))
    assert np.array_equal(met.noise, 0.1 * stream(7, "noise", **key).standard_normal(50))
    choices = environment.PolicyRng(7, SPEC, 30, 2, 1).columns(met)
    assert np.array_equal(choices, stream(7, "random", **key).integers(4, size=50))


OTHERS = {
    "root": (8, SPEC, 30, 2, 1),
    "n": (7, SPEC, 31, 2, 1),
    "arms": (7, replace(SPEC, arms=5), 30, 2, 1),
    "instance": (7, SPEC, 30, 3, 1),
    "seed": (7, SPEC, 30, 2, 2),
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_set_up_meets_other_rounds(other):
    one, two = environment.draw_rounds(7, SPEC, 30, 2, 1), environment.draw_rounds(*OTHERS[other])
    assert not np.array_equal(one.arms[:, :4], two.arms[:, :4])
    assert not np.isin(one.noise, two.noise).any()


def test_what_a_stream_is_not_named_by_changes_no_round():
    short, loud = (
        environment.draw_rounds(7, SPEC, 30, 2, 1),
        environment.draw_rounds(7, replace(SPEC, horizon=80, noise=0.3), 30, 2, 1),
    )
    assert np.array_equal(loud.arms[:50], short.arms)
    assert np.allclose(loud.noise[:50], 3 * short.noise, rtol=1e-14)


def test_noise_is_normal_with_the_given_deviation():
    noise = environment.draw_rounds(0, replace(SPEC, horizon=20_000), 30, 0, 0).noise
    cells = np.histogram(noise / 0.1, [-np.inf, -1, 0, 1, np.inf])[0] / 20_000
    assert np.abs(cells - [0.1587, 0.3413, 0.3413, 0.1587]).max() < 4 * np.sqrt(0.25 / 20_000)


def test_a_stream_needs_as_many_arms_as_candidates():
    with pytest.raises(ValueError, match="4 candidates per round are more than 3 arms"):
        environment.draw_rounds(7, SPEC, 3, 0, 0)


def test_popular_arms_are_drawn_in_proportion_and_without_replacement():
    where = candidate_source(8, 1)
    share = where.popularity / where.popularity.sum()
    arms = environment.popularity(8, 20_000, 2, np.random.default_rng(0), where)
    assert chisquare(np.bincount(arms[:, 0], minlength=8), 20_000 * share).pvalue > 1e-3
    second = [sum(share[i] * share[j] / (1 - share[i]) for i in range(8) if i != j) for j in range(8)]
    assert chisquare(np.bincount(arms[:, 1], minlength=8), 20_000 * np.array(second)).pvalue > 1e-3


def test_arms_without_popularity_are_never_drawn():
    where = candidate_source(8, 1)._replace(popularity=np.array([1.0, 0, 2, 0, 3, 0, 0, 1]))
    assert set(environment.popularity(8, 500, 4, np.random.default_rng(0), where).flat) == {0, 2, 4, 7}
    with pytest.raises(ValueError, match="positive popularity"):
        environment.popularity(8, 500, 5, np.random.default_rng(0), where)


@given(n=st.integers(6, 25), seed=SEEDS)
def test_a_neighbourhood_is_filled_ring_by_ring(n, seed):
    where = candidate_source(n, seed)
    graph = csr_array((np.ones(len(where.neighbours)), where.neighbours, where.starts), shape=(n, n))
    far = shortest_path(graph, unweighted=True)
    for row in environment.neighbourhood(n, 10, 5, np.random.default_rng(seed), where):
        distance = far[row[0]][row]
        nearer = np.count_nonzero(far[row[0]] < distance[-1])
        assert np.array_equal(distance, np.sort(distance))
        assert nearer < 5 <= np.count_nonzero(far[row[0]] <= distance[-1])


def test_the_first_of_a_neighbourhood_is_uniform_and_rings_are_shuffled():
    star = csr_array(np.pad(np.ones((1, 6)), ((0, 6), (1, 0))) + np.pad(np.ones((1, 6)), ((0, 6), (1, 0))).T)
    where = environment.CandidateSource(np.ones(7), star.indptr, star.indices)
    arms = environment.neighbourhood(7, 20_000, 3, np.random.default_rng(0), where)
    assert chisquare(np.bincount(arms[:, 0], minlength=7)).pvalue > 1e-3
    centred = arms[arms[:, 0] == 0]
    assert chisquare(np.bincount(centred[:, 1], minlength=7)[1:]).pvalue > 1e-3


def test_a_neighbourhood_needs_a_component_of_enough_arms():
    where = environment.CandidateSource(
        np.ones(4), np.array([0, 1, 2, 3, 4], np.uint32), np.array([1, 0, 3, 2], np.uint32)
    )
    with pytest.raises(ValueError, match="fewer arms"):
        environment.neighbourhood(4, 5, 3, np.random.default_rng(0), where)
