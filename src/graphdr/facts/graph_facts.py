"""Facts about a graph and the reward on it: tails, energies, gaps, perturbations, rotations and k-hat."""

from collections.abc import Callable

import numpy as np

from graphdr.facts.declare import ProblemInstance, fact
from graphdr.graphs import arm_features, spectral
from graphdr.graphs.model import Graph, induced, largest_component
from graphdr.graphs.perturb import drop_edges
from graphdr.graphs.spectral import low_eigenvalues, perturbation_norm, shifted_eigengaps
from graphdr.theory.constants import Constants, beta0, dk_ratio, potential, projector_distance

SLACK = 1e-6  # relative: a perturbation of a quarter of the gap is one up to the accuracy that it was scaled with


def surviving(clean: Graph, observed: Graph) -> np.ndarray:
    """Return the positions, in the clean graph, of the nodes that the observed graph still has."""
    return np.searchsorted(clean.origin, observed.origin)


@fact()
def nodes(instance: ProblemInstance) -> float:
    """Count the nodes of the largest component."""
    return instance.observed.n


@fact()
def contexts(instance: ProblemInstance) -> float:
    """Count the arms: contexts, or nodes where these are the arms."""
    rows = instance.arm_set.rows
    return instance.observed.n if rows is None else rows.shape[0]


@fact()
def longest_feature(instance: ProblemInstance, *, k: int) -> float:
    """Return the length of the longest arm as GraphDR sees it, in u_2..u_{k+1} of the observed graph."""
    columns = arm_features.nontrivial(instance.observed_low.vectors, k)
    return float(np.linalg.norm(instance.arm_set(columns), axis=1).max())


@fact()
def edges(instance: ProblemInstance) -> float:
    """Count the edges of the observed graph."""
    return instance.observed.adjacency.nnz // 2


@fact()
def degree(instance: ProblemInstance) -> float:
    """Return the mean degree of the observed graph."""
    return instance.observed.adjacency.nnz / instance.observed.n


@fact(favourable=-1)
def zeta(instance: ProblemInstance, *, k: int) -> float:
    """Return the reward tail zeta_k outside u_2..u_{k+1} of the clean graph."""
    columns = arm_features.nontrivial(instance.low.vectors, k)
    if len(columns) != len(instance.theta):  # nodes were lost: a basis of the same span on those that remain
        columns, _ = np.linalg.qr(columns[surviving(instance.clean, instance.observed)])
    return arm_features.tail(instance.theta, columns)


@fact(favourable=1)
def energy(instance: ProblemInstance, *, k: int) -> float:
    """Return ||U_k^T theta||^2, the reward energy inside u_2..u_{k+1} of the clean graph."""
    return 1.0 - zeta(instance, k=k) ** 2


@fact(basis="content_pca")
def energy_content(instance: ProblemInstance, *, k: int, basis: str = "content_pca") -> float:
    """Return ||P^T theta||^2, the reward energy inside k principal components of the content; nan without any."""
    columns = other_columns(instance, basis, k)
    return np.nan if columns is None else 1.0 - arm_features.tail(instance.theta, columns) ** 2


@fact(basis="graph_pca")
def energy_graph(instance: ProblemInstance, *, k: int) -> float:
    """Return the reward energy inside the first k components of graph-PCA."""
    return energy_content(instance, k=k, basis="graph_pca")


def other_columns(instance: ProblemInstance, basis: str, k: int) -> np.ndarray | None:
    """Return the first k components of a basis other than laplacian_low; None if the data set has none."""
    other = instance.others.get(basis)
    return None if other is None else arm_features.leading(other.vectors, k)


@fact(favourable=1)
def eigengap(instance: ProblemInstance, *, k: int) -> float:
    """Return the shifted eigengap Delta_k of the clean graph."""
    return shifted_eigengaps(instance.low.values)[k - 1]


@fact()
def eps_l(instance: ProblemInstance) -> float:
    """Return eps_L, the spectral norm of the observed minus the clean Laplacian."""
    clean = induced(instance.clean, surviving(instance.clean, instance.observed))
    return perturbation_norm(instance.observed, clean)


@fact(favourable=-1)
def rho(instance: ProblemInstance, *, k: int) -> float:
    """Return rho_k = zeta_k + 4 eps_L / Delta_k, the envelope of the robust theorem."""
    return zeta(instance, k=k) + 4.0 * eps_l(instance) / eigengap(instance, k=k)


