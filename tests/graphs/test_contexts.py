"""Contexts over nodes, and products with graphs of segments: what they are, and what is refused."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse.csgraph import connected_components

from graphdr.graphs.contexts import context_rows, distinct, product, ring


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones((2, 4)), "contexts over 4 nodes; the graph has 3"),
        ([[1, 0, 0], [0, 0, 0]], "context 1 has length zero; a context has at least one node"),
        ([[1, 0, 0], [0, np.nan, 0]], "context 1 has a weight that is no finite number"),
        (sp.csr_array([[0, np.inf, 0]]), "context 0 has a weight that is no finite number"),
    ],
)
def test_bad_contexts_are_refused_in_one_line(vectors, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        context_rows(vectors, 3)


def test_dense_and_sparse_contexts_are_the_same_rows():
    dense = np.array([[0.5, 0.0, 0.5], [0.0, 2.0, 0.0]])
    repeated = sp.coo_array(([0.25, 0.25, 0.5, 2.0], ([0, 0, 0, 1], [0, 0, 2, 1])), shape=(2, 3))
    for vectors in (dense, dense.tolist(), sp.csc_array(dense), repeated):
        rows = context_rows(vectors, 3)
        assert_allclose(rows.toarray(), dense)
        assert rows.has_sorted_indices
    assert context_rows(dense[0], 3).shape == context_rows(sp.csr_array(dense)[0], 3).shape == (1, 3)
    assert context_rows(sp.csr_array(([0.5, 0.0], ([0, 0], [0, 1])), (1, 3)), 3).nnz == 1


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 30))
def test_distinct_contexts_are_those_that_appear_first(seed, count):
    rng = np.random.default_rng(seed)
    rows = context_rows(rng.integers(1, 3, (count, 2)), 2)
    once, place = distinct(rows)
    assert_allclose(once.toarray()[place], rows.toarray())
    seen = list(dict.fromkeys(map(tuple, rows.toarray())))
    assert [tuple(row) for row in once.toarray()] == seen


@pytest.mark.parametrize("count", [1, 2, 4])
def test_pairs_are_joined_inside_of_a_segment_and_across(small_graph, count):
    segment_coupling, n = 0.3, small_graph.n
    pairs = product(small_graph, ring(count), segment_coupling)
    assert connected_components(pairs.adjacency)[0] == connected_components(small_graph.adjacency)[0] == 1
    assert np.array_equal(pairs.origin, np.arange(count * n))
    blocks = pairs.adjacency.toarray().reshape(count, n, count, n)
    inside = small_graph.adjacency.toarray()
    for segment in range(count):
        assert np.array_equal(blocks[segment, :, segment], inside)
    across = blocks.sum() - count * inside.sum()
    assert_allclose(across, 0 if count == 1 else segment_coupling * count * inside.sum())
    for first, second in zip(*np.nonzero(ring(count)), strict=True):
        assert np.count_nonzero(blocks[first, :, second]) == n == np.count_nonzero(blocks[first, :, second].diagonal())
