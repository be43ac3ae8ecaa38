"""Spectra: low Laplacian eigenpairs, eigengaps, and the distance of two Laplacians."""

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from graphdr.core.errors import no_such
from graphdr.graphs.arm_features import Basis
from graphdr.graphs.model import Graph, inverse_root_degrees, laplacian, normalised_adjacency

DECIMALS = 12  # of an eigenvector's entries: the digits that solver and machine agree on
DENSE_UP_TO = 400  # below this size LAPACK is as fast as Lanczos and needs no tolerance


EXACT = "exact"
# Settings of Lanczos: the type of its numbers, vectors kept per eigenvector, and tolerance.
SOLVERS = {EXACT: (np.float64, 4, 1e-9), "single": (np.float32, 2, 1e-6)}  # a quarter of the memory


def canonical_signs(vectors: np.ndarray) -> np.ndarray:
    """Make the largest entry of each column positive (the first of several), so that reruns agree."""
    size = np.abs(vectors)
    top = (size >= (1 - 1e-6) * size.max(axis=0)).argmax(axis=0)  # rounding must not choose between equals
    return vectors * np.sign(vectors[top, np.arange(vectors.shape[1])])


def low_eigenpairs(graph: Graph, count: int, added: float = 0.0, solver: str = EXACT) -> Basis:
    """Return the lowest eigenpairs of the normalised Laplacian, the lowest first.

    Parameters
    ----------
    graph : Graph
        Its Laplacian is ``graphdr.laplacian(graph, added)``.
    count : int
        How many; u_1, which tells no two nodes apart, is the first of them.
    added : float, default=0.0
        Added to every degree: with the mean degree, the Laplacian is the regularised one of Qin and Rohe (2013).
    solver : {"exact", "single"}, default="exact"
        Work in double or in single precision: the latter takes a quarter of the memory and less time, and its residuals
        are about 1e-5.

    Returns
    -------
    Basis
        With ``vectors`` (n x count, u_1, u_2, … in columns), ``values`` and ``residuals``, the norms of L u - value u.
        Signs are canonical: the largest entry of each vector is positive.

    Examples
    --------
    >>> square = graphdr.from_edges(4, [0, 1, 2, 0], [1, 2, 3, 3])
    >>> abs(graphdr.low_eigenpairs(square, 4).values).round(6).tolist()
    [0.0, 1.0, 1.0, 2.0]
    """
    if solver not in SOLVERS:
        raise no_such("solver", "solver", solver, SOLVERS)
    count = min(count, graph.n)
    if graph.n <= DENSE_UP_TO or count >= graph.n // 4:
        values, vectors = scipy.linalg.eigh(_dense_laplacian(graph, added), subset_by_index=[0, count - 1])
    else:
        dtype, kept, tolerance = SOLVERS[solver]
        smooth = normalised_adjacency(graph, added).astype(dtype, copy=False)
        start = np.sqrt(graph.adjacency.sum(axis=1))  # u_1 itself would stall Lanczos: tilt it
        start = (start * (1.0 + np.arange(graph.n) / graph.n)).astype(dtype, copy=False)
        top, vectors = eigsh(smooth, k=count, which="LA", ncv=min(kept * count, graph.n), tol=tolerance, v0=start)
        order = np.argsort(-top, kind="stable")
        values, vectors = 1.0 - top[order].astype(float), vectors[:, order].astype(float)
    # Nodes with the same neighbours have equal entries; rounding must not break the tie.
    vectors = np.round(canonical_signs(vectors), DECIMALS)
    residuals = np.linalg.norm(laplacian(graph, added) @ vectors - vectors * values, axis=0)
    return Basis(vectors, values, residuals)


def low_eigenvalues(graph: Graph, count: int) -> np.ndarray:
    """Return the ``count`` lowest eigenvalues alone, which on a small graph cost half of the pairs."""
    count = min(count, graph.n)
    if graph.n > DENSE_UP_TO:
        return low_eigenpairs(graph, count).values
    return np.linalg.eigvalsh(_dense_laplacian(graph))[:count]


def _dense_laplacian(graph: Graph, added: float = 0.0) -> np.ndarray:
    """Return L as a dense matrix, without the detour over sparse products that cost more than a small spectrum."""
    scale, matrix = inverse_root_degrees(graph, added), graph.adjacency.toarray()
    matrix *= -scale[:, None]
    matrix *= scale
    matrix.flat[:: graph.n + 1] += 1.0
    return matrix


def shifted_eigengaps(values: np.ndarray) -> np.ndarray:
    """Return the gaps lambda_{k+2} - lambda_{k+1} (1-indexed) for k = 1, 2, …: those of u_2..u_{k+1}."""
    return np.diff(values)[1:]


def interior_gap(values: np.ndarray, k: int) -> float:
    """Return the smaller gap around u_2..u_{k+1}: u_1 below and u_{k+2} above are both neighbours."""
    return float(min(values[1] - values[0], values[k + 1] - values[k]))


def perturbation_norm(observed: Graph, clean: Graph) -> float:
    """Return the spectral norm of the difference of two Laplacians on the same nodes."""
    difference = sp.csr_array(laplacian(observed) - laplacian(clean))
    if abs(difference).sum() == 0:
        return 0.0
    if observed.n <= DENSE_UP_TO:
        return float(np.abs(scipy.linalg.eigvalsh(difference.toarray())).max())
    start = 1.0 + np.arange(observed.n) / observed.n
    return float(abs(eigsh(difference, k=1, which="LM", v0=start, return_eigenvectors=False)[0]))
