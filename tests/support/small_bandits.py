"""Small random bandits on weighted graphs, their observed graph perturbed within the condition of Davis and Kahan.

Their arms are nodes, contexts over several nodes, or nodes of the product with a graph of segments.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from hypothesis import assume
from hypothesis import strategies as st

from graphdr.bandit import radii
from graphdr.bandit.arm_set import ArmSet
from graphdr.bandit.environment import Rounds
from graphdr.bandit.method import Choices
from graphdr.bandit.pilot import pilot_error
from graphdr.bandit.policies.linucb import play_with_radius
from graphdr.bandit.rewards import unit
from graphdr.bandit.simulate import measure
from graphdr.graphs.arm_features import Basis, residual
from graphdr.graphs.contexts import context_rows, product, ring
from graphdr.graphs.model import Graph, edges, from_edges
from graphdr.graphs.spectral import low_eigenpairs, perturbation_norm
from graphdr.theory import constants
from graphdr.theory.results import RunResult
from tests.support.playing import run_of
from tests.support.subspaces import CONVENTIONS

DELTA = 1e-6  # so small that no run in these tests leaves the event that the theorems speak of


class Bandit(NamedTuple):
    """A reward and rounds on a graph, seen through the spectrum of a perturbed one."""

    clean: Basis
    observed: Basis
    eps: float
    convention: str
    k: int
    theta: np.ndarray
    sigma: float
    stream: Rounds
    pilot: np.ndarray  # an estimate of the reward
    pool: ArmSet = ArmSet()

    @property
    def kept(self) -> np.ndarray:
        return CONVENTIONS[self.convention].select(self.clean.vectors, self.k)

    @property
    def columns(self) -> np.ndarray:
        return np.ascontiguousarray(CONVENTIONS[self.convention].select(self.observed.vectors, self.k))

    @property
    def features(self) -> np.ndarray:
        return self.pool(self.columns)

    @property
    def rewards(self) -> np.ndarray:
        return self.pool(self.theta)

    @property
    def gap(self) -> float:
        return CONVENTIONS[self.convention].gap(self.clean.values, self.k)

    @property
    def residual(self) -> np.ndarray:
        return self.pool(residual(self.theta, self.columns))

    @property
    def constants(self) -> constants.Constants:
        longest = self.pool.longest
        size = constants.split(self.theta, self.columns)[0]
        return constants.Constants(self.k, self.sigma, DELTA, max(1.0, longest**2), longest, size)

    @property
    def robust(self) -> tuple[float, float]:
        s_k, tail = constants.split(self.theta, self.kept)
        zeta = float(np.linalg.norm(tail))
        return constants.nu(zeta, s_k, self.eps, self.gap, self.pool.longest), s_k + zeta

    @property
    def inputs(self) -> radii.RadiusInputs:
        rounds, error = len(self.stream.noise), pilot_error(self.pilot, self.theta, self.columns)
        residuals = self.residual, self.pool(residual(self.pilot, self.columns))
        spectrum = np.full(self.k, self.constants.ridge)
        return radii.RadiusInputs(rounds, self.constants, 1.0, *self.robust, *residuals, error, spectrum)


def play(bandit: Bandit, rule: str, inputs: radii.RadiusInputs | None = None) -> RunResult:
    """Play a rule; return what it did after every round, with the true residual and with the pilot's."""
    inputs = bandit.inputs if inputs is None else inputs
    ridge, residuals = inputs.constants.ridge, (bandit.residual, inputs.pilot_residual)
    runs = [run_of(bandit.rewards, bandit.stream, bandit.features, residual=own) for own in residuals]
    [chosen] = play_with_radius(runs[:1], radii.RADII[rule](inputs), ridge)
    true, seen = (measure(run._replace(checkpoint=1), Choices(chosen.arms), ridge) for run in runs)
    return true._replace(srl_pilot=seen.srl, crw_pilot=seen.crw)


def connected(n: int, density: float, rng: np.random.Generator) -> Graph:
    """Draw a random tree with further random edges, all of random weight."""
    tree = [(int(rng.integers(j)), j) for j in range(1, n)]
    more = [(i, j) for j in range(n) for i in range(j) if rng.random() < density]
    i, j = np.array(sorted({*tree, *more})).T
    return from_edges(n, i, j, rng.uniform(0.5, 2.0, len(i)))


