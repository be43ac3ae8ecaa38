"""What a policy or an embedding is fitted to: a graph of any library, a matrix or a table, and a graph of segments."""

import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from numbers import Real

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graphdr.graphs import contexts
from graphdr.graphs.model import Graph, largest_component
from graphdr.serve import tables
from graphdr.serve.tables import Name, check_weights, checked_names, named

REFUSE, LARGEST, KEEP = "refuse", "largest", "keep"
CONNECTED = 0.9  # share of the items of a tuple that its largest component has at least
ASYMMETRY = 1e-9  # that an adjacency matrix may have, in parts of its sum
SHOWN = 5  # sizes of components that a message names
MIRRORED = "of a directed graph, give (A + A.T) / 2"
OLD_TUPLE = (
    "a tuple is read as interactions, which will end with version 0.6: "
    'write graphdr.from_interactions({"user": …, "item": …}), or for edges graphdr.from_edges(…)'
)


def as_graph(
    source: object,
    *,
    names: Iterable[Name] | None = None,
    components: str = "refuse",
    self_loops: str = "refuse",
    neighbours: int = 10,
) -> tuple[Graph, list[Name]]:
    """Return any source as a checked graph, with the names of its nodes.

    Parameters
    ----------
    source : Graph, networkx or igraph graph, adjacency matrix, or table
        An undirected graph of this package, of networkx (weights from the attribute ``weight``, one where there is
        none) or of igraph (names from the attribute ``name``, weights from ``weight``); parallel edges of these count
        with their sum. A symmetric matrix of weights, sparse or dense. A pandas data frame with the same names as
        index and columns. A table with columns ``source``, ``target`` and, if wanted, ``weight``, as
        ``graphdr.from_edges`` reads it; other names of columns, and interactions, are given to ``graphdr.from_edges``
        and ``graphdr.from_interactions``, which return a ``Graph``.
    names : iterable of str or int, optional
        Names of the nodes, in place of the source's own.
    components : {"refuse", "largest", "keep"}
        What to do with a graph in several components: refuse it; leave out all but the largest, with a warning; or
        keep all nodes.
    self_loops : {"refuse", "keep"}
        What to do with nodes that are joined to themselves, such as a matrix with entries on its diagonal: refuse
        them; or count the weight once in the node's degree.
    neighbours : int
        That of interactions given as a tuple, which is out of use.

    Returns
    -------
    tuple of Graph and list of str or int
        The names are also the ``origin`` of the graph.
    """
    _check_choice("components", components, (REFUSE, LARGEST, KEEP))
    _check_choice("self_loops", self_loops, (REFUSE, KEEP))
    old = isinstance(source, tuple) and not isinstance(source, Graph)
    graph = _of_tuple(source, neighbours, components) if old else _read(source)
    if not graph.n:
        raise ValueError("the graph has no nodes")
    found = checked_names(graph.origin if names is None else names, "a node")
    if len(found) != graph.n:
        raise ValueError(f"{len(found)} names for a graph of {graph.n} nodes")
    if len(found) > len({*found}):
        raise ValueError(f"two nodes have the same name {Counter(found).most_common(1)[0][0]!r}")
    graph = Graph(_checked(graph.adjacency, found, self_loops), named(found))
    graph = _in_one_piece(graph, components)
    return graph, graph.origin.tolist()


def paired(graph: Graph, segments, coupling: float) -> tuple[Graph, list[Name]]:
    """Return the product with a graph of segments, a matrix or {name: {name: weight}}, and the segments' names."""
    given = isinstance(segments, Mapping)
    try:
        dense = _joined(segments) if given else segments.toarray() if sp.issparse(segments) else segments
        weights = np.asarray(dense, float)
    except KeyError as unknown:
        raise ValueError(f"a segment is joined to {unknown.args[0]!r}, which is none of the segments") from None
    except (AttributeError, TypeError, ValueError):
        raise ValueError("segments are a matrix of weights, or {name: {name: weight}}") from None
    if weights.ndim != 2 or not weights.size or weights.diagonal().any():
        raise ValueError("segments have a square matrix of weights, with zeros on its diagonal")
    names = checked_names(segments, "a segment") if given else list(range(len(weights)))
    if (count := connected_components(_checked(sp.csr_array(weights), names, REFUSE), directed=False)[0]) != 1:
        raise ValueError(f"the graph of segments has {count} components; join them, or fit a policy to each")
    if not (isinstance(coupling, Real) and np.isfinite(coupling) and coupling > 0):
        raise ValueError(f"coupling is finite and positive, not {coupling!r}")
    return contexts.product(graph, weights, coupling), names


