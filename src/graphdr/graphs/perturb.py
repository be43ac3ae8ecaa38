"""Changes of a graph: random subgraphs, shuffled nodes, flipped pairs, dropped and swapped edges, perturbed weights."""

import numpy as np

from graphdr.core.errors import check_dense
from graphdr.graphs.model import Graph, edges, from_edges, induced, largest_component
from graphdr.graphs.spectral import interior_gap, low_eigenvalues, perturbation_norm

ACCURACY = 1e-7  # relative, of the size of a perturbation
STEPS = 50


def flip_pairs(graph: Graph, probability: float, rng: np.random.Generator) -> Graph:
    """Flip every node pair of an unweighted graph (edge to non-edge and back) with the given probability.

    One uniform number is drawn per pair, so that with the same stream a smaller probability flips a
    subset of what a larger one flips.
    """
    check_dense("flip", graph.n)
    i, j = np.triu_indices(graph.n, k=1)
    present = graph.adjacency.toarray()[i, j] > 0
    present ^= rng.random(len(i)) < probability
    return from_edges(graph.n, i[present], j[present], origin=graph.origin)


def drop_edges(graph: Graph, keep: float, rng: np.random.Generator) -> Graph:
    """Keep the given share of the edges, chosen uniformly without replacement."""
    i, j, weight = edges(graph)
    chosen = np.sort(rng.permutation(len(i))[: round(keep * len(i))])
    return from_edges(graph.n, i[chosen], j[chosen], weight[chosen], graph.origin)


def uniform_nodes(graph: Graph, size: int, rng: np.random.Generator) -> Graph:
    """Take the largest component among uniformly random nodes, in their order; all nodes if there are no more.

    With the same stream, the nodes drawn for a smaller size are among those drawn for a larger one.
    """
    if size >= graph.n:
        return graph
    return largest_component(induced(graph, np.sort(rng.permutation(graph.n)[:size])))


def shuffle_nodes(graph: Graph, on: int, rng: np.random.Generator) -> Graph:
    """Give every node the edges of a random node: the same spectrum, unrelated to the nodes."""
    order = rng.permutation(graph.n)
    return graph._replace(adjacency=graph.adjacency[order][:, order])


def swap_edges(graph: Graph, share: float, rng: np.random.Generator) -> Graph:
    """Delete the given share of the edges and add as many pairs that were none, under the weights of those deleted."""
    i, j, weight = edges(graph)
    count = round(share * len(i))
    before = np.concatenate([[0], np.cumsum(np.arange(graph.n - 1, 0, -1))])  # pairs in the rows above each node
    absent = before[-1] - len(i)
    if count > absent:
        raise ValueError(f"{count} edges to add, but only {absent} pairs have none")
    order = rng.permutation(len(i))
    deleted, kept = order[:count], np.sort(order[count:])
    present = before[i] + j - i - 1  # the place of each edge among all pairs
    place = rng.choice(absent, count, replace=False)  # among the pairs without an edge …
    place += np.searchsorted(present - np.arange(len(i)), place, side="right")  # … and among all
    new_i = np.searchsorted(before, place, side="right") - 1
    new_j = place - before[new_i] + new_i + 1
    i, j = np.append(i[kept], new_i), np.append(j[kept], new_j)
    return from_edges(graph.n, i, j, np.append(weight[kept], weight[deleted]), graph.origin)


def perturb_weights(graph: Graph, eps: float, rng: np.random.Generator) -> Graph:
    """Multiply every weight by exp(s N(0, 1)), with s such that the Laplacian moves by eps in spectral norm.

    With the same stream, all sizes perturb in the same direction.
    """
    i, j, weight = edges(graph)
    direction = rng.standard_normal(len(i))
    scale = eps
    for _ in range(STEPS):
        perturbed = from_edges(graph.n, i, j, weight * np.exp(scale * direction), graph.origin)
        reached = perturbation_norm(perturbed, graph)
        if abs(reached - eps) <= ACCURACY * eps:
            return perturbed
        scale = scale * eps / reached if reached > 0 else np.inf  # the norm is almost proportional to the scale
        if not np.abs(scale * direction).max(initial=0) < 100:
            break
    raise ValueError(f"no weights of this graph move its Laplacian by {eps}")


def perturb_by_gap(graph: Graph, share: float, rng: np.random.Generator, k: int) -> Graph:
    """Change weights until the Laplacian has moved by a share of the gap that protects u_2..u_{k+1}."""
    return perturb_weights(graph, share * interior_gap(low_eigenvalues(graph, k + 2), k), rng)


CHANGES = {
    "sample": uniform_nodes, "flip": flip_pairs, "swap": swap_edges, "perturb": perturb_by_gap,
    "shuffle": shuffle_nodes,
}  # fmt: skip
