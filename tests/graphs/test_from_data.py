"""Graphs from data: selection, rows, nearest neighbours against a dense twin, and a contract over the families."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.core.errors import UserError
from graphdr.graphs import from_data, model
from graphdr.graphs.records import Records, similarity_rows

WHOLE = 20  # nodes of the drawn data sets


def draw_records(seed: int, pairs: int = 150, nodes: int = WHOLE, sources: int = 12) -> Records:
    """Draw pairs with repetitions, popularities with ties and two kinds of groups."""
    rng = np.random.default_rng(seed)
    source, node = rng.integers(sources, size=pairs), (nodes * rng.random(pairs) ** 2).astype(int)
    groups = np.column_stack([rng.integers(3, size=nodes), rng.integers(5, size=nodes)])
    return Records(source, node, rng.integers(1, 6, pairs), rng.integers(6, size=nodes), groups)


def build(family: str, records: Records, n: int = 15, **parameters) -> model.Graph:
    required = {"neighbours": 3} if family == "knn" else {}
    return from_data.FAMILIES[family](n, records, **{**required, **parameters})


def dense_neighbours(matrix: np.ndarray, neighbours: int) -> list[tuple[int, int, float]]:
    """Sort all other rows by cosine and index, and keep the nearest that have a positive cosine."""
    norm = np.sqrt(np.sum(matrix**2, axis=1))
    nearest = []
    for i, row in enumerate(matrix):
        products = matrix @ row
        others = [j for j in range(len(matrix)) if j != i and products[j] > 0]
        cosine = {j: products[j] / (norm[i] * norm[j]) for j in others}
        nearest += [(i, j, cosine[j]) for j in sorted(others, key=lambda j: (-cosine[j], j))[:neighbours]]
    return nearest


@st.composite
def ratings(draw):
    """Draw whole-number ratings with empty rows, repeated rows and many ties."""
    n, users, seed = draw(st.integers(1, 14)), draw(st.integers(1, 8)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    density, highest = draw(st.sampled_from([0.1, 0.4, 0.9])), draw(st.sampled_from([1, 2, 5]))
    matrix = rng.integers(1, highest + 1, (n, users)) * (rng.random((n, users)) < density)
    return matrix[rng.integers(n, size=n)].astype(float) if draw(st.booleans()) else matrix.astype(float)


@given(popularity=st.lists(st.integers(0, 4), max_size=12), n=st.integers(0, 15), seed=st.integers(0, 99))
def test_the_most_popular_come_first_and_ties_by_index_or_in_an_order_of_their_own(popularity, n, seed):
    nodes = range(len(popularity))
    for kind in (int, float, np.uint32):
        selected = from_data.select_top(np.array(popularity, kind), n)
        assert selected.tolist() == sorted(nodes, key=lambda i: (-popularity[i], i))[:n]
    ties = np.random.default_rng(seed).permutation(len(popularity) + 2)  # of nodes behind the last link, too
    selected = from_data.select_top(np.array(popularity, int), from_data.ALL, ties)
    assert selected.tolist() == sorted(nodes, key=lambda i: (-popularity[i], ties[i]))


def test_rows_follow_the_selection_and_repeated_pairs_are_added():
    source, node = np.array([0, 1, 1, 2, 1, 0]), np.array([4, 4, 4, 1, 0, 3])
    weight = np.array([1, 2, 3, 4, 5, 6])
    rows = similarity_rows(source, node, weight, np.array([4, 0, 2]))
    assert rows.toarray().tolist() == [[1, 5, 0], [0, 5, 0], [0, 0, 0]]
    for transform, expected in (("log1p", np.log1p([1, 5, 5])), ("presence", [1, 1, 1])):
        assert_allclose(similarity_rows(source, node, weight, np.array([4, 0]), transform).data, expected)
    with pytest.raises(UserError, match="no transform 'square'; there are: identity, log1p, presence"):
        similarity_rows(source, node, weight, np.array([0]), "square")


@pytest.mark.parametrize("family", from_data.FAMILIES)
def test_all_nodes_are_as_many_as_there_are(family):
    records = draw_records(0)
    every, many, few = (build(family, records, n) for n in (from_data.ALL, 10 * WHOLE, 15))
    assert (every.adjacency != many.adjacency).nnz == 0
    assert np.array_equal(every.origin, many.origin)
    assert every.n > few.n
    popular = build("knn", records, WHOLE, support=3)
    assert records.popularity[popular.origin].min() >= 3


@given(matrix=ratings(), neighbours=st.integers(1, 6))
def test_neighbours_are_those_of_the_dense_twin(matrix, neighbours):
    neighbours_of = from_data.cosine_knn(sp.csr_array(matrix), neighbours)
    assert list(zip(*neighbours_of, strict=True)) == dense_neighbours(matrix, neighbours)


@given(matrix=ratings(), seed=st.integers(0, 99))
def test_the_order_of_users_and_of_entries_does_not_matter(matrix, seed):
    rng = np.random.default_rng(seed)
    n, users = matrix.shape
    order = rng.permutation(users)
    columns = np.concatenate([rng.permutation(2 * users) % users for _ in range(n)])  # each entry in two parts
    data = matrix[np.repeat(np.arange(n), 2 * users), columns] / 2  # zeros as well
    untidy = sp.csr_array((data, order[columns], 2 * users * np.arange(n + 1)), shape=matrix.shape)
    before = untidy.data.copy()
    pairs = zip(from_data.cosine_knn(untidy, 3), from_data.cosine_knn(sp.csr_array(matrix), 3), strict=True)
    assert all(np.array_equal(actual, wanted) for actual, wanted in pairs)
    assert np.array_equal(untidy.data, before)


def test_equal_rows_tie_exactly_and_rows_without_a_common_user_are_no_neighbours():
    row, other, alone = [0.1, 0.7, 0.0], [0.3, 0.2, 0.0], [0.0, 0.0, 1.0]
    i, j, cosine = from_data.cosine_knn(sp.csr_array([other, row, row, row, alone, [0.0, 0.0, 0.0]]), 2)
    assert j[i == 0].tolist() == [1, 2]
    assert cosine[0] == cosine[1]
    assert j[i == 3].tolist() == [1, 2]
    assert not np.isin([4, 5], i).any()


def test_large_sparse_data_never_become_a_square_matrix():
    n = 60_000  # 29 GB as a square matrix of floats
    item = np.arange(n)
    matrix = sp.csr_array((np.ones(2 * n), (np.r_[item, item], np.r_[item // 3, n + item // 4])))
    i, j, _ = from_data.cosine_knn(matrix, 5)
    assert len(i) < 5 * n
    assert np.all((i // 3 == j // 3) | (i // 4 == j // 4))


@pytest.mark.parametrize("family", from_data.FAMILIES)
@pytest.mark.parametrize("seed", range(4))
def test_every_family_builds_one_simple_component_of_the_selected_nodes(family, seed):
    records = draw_records(seed)
    graph = build(family, records)
    adjacency = graph.adjacency.toarray()
    assert np.array_equal(adjacency, adjacency.T)
    assert not adjacency.diagonal().any()
    assert set(np.unique(adjacency)) == {0, 1} or (family == "network" and adjacency.min() == 0)
    assert model.largest_component(graph).n == graph.n > 2
    assert len(np.unique(graph.origin)) == graph.n <= 15
    assert graph.origin.max() < WHOLE
    shuffled = np.random.default_rng(seed).permutation(len(records.source))
    again = build(family, records._replace(**{f: getattr(records, f)[shuffled] for f in ("source", "node", "weight")}))
    assert np.array_equal(again.adjacency.toarray(), adjacency)
    assert np.array_equal(again.origin, graph.origin)


@given(seed=st.integers(0, 999), n=st.integers(2, WHOLE), neighbours=st.integers(1, 4))
def test_a_knn_graph_joins_whoever_is_near_to_the_other_in_order_of_popularity(seed, n, neighbours):
    records = draw_records(seed)
    matrix = np.zeros((WHOLE, 12))
    np.add.at(matrix, (records.node, records.source), records.weight)
    top = from_data.select_top(records.popularity, n)
    expected = np.zeros((n, n))
    for i, j, _ in dense_neighbours(matrix[top], neighbours):
        expected[i, j] = expected[j, i] = 1
    graph = build("knn", records, n, neighbours=neighbours)
    part = np.flatnonzero(np.isin(top, graph.origin))
    assert np.array_equal(graph.origin, top[part])
    assert np.array_equal(graph.adjacency.toarray(), expected[np.ix_(part, part)])
    assert not expected[np.ix_(part, np.setdiff1d(np.arange(n), part))].any()


def test_group_weights_decide_how_much_groups_matter():
    records = draw_records(4)._replace(groups=np.column_stack([np.arange(WHOLE), np.arange(WHOLE) % 5]))
    plain, none, heavy = (build("knn", records, WHOLE, group_weights=w) for w in ((), (0, 0), (0, 99)))
    assert np.array_equal(plain.adjacency.toarray(), none.adjacency.toarray())
    top = from_data.select_top(records.popularity, WHOLE)
    assert heavy.origin.tolist() == [i for i in top if i % 5 == top[0] % 5]
    with pytest.raises(UserError, match="group_weights: 1 given, the data have 2 kinds of groups"):
        build("knn", records, group_weights=(1,))
    without = build("knn", records._replace(groups=None), WHOLE, group_weights=(0, 99))
    assert np.array_equal(without.adjacency.toarray(), plain.adjacency.toarray())


@given(seed=st.integers(0, 999), n=st.integers(2, WHOLE), family=st.sampled_from(["citation", "cited"]))
def test_citations_count_once_whatever_their_direction_and_number(seed, n, family):
    source, node = np.random.default_rng(seed).integers(WHOLE, size=(2, 40))
    links = np.zeros((WHOLE, WHOLE))
    links[source, node] = links[node, source] = 1
    np.fill_diagonal(links, 0)
    reached = 1 + max(source.max(), node.max())
    received = [np.sum(node == i) for i in range(reached)]
    rank = received if family == "cited" else links.sum(axis=1)[:reached]
    top = sorted(range(reached), key=lambda i: (-rank[i], i))[:n]
    graph = build(family, Records(source, node), n)
    assert [i for i in top if i in graph.origin] == graph.origin.tolist()
    assert np.array_equal(graph.adjacency.toarray(), links[np.ix_(graph.origin, graph.origin)])
    assert from_data.received(Records(source, node)).tolist() == received


@pytest.mark.parametrize(
    ("groups", "expected"),
    [([3, 1, 1, 2], [0, 1, 1, 0]), ([7, 2, 2, 7], [1, 0, 0, 1]), ([5], [1]), ([-1, -1, 4], [0, 0, 1])],
)
def test_the_modal_group_is_the_most_frequent_or_first(groups, expected):
    assert from_data.modal_group(np.array(groups)).tolist() == expected


@pytest.mark.parametrize("seed", range(3))
def test_a_network_adds_up_the_weights_of_repeated_links_and_has_the_edges_of_the_citations(seed):
    rng = np.random.default_rng(seed)
    source, node, weight = rng.integers(12, size=60), rng.integers(12, size=60), rng.integers(1, 5, 60)
    records = Records(source, node, weight, np.zeros(12))
    graph, plain = build("network", records, 9), build("citation", records, 9)
    dense = np.zeros((12, 12))
    np.add.at(dense, (source, node), weight)
    expected = (dense + dense.T)[np.ix_(graph.origin, graph.origin)]
    np.fill_diagonal(expected, 0)
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    np.testing.assert_array_equal(graph.origin, plain.origin)
    np.testing.assert_array_equal(graph.adjacency.toarray() > 0, plain.adjacency.toarray() > 0)


def test_ties_of_their_own_decide_between_equally_near_neighbours():
    """Three equal rows: the first takes one of the others, whichever comes first."""
    records = Records(np.zeros(3, int), np.arange(3), np.ones(3), np.array([3, 2, 1]))
    edges = {}
    for ties in ([0, 1, 2], [0, 2, 1], [2, 1, 0]):
        graph = build("knn", records._replace(ties=np.array(ties)), 3, neighbours=1)
        assert graph.origin.tolist() == [0, 1, 2]  # the most popular first, whatever the ties
        edges[tuple(ties)] = sorted(zip(*np.triu(graph.adjacency.toarray()).nonzero(), strict=True))
    assert edges == {(0, 1, 2): [(0, 1), (0, 2)], (0, 2, 1): [(0, 1), (0, 2)], (2, 1, 0): [(0, 2), (1, 2)]}
    plain = build("knn", records, 3, neighbours=1)
    assert sorted(zip(*np.triu(plain.adjacency.toarray()).nonzero(), strict=True)) == edges[0, 1, 2]
