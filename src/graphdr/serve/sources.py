"""Graphs from what users bring: graphs of this or another library, matrices, tables of edges or of interactions.

Their ``origin`` holds the names of their nodes.
"""

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graphdr.core.errors import join_names, quote
from graphdr.graphs import contexts, from_data, model
from graphdr.graphs.model import Graph, largest_component
from graphdr.graphs.records import Records

Name = str | int
DUPLICATES = ("refuse", "sum")
PROTOCOLS = ("__dataframe__", "__arrow_c_stream__")  # a data frame of any library has one of them
EDGES = "graphdr.from_edges(table, source=…, target=…)"
INTERACTIONS = "graphdr.from_interactions(table, user=…, item=…)"
REFUSE, LARGEST, KEEP = "refuse", "largest", "keep"
ASYMMETRY = 1e-9  # allowed in an adjacency matrix, relative to its sum
SHOWN = 5  # sizes of components in a message
MIRRORED = "of a directed graph, give (A + A.T) / 2"

Segments = Mapping[Name, Mapping[Name, float]] | np.ndarray  # a graph of segments
Neighbours = tuple[np.ndarray, np.ndarray]  # places and weights


def from_edges(
    edges: object,
    source: str | Sequence[int] = "source",
    target: str | Sequence[int] = "target",
    weight: str | Sequence[float] | None = None,
    origin: Sequence[Name] | None = None,
    *,
    duplicates: str = "refuse",
) -> Graph:
    """Build a graph from a table with a row per edge, or from numbers of nodes.

    Parameters
    ----------
    edges : data frame, mapping of columns, or int
        A table of pandas, polars, pyarrow or any library with the dataframe interchange protocol, or a mapping such as
        ``{"source": ["a", "b"], "target": ["b", "c"]}``. Or a number n: the nodes are then 0 … n - 1.
    source, target : str
        The columns with the two ends of an edge: texts or whole numbers. After a number n, the ends themselves.
    weight : str, optional
        The column of weights; by default the column ``weight`` if there is one, else all weights are one. After a
        number n, the weights themselves.
    origin : sequence of str or int, optional
        The names of all nodes in their order, also of those without an edge. By default those in the table, sorted.
        After a number n, the names of nodes 0 … n - 1.
    duplicates : {"refuse", "sum"}
        Whether a pair that is given twice, in either order, is an error, or has the sum of the weights.

    Returns
    -------
    Graph
        Undirected, with the names in ``origin``.

    Raises
    ------
    ValueError
        In one line: a missing column, an empty table, a missing or wrong name or weight, a node joined to
        itself, or a pair given twice.

    Examples
    --------
    >>> table = {"film": ["Alien", "Brazil"], "like": ["Brazil", "Casablanca"], "weight": [2.0, 1.0]}
    >>> graph = graphdr.from_edges(table, "film", "like")
    >>> graph.origin.tolist()
    ['Alien', 'Brazil', 'Casablanca']
    >>> path = graphdr.from_edges(3, [0, 1], [1, 2])
    >>> path.adjacency.toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    values: Any = weight
    if isinstance(edges, int | np.integer):
        i, j = _numbers(source, int(edges)), _numbers(target, int(edges))
        names = np.arange(edges) if origin is None else as_objects(check_names(origin, "a node"))
        if len(names) != edges:
            raise ValueError(f"{len(names)} names for a graph of {edges} nodes")
    else:
        columns = _columns(edges, {"source": source, "target": target, "weight": weight}, EDGES)
        ends = [_names(columns[role], name) for role, name in (("source", source), ("target", target))]
        names, (i, j) = _places(ends, origin)
        values = columns.get("weight")
    weights = np.ones(len(i)) if values is None else as_numbers(values)
    if not len(i) == len(j) == len(weights):
        raise ValueError(f"{len(i)} sources, {len(j)} targets and {len(weights)} weights: an edge has one of each")
    check_weights(weights)
    _check_pairs(i, j, names, duplicates)
    return model.from_edges(len(names), i, j, weights, names)


def from_interactions(
    table: object, user: str = "user", item: str = "item", value: str | None = None, *, neighbours: int = 10
) -> Graph:
    """Build the graph that joins every item to the nearest ones, by the cosine of the users who met them.

    Parameters
    ----------
    table : data frame or mapping of columns
        A row per interaction: a table of pandas, polars, pyarrow or any library with the dataframe interchange
        protocol, or a mapping such as ``{"user": [1, 1, 2], "item": ["a", "b", "a"]}``.
    user, item : str
        The columns of users and of items. Items are texts or whole numbers, and become the nodes.
    value : str, optional
        The column of positive values, such as plays; by default the column ``value`` if there is one, else every
        row counts one. Values of a pair that comes again are added up.
    neighbours : int
        How many others every item is joined to, if as many share a user with it. Edges have weight one.

    Returns
    -------
    Graph
        All items, the one of most rows first, with their names in ``origin``. It need not be connected.

    Raises
    ------
    ValueError
        In one line: a missing column, an empty table, a missing or wrong name, or a value that is not
        positive.

    Examples
    --------
    >>> met = {"user": [1, 1, 2, 2, 3, 3], "item": ["a", "b", "a", "b", "b", "c"]}
    >>> graph = graphdr.from_interactions(met, neighbours=1)
    >>> graph.origin.tolist()
    ['b', 'a', 'c']
    """
    if not (isinstance(neighbours, int | np.integer) and neighbours >= 1):
        raise ValueError(f"neighbours is a whole number from 1, not {neighbours!r}")
    columns = _columns(table, {"user": user, "item": item, "value": value}, INTERACTIONS)
    values = np.ones(len(columns["item"])) if "value" not in columns else as_numbers(columns["value"])
    check_weights(values, "interactions", positive=True)
    names, (node,) = _places([_names(columns["item"], item)])
    _, (users,) = _places([_present(columns["user"], user)])
    records = Records(users, node, values, np.bincount(node))
    graph = from_data.knn.__wrapped__(  # type: ignore[attr-defined]
        len(names), records, neighbours=int(neighbours)
    )
    return graph._replace(origin=names[graph.origin])


def is_table(source: object) -> bool:
    """Return whether a source has columns: a data frame of any library, or a mapping."""
    return isinstance(source, Mapping) or any(hasattr(source, name) for name in PROTOCOLS)


def column_names(table: Any) -> list[str]:
    """Return the names of a table's columns."""
    if isinstance(table, Mapping):
        return list(table)
    names = getattr(table, "column_names", None)  # in pyarrow, ``columns`` are the columns themselves
    return list(table.columns if names is None else names)


