"""Every kind of source gives the same graph and names, and what is wrong with one is said in a line."""

import re
import subprocess
import sys

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import graphdr
from graphdr.graphs import from_data, model
from graphdr.graphs.records import Records
from graphdr.serve.sources import as_graph
from tests.support.policies import refused
from tests.support.project import draw_sbm

GRAPH = draw_sbm(1, n=20, blocks=2, p_in=0.7, p_out=0.2)
NAMES = [f"film {node:02}" for node in range(GRAPH.n)]
HERE, THERE, _ = model.edges(GRAPH)
WEIGHT = np.random.default_rng(0).integers(1, 5, len(HERE)) / 2
MATRIX = np.zeros((GRAPH.n, GRAPH.n))
MATRIX[HERE, THERE] = MATRIX[THERE, HERE] = WEIGHT
EDGES = {"source": [NAMES[i] for i in HERE], "target": [NAMES[j] for j in THERE], "weight": WEIGHT}


class Protocol:
    """A data frame of a library that has the interchange protocol and nothing else."""

    def __init__(self, table: pa.Table):
        self.table = table
        self.columns = table.column_names

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True):
        return self.table.__dataframe__(nan_as_null, allow_copy)


def networkx_graph(kind=nx.Graph, weights=((1.0),)) -> nx.Graph:
    """Join the films, with an edge of each share of a weight."""
    graph = kind()
    graph.add_nodes_from(NAMES)
    for share in weights:
        graph.add_weighted_edges_from(zip(EDGES["source"], EDGES["target"], share * WEIGHT, strict=True))
    return graph


def igraph_graph() -> igraph.Graph:
    graph = igraph.Graph(n=len(NAMES), edges=list(zip(HERE, THERE, strict=True)))
    graph.vs["name"], graph.es["weight"] = NAMES, WEIGHT.tolist()
    return graph


NAMED = {
    "graph": lambda: model.from_edges(GRAPH.n, HERE, THERE, WEIGHT, NAMES),
    "pandas matrix": lambda: pd.DataFrame(MATRIX, NAMES, NAMES),
    "networkx": networkx_graph,
    "networkx multigraph": lambda: networkx_graph(nx.MultiGraph, (0.25, 0.75)),
    "networkx subclass": lambda: networkx_graph(type("Own", (nx.Graph,), {})),
    "igraph": igraph_graph,
    "columns": lambda: EDGES,
    "pandas edges": lambda: pd.DataFrame(EDGES),
    "pandas categories": lambda: pd.DataFrame(EDGES).astype({"source": "category", "target": "string"}),
    "polars edges": lambda: pl.DataFrame(EDGES),
    "pyarrow edges": lambda: pa.table(EDGES),
    "protocol alone": lambda: Protocol(pa.table(EDGES)),
    "other columns": lambda: graphdr.from_edges(
        pl.DataFrame(EDGES).rename({"source": "a", "target": "b", "weight": "w"}), "a", "b", "w"
    ),
    "numbers": lambda: graphdr.from_edges(GRAPH.n, HERE, THERE, WEIGHT, NAMES),
    "edges in any order": lambda: pd.DataFrame(EDGES).sample(frac=1.0, random_state=0),
    "halves": lambda: graphdr.from_edges(
        {"source": EDGES["source"] * 2, "target": EDGES["target"] * 2, "weight": [*WEIGHT / 2, *WEIGHT / 2]},
        duplicates="sum",
    ),
}
BARE = {
    "csr array": lambda: sp.csr_array(MATRIX),
    "csc matrix": lambda: sp.csc_matrix(MATRIX),
    "coo array": lambda: sp.coo_array(MATRIX),
    "dense": lambda: MATRIX,
    "objects": lambda: MATRIX.astype(object),
    "lists": lambda: MATRIX.tolist(),
}


@pytest.mark.parametrize("kind", [*NAMED, *BARE])
def test_all_sources_of_a_graph_give_the_same_graph_and_names(kind):
    source, names = (NAMED[kind](), None) if kind in NAMED else (BARE[kind](), NAMES)
    graph, found = as_graph(source, names=names)
    assert_array_equal(graph.adjacency.toarray(), MATRIX)
    assert isinstance(graph.adjacency, sp.csr_array)
    assert found == graph.origin.tolist() == NAMES
    assert {*map(type, found)} == {str}
    if kind in BARE:
        assert as_graph(source)[1] == list(range(GRAPH.n))