def perturbed(graph: Graph, eps: float, rng: np.random.Generator) -> Graph:
    """Perturb the weights such that the Laplacian moves by eps at most, and nearly by as much."""
    i, j, weight = edges(graph)
    direction = rng.standard_normal(len(weight))

    def moved(step):
        return from_edges(graph.n, i, j, weight * np.exp(step * direction))

    step = 1e-3 * eps / perturbation_norm(moved(1e-3), graph)
    while perturbation_norm(moved(step), graph) > eps:
        step *= 0.95
    return moved(step)


@st.composite
def noisy_graphs(draw, segments=1):
    """Draw (clean basis, observed basis, eps, k, convention, generator), with eps at most a quarter of the gap."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, convention = draw(st.integers(4, 12)), draw(st.sampled_from(sorted(CONVENTIONS)))
    k = draw(st.sampled_from([size for size in (1, 3) if size <= n - 2]))
    graph = connected(n, draw(st.sampled_from([0.0, 0.2, 0.6])), rng)
    if segments > 1:
        graph, n = product(graph, ring(segments), rng.uniform(0.1, 2)), n * segments
    clean = low_eigenpairs(graph, n)
    gap = CONVENTIONS[convention].gap(clean.values, k)
    assume(gap > 1e-5)
    noise = draw(st.sampled_from([0.0, 0.1, 1.0]))
    noisy = perturbed(graph, noise * gap / 4, rng) if noise else graph
    return clean, low_eigenpairs(noisy, n), perturbation_norm(noisy, graph), k, convention, rng


@st.composite
def bandits(draw, smooth=False):
    """Draw a bandit; a smooth one has its reward inside the subspace that is observed."""
    kind = draw(st.sampled_from(["node", "bundle", "segment"]))
    blocks = draw(st.integers(2, 3)) if kind == "segment" else 1
    clean, observed, eps, k, convention, rng = draw(noisy_graphs(blocks))
    n = len(clean.vectors)
    pool = ArmSet(mixtures(draw(st.integers(1, 20)), n, rng)) if kind == "bundle" else ArmSet(blocks=blocks)
    offered = (n if pool.rows is None else pool.rows.shape[0]) // blocks
    kept = CONVENTIONS[convention].select((observed if smooth else clean).vectors, k)
    weight = 0.0 if smooth else draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    m, rounds = draw(st.integers(1, offered)), draw(st.integers(1, 150))
    arms = np.array([rng.permutation(offered)[:m] + offered * rng.integers(blocks) for _ in range(rounds)], np.uint32)
    sigma = draw(st.sampled_from([0.0, 0.1, 1.0]))
    theta = unit((1 - weight) * unit(kept @ rng.standard_normal(k)) + weight * unit(rng.standard_normal(n)))
    pilot = theta + draw(st.sampled_from([0.0, 0.05, 1.0])) * rng.standard_normal(n) / np.sqrt(n)
    return Bandit(
        clean,
        observed,
        eps,
        convention,
        k,
        theta,
        sigma,
        Rounds(arms, sigma * rng.standard_normal(rounds)),
        pilot,
        pool,
    )


def mixtures(count: int, n: int, rng: np.random.Generator) -> sp.csr_array:
    """Draw contexts of one to all nodes, of any sign and length, some of them twice."""
    held = rng.random((count, n)) < rng.uniform(0.1, 1.0)
    held[np.arange(count), rng.integers(n, size=count)] = True
    rows = held * rng.standard_normal((count, n)) * rng.uniform(0.2, 2.0)
    return context_rows(rows[rng.integers(count, size=count)], n)


def posed(graph: Graph, theta: np.ndarray, candidates: list[int], rounds: int) -> Bandit:
    """Pose a bandit without noise on a known graph: u_2 as the only feature, the same candidates in every round."""
    low = low_eigenpairs(graph, graph.n)
    stream = Rounds(np.tile(np.array(candidates, np.uint32), (rounds, 1)), np.zeros(rounds))
    return Bandit(
        low, low, 0.0, "experiments", 1, unit(np.array(theta, float)), 0.0, stream, unit(np.array(theta, float))
    )


def path(rounds: int = 1) -> Bandit:
    """Pose a reward inside the subspace, on three nodes in a row, with the worse end first: all its regret at once."""
    return posed(from_edges(3, np.array([0, 1]), np.array([1, 2])), [-1, 0, 1], [0, 2], rounds)


def twin_nodes(rounds: int = 50) -> Bandit:
    """Pose a reward outside the subspace, which tells apart two nodes where u_2 is zero: nothing is ever learnt."""
    i, j = np.array([0, 1, 1, 2, 3, 4]), np.array([1, 2, 3, 4, 4, 5])
    return posed(from_edges(6, i, j), [0, 0, -1, 1, 0, 0], [2, 3], rounds)