def check_names(names: Iterable[Name], owner: str = "an arm") -> list[Name]:
    """Return names as Python's texts and whole numbers; refuse a single text, whose letters would pass as names."""
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise ValueError(f"names are given as a sequence, such as [{names!r}], not as {names!r}")
    names = [name.item() if isinstance(name, np.generic) else name for name in names]
    if wrong := [name for name in names if not isinstance(name, str | int) or isinstance(name, bool)]:
        raise ValueError(f"{owner}'s name is a text or a whole number, not {quote(wrong[0], 2)}")
    return names


def as_numbers(weights: object) -> np.ndarray:
    """Return weights as numbers."""
    try:
        return np.asarray(weights, float)
    except (TypeError, ValueError):
        values = np.asarray(weights, object).ravel()
        wrong = next(value for value in values if not isinstance(value, int | float | np.number))
        if _is_missing(wrong):
            raise ValueError(f"a weight is missing ({wrong})") from None
        raise ValueError(f"weights are numbers, not {quote(wrong)}") from None


def check_weights(
    weights: np.ndarray, of: str = "edges", positive: bool = False, place: Callable[[int], str] = "row {}".format
) -> None:
    """Refuse a weight that is missing, not finite or negative; ``place`` says where it stands."""
    right = np.isfinite(weights) & (weights > 0 if positive else weights >= 0)
    for at in np.flatnonzero(~right)[:1]:
        value = "missing (NaN)" if np.isnan(weights[at]) else f"{weights[at]:g}"
        allowed = "positive" if positive else "not negative"
        raise ValueError(f"the weight of {place(int(at))} is {value}; weights of {of} are finite and {allowed}")


def as_objects(names: Iterable[Name]) -> np.ndarray:
    """Return names as an array that keeps the type of each."""
    values = list(names)
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _columns(table: Any, columns: Mapping[str, Any], advice: str) -> dict[str, np.ndarray]:
    """Return the columns of a table by their roles; one without a name is the column named as its role, if any."""
    if not is_table(table):
        raise ValueError(f"a table has columns, which {type(table).__name__} has not: {advice}")
    names = column_names(table)
    roles = {role: name or role for role, name in columns.items() if name or role in names}
    if missing := [name for name in roles.values() if name not in names]:
        raise ValueError(f"no column {quote(missing[0])}; there are: {join_names(names)}; write {advice}")
    if not hasattr(table, "__getitem__"):  # read it through its protocol
        import pyarrow
        from pyarrow.interchange import from_dataframe

        table = pyarrow.table(table) if hasattr(table, "__arrow_c_stream__") else from_dataframe(table)
    arrays = {role: np.asarray(table[name]) for role, name in roles.items()}
    shapes = {roles[role]: array.shape for role, array in arrays.items()}
    if len({*shapes.values()}) > 1 or any(len(shape) != 1 for shape in shapes.values()):
        raise ValueError(f"columns have one value per row, not the shapes {shapes}")
    if (0,) in shapes.values():
        raise ValueError("the table is empty")
    return arrays