@settings(max_examples=30, deadline=None)
@given(st.data(), st.sampled_from([str, int]))
def test_a_table_is_the_matrix_filled_pair_by_pair(data, kind):
    ends = st.permutations(range(9)).map(lambda order: tuple(order[:2]))
    pairs = data.draw(st.lists(ends, min_size=1, unique_by=frozenset))
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(pairs), max_size=len(pairs)))
    names = sorted({kind(end) for pair in pairs for end in pair})
    expected = np.zeros((len(names), len(names)))
    for (one, other), weight in zip(pairs, weights, strict=True):
        i, j = names.index(kind(one)), names.index(kind(other))
        expected[i, j] = expected[j, i] = weight
    table = {"a": [kind(one) for one, _ in pairs], "b": [kind(other) for _, other in pairs], "w": weights}
    joined = nx.Graph()
    joined.add_nodes_from(names)
    joined.add_weighted_edges_from(zip(*table.values(), strict=True))
    for source in (joined, *(graphdr.from_edges(frame, "a", "b", "w") for frame in (table, pd.DataFrame(table)))):
        graph, found = as_graph(source, components="keep")
        assert_array_equal(graph.adjacency.toarray(), expected)
        assert found == names


def test_numbers_and_texts_are_read_from_tables_with_and_without_weights():
    graph = graphdr.from_edges(pa.table({"source": [7, 3], "target": [3, 5], "strength": [2.0, 4.0]}))
    assert graph.origin.tolist() == [3, 5, 7]
    assert graph.adjacency.toarray().tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert as_graph(nx.path_graph(3))[0].adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert as_graph(igraph.Graph.Ring(4))[1] == [0, 1, 2, 3]
    mixed = np.array([1, 2], np.uint64), np.array([2, 3], np.int64)  # NumPy would make floats of both
    assert as_graph(dict(zip(("source", "target"), mixed, strict=True)))[1] == [1, 2, 3]


