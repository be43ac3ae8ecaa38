"""Graphs from any source: a graph of this or another library, a matrix or a table; and graphs of segments."""

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graphdr.graphs import contexts
from graphdr.graphs.model import Graph, largest_component
from graphdr.serve import tables
from graphdr.serve.tables import Name, as_objects, check_names, check_weights

REFUSE, LARGEST, KEEP = "refuse", "largest", "keep"
ASYMMETRY = 1e-9  # allowed in an adjacency matrix, relative to its sum
SHOWN = 5  # sizes of components in a message
MIRRORED = "of a directed graph, give (A + A.T) / 2"

Segments = Mapping[Name, Mapping[Name, float]] | np.ndarray  # a graph of segments
Neighbours = tuple[np.ndarray, np.ndarray]  # places and weights


def as_graph(
    source: object, *, names: Iterable[Name] | None = None, components: str = REFUSE, self_loops: str = REFUSE
) -> tuple[Graph, list[Name]]:
    """Return any source as a checked graph, with the names of its nodes, which are also its ``origin``.

    Sources are graphs of this package, networkx (attribute ``weight``, by default one) or igraph (attributes ``name``
    and ``weight``), where parallel edges count with their sum; symmetric matrices of weights, sparse, dense or a pandas
    data frame with its names; and tables that ``from_edges`` reads. ``components`` ("refuse", "largest", "keep")
    applies to graphs in several components, and ``self_loops`` ("refuse", "keep") to nodes joined to themselves: a kept
    loop counts once in the node's degree.
    """
    choices = {"components": (components, (REFUSE, LARGEST, KEEP)), "self_loops": (self_loops, (REFUSE, KEEP))}
    for argument, (choice, allowed) in choices.items():
        if choice not in allowed:
            raise ValueError(f"{argument} is one of {', '.join(map(repr, allowed))}, not {choice!r}")
    graph = _read(source)
    if not graph.n:
        raise ValueError("the graph has no nodes")
    nodes = check_names(graph.origin if names is None else names, "a node")
    if len(nodes) != graph.n:
        raise ValueError(f"{len(nodes)} names for a graph of {graph.n} nodes")
    if len(nodes) > len({*nodes}):
        raise ValueError(f"two nodes have the same name {Counter(nodes).most_common(1)[0][0]!r}")
    graph = Graph(_check_adjacency(graph.adjacency, nodes, self_loops), as_objects(nodes))
    graph = _check_connected(graph, components)
    return graph, graph.origin.tolist()


def with_segments(graph: Graph, segments: Segments, segment_coupling: float) -> tuple[Graph, list[Name]]:
    """Return the product of a graph with a graph of segments, and the names of the segments."""
    try:
        weights = _segment_weights(segments)
    except KeyError as unknown:
        raise ValueError(f"a segment is joined to {unknown.args[0]!r}, which is none of the segments") from None
    except (AttributeError, TypeError, ValueError):
        raise ValueError("segments are a matrix of weights, or {name: {name: weight}}") from None
    if weights.ndim != 2 or not weights.size or weights.diagonal().any():
        raise ValueError("segments have a square matrix of weights, with zeros on its diagonal")
    names = check_names(segments if isinstance(segments, Mapping) else range(len(weights)), "a segment")
    adjacency = _check_adjacency(sp.csr_array(weights), names, REFUSE)
    if (count := connected_components(adjacency, directed=False)[0]) != 1:
        raise ValueError(f"the graph of segments has {count} components; join them, or fit a policy to each")
    if not (isinstance(segment_coupling, Real) and np.isfinite(segment_coupling) and segment_coupling > 0):
        raise ValueError(f"segment_coupling is finite and positive, not {segment_coupling!r}")
    return contexts.product(graph, weights, segment_coupling), names


def _segment_weights(segments: Any) -> np.ndarray:
    """Return the matrix of a graph of segments; an edge of a mapping may be given at either end, or at both."""
    if not isinstance(segments, Mapping):
        return np.asarray(segments.toarray() if sp.issparse(segments) else segments, float)
    place = {name: at for at, name in enumerate(segments)}
    weights = np.zeros((len(place), len(place)))
    for name, edges in segments.items():
        for other, weight in edges.items():
            weights[place[name], place[other]] = weight
    return np.where(weights == 0, weights.T, weights)


def new_names(edges: Mapping[Name, object], place: Mapping[Name, int]) -> list[Name]:
    """Return the names of new arms; refuse those of present ones."""
    if not isinstance(edges, Mapping):
        raise ValueError(f"new arms are given with their neighbours, {{name: {{neighbour: weight}}}}, not as {edges!r}")
    names = check_names(edges)
    if taken := [name for name in names if name in place]:
        raise ValueError(f"there is an arm {taken[0]!r} already")
    return names


def new_edges(
    edges: Mapping[Name, Mapping[Name, float] | Iterable[Name]], place: Mapping[Name, int], isolated: bool
) -> list[Neighbours]:
    """Return the neighbours of every new arm, among present arms and new ones before it.

    A list of neighbours stands for weights of one. An arm without neighbours is refused unless ``isolated`` ones are
    allowed.
    """
    places, joined = dict(place), []
    for name, neighbours in edges.items():
        new = f"new arm {name!r}"
        if not isinstance(neighbours, Mapping):
            if isinstance(neighbours, str | bytes) or not isinstance(neighbours, Iterable):
                shapes = "{neighbour: weight} or [neighbour, …]"
                raise ValueError(f"{new}: its neighbours are {shapes}, not {neighbours!r}")
            listed = Counter(check_names(neighbours, f"{new}: a neighbour"))
            if twice := [other for other, count in listed.items() if count > 1]:
                raise ValueError(f"{new}: joined twice to {twice[0]!r}; give a weight, {{neighbour: weight}}")
            neighbours = listed
        if unknown := [other for other in neighbours if other not in places]:
            raise ValueError(f"{new}: no arm {unknown[0]!r} to be joined to")
        weights = tables.as_numbers(list(neighbours.values()))
        if not (np.isfinite(weights) & (weights > 0)).all() or not (isolated or len(weights)):
            raise ValueError(f"{new}: needs edges to known arms, of positive finite weight")
        joined.append((np.array([places[other] for other in neighbours], int), weights))
        places[name] = len(places)
    return joined


