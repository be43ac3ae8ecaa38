"""The bases of a served graph, connected or not, and the extension of eigenvectors to new nodes."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graphdr.core.rng import stream
from graphdr.graphs import arm_features
from graphdr.graphs.arm_features import Basis, all_bases, find
from graphdr.graphs.model import Graph, induced, laplacian
from graphdr.graphs.spectral import DECIMALS, canonical_signs, low_eigenpairs

GRAPHDR = "laplacian_low"
SERVED = tuple(name for name, basis in all_bases().items() if find(basis.stored_name).data is None)
SMALLEST = 1e-3  # of |1 - eigenvalue|: the extension divides by it, which multiplies every error


def one_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread inside a ``with`` block: further threads cost CPU time and hardly save wall time."""
    import scipy.linalg  # noqa: F401  (only loaded libraries are limited, and SciPy has its own BLAS)
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, "blas")
    return limits


def compute(basis: str, graph: Graph, components: int, random_state: Any = None) -> Basis:
    """Compute a basis as the workflow does, or a unique one for a graph in several components.

    ``random_state`` is a seed, a generator of scikit-learn's kind, or None; only random bases use it.
    """
    if not graph.adjacency.nnz:
        raise ValueError("the graph has no edges")
    if not isinstance(random_state, int | np.integer):
        from sklearn.utils import check_random_state

        random_state = check_random_state(random_state).randint(2**31)
    spec = find(basis)
    rng = stream(int(random_state), "served basis", basis=spec.stream_name)
    source = arm_features.Source(graph.n, graph)
    count, label = connected_components(graph.adjacency, directed=False)
    with one_thread():
        if count == 1 or spec.stored_name not in (GRAPHDR, "pooled_low"):
            return arm_features.compute(basis, source, components, rng)
        low = low_eigenpairs_of_parts(graph, label, components)
        return spec.compute(source._replace(stored=low), components, rng) if spec.made_of else low


def low_eigenpairs_of_parts(graph: Graph, label: np.ndarray, count: int) -> Basis:
    """Return the lowest eigenpairs of the normalised Laplacian of a graph whose node i is in component ``label[i]``.

    Every component has an eigenvector of eigenvalue zero, sqrt(degree) on its nodes. A solver returns any rotation of
    these, and Lanczos may miss some. Here the first is sqrt(degree) on all nodes, as in a connected graph, and each
    further one separates a component from the others. All other eigenvectors are those of single components. The rows
    of isolated nodes are zero.
    """
    degree = graph.adjacency.sum(axis=1)
    order = np.argsort(label, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(label))[:-1])
    parts = sorted((nodes for nodes in parts if degree[nodes].any()), key=len, reverse=True)
    flat = min(count, len(parts))
    # The Householder reflection of (1, 0, …) to minus the shares of the components has the rotation's columns.
    share = np.sqrt([degree[nodes].sum() for nodes in parts]) / np.sqrt(degree.sum())
    mirror = share + np.eye(1, len(parts))[0]
    rotation = np.eye(len(parts), flat) - np.outer(mirror, mirror[:flat]) / (1.0 + share[0])
    rotation[:, 0] *= -1.0
    pairs = [low_eigenpairs(induced(graph, nodes), count - flat + 1) for nodes in parts] if flat < count else []
    values = np.concatenate([np.zeros(flat), *(pair.values[1:] for pair in pairs)])
    order = np.argsort(values, kind="stable")[:count]
    column = np.full(len(values), -1)
    column[order] = np.arange(len(order))
    vectors, start = np.zeros((graph.n, len(order))), flat
    for part, nodes in enumerate(parts):
        vectors[nodes, :flat] = np.outer(np.sqrt(degree[nodes] / degree[nodes].sum()), rotation[part])
        if pairs:
            here = column[start : start + len(pairs[part].values) - 1]
            vectors[np.ix_(nodes, here[here >= 0])] = pairs[part].vectors[:, 1:][:, here >= 0]
            start += len(here)
    vectors = np.round(canonical_signs(vectors), DECIMALS)
    residuals = np.linalg.norm(laplacian(graph) @ vectors - vectors * values[order], axis=0)
    return Basis(vectors, values[order], residuals)