def _present(column: np.ndarray, name: str) -> np.ndarray:
    """Return a column; refuse missing values: None, NaN, or NA of a library."""
    if column.dtype.kind in "OfMm":
        for at, value in enumerate(column):
            if _is_missing(value):
                missing = f"column {quote(name)} has a missing value in row {at} ({value})"
                raise ValueError(f"{missing}: leave such rows out")
    return column


def _is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # bool(pd.NA) raises it
        return True


def _names(column: np.ndarray, name: Any) -> np.ndarray:
    """Return a column of names."""
    if column.dtype.kind in "iuU":
        return column
    return as_objects(check_names(_present(column, name), f"column {quote(name, 2)}: a node"))


def _places(columns: list[np.ndarray], origin: Iterable[Name] | None = None) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the names in columns, sorted or as in ``origin``, and the place among them of every value."""
    ends = np.cumsum([*map(len, columns)])[:-1]
    kinds = {column.dtype.kind for column in columns}
    if origin is None and len(kinds) == 1 and kinds <= {"i", "u", "U"}:
        names, place = np.unique(np.concatenate(columns), return_inverse=True)
        return names, np.split(place, ends)
    values = [value for column in columns for value in column.tolist()]
    if len(types := {type(value).__name__ for value in values}) > 1:
        raise ValueError(f"names are of one kind, not {' and '.join(sorted(types))}")
    nodes = sorted({*values}) if origin is None else check_names(origin, "a node")
    number = {name: at for at, name in enumerate(nodes)}
    if unknown := [value for value in values if value not in number]:
        raise ValueError(f"an edge ends at {quote(unknown[0])}, which is no name in origin")
    return as_objects(nodes), np.split(np.fromiter(map(number.__getitem__, values), np.int64, len(values)), ends)


def _numbers(ends: Any, n: int) -> np.ndarray:
    """Return the ends of edges as numbers of n nodes."""
    ends = np.asarray(ends)
    if ends.ndim != 1 or (ends.size and not (ends.dtype.kind in "iu" and ends.min() >= 0 and ends.max() < n)):
        raise ValueError(f"the ends of edges are numbers of nodes, from 0 to {n - 1}; names need a table: {EDGES}")
    return ends.astype(np.int64)


def _check_pairs(i: np.ndarray, j: np.ndarray, names: np.ndarray, duplicates: str) -> None:
    """Refuse an edge from a node to itself and, unless they are to be summed, a pair that is given twice."""
    if duplicates not in DUPLICATES:
        raise ValueError(f"duplicates is one of {', '.join(map(repr, DUPLICATES))}, not {duplicates!r}")
    name = as_objects(names.tolist())
    for at in np.flatnonzero(i == j)[:1]:
        raise ValueError(f"{quote(name[i[at]])} is joined to itself: leave such edges out")
    pairs = np.minimum(i, j) * len(names) + np.maximum(i, j)
    _, first, times = np.unique(pairs, return_index=True, return_counts=True)
    if duplicates == "refuse" and len(first) < len(i):
        at = first[times > 1].min()
        pair = f"{quote(name[i[at]], 2)} and {quote(name[j[at]], 2)}"
        raise ValueError(f"{pair} are joined more than once, in either order: leave one, or duplicates='sum'")


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
        weights = as_numbers(list(neighbours.values()))
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
    return from_edges(source) if is_table(source) else _from_matrix(source)


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
    half = sp.coo_array((as_numbers(weights), ends), shape=(len(names), len(names))).tocsr()
    return Graph(half + half.T - sp.diags_array(half.diagonal()), as_objects(names))


def _from_frame(source: Any) -> Graph:
    """Read a data frame of pandas: an adjacency matrix with its names, else a table of edges."""
    if len(source) and list(source.index) == list(source.columns):
        return _from_matrix(source.to_numpy())._replace(origin=as_objects(source.columns))
    if len(source) == len(source.columns) and not {"source", "target"} <= {*source.columns}:
        needs = "the same names, in the same order, as its index and its columns"
        raise ValueError(f"a data frame of weights has {needs}; for a table of edges write {EDGES}")
    return from_edges(source)


READERS: dict[tuple[str, str], Callable[[Any], Graph]] = {
    ("networkx", "Graph"): _from_networkx,
    ("igraph", "Graph"): _from_igraph,
    ("pandas", "DataFrame"): _from_frame,
}


def _from_matrix(source: Any) -> Graph:
    matrix: Any = source if sp.issparse(source) else np.asarray(source)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biufO":
        kind = f"{type(source).__name__} of {matrix.dtype} and shape {matrix.shape}"
        raise ValueError(f"a graph is no {kind}: give an adjacency matrix, a graph or {EDGES}")
    adjacency = sp.csr_array(as_numbers(matrix) if matrix.dtype.kind == "O" else matrix, dtype=float)
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
