"""Time the eigensolver on growing random graphs, and cosine neighbours on random ratings."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import eigsh

from benchmarks import sparse
from benchmarks.report import Row
from benchmarks.sections import LARGE, TINY, USUAL
from benchmarks.timing import Contestant, race, seconds
from graphdr.graphs import from_data, model, spectral

PAIRS = 12
PLANTED, RANDOM = ("ours, 20 communities", 0.8), ("ours, no communities", 0.0)  # share of edges inside a community
SMALL = (1_500, 10_500)  # nodes, edges
GRAPHS = [
    (nodes_edges, kind) for nodes_edges in (SMALL, (10_000, 70_000), (170_000, 1_200_000)) for kind in (PLANTED, RANDOM)
]
LARGEST = [((1_000_000, 7_000_000), PLANTED)]
NEIGHBOURS = 10


class Size(NamedTuple):
    """Graphs, the first of which the peers get as well, and random ratings: items, users and their number."""

    graphs: list[tuple[tuple[int, int], tuple[str, float]]]
    ratings: tuple[int, int, int] = (3706, 6040, 1_000_000)


SIZES = {
    USUAL: Size(GRAPHS),
    LARGE: Size(GRAPHS + LARGEST),
    TINY: Size([((300, 2_100), PLANTED), ((300, 2_100), RANDOM)], (200, 300, 5_000)),
}
EIGEN, KNN = f"{PAIRS} low eigenpairs", f"cosine {NEIGHBOURS}-nearest neighbours"


def eigen(size: tuple[int, int], kind: tuple[str, float]) -> Row:
    """Time our solver on a random graph; count the matrix products that would take as long."""
    name, inside = kind
    graph = sparse.planted(*size, np.random.default_rng(5), inside=inside)
    found = {}
    time = min(
        seconds(lambda: found.update(pairs=spectral.low_eigenpairs(graph, PAIRS)))
        for _ in range(3 if graph.n < 1e5 else 1)
    )
    smooth, vector = model.normalised_adjacency(graph), np.ones(graph.n)
    product = race([Contestant("product", lambda: smooth @ vector)])["product"]
    note = f"{time / product:,.0f} products of L and a vector, residual at most {found['pairs'].residuals.max():.0e}"
    return Row(EIGEN, name, f"n={graph.n:,} edges={graph.adjacency.nnz // 2:,}", time, 1.0, note=note)


def eigen_peers(n: int, edges: int, ours: float) -> list[Row]:
    """Time what one writes at first: the dense spectrum, and the smallest pairs of L without a shift."""
    graph = sparse.planted(n, edges, np.random.default_rng(5))
    laplacian = model.laplacian(graph)
    peers = {
        "scipy eigh, dense": lambda: scipy.linalg.eigh(laplacian.toarray(), subset_by_index=[0, PAIRS - 1]),
        "scipy eigsh, which=SM": lambda: eigsh(laplacian, k=PAIRS, which="SM"),
    }
    setting = f"n={graph.n:,} edges={graph.adjacency.nnz // 2:,}"
    times = {name: seconds(run) for name, run in peers.items()}
    return [Row(EIGEN, name, setting, time, time / ours) for name, time in times.items()]


def neighbours(items: int, users: int, ratings: int) -> list[Row]:
    """Time cosine neighbours of all items by the sparse kernel and by dense arrays."""
    matrix = sparse.ratings(items, users, ratings, np.random.default_rng(6))
    dense = matrix.toarray()
    found = {}
    whole = min(seconds(lambda: found.update(ours=from_data.cosine_knn(matrix, NEIGHBOURS))) for _ in range(3))
    other = seconds(lambda: found.update(dense=sparse.dense_neighbours(dense, NEIGHBOURS)))
    i, j, _ = found["ours"]
    common = np.isin(i * items + j, np.arange(items)[:, None] * items + found["dense"]).sum()
    setting = f"{items} x {users}, {matrix.nnz:,} ratings"
    note = f"{common / NEIGHBOURS / items:.2%} of the neighbours in common"
    return [
        Row(KNN, "ours, sparse rows", setting, whole, 1.0),
        Row(KNN, "dense NumPy", setting, other, other / whole, note=note),
    ]


def eigen_rows(size: Size) -> Iterator[Row]:
    """Yield the rows of all graphs, the peers beside the first."""
    for at, (nodes_edges, kind) in enumerate(size.graphs):
        ours = eigen(nodes_edges, kind)
        yield ours
        if at == 0:
            yield from eigen_peers(*nodes_edges, ours.value)


def measure(size: str) -> list[Row]:
    """Return all rows; the largest graph only at the large size."""
    return [*eigen_rows(SIZES[size]), *neighbours(*SIZES[size].ratings)]
