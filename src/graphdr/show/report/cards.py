"""Data-set cards: size, spectrum, energy of the reward by k, a map of the rewards, and items by name."""

from collections.abc import Sequence

import numpy as np

from graphdr.core.errors import elide
from graphdr.core.records import Json
from graphdr.graphs.arm_features import Basis
from graphdr.show.report.rounding import short, shorts, thinned

COMPONENTS = 30  # of a spectrum
NODES = 1500  # points of a map
NAMES = 5  # items at each end of u_2
LONG = 80  # letters of a name


def card(edges: int, basis: Basis, theta: np.ndarray, titles: Sequence[str | None] | None) -> Json:
    """Return the JSON of a graph with its basis (n x components) and reward."""
    vectors, n = basis.vectors, len(theta)
    names = [elide(title or "", LONG) for title in titles] if titles else None
    json: Json = {"nodes": n, "edges": edges, "degree": short(2 * edges / max(n, 1), 3)}
    json["spectrum"] = shorts(np.abs(basis.values[:COMPONENTS]))
    json["energy"] = shorts(energies(vectors[:, :COMPONENTS], theta))
    if vectors.shape[1] > 2:
        json["map"] = reward_map(vectors, theta, names)
    if names is not None and vectors.shape[1] > 1:
        json["ends"] = ends(vectors[:, 1], names)
    return json


def energies(vectors: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return ||U_k^T theta||^2 for k = 0, 1, …, with the convention u_2..u_{k+1}, as a share of ||theta||^2."""
    parts = (vectors[:, 1:].T @ theta) ** 2 / max(float(theta @ theta), np.finfo(float).tiny)
    return np.concatenate([[0.0], np.cumsum(parts)])


def reward_map(vectors: np.ndarray, theta: np.ndarray, names: Sequence[str] | None) -> Json:
    """Place nodes at their entries of u_2 and u_3, with their reward in units of its typical size, 1/sqrt(n)."""
    kept = thinned(len(theta), NODES)
    points: Json = {"x": shorts(vectors[kept, 1], 3), "y": shorts(vectors[kept, 2], 3)}
    points["reward"] = shorts(theta[kept] * np.sqrt(len(theta)), 3)
    if names:
        points["titles"] = [names[node] for node in kept]
    return points


def ends(vector: np.ndarray, names: Sequence[str]) -> list[list[str]]:
    """Name the nodes with the lowest and with the highest entries of an eigenvector."""
    order = np.argsort(vector, kind="stable")
    return [[names[node] for node in part] for part in (order[:NAMES], order[::-1][:NAMES])]