@fact()
def theory_gap(instance: ProblemInstance, *, k: int) -> float:
    """Return lambda_{k+1} - lambda_k of the clean graph: Delta_k of the theory, whose subspace is u_1..u_k."""
    return float(np.diff(instance.low.values)[k - 1])


@fact(favourable=-1)
def rho_theory(instance: ProblemInstance, *, k: int) -> float:
    """Return rho_k with the gap of the theory in place of the shifted one."""
    return zeta(instance, k=k) + 4.0 * eps_l(instance) / theory_gap(instance, k=k)


@fact(favourable=-1)
def rho_rate(instance: ProblemInstance, *, k: int) -> float:
    """Return zeta_k + eps_L / Delta_k, as the robust theorem's rate has them, with the gap of the theory."""
    return zeta(instance, k=k) + eps_l(instance) / theory_gap(instance, k=k)


@fact()
def interior_gap(instance: ProblemInstance, *, k: int) -> float:
    """Return the gap around u_2..u_{k+1} of the clean graph."""
    return spectral.interior_gap(instance.low.values, k)


@fact()
def dk_holds_ratio(instance: ProblemInstance, *, k: int) -> float:
    """Return the distance of the projectors on u_2..u_{k+1} over its bound 4 eps / gap; nan where eps is no premise."""
    return _rotation(instance, k, interior_gap(instance, k=k), arm_features.nontrivial)


@fact()
def dk_theory_ratio(instance: ProblemInstance, *, k: int) -> float:
    """Return the distance of the projectors on u_1..u_k over its bound 4 eps / gap; nan where eps is no premise."""
    return _rotation(instance, k, theory_gap(instance, k=k), arm_features.leading)


@fact()
def dk_theory_qualifies(instance: ProblemInstance, *, k: int) -> float:
    """Return 1 where the lemma applies to u_1..u_k, since 0 < eps_L <= Delta_k / 4 and no node is lost; else 0."""
    return float(_qualifies(instance, eps_l(instance), theory_gap(instance, k=k)))


def _qualifies(instance: ProblemInstance, eps: float, gap: float) -> bool:
    return 0 < 4 * eps <= (1 + SLACK) * gap and instance.observed.n == instance.clean.n


def _rotation(instance: ProblemInstance, k: int, gap: float, select: Callable[[np.ndarray, int], np.ndarray]) -> float:
    """Return the distance of two projectors over the bound of Davis and Kahan, nan where their lemma does not apply."""
    eps = eps_l(instance)
    if not _qualifies(instance, eps, gap):
        return np.nan
    clean, observed = select(instance.low.vectors, k), select(instance.observed_low.vectors, k)
    return projector_distance(clean, observed) / dk_ratio(eps, gap)


@fact()
def bound_over_full(
    instance: ProblemInstance, *, k: int, noise: float, delta: float, ridge: float, horizon: int
) -> float:
    """Return the bound of Theorem 1 in k dimensions over that of full LinUCB in as many as there are nodes (Cor. 1)."""

    def bound(dimensions: int) -> float:
        c = Constants(dimensions, noise, delta, ridge, instance.arm_set.longest)
        return beta0(horizon + 1, *c) * potential(horizon, c.k, c.ridge, c.bound_x)

    return float(bound(k) / bound(instance.observed.n))


@fact()
def k_hat_naive(instance: ProblemInstance, *, k_min: int, k_max: int) -> float:
    """Return the k of k_min..k_max with the largest shifted eigengap of the observed graph (the smallest on a tie)."""
    return _largest_gap(shifted_eigengaps(instance.observed_low.values), k_min, k_max)


@fact()
def k_hat_bootstrap(instance: ProblemInstance, *, k_min: int, k_max: int, resamples: int, keep: float) -> float:
    """Return the k of k_min..k_max with the largest mean shifted eigengap over edge subsamples."""
    gaps, rng = np.zeros(k_max), instance.stream("resamples")
    for _ in range(resamples):
        sample = largest_component(drop_edges(instance.observed, keep, rng))
        sample_gaps = shifted_eigengaps(low_eigenvalues(sample, k_max + 2))[:k_max]
        gaps[: len(sample_gaps)] += sample_gaps
    return _largest_gap(gaps, k_min, k_max)


def _largest_gap(gaps: np.ndarray, k_min: int, k_max: int) -> int:
    """Return the k of k_min..k_max with the largest gap; the first gap is that of k = 1."""
    return k_min + int(np.argmax(gaps[k_min - 1 : k_max]))
