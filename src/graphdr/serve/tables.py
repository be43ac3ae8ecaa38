"""Tables of edges and of interactions, from any library, as graphs whose ``origin`` holds the names of their nodes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from graphdr.core.errors import join_names, quote
from graphdr.graphs import from_data, model
from graphdr.graphs.model import Graph
from graphdr.graphs.records import Records

Name = str | int
DUPLICATES = ("refuse", "sum")
PROTOCOLS = ("__dataframe__", "__arrow_c_stream__")  # a data frame of any library has one of them
EDGES = "graphdr.from_edges(table, source=…, target=…)"
INTERACTIONS = "graphdr.from_interactions(table, user=…, item=…)"


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
