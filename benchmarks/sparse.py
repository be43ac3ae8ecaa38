"""Large random inputs without n x n arrays, and cosine neighbours with them, as a peer."""

import numpy as np
import scipy.sparse as sp

from graphdr.graphs import model


def planted(n: int, edges: int, rng: np.random.Generator, blocks: int = 20, inside: float = 0.8) -> model.Graph:
    """Draw about that many edges by random endpoints, a share of them inside equal blocks of nodes."""
    draws = round(1.01 * edges)
    i = rng.integers(n, size=draws)
    block = i * blocks // n
    low, high = -(-block * n // blocks), -(-(block + 1) * n // blocks)
    near = low + (rng.random(draws) * (high - low)).astype(np.int64)
    j = np.where(rng.random(draws) < inside, near, rng.integers(n, size=draws))
    code = np.unique(np.minimum(i, j) * n + np.maximum(i, j))
    i, j = code // n, code % n
    return model.largest_component(model.from_edges(n, i[i != j], j[i != j]))


def ratings(items: int, users: int, count: int, rng: np.random.Generator) -> sp.csr_array:
    """Draw ratings 1..5 of random users, with items of falling popularity."""
    draws = round(1.2 * count)
    item = (items * rng.random(draws) ** 2).astype(np.int64)
    code = np.unique(item * users + rng.integers(users, size=draws))
    code = np.sort(rng.permutation(code)[:count])
    value = rng.integers(1, 6, size=len(code)).astype(float)
    return sp.csr_array((value, (code // users, code % users)), shape=(items, users))


def dense_neighbours(matrix: np.ndarray, k: int) -> np.ndarray:
    """Return the k nearest other rows of every row by cosine, with dense arrays."""
    unit = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-300)
    similarity = unit @ unit.T
    np.fill_diagonal(similarity, -1.0)
    return np.argpartition(-similarity, k, axis=1)[:, :k]