def extension(rows: sp.csr_array, vectors: np.ndarray, values: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Return the rows (m x k) that eigenvectors have at new nodes, by Nyström's formula (see ``Extender``).

    ``rows`` (m x n) are the weights of their edges, all to fitted nodes; ``values`` are Laplacian eigenvalues, none of
    them 1. A node without an edge gets zeros.
    """
    scale, others = _inverse_roots(rows.sum(axis=1)), _inverse_roots(degrees)
    return scale[:, None] * (rows @ (others[:, None] * vectors)) / (1.0 - values)


def _inverse_roots(degrees: np.ndarray) -> np.ndarray:
    """Return 1 / sqrt(degree), and zero for a degree of zero."""
    return np.divide(1.0, np.sqrt(degrees), out=np.zeros(len(degrees)), where=degrees > 0)


@dataclass(frozen=True, slots=True)
class Extender:
    """Nyström extension of Laplacian eigenvectors to new nodes, clipped so that errors do not compound.

    An eigenvector u of the Laplacian with eigenvalue l satisfies u = S u / (1 - l) with S = D^-1/2 A D^-1/2: apply
    this to the row of S that the new node has through its edges. Degrees stay as they were when a node came: a twin of
    a fitted node then gets exactly that node's row.

    In g_i = u_i / sqrt(d_i) the formula is g_new = sum_j (w_j / d) g_j / (1 - l): the mean of the neighbours over
    1 - l. Averaging over fitted neighbours shrinks g by exactly 1 - l. Where neighbours were added themselves it need
    not, and dividing in every generation of nodes would multiply errors without bound. So

        g_new^2 <= sum_j (w_j / d) (f_j g_j)^2,   f_j = 1 / |1 - l| if j was fitted,
                                                  f_j = sqrt(mean_squares / current mean squares) if added.

    By Jensen's inequality this changes no node whose neighbours were all fitted. A row exceeds an added neighbour only
    by the factor that its column has shrunk since it was fitted, so that columns keep their size. As
    f_j^2 d_j g_j^2 <= mean_squares times the sum of all degrees, no row grows with the number of generations.
    """

    values: np.ndarray  # eigenvalues l of the Laplacian, one for each column
    degrees: np.ndarray  # of the present nodes, the fitted ones first
    fitted: int  # number of fitted nodes among the present ones
    mean_squares: np.ndarray  # of g in every column over all fitted nodes, weighted by their degrees

    @classmethod
    def of_fitted(cls, vectors: np.ndarray, values: np.ndarray, degrees: np.ndarray) -> "Extender":
        """Build it from a fitted graph."""
        return cls(values, degrees, len(degrees), np.sum(vectors**2, axis=0) / degrees.sum())

    def extended(
        self, vectors: np.ndarray, joined: list[tuple[np.ndarray, np.ndarray]]
    ) -> tuple[np.ndarray, "Extender"]:
        """Append the rows of new nodes, each given by the places of its neighbours and their weights.

        A new node may be a neighbour of those after it. A node without edges gets zeros.
        """
        n = len(vectors)
        squares, volume = np.sum(vectors**2, axis=0), self.degrees.sum()
        vectors = np.vstack([vectors, np.zeros((len(joined), vectors.shape[1]))])
        degrees = np.append(self.degrees, np.zeros(len(joined)))
        for node, (ends, weights) in enumerate(joined, n):
            joins = degrees[ends] > 0
            degrees[node] = weights.sum()
            near, weight = ends[joins], weights[joins]
            row = weight / np.sqrt(degrees[node] * degrees[near]) @ vectors[near] / (1.0 - self.values)
            added = near >= self.fitted
            if added.any():
                rescale = np.divide(self.mean_squares * volume, squares, out=np.ones(len(squares)), where=squares > 0)
                factors = np.where(added[:, None], rescale, (1.0 - self.values) ** -2.0)
                limit = np.sqrt(weight / degrees[near] @ (factors * vectors[near] ** 2))
                row = np.clip(row, -limit, limit)
            vectors[node] = row
            squares, volume = squares + row**2, volume + degrees[node]
        return vectors, replace(self, degrees=degrees)

    def without(self, places: np.ndarray) -> "Extender":
        """Return this without some nodes."""
        fitted = self.fitted - int(np.count_nonzero(places < self.fitted))
        return replace(self, degrees=np.delete(self.degrees, places), fitted=fitted)