def _read(source: object) -> Graph:
    """Return any source as a graph that is not checked yet."""
    if isinstance(source, Graph):
        return source
    for (library, kind), read in READERS.items():
        # A source of this library exists only where the library is imported already.
        if library in sys.modules and isinstance(source, getattr(sys.modules[library], kind)):
            return read(source)
    return tables.from_edges(source) if tables.is_table(source) else _from_matrix(source)


def _from_networkx(source: Any) -> Graph:
    if source.is_directed():
        raise ValueError("the graph is directed: make it undirected with graph.to_undirected()")
    adjacency = sys.modules["networkx"].to_scipy_sparse_array(source, dtype=float) if len(source) else np.empty((0, 0))
    return _from_matrix(adjacency)._replace(origin=as_objects(source))


def _from_igraph(source: Any) -> Graph:
    """Join nodes; parallel edges count with their sum, and one from a node to itself counts once."""
    if source.is_directed():
        raise ValueError("the graph is directed: make it undirected with graph.as_undirected()")
    names = source.vs["name"] if "name" in source.vs.attributes() else range(source.vcount())
    weights = source.es["weight"] if "weight" in source.es.attributes() else np.ones(source.ecount())
    ends = np.array(source.get_edgelist(), int).reshape(-1, 2).T
    half = sp.coo_array((tables.as_numbers(weights), ends), shape=(len(names), len(names))).tocsr()
    return Graph(half + half.T - sp.diags_array(half.diagonal()), as_objects(names))


def _from_frame(source: Any) -> Graph:
    """Read a data frame of pandas: an adjacency matrix with its names, else a table of edges."""
    if len(source) and list(source.index) == list(source.columns):
        return _from_matrix(source.to_numpy())._replace(origin=as_objects(source.columns))
    if len(source) == len(source.columns) and not {"source", "target"} <= {*source.columns}:
        needs = "the same names, in the same order, as its index and its columns"
        raise ValueError(f"a data frame of weights has {needs}; for a table of edges write {tables.EDGES}")
    return tables.from_edges(source)


READERS: dict[tuple[str, str], Callable[[Any], Graph]] = {
    ("networkx", "Graph"): _from_networkx,
    ("igraph", "Graph"): _from_igraph,
    ("pandas", "DataFrame"): _from_frame,
}


def _from_matrix(source: Any) -> Graph:
    matrix: Any = source if sp.issparse(source) else np.asarray(source)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biufO":
        kind = f"{type(source).__name__} of {matrix.dtype} and shape {matrix.shape}"
        raise ValueError(f"a graph is no {kind}: give an adjacency matrix, a graph or {tables.EDGES}")
    adjacency = sp.csr_array(tables.as_numbers(matrix) if matrix.dtype.kind == "O" else matrix, dtype=float)
    return Graph(adjacency, np.arange(adjacency.shape[0]))


def _check_adjacency(adjacency: sp.csr_array, names: list[Name], self_loops: str) -> sp.csr_array:
    """Return a matrix of weights without stored zeros; refuse it unless it is that of an undirected graph."""

    def edge(at: int) -> str:
        row = int(np.searchsorted(adjacency.indptr, at, side="right")) - 1
        return f"{names[row]!r}–{names[adjacency.indices[at]]!r}"

    if adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"an adjacency matrix is square and symmetric, not of shape {adjacency.shape}")
    check_weights(adjacency.data, place=edge)
    if abs(adjacency - adjacency.T).sum() > ASYMMETRY * adjacency.sum():
        raise ValueError(f"an adjacency matrix is square and symmetric; {MIRRORED}")
    loops = np.flatnonzero(adjacency.diagonal())
    if self_loops == REFUSE and len(loops):
        raise ValueError(f"{names[loops[0]]!r} is joined to itself: set the diagonal to zero, or self_loops='keep'")
    if not adjacency.data.all():
        adjacency = adjacency.copy()  # it may belong to the caller
        adjacency.eliminate_zeros()
    return adjacency


def _check_connected(graph: Graph, components: str) -> Graph:
    """Refuse a graph in several components, take the largest of them, or keep all."""
    count, label = connected_components(graph.adjacency, directed=False)
    if count == 1 or components == KEEP:
        return graph
    sizes = sorted(np.bincount(label).tolist(), reverse=True)
    shown = ", ".join(map(str, sizes[:SHOWN])) + (", …" if count > SHOWN else "")
    if components == REFUSE:
        choices = "components='largest' takes the first of these, components='keep' all"
        raise ValueError(f"the graph has {count} components, of {shown} nodes: {choices}")
    largest = largest_component(graph)
    message = f"the graph has {count} components, of {shown} nodes: {graph.n - largest.n} nodes are left out"
    warnings.warn(message, UserWarning, stacklevel=4)
    return largest
