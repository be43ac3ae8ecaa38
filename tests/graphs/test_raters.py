"""Whose ratings count for what: disjoint halves of users, and what each of them paid."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.graphs import raters
from graphdr.graphs.records import Records

SEEDS = st.integers(0, 2**32 - 1)


def draw_records(seed: int, users: int = 9, n: int = 6, links: int = 60) -> Records:
    """Draw ratings from 1 to 5, some pairs several times and some nodes perhaps never."""
    rng = np.random.default_rng(seed)
    node, weight = rng.integers(n, size=links), rng.integers(1, 6, links).astype(float)
    return Records(rng.integers(users, size=links), node, weight, np.bincount(node, minlength=n))


@given(seed=SEEDS, links=st.integers(1, 80), instance=st.integers(0, 3))
def test_no_user_is_in_both_halves(seed, links, instance):
    records = draw_records(seed, links=links)
    held_out = raters.reward_links(records, raters.SPLIT, 0, "films", instance)
    train = raters.train_records(records, raters.SPLIT, 0, "films", instance)
    assert not set(train.source) & set(records.source[held_out])
    assert len(train.source) + held_out.sum() == links
    assert train.popularity is records.popularity
    assert raters.reward_links(records, raters.EVERYONE, 0, "films", instance).all()
    assert raters.train_records(records, raters.EVERYONE, 0, "films", instance) is records


def test_the_halves_are_equal_and_named_by_seed_data_set_and_instance():
    records = Records(np.arange(1000), np.zeros(1000, int), np.ones(1000))
    draws = [
        raters.reward_links(records, raters.SPLIT, *key) for key in ((0, "a", 0), (0, "a", 1), (0, "b", 0), (1, "a", 0))
    ]
    assert [draw.sum() for draw in draws] == [500] * 4
    assert len({draw.tobytes() for draw in draws}) == 4
    assert_array_equal(raters.reward_links(records, raters.SPLIT, 0, "a", 0), draws[0])


@given(seed=SEEDS, plays=st.booleans())
def test_the_mean_of_what_was_paid_is_the_reward(seed, plays):
    records = draw_records(seed, links=200)
    value = np.log1p(records.weight) if plays else records.weight
    reward = raters.node_means(records.node, value, 6)
    assert_array_equal(raters.ratings(records, reward), value)
    held_out, item = raters.reward_links(records, raters.SPLIT, 0, "films", 0), np.array([4, 0, 2])
    place, values, count = raters.outcomes(records, reward, held_out, item)
    for at, node in enumerate(item):
        theirs = np.sort(value[held_out & (records.node == node)])
        assert_allclose(np.repeat(values[place == at], count[place == at]), theirs)
    assert np.all(np.diff(place) >= 0)


def test_click_rates_are_paid_in_ones_and_zeros():
    records = Records(np.arange(3), np.arange(3), np.ones(3), np.array([4, 10, 3]))
    rates = np.array([0.25, 0.3, 0.0])
    assert raters.ratings(records, rates) is None
    place, value, count = raters.outcomes(records, rates, np.ones(3, bool), np.array([1, 0, 2]))
    assert place.tolist() == [0, 0, 1, 1, 2]
    assert value.tolist() == [0, 1, 0, 1, 0]
    assert count.tolist() == [7, 3, 3, 1, 3]
    assert raters.outcomes(records, np.array([0.25, 0.33, 0.0]), np.ones(3, bool), np.arange(3)) is None
    assert raters.outcomes(records, np.array([2.0, 3.0, 1.0]), np.ones(3, bool), np.arange(3)) is None


def test_a_node_needs_ratings_of_both_halves():
    few, many = raters.FEWEST - 1, raters.FEWEST
    node, held_out = np.repeat([0, 0, 1, 1, 2, 2], [few, many, many, many, many, few]), [False, True] * 3
    held_out = np.repeat(held_out, [few, many, many, many, many, few])
    records = Records(np.arange(len(node)), node, np.ones(len(node)))
    assert raters.rated_enough(records, held_out, 4).tolist() == [False, True, False, False]