def weighted(name: Name, neighbours: Mapping[Name, float] | Iterable[Name]) -> Mapping[Name, float]:
    """Return the weights of a new arm's edges, given by neighbour; for a list of neighbours, weights of one."""
    if isinstance(neighbours, Mapping):
        return neighbours
    if isinstance(neighbours, str | bytes) or not isinstance(neighbours, Iterable):
        raise ValueError(
            f"new arm {name!r}: its neighbours are {{neighbour: weight}} or [neighbour, …], not {neighbours!r}"
        )
    names = checked_names(neighbours, f"new arm {name!r}: a neighbour")
    if twice := [other for other, count in Counter(names).items() if count > 1]:
        raise ValueError(f"new arm {name!r}: joined twice to {twice[0]!r}; give a weight, {{neighbour: weight}}")
    return dict.fromkeys(names, 1.0)


def _joined(segments: Mapping[Name, Mapping[Name, float]]) -> np.ndarray:
    """Return the matrix of edges that are given at one of their ends, or at both."""
    place = {name: at for at, name in enumerate(segments)}
    weights = np.zeros((len(place), len(place)))
    for name, edges in segments.items():
        for other, weight in edges.items():
            weights[place[name], place[other]] = weight
    return np.where(weights == 0, weights.T, weights)


def _check_choice(argument: str, choice: str, choices: tuple[str, ...]) -> None:
    if choice not in choices:
        raise ValueError(f"{argument} is one of {', '.join(map(repr, choices))}, not {choice!r}")


def _read(source: object) -> Graph:
    """Return any source but a tuple as a graph that nobody has checked yet."""
    if isinstance(source, Graph):
        return source
    for (library, kind), read in READERS.items():
        # An object of a library that nobody has imported does not exist: there is no need to import it.
        if library in sys.modules and isinstance(source, getattr(sys.modules[library], kind)):
            return read(source)
    return tables.from_edges(source) if tables.is_table(source) else _of_matrix(source)


def _of_networkx(source) -> Graph:
    if source.is_directed():
        raise ValueError("the graph is directed: make it undirected with graph.to_undirected()")
    names = list(source)
    place = {name: at for at, name in enumerate(names)}
    edges = [(place[i], place[j], weight) for i, j, weight in source.edges(data="weight", default=1.0)]
    return _of_edges(names, edges)


def _of_igraph(source) -> Graph:
    if source.is_directed():
        raise ValueError("the graph is directed: make it undirected with graph.as_undirected()")
    names = source.vs["name"] if "name" in source.vs.attributes() else range(source.vcount())
    weights = source.es["weight"] if "weight" in source.es.attributes() else [1.0] * source.ecount()
    return _of_edges(names, [(*ends, weight) for ends, weight in zip(source.get_edgelist(), weights, strict=True)])


def _of_frame(source) -> Graph:
    """Read a data frame of pandas: an adjacency matrix with its names, else a table of edges."""
    if len(source) and list(source.index) == list(source.columns):
        return _of_matrix(source.to_numpy())._replace(origin=named(source.columns))
    if len(source) == len(source.columns) and not {"source", "target"} <= {*source.columns}:
        needs = "the same names, in the same order, as its index and its columns"
        raise ValueError(f"a data frame of weights has {needs}; for a table of edges write {tables.EDGES}")
    return tables.from_edges(source)


