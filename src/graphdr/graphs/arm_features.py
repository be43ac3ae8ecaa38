"""What a stored basis is, and which of its columns become the arm features of a k-dimensional method."""

from typing import NamedTuple

import numpy as np

IDENTITY = "identity"  # node space itself: nothing to compute, nothing to cache
ADAPTIVE = "adaptive"  # a k that is found while playing


class Basis(NamedTuple):
    """Component vectors in columns (n x components), with a value and a residual for each."""

    vectors: np.ndarray
    values: np.ndarray
    residuals: np.ndarray


def nontrivial(vectors: np.ndarray, k: int) -> np.ndarray:
    """Select u_2..u_{k+1}, the convention of the experiments."""
    return vectors[:, 1 : k + 1]


def leading(vectors: np.ndarray, k: int) -> np.ndarray:
    """Select the first k columns."""
    return vectors[:, :k]


def scaled(vectors: np.ndarray, k: int) -> np.ndarray:
    """Give the first k standard normal columns the variance 1/k of a JL map."""
    return vectors[:, :k] / np.sqrt(k)


def with_lengths(vectors: np.ndarray, k: int) -> np.ndarray:
    """Give every row the length that it has in u_2..u_{k+1}, in every other column, and the direction of the others."""
    low, directions = vectors[:, ::2], vectors[:, 1 : 2 * k + 1 : 2]
    scale = np.linalg.norm(nontrivial(low, k), axis=1) / np.linalg.norm(directions, axis=1)
    return directions * scale[:, None]


PCA = ("onehot_pca", "content_pca", "content_pca_shuffled", "graph_pca", "graph_pca_shuffled")
FEATURES = (
    dict.fromkeys(("laplacian_low", "pooled_low", "shuffled"), nontrivial)
    | dict.fromkeys(("laplacian_first", "laplacian_first_shuffled", *PCA), leading)
    | {"gaussian": scaled, "length": with_lengths}
)
LOW = ("laplacian_low", "pooled_low", "shuffled", "laplacian_first", "laplacian_first_shuffled")  # eigenvectors of L
# Bases of which a larger k extends a smaller one.
NESTED = {basis for basis, columns in FEATURES.items() if columns not in (scaled, with_lengths)}


def k_fact(k: int | str | None) -> str | None:
    """Return the fact that a method takes its k from, if it takes it from one."""
    return k if isinstance(k, str) and k != ADAPTIVE else None


def select(basis: str, vectors: np.ndarray, k: int) -> np.ndarray:
    """Return the n x k arm features of a method with this basis, in C order.

    GraphDR has ``basis`` "laplacian_low" and takes u_2 … u_{k+1}: u_1 tells no two arms apart.

    >>> low = graphdr.low_eigenpairs(graphdr.from_edges(4, [0, 1, 2], [1, 2, 3]), 3)
    >>> graphdr.arm_features("laplacian_low", low.vectors, k=2).shape
    (4, 2)
    """
    return np.ascontiguousarray(FEATURES[basis](vectors, k))


def graded(basis: str, stored: Basis) -> tuple[np.ndarray, np.ndarray]:
    """Return all columns of a basis, u_1 too, and how rough each is: what a filter 1 / (1 + rho roughness) weighs.

    The roughness of an eigenvector is its eigenvalue; u_1 has that of u_2, for only its mean is known to be smooth.
    A principal component is rough as its variance is small: at rho = 10 the filter has the ratios of the variances.
    Random columns are all alike.
    """
    values = np.asarray(stored.values, float)
    if basis in LOW:
        return np.ascontiguousarray(stored.vectors), np.concatenate([values[1:2], values[1:]])
    if basis in PCA:
        rough = np.round(((values[:1] / values) ** 2 - 1.0) / 10.0, 12)  # rounding must not tell equals apart
        return np.ascontiguousarray(stored.vectors), rough
    if basis == "length":
        return select(basis, stored.vectors, len(values) // 2 - 1), values[2::2]
    return np.ascontiguousarray(stored.vectors), np.zeros(len(values))


def residual(theta: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return r_perp = (I - U U^T) theta for orthonormal columns U."""
    return theta - vectors @ (vectors.T @ theta)


def tail(theta: np.ndarray, vectors: np.ndarray) -> float:
    """Return zeta = ||(I - U U^T) theta|| for orthonormal columns U."""
    return float(np.linalg.norm(residual(theta, vectors)))
