"""Data-set cards: size, spectrum, energy of the reward by k, a map of the rewards, and items by name."""

import numpy as np

from graphdr.cache import io
from graphdr.graphs.arm_features import Basis
from graphdr.panels.bases import read_bases
from graphdr.panels.items import read_items
from graphdr.panels.problems import read_thetas
from graphdr.show.report.rounding import short, shorts, thinned

COMPONENTS = 30  # of a spectrum
NODES = 1500  # points of a map
NAMES = 5  # items at each end of u_2
LONG = 80  # letters of a name


def show(spec: dict, files: dict) -> dict:
    """Read what was built on a data set and describe it to the page, on instance 0."""
    (items, *_) = read_items(files["nodes"])
    edges = io.values(io.read("edges", files["edges"])["instance"])
    basis = read_bases(files["basis"])[0, 0]
    theta = read_thetas(files["theta"])[spec["problem"], 0]
    titles = _titles(files["titles"], items.item) if "titles" in files else None
    return spec | card(int((edges == 0).sum()), basis, theta, titles)


def card(edges: int, basis: Basis, theta: np.ndarray, titles: list[str] | None) -> dict:
    """Describe a graph with its basis (n x components) and reward to the page."""
    n = len(theta)
    found = {
        "nodes": n,
        "edges": edges,
        "degree": short(2 * edges / max(n, 1), 3),
        "spectrum": shorts(np.abs(basis.values[:COMPONENTS])),
        "energy": shorts(energies(basis.vectors[:, :COMPONENTS], theta)),
    }
    if basis.vectors.shape[1] > 2:
        found["map"] = reward_map(basis.vectors, theta, titles)
    if titles is not None and basis.vectors.shape[1] > 1:
        found["ends"] = ends(basis.vectors[:, 1], titles)
    return found


def energies(vectors: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return ||U_k^T theta||^2 for k = 0, 1, …, with the convention u_2..u_{k+1}, as a share of ||theta||^2."""
    parts = (vectors[:, 1:].T @ theta) ** 2 / max(float(theta @ theta), np.finfo(float).tiny)
    return np.concatenate([[0.0], np.cumsum(parts)])


def reward_map(vectors: np.ndarray, theta: np.ndarray, titles: list[str] | None) -> dict:
    """Place nodes at their entries of u_2 and u_3, with their reward in units of its typical size, 1/sqrt(n)."""
    kept = thinned(len(theta), NODES)
    found = {"x": shorts(vectors[kept, 1], 3), "y": shorts(vectors[kept, 2], 3)}
    found["reward"] = shorts(theta[kept] * np.sqrt(len(theta)), 3)
    return found | ({"titles": [titles[node] for node in kept]} if titles else {})


def ends(vector: np.ndarray, titles: list[str]) -> list[list[str]]:
    """Name the nodes with the lowest and with the highest entries of an eigenvector."""
    order = np.argsort(vector, kind="stable")
    return [[titles[node] for node in part] for part in (order[:NAMES], order[::-1][:NAMES])]


def _titles(path: str, item: np.ndarray) -> list[str]:
    names = io.read("dataset_nodes", path)["title"].take(item.astype(np.int64)).to_pylist()
    return [_shortened(name or "") for name in names]


def _shortened(name: str) -> str:
    return name if len(name) <= LONG else name[: LONG - 1] + "…"