def test_all_nodes_and_their_order_may_be_given_with_a_table():
    graph = graphdr.from_edges({"source": ["b"], "target": ["a"]}, origin=["b", "alone", "a"])
    assert graph.origin.tolist() == ["b", "alone", "a"]
    assert graph.adjacency.toarray().tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize("library", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_interactions_are_joined_by_their_similarity(library):
    rng = np.random.default_rng(2)
    who, item, value = rng.integers(40, size=600), rng.integers(30, size=600), rng.integers(1, 5, size=600)
    films = np.array([f"film {number:02}" for number in range(30)])
    table = library({"who": who, "film": films[item].tolist(), "plays": value})
    graph = graphdr.from_interactions(table, "who", "film", "plays", neighbours=3)
    expected = from_data.knn(30, Records(who, item, value, np.bincount(item)), neighbours=3)
    assert graph.origin.tolist() == films[expected.origin].tolist()
    assert_array_equal(graph.adjacency.toarray(), expected.adjacency.toarray())
    plain = graphdr.from_interactions(library({"user": who, "item": item}), neighbours=3)
    weighted = graphdr.from_interactions(library({"user": who, "item": item, "value": 2.0 * value}), neighbours=3)
    assert (plain.adjacency != weighted.adjacency).nnz > 0


def test_interactions_keep_every_item():
    graph = graphdr.from_interactions({"user": [1, 1, 2, 3], "item": ["a", "b", "c", "a"]})
    assert graph.origin.tolist() == ["a", "b", "c"]
    assert model.largest_component(graph).origin.tolist() == ["a", "b"]


# Components and loops

TWO = nx.Graph([("a", "b"), ("b", "c"), ("x", "y")])
LOOP = np.array([[2.0, 1.0], [1.0, 0.0]])


def test_components_are_refused_left_out_or_kept():
    with pytest.raises(ValueError, match=r"2 components, of 3, 2 nodes: components='largest'.*components='keep' all"):
        as_graph(TWO)
    with pytest.warns(UserWarning, match="2 components, of 3, 2 nodes: 2 nodes are left out"):
        graph, names = as_graph(TWO, components="largest")
    assert names == graph.origin.tolist() == ["a", "b", "c"]
    graph, names = as_graph(TWO, components="keep")
    assert names == ["a", "b", "c", "x", "y"]
    assert graph.adjacency.sum() == 6
    stored_zero = sp.csr_array(([1.0, 1.0, 0.0, 0.0], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    with refused("2 components"):
        as_graph(stored_zero)
    assert stored_zero.nnz == 4  # the caller's matrix stays as it is


def test_a_loop_counts_once_where_loops_are_kept():
    loop = nx.Graph([("a", "b")])
    loop.add_edge("a", "a", weight=2.0)
    bundle = igraph.Graph(n=2, edges=[(0, 1), (0, 0)])
    bundle.es["weight"] = [1.0, 2.0]
    for source in (loop, bundle, LOOP):
        assert_array_equal(as_graph(source, self_loops="keep")[0].adjacency.toarray(), LOOP)
        with pytest.raises(ValueError, match="is joined to itself: set the diagonal to zero, or self_loops='keep'"):
            as_graph(source)


# What is wrong

PAIR = {"source": ["a", "b"], "target": ["b", "c"]}


def edges(**columns) -> object:
    return graphdr.from_edges(PAIR | columns)


def with_weight(weight: object) -> nx.Graph:
    graph = nx.path_graph(3)
    graph.edges[0, 1]["weight"] = weight
    return graph


WRONG = {
    # missing values
    "column 'target' has a missing value in row 1 (None)": lambda: edges(target=["b", None]),
    "column 'source' has a missing value in row 1 (nan)": lambda: graphdr.from_edges(
        pd.DataFrame({"source": [1, None], "target": [2, 3]}, dtype="Int64")
    ),
    "the weight of row 1 is missing (NaN)": lambda: edges(weight=[1.0, None]),
    "a weight is missing (<NA>)": lambda: edges(weight=pd.array([1, None], "Int64").astype(object)),
    "the weight of 0–1 is missing (NaN)": lambda: as_graph(with_weight(None)),
    "the weight of 'a'–'b' is missing (NaN)": lambda: as_graph(
        pd.DataFrame([[0, np.nan], [np.nan, 0]], list("ab"), list("ab"))
    ),
    # weights
    "the weight of row 0 is -1; weights of edges are finite and not negative": lambda: edges(weight=[-1, 1]),
    "the weight of 0–1 is inf; weights": lambda: as_graph([[0, np.inf], [np.inf, 0]]),
    "weights are numbers, not 'strong'": lambda: edges(weight=["strong", 1.0]),
    "row 1 is 0; weights of interactions are finite and positive": lambda: graphdr.from_interactions(
        {"user": [1, 2], "item": [1, 1], "value": [1, 0]}
    ),
    # duplicates and loops
    "'a' and 'b' are joined more than once, in either order: leave one, or duplicates='sum'": lambda: edges(
        source=["a", "b"], target=["b", "a"]
    ),
    "duplicates is one of 'refuse', 'sum', not 'mean'": lambda: graphdr.from_edges(PAIR, duplicates="mean"),
    "'b' is joined to itself: leave such edges out": lambda: edges(target=["b", "b"]),
    "two nodes have the same name 'a'": lambda: as_graph(MATRIX, names=["a"] * GRAPH.n),
    # directions
    "directed: make it undirected with graph.to_undirected()": lambda: as_graph(nx.DiGraph([(1, 2)])),
    "directed: make it undirected with graph.as_undirected()": lambda: as_graph(igraph.Graph([(0, 1)], directed=True)),
    "square and symmetric; of a directed graph, give (A + A.T) / 2": lambda: as_graph(np.triu(MATRIX)),
    "square and symmetric, not of shape (20, 3)": lambda: as_graph(MATRIX[:, :3]),
    # names
    "column 'source': a node's name is a text or a whole number, not 0.5": lambda: edges(source=[0.5, 1.0]),
    "a text or a whole number, not (0, 0)": lambda: as_graph(nx.grid_2d_graph(2, 2)),
    "names are of one kind, not int and str": lambda: edges(source=[1, 2]),
    "2 names for a graph of 20 nodes": lambda: as_graph(MATRIX, names=["a", "b"]),
    "an edge ends at 'c', which is no name in origin": lambda: graphdr.from_edges(PAIR, origin=["a", "b"]),
    "from 0 to 1; names need a table": lambda: graphdr.from_edges(2, [0], [2]),
    # tables
    "the table is empty": lambda: graphdr.from_edges(pd.DataFrame({"source": [], "target": []})),
    "no column 'target'; there are: source, to; write graphdr.from_edges": lambda: as_graph(
        pl.DataFrame({"source": [1], "to": [2]})
    ),
    "has the same names, in the same order, as its index and its columns": lambda: as_graph(
        pd.DataFrame(np.ones((2, 2)) - np.eye(2), columns=["a", "b"])
    ),
    "one value per row, not the shapes": lambda: edges(target=["b"]),
    "1 sources, 1 targets and 2 weights": lambda: graphdr.from_edges(2, [0], [1], [1.0, 2.0]),
    "a table has columns, which list has not: graphdr.from_edges": lambda: graphdr.from_edges([("a", "b")]),
    "a graph is no str": lambda: as_graph("graph.csv"),
    "a graph is no list of <U1": lambda: as_graph([("a", "b"), ("b", "c")]),
    "1 and 2 are joined more than once": lambda: graphdr.from_edges(3, [0, 1, 2], [1, 2, 1]),
    "the graph has no nodes": lambda: as_graph(nx.Graph()),
    "neighbours is a whole number from 1, not 0": lambda: graphdr.from_interactions(
        {"user": [1], "item": [1]}, neighbours=0
    ),
    "components is one of 'refuse', 'largest', 'keep', not 'all'": lambda: as_graph(MATRIX, components="all"),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_is_said_in_one_line(message):
    with refused(re.escape(message)):
        WRONG[message]()


def test_no_library_is_imported_for_what_does_not_come_from_it():
    code = (
        "import sys, numpy, graphdr; from graphdr.serve.sources import as_graph\n"
        "graphdr.RoundLog\n"
        "as_graph(numpy.ones((3, 3)) - numpy.eye(3))\n"
        "as_graph(graphdr.from_edges({'source': ['a'], 'target': ['b']}))\n"
        "print({'networkx', 'igraph', 'pandas', 'polars', 'pyarrow'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
