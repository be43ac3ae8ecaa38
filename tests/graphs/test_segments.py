"""Segments of users: a contract over all segmentations, what each one puts together, and what a segment is paid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse.csgraph import connected_components

from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.graphs.raters import halves
from graphdr.graphs.records import Records
from graphdr.graphs.segments import BANDS, SEGMENTATIONS, Users, pair_means, segment

USERS, ITEMS, CIRCLES = 60, 24, 3
NOBODY = Users(np.full(4, -1), np.full(4, ""), np.full(4, ""), np.zeros((2, 0), int))


def draw_users() -> Users:
    """Draw users in three circles of friends, one pair apart from these and one user alone."""
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(USERS - 3, k=1)
    close = rng.random(len(i)) < np.where(i % CIRCLES == j % CIRCLES, 0.6, 0.02)
    friends = np.stack([np.append(i[close], USERS - 3), np.append(j[close], USERS - 2)])
    jobs = np.array(["student", "writer", "other", "doctor"], object)[np.arange(USERS) % 7 % 4]
    return Users(10 + np.arange(USERS), np.where(np.arange(USERS) % 4, "M", "F").astype(object), jobs, friends)


def draw_ratings() -> Records:
    """Draw ratings by users of three tastes: each likes one item in three."""
    rng = np.random.default_rng(1)
    source, node = (numbers.ravel() for numbers in np.indices((USERS, ITEMS)))
    kept = rng.random(len(source)) < 0.7
    source, node = source[kept], node[kept]
    liked = source % CIRCLES == node % CIRCLES
    return Records(source, node, np.where(liked, 4.0, 2.0) + rng.integers(0, 2, len(source)))


def cut(name: str, count: int = CIRCLES, seed: int = 0):
    return segment(name, draw_users(), draw_ratings(), count, stream(seed, "segments"))


@pytest.mark.parametrize("count", [1, 3, 4])
@pytest.mark.parametrize("name", SEGMENTATIONS)
def test_the_contract(name, count):
    segments, holdout = cut(name, count)
    size = len(segments.names)
    assert size == {"age": len(BANDS), "gender": 2}.get(name, count)
    assert len(set(segments.names)) == size
    assert segments.label.shape == (USERS,)
    assert set(segments.label) - {-1} == set(range(size))
    assert segments.weights.shape == (size, size)
    assert_array_equal(segments.weights, segments.weights.T)
    assert_array_equal(np.diag(segments.weights), 0)
    assert segments.weights.min() >= 0
    assert segments.weights.max() == (size > 1)
    assert connected_components(segments.weights, directed=False)[0] == 1
    again, holdout_again = cut(name, count)
    assert_array_equal(again.label, segments.label)
    assert_array_equal(again.weights, segments.weights)
    assert_array_equal(holdout_again.node, holdout.node)


def same_parts(label: np.ndarray, truth: np.ndarray) -> bool:
    pairs = set(zip(label.tolist(), truth.tolist(), strict=True))
    return len(pairs) == len(set(label.tolist())) == len(set(truth.tolist()))


def test_ages_are_cut_where_movielens_cuts_them():
    segments, _ = cut("age")
    ages = draw_users().age
    assert [ages[segments.label == band].max() for band in range(6)] == [17, 24, 34, 44, 49, 55]
    assert segments.weights.sum() == 2 * 6
    first_ages = Users(np.array([1, 18, 25, 35, 45, 50, 56, -1]), *[np.full(8, "")] * 2, NOBODY.friends)
    label = segment("age", first_ages, draw_ratings(), 7, stream(0, "s"))[0].label
    assert label.tolist() == [*range(7), -1]


def test_genders_are_in_alphabetical_order_and_rare_occupations_share_a_segment():
    by_gender, _ = cut("gender")
    assert by_gender.names == ["F", "M"]
    assert_array_equal(by_gender.label, draw_users().gender == "M")
    by_occupation, _ = cut("occupation", 3)
    assert by_occupation.names == ["other", "student", "all others"]  # of three equally frequent ones the first by name
    jobs = draw_users().occupation
    assert_array_equal(by_occupation.label, [{"other": 0, "student": 1}.get(job, 2) for job in jobs])
    unknown = draw_users()._replace(occupation=np.where(jobs == "doctor", "", jobs))
    label = segment("occupation", unknown, draw_ratings(), 3, stream(0, "s"))[0].label
    assert_array_equal(label < 0, jobs == "doctor")


def test_communities_are_the_circles_of_friends_and_weights_their_friendships():
    users, (segments, holdout) = draw_users(), cut("friends")
    assert same_parts(segments.label[: USERS - 3], np.arange(USERS - 3) % CIRCLES)
    assert segments.label[USERS - 3 :].tolist() == [-1, -1, -1]
    between = np.zeros((CIRCLES, CIRCLES))
    for first, second in segments.label[users.friends].T:
        if first != second:
            between[first, second] += 1
            between[second, first] += 1
    assert_array_equal(segments.weights, between / between.max())
    assert len(holdout.node) == len(draw_ratings().node)


def test_a_few_users_at_the_edge_are_no_community():
    """Without the hub, six users in a row who know one of the others would be one, and two circles the other."""
    i, j = np.triu_indices(60, k=1)
    close = np.random.default_rng(0).random(len(i)) < np.where(i // 30 == j // 30, 0.5, 0.08)
    friends = np.stack([np.append(i[close], [5, *range(60, 65)]), np.append(j[close], range(60, 66))])
    users = NOBODY._replace(age=np.full(66, -1), friends=friends)
    label = segment("friends", users, draw_ratings(), 2, stream(0, "s"))[0].label
    assert same_parts(label[:60], np.arange(60) // 30)


def test_clusters_are_tastes_seen_in_the_half_that_does_not_pay():
    users, ratings = draw_users(), draw_ratings()
    expected = cut("cluster")[0].label
    assert same_parts(expected, np.arange(USERS) % CIRCLES)
    _, holdout = halves(len(ratings.node), stream(0, "segments"))
    assert_array_equal(cut("cluster")[1].node, ratings.node[holdout])
    weight, source = ratings.weight.copy(), ratings.source.copy()
    weight[holdout] = 6 - weight[holdout]
    changed = segment("cluster", users, ratings._replace(weight=weight), 3, stream(0, "segments"))[0].label
    assert_array_equal(changed, expected)
    source[source == 7] = 8
    source[holdout[0]] = 7  # all that this user has pays
    label = segment("cluster", users, ratings._replace(source=source), 3, stream(0, "segments"))[0].label
    assert_array_equal(np.flatnonzero(label < 0), [7])


@pytest.mark.parametrize(
    ("name", "users", "count", "message"),
    [
        ("sex", draw_users(), 3, "no segmentation 'sex'; there are: age, cluster, friends, gender, occupation"),
        ("age", NOBODY, 3, "segments by age: need age of users, which the data set does not have; 'cluster' needs"),
        ("friends", NOBODY, 3, "segments by friends: need friends of users"),
        ("age", draw_users()._replace(age=np.full(USERS, 30)), 3, "segments by age: 'under 18' has no users"),
        ("occupation", draw_users(), 5, "segments by occupation: 'all others' has no users"),
        ("cluster", draw_users(), USERS + 1, f"segments by cluster: only {USERS} users differ; {USERS + 1} segments"),
        ("friends", draw_users(), USERS, "segments by friends: only "),
        ("cluster", draw_users(), 0, "0 is not a number of segments"),
        ("cluster", Users(*[np.empty(0)] * 3, np.zeros((2, 0), int)), 3, "the data set has no users"),
    ],
)
def test_what_cannot_be_cut_is_one_clear_line(name, users, count, message):
    with pytest.raises(UserError, match=message) as caught:
        segment(name, users, draw_ratings(), count, stream(0, "segments"))
    assert "\n" not in str(caught.value)


@given(st.integers(0, 200), st.integers(0, 99))
def test_halves_are_disjoint_and_whole(count, seed):
    first, second = halves(count, np.random.default_rng(seed))
    assert_array_equal(np.sort(np.concatenate([first, second])), np.arange(count))
    assert 0 <= len(second) - len(first) <= 1
    assert_array_equal(first, np.sort(first))


ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6), st.integers(1, 5)), min_size=1, max_size=40)


@given(ROWS, st.lists(st.integers(-1, 2), min_size=6, max_size=6), st.permutations(range(9)), st.integers(1, 9))
def test_pairs_are_paid_as_a_slow_loop_pays_them(rows, label, order, n):
    items = np.array(order[:n])
    source, node, weight = np.array(rows).T
    of_items = [w for _, i, w in rows if i in items]
    if not of_items:
        with pytest.raises(UserError, match="no node has a rating"):
            pair_means(np.array(label), source, node, weight.astype(float), items, 3)
        return
    reward, popularity = pair_means(np.array(label), source, node, weight.astype(float), items, 3)
    assert reward.shape == popularity.shape == (3, n)
    for part in range(3):
        for place, item in enumerate(items):
            all_of_item = [w for _, i, w in rows if i == item]
            of_pair = [w for u, i, w in rows if i == item and label[u] == part]
            holdout = of_pair or all_of_item or of_items
            assert np.isclose(reward[part, place], sum(holdout) / len(holdout), rtol=1e-12)
            assert popularity[part, place] == len(of_pair)
