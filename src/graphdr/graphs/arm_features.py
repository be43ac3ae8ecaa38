"""What a stored basis is, and which of its columns become the arm features of a k-dimensional method."""

from typing import NamedTuple

import numpy as np

IDENTITY = "identity"  # node space itself: nothing to compute, nothing to cache
ADAPTIVE = "adaptive"  # a k that is found while playing
DECIMALS = 12  # of rows of unit length: their first widths are equal, and no machine's rounding must choose among them


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


def unit_rows(vectors: np.ndarray, k: int) -> np.ndarray:
    """Scale the rows of u_2..u_{k+1} to length one; a row of zeros stays zero."""
    chosen = nontrivial(vectors, k)
    length = np.linalg.norm(chosen, axis=1, keepdims=True)
    return np.divide(chosen, length, out=np.zeros(chosen.shape), where=length > 0)


EIGENVECTORS = ("laplacian_low", "laplacian_first", "pooled_low", "regularised_low", "unit_rows", "regularised_unit")
SINGULAR = ("onehot_pca", "content_pca", "graph_pca", "interaction_svd", "netmf")  # vectors, with their values
ORIGINALS = (
    dict.fromkeys(("laplacian_low", "pooled_low", "regularised_low"), nontrivial)
    | dict.fromkeys(("unit_rows", "regularised_unit"), unit_rows)
    | dict.fromkeys(("laplacian_first", *SINGULAR, "given"), leading)
    | {"gaussian": scaled}
)
# Bases that have two controls, each by its name with the basis that it is a control of.
CONTROLLED = [name for name in ORIGINALS if name not in ("pooled_low", "onehot_pca", "gaussian")]
SHUFFLED = {"shuffled" if name == "laplacian_low" else f"{name}_shuffled": name for name in CONTROLLED}
LENGTH = {"length" if name == "laplacian_low" else f"{name}_length": name for name in CONTROLLED}
CONTROLS = SHUFFLED | LENGTH
FEATURES = ORIGINALS | {control: ORIGINALS[name] for control, name in CONTROLS.items()}
# Bases of which a larger k extends a smaller one.
NESTED = {basis for basis, columns in FEATURES.items() if columns in (nontrivial, leading) and basis not in LENGTH}


def k_fact(k: int | str | None) -> str | None:
    """Return the fact that a method takes its k from, if it takes it from one."""
    return k if isinstance(k, str) and k != ADAPTIVE else None


def select(basis: str, vectors: np.ndarray, k: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the arm features of a method with this basis.

    GraphDR has ``basis`` "laplacian_low" and takes u_2 … u_{k+1}: u_1 tells no two arms apart.

    Parameters
    ----------
    basis : str
        A basis of docs/bases.md.
    vectors : ndarray of shape (n, at least k + 1)
        Its columns, as ``low_eigenpairs(graph, k + 1).vectors``.
    k : int
        The number of features.
    weights : ndarray, optional
        What columns are multiplied by.

    Returns
    -------
    ndarray of shape (n, k)
        In C order.

    Examples
    --------
    >>> low = graphdr.low_eigenpairs(graphdr.from_edges(4, [0, 1, 2], [1, 2, 3]), 3)
    >>> graphdr.arm_features("laplacian_low", low.vectors, k=2).shape
    (4, 2)
    """
    chosen = FEATURES[basis](vectors[:, ::2] if basis in LENGTH else vectors, k)
    if weights is not None:
        chosen = chosen * weights
    if basis in LENGTH:
        chosen = _with_lengths(chosen, vectors[:, 1 : 2 * chosen.shape[1] : 2])
    if FEATURES[basis] is unit_rows:
        chosen = np.round(chosen, DECIMALS)
    return np.ascontiguousarray(chosen)


def _with_lengths(features: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Give the rows of random directions the lengths that the rows of the features have."""
    lengths, drawn = np.linalg.norm(features, axis=1), np.linalg.norm(directions, axis=1)
    scale = np.divide(lengths, drawn, out=np.zeros(len(drawn)), where=drawn > 0)
    return directions * scale[:, None]


def roughness(basis: str, values: np.ndarray, k: int) -> np.ndarray:
    """Return how rough each of the k columns is that a method with this basis selects: what a filter looks at.

    That of an eigenvector is its eigenvalue. A principal component or another singular vector is rough as its value is
    small: (t_1 / t_j)^2 - 1 over 10, so that at rho = 10 the filter 1 / (1 + rho roughness) has the ratios of the
    squared values. Random columns are all alike, and so are given ones: their lengths are the user's own weights.
    """
    rough = _roughness(CONTROLS.get(basis, basis), np.asarray(values, float)[:: 2 if basis in LENGTH else 1])
    return rough[:k] if FEATURES[basis] in (leading, scaled) else rough[1 : k + 1]


def _roughness(original: str, values: np.ndarray) -> np.ndarray:
    """Return how rough every stored column of a basis is that is no control."""
    if original in EIGENVECTORS:
        return np.maximum(values, 0.0)  # which rounding may put below zero
    if original in SINGULAR:
        return np.round(((values[:1] / values) ** 2 - 1.0) / 10.0, 12)  # rounding must not tell equals apart
    return np.zeros(len(values))


def graded(basis: str, stored: Basis) -> tuple[np.ndarray, np.ndarray]:
    """Return all columns of a basis and how rough each is, for a model that weighs all of them.

    u_1 is among them, with the roughness of u_2, for only its mean is known to be smooth. Rows of unit length have that
    length over all columns but u_1, and a control of lengths has as many columns as its basis would select.

    Parameters
    ----------
    basis : str
        A basis of docs/bases.md.
    stored : Basis
        Its columns and values, as ``low_eigenpairs`` returns them.

    Returns
    -------
    tuple of two ndarrays
        The features (n x J), and the roughness of every column.

    Examples
    --------
    >>> low = graphdr.low_eigenpairs(graphdr.from_edges(4, [0, 1, 2], [1, 2, 3]), 3)
    >>> features, roughness = graphdr.graded_features("laplacian_low", low)
    >>> features.shape, roughness.round(3).tolist()
    ((4, 3), [0.5, 0.5, 1.5])
    """
    original, width = CONTROLS.get(basis, basis), 2 if basis in LENGTH else 1
    values, count = np.array(stored.values, float), len(stored.values) // width
    if original in EIGENVECTORS and count > 1:
        values[:width] = values[width : 2 * width]
    if basis in LENGTH or FEATURES[basis] is unit_rows:
        return select(basis, stored.vectors, count), roughness(basis, values, count)
    return np.ascontiguousarray(stored.vectors), _roughness(original, values)


def residual(theta: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return r_perp = (I - U U^T) theta for orthonormal columns U."""
    return theta - vectors @ (vectors.T @ theta)


def tail(theta: np.ndarray, vectors: np.ndarray) -> float:
    """Return zeta = ||(I - U U^T) theta|| for orthonormal columns U."""
    return float(np.linalg.norm(residual(theta, vectors)))
