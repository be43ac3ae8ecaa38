"""What a policy is fitted to: a graph, an adjacency matrix or interactions, and a graph of segments."""

from collections.abc import Iterable, Mapping

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graphdr.graphs import contexts, from_data
from graphdr.graphs.model import Graph
from graphdr.graphs.records import Records

Name = str | int
CONNECTED = 0.9  # share of the items that the largest component has at least: nobody should lose more unawares
ASYMMETRY = 1e-9  # that an adjacency matrix may have, in parts of its sum


def checked_names(names: Iterable[Name], whose: str = "an arm") -> list[Name]:
    """Return names as Python's own texts and whole numbers."""
    names = [name.item() if isinstance(name, np.generic) else name for name in names]
    if wrong := [name for name in names if not isinstance(name, str | int) or isinstance(name, bool)]:
        raise ValueError(f"{whose}'s name is a text or a whole number, not {wrong[0]!r}")
    return names


def as_graph(source, neighbours: int) -> tuple[Graph, Iterable[Name]]:
    """Return a graph, or that of an adjacency matrix or of interactions, and the names of its nodes."""
    if isinstance(source, tuple) and not isinstance(source, Graph):
        return _similarity_graph(*source, neighbours=neighbours)
    if isinstance(source, Graph):
        graph = source
    else:
        matrix = sp.csr_array(source, dtype=float)
        graph = Graph(matrix, np.arange(matrix.shape[0]))
    if (count := _components(graph.adjacency)) != 1:
        raise ValueError(f"the graph has {count} components; take graphdr.largest_component, and add the rest later")
    return graph, graph.origin


def paired(graph: Graph, segments, coupling: float) -> tuple[Graph, list[Name]]:
    """Return the product with a graph of segments, a matrix or {name: {name: weight}}, and the segments' names."""
    named = isinstance(segments, Mapping)
    try:
        dense = _joined(segments) if named else segments.toarray() if sp.issparse(segments) else segments
        weights = np.asarray(dense, float)
    except KeyError as unknown:
        raise ValueError(f"a segment is joined to {unknown.args[0]!r}, which is none of the segments") from None
    except (AttributeError, TypeError, ValueError):
        raise ValueError("segments are a matrix of weights, or {name: {name: weight}}") from None
    if weights.ndim != 2 or not weights.size or weights.diagonal().any():
        raise ValueError("segments have a square matrix of weights, with zeros on its diagonal")
    if (count := _components(sp.csr_array(weights))) != 1:
        raise ValueError(f"the graph of segments has {count} components; join them, or fit a policy to each")
    if not (np.isfinite(coupling) and coupling > 0):
        raise ValueError(f"coupling is finite and positive, not {coupling}")
    names = checked_names(segments, "a segment") if named else list(range(len(weights)))
    return contexts.product(graph, weights, coupling), names


def _joined(segments: Mapping[Name, Mapping[Name, float]]) -> np.ndarray:
    """Return the matrix of edges that are given at one of their ends, or at both."""
    place = {name: at for at, name in enumerate(segments)}
    weights = np.zeros((len(place), len(place)))
    for name, edges in segments.items():
        for other, weight in edges.items():
            weights[place[name], place[other]] = weight
    return np.where(weights == 0, weights.T, weights)


def _components(adjacency: sp.csr_array) -> int:
    """Return how many components a matrix of weights has, if it is one."""
    if not (np.isfinite(adjacency.data) & (adjacency.data >= 0)).all():
        raise ValueError("the weights of edges are finite and not negative")
    if adjacency.shape[0] != adjacency.shape[1] or abs(adjacency - adjacency.T).sum() > ASYMMETRY * adjacency.sum():
        raise ValueError("an adjacency matrix is square and symmetric")
    return connected_components(adjacency, directed=False)[0]


def _similarity_graph(who, item, weight=None, *, neighbours: int) -> tuple[Graph, np.ndarray]:
    """Join every item to its nearest by cosine over who met it, and take the largest component."""
    who, item = np.asarray(who), np.asarray(item)
    weight = np.ones(len(item)) if weight is None else np.asarray(weight, float)
    if not (who.ndim == 1 and who.shape == item.shape == weight.shape and len(item)):
        raise ValueError("interactions are arrays of one length: who, item and, if wanted, weight")
    if not (np.isfinite(weight) & (weight > 0)).all():
        raise ValueError("the weights of interactions are finite and positive")
    items, node, count = np.unique(item, return_inverse=True, return_counts=True)
    records = Records(np.unique(who, return_inverse=True)[1], node, weight, count)
    graph = from_data.knn(len(items), records, neighbours=neighbours)
    if graph.n < CONNECTED * len(items):
        raise ValueError(f"of {len(items)} items only {graph.n} are connected; take more neighbours than {neighbours}")
    return graph, items[graph.origin]
