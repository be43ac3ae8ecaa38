"""Facts about a problem that need no bandit run: tails, gaps, perturbations and k-hat."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from graphdr.graphs import arm_features
from graphdr.graphs.model import Graph, induced, largest_component
from graphdr.graphs.perturb import drop_edges
from graphdr.graphs.spectral import low_eigenvalues, perturbation_norm, shifted_eigengaps


class Setting(NamedTuple):
    """One instance of a problem: what was observed, what lies behind it, and the reward on its nodes."""

    spec: dict
    clean: Graph
    observed: Graph
    low: arm_features.Basis  # the lowest eigenvectors of the clean graph
    observed_low: arm_features.Basis
    theta: np.ndarray
    rng: np.random.Generator
    others: Mapping = MappingProxyType({})  # further bases by name, None where the data set has none
    popularity: np.ndarray | None = None
    root: int = 0  # seed of the streams …
    instance: int = 0
    memo: dict | None = None  # … what facts of one setting share …
    pilots: dict | None = None  # … and the pilots that they saw it through, by pulls a node


def surviving(clean: Graph, observed: Graph) -> np.ndarray:
    """Return the positions, in the clean graph, of the nodes that the observed graph still has."""
    return np.searchsorted(clean.origin, observed.origin)


def nodes(setting: Setting) -> float:
    """Count the nodes reached, after the largest component was taken."""
    return setting.observed.n


def edges(setting: Setting) -> float:
    """Count the edges of the observed graph."""
    return setting.observed.adjacency.nnz // 2


def zeta(setting: Setting) -> float:
    """Return the reward tail zeta_k outside u_2..u_{k+1} of the clean graph."""
    kept = arm_features.nontrivial(setting.low.vectors, setting.spec["k"])
    if len(kept) != len(setting.theta):  # nodes were lost: a basis of the same span on those that remain
        kept, _ = np.linalg.qr(kept[surviving(setting.clean, setting.observed)])
    return arm_features.tail(kept, setting.theta)


def energy(setting: Setting) -> float:
    """Return ||U_k^T theta||^2, the reward energy inside u_2..u_{k+1} of the clean graph."""
    return 1.0 - zeta(setting) ** 2


def energy_content(setting: Setting) -> float:
    """Return ||P^T theta||^2, the reward energy inside k principal components of the content; nan without any."""
    if setting.others.get("content_pca") is None:
        return np.nan
    kept = arm_features.leading(setting.others["content_pca"].vectors, setting.spec["k"])
    return 1.0 - arm_features.tail(kept, setting.theta) ** 2


def degree(setting: Setting) -> float:
    """Return the mean degree of the observed graph."""
    return setting.observed.adjacency.nnz / setting.observed.n


def eigengap(setting: Setting) -> float:
    """Return the shifted eigengap Delta_k of the clean graph."""
    return shifted_eigengaps(setting.low.values)[setting.spec["k"] - 1]


def eps_l(setting: Setting) -> float:
    """Return eps_L, the spectral norm of the observed minus the clean Laplacian."""
    clean = induced(setting.clean, surviving(setting.clean, setting.observed))
    return perturbation_norm(setting.observed, clean)


def rho(setting: Setting) -> float:
    """Return rho_k = zeta_k + 4 eps_L / Delta_k, the envelope of the robust theorem."""
    return zeta(setting) + 4.0 * eps_l(setting) / eigengap(setting)


def k_hat_naive(setting: Setting) -> float:
    """Return the k of k_min..k_max with the largest shifted eigengap of the observed graph (the smallest on a tie)."""
    return _largest_gap(shifted_eigengaps(setting.observed_low.values), setting.spec)


def k_hat_bootstrap(setting: Setting) -> float:
    """Return the k of k_min..k_max with the largest mean shifted eigengap over edge subsamples."""
    spec = setting.spec
    gaps = np.zeros(spec["k_max"])
    for _ in range(spec["resamples"]):
        sample = largest_component(drop_edges(setting.observed, spec["keep"], setting.rng))
        found = shifted_eigengaps(low_eigenvalues(sample, spec["k_max"] + 2))[: spec["k_max"]]
        gaps[: len(found)] += found
    return _largest_gap(gaps, spec)


def _largest_gap(gaps: np.ndarray, spec: dict) -> int:
    """Return the k of k_min..k_max with the largest gap, the first of them being that of k = 1."""
    return spec["k_min"] + int(np.argmax(gaps[spec["k_min"] - 1 : spec["k_max"]]))


# The factors of a problem that a fact depends on: a change of any other one does not rerun it.
FACTORS = {
    "zeta": ("k",),
    "energy": ("k",),
    "energy_content": ("k",),
    "eigengap": ("k",),
    "rho": ("k",),
    "k_hat_naive": ("k_min", "k_max"),
    "k_hat_bootstrap": ("k_min", "k_max", "resamples", "keep"),
}
FACT_BASES = {"energy_content": "content_pca"}  # the basis that a fact needs besides laplacian_low
FACTS = {
    f.__name__: f
    for f in (
        nodes, edges, degree, zeta, energy, energy_content, eigengap, eps_l, rho, k_hat_naive, k_hat_bootstrap,
    )
}  # fmt: skip