def _of_edges(names: Iterable[Name], edges: list[tuple[int, int, float]]) -> Graph:
    """Join nodes; parallel edges count with their sum, and one from a node to itself counts once."""
    i, j, weight = zip(*edges, strict=True) if edges else ((), (), ())
    i, j, weight = np.array(i, np.int64), np.array(j, np.int64), tables.as_numbers(weight)
    names = named(names)
    check_weights(weight, place=lambda at: f"{names[i[at]]!r}–{names[j[at]]!r}")
    back = i != j
    ends = np.concatenate([i, j[back]]), np.concatenate([j, i[back]])
    matrix = sp.coo_array((np.concatenate([weight, weight[back]]), ends), shape=(len(names), len(names)))
    return Graph(matrix.tocsr(), names)


def _of_matrix(source: object) -> Graph:
    matrix = source if sp.issparse(source) else np.asarray(source)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biufO":
        what = f"{type(source).__name__} of {matrix.dtype} and shape {matrix.shape}"
        raise ValueError(f"a graph is no {what}: give an adjacency matrix, a graph or {tables.EDGES}")
    matrix = sp.csr_array(tables.as_numbers(matrix) if matrix.dtype.kind == "O" else matrix, dtype=float)
    return Graph(matrix, np.arange(matrix.shape[0]))


def _of_tuple(source: tuple, neighbours: int, components: str) -> Graph:
    """Read interactions as version 0.4 did: nine in ten items, or more, must be connected, and the others go."""
    warnings.warn(OLD_TUPLE, DeprecationWarning, stacklevel=4)
    columns = dict(zip(("user", "item", "value"), map(np.asarray, source), strict=False))
    if not 2 <= len(source) <= 3 or len({column.shape for column in columns.values()}) > 1:
        raise ValueError("interactions are arrays of one length: who, item and, if wanted, weight")
    graph = tables.from_interactions(columns, neighbours=neighbours)
    if components != REFUSE:
        return graph
    largest = largest_component(graph)
    if largest.n < CONNECTED * graph.n:
        raise ValueError(f"of {graph.n} items only {largest.n} are connected; take more neighbours than {neighbours}")
    return largest


READERS = {
    ("networkx", "Graph"): _of_networkx,
    ("igraph", "Graph"): _of_igraph,
    ("pandas", "DataFrame"): _of_frame,
}


def _checked(adjacency: sp.csr_array, names: list[Name], self_loops: str) -> sp.csr_array:
    """Return a matrix of weights without stored zeros, if it is that of an undirected graph."""

    def edge(at: int) -> str:
        row = int(np.searchsorted(adjacency.indptr, at, side="right")) - 1
        return f"{names[row]!r}–{names[adjacency.indices[at]]!r}"

    if adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"an adjacency matrix is square and symmetric, not of shape {adjacency.shape}")
    check_weights(adjacency.data, place=edge)
    if abs(adjacency - adjacency.T).sum() > ASYMMETRY * adjacency.sum():
        raise ValueError(f"an adjacency matrix is square and symmetric; {MIRRORED}")
    if self_loops == REFUSE and (own := adjacency.diagonal()).any():
        node = names[int(np.flatnonzero(own)[0])]
        raise ValueError(f"{node!r} is joined to itself: set the diagonal to zero, or self_loops='keep'")
    if not adjacency.data.all():
        adjacency = adjacency.copy()  # it may be the caller's own
        adjacency.eliminate_zeros()
    return adjacency


def _in_one_piece(graph: Graph, components: str) -> Graph:
    """Refuse a graph in several components, take the largest of them, or let it be."""
    count, label = connected_components(graph.adjacency, directed=False)
    if count == 1 or components == KEEP:
        return graph
    sizes = sorted(np.bincount(label).tolist(), reverse=True)
    shown = ", ".join(map(str, sizes[:SHOWN])) + (", …" if count > SHOWN else "")
    if components == REFUSE:
        choices = "components='largest' takes the first of these, components='keep' all"
        raise ValueError(f"the graph has {count} components, of {shown} nodes: {choices}")
    kept = largest_component(graph)
    message = f"the graph has {count} components, of {shown} nodes: {graph.n - kept.n} nodes are left out"
    warnings.warn(message, UserWarning, stacklevel=4)
    return kept
