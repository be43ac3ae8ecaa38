"""Facts that help to choose a method: capture margins, residual diagnostics, and the evidence for a graph.

Margins and diagnostics are those of the true reward and of pilots. The evidence is the Bayes factor of the graph prior,
on the graph and on shuffled copies. What is compiled is imported by functions: other facts do not load the compiler.
"""

from functools import partial

import numpy as np

from graphdr.bandit import pilot as pilots
from graphdr.bandit.pilot import Pilot
from graphdr.facts.declare import PROBLEM, ProblemInstance, fact
from graphdr.facts.graph_facts import energy, energy_content, energy_graph, other_columns
from graphdr.graphs import arm_features
from graphdr.theory.constants import PILOT_SHARE

BUDGETS = (1, 4, 16, 64)  # pulls per node, of the pilots that every problem can be diagnosed with
HELD_OUT = 1000  # candidate sets that the residual is diagnosed on
RESAMPLES = 200  # of the pilot, for an interval
PULLS = 2000  # rewards of arms drawn at random, as evidence for a graph
COPIES = 20  # of the graph, with shuffled nodes
CLEAR = 2.0  # ln B above which the rewards are evidence for the graph
BASIS = "laplacian_low"


@fact(basis="content_pca", favourable=1)
def gamma(instance: ProblemInstance, *, k: int) -> float:
    """Return the capture margin Gamma_k against content-PCA; nan without content."""
    return energy(instance, k=k) - energy_content(instance, k=k)


@fact(basis="graph_pca", favourable=1)
def gamma_graph(instance: ProblemInstance, *, k: int) -> float:
    """Return the capture margin against graph-PCA, which has the same graph."""
    return energy(instance, k=k) - energy_graph(instance, k=k)


@fact(favourable=1)
def gamma_full(instance: ProblemInstance, *, k: int) -> float:
    """Return the capture margin against full LinUCB, which keeps all energy: minus zeta_k squared."""
    return energy(instance, k=k) - 1.0


@fact(budget=PROBLEM)
def pilot_error(instance: ProblemInstance, *, k: int, pilot: Pilot) -> float:
    """Return e_r, the distance of the residual of the pilot from the true one."""
    return pilots.pilot_error(pilot.theta, instance.theta, _low(instance, k))


@fact(budget=PROBLEM)
def pilot_error_bound(
    instance: ProblemInstance, *, k: int, pilot: Pilot, noise: float, delta: float, pilot_source: str
) -> float:
    """Return a bound on e_r that is known before the run and holds with high probability; nan without known noise."""
    if not _of_means(instance, pilot_source):
        return np.nan
    return pilots.error_bound(pilot, noise, _low(instance, k), PILOT_SHARE * delta)


@fact(basis="content_pca", favourable=1, budget=PROBLEM)
def gamma_pilot(instance: ProblemInstance, *, k: int, pilot: Pilot, noise: float, pilot_source: str) -> float:
    """Return the pilot's estimate of Gamma_k against content-PCA; nan without content.

    If the pilot is means of nodes, whose noise is known, the bias by the noise is subtracted.
    """
    from graphdr.bandit import diagnosis

    low, other = _low(instance, k), other_columns(instance, "content_pca", k)
    if other is None:
        return np.nan
    if not _of_means(instance, pilot_source):
        return float(diagnosis.gamma(pilot.theta, low, other))
    return diagnosis.gamma_debiased(pilot, noise, low, other)


def _low(instance: ProblemInstance, k: int) -> np.ndarray:
    """Return U_k of the observed graph, which a learner has."""
    return arm_features.nontrivial(instance.observed_low.vectors, k)


def _of_means(instance: ProblemInstance, pilot_source: str) -> bool:
    """Tell whether the problem's pilot is plain means of nodes."""
    return instance.arm_set.rows is None and pilot_source == pilots.PREFIX


def _interval_end(
    instance: ProblemInstance, *, basis: str | None, end: int, k: int, pilot: Pilot, pilot_source: str
) -> float:
    """Return an end of the margin's interval against a basis, or full LinUCB; nan if the data set has no such basis."""
    from graphdr.bandit.diagnosis import gamma_interval, resample

    other = None if basis is None else other_columns(instance, basis, k)
    if (basis is not None and other is None) or not _of_means(instance, pilot_source):
        return np.nan
    rng, low = instance.stream("pilot resamples"), _low(instance, k)
    resamples = instance.once("pilot resamples", lambda: resample(pilot, RESAMPLES, rng))
    return instance.once(("interval", basis), lambda: gamma_interval(pilot, resamples, low, other))[end]


# The competitors in the intervals, by the name of the margin; full LinUCB has all columns.
AGAINST = {"gamma": "content_pca", "gamma_graph": "graph_pca", "gamma_full": None}
for _margin, _basis in AGAINST.items():
    for _end, _suffix in enumerate(("low", "high")):
        _declare = fact(f"{_margin}_{_suffix}", basis=_basis, budget=PROBLEM, rounds=True)
        _declare(partial(_interval_end, basis=_basis, end=_end))


def _candidates(instance: ProblemInstance, candidates: str, arms: int) -> np.ndarray:
    """Draw the held-out candidate sets."""
    from graphdr.bandit.environment import CandidateSource, RoundsSpec, offer

    adjacency, arm_set = instance.observed.adjacency, instance.arm_set
    source = CandidateSource(instance.popularity, adjacency.indptr, adjacency.indices)
    streams = instance.stream("held out"), instance.stream("held out arrivals")
    n = instance.observed.n if arm_set.rows is None else arm_set.rows.shape[0]
    return offer(RoundsSpec(HELD_OUT, arms, candidates, blocks=arm_set.blocks), n, *streams, source)


def _diagnosis(
    instance: ProblemInstance,
    *,
    quantity: str,
    pilot: Pilot | None = None,
    k: int,
    ridge: float,
    candidates: str,
    arms: int,
) -> float:
    """Diagnose the residual of the true reward, or of the estimate by a pilot."""
    from graphdr.bandit.diagnosis import diagnose

    theta, low = instance.theta if pilot is None else pilot.theta, _low(instance, k)
    sets = instance.once("candidates", lambda: _candidates(instance, candidates, arms))
    key = "diagnosis", None if pilot is None else id(pilot)
    return instance.once(key, lambda: diagnose(theta, low, sets, ridge, instance.arm_set))[quantity]


DIAGNOSES = ("zeta_hat", "crw_hat", "srl_hat", "g", "g_unnormalised")
for _quantity in DIAGNOSES:
    _function = partial(_diagnosis, quantity=_quantity)
    fact(_quantity, favourable=-1)(_function)
    fact(f"{_quantity}_pilot", favourable=-1, budget=PROBLEM)(_function)
    for _pulls in BUDGETS:
        fact(f"{_quantity}_pilot_{_pulls}", favourable=-1, budget=_pulls)(_function)


@fact(basis=BASIS)
def log_bayes(instance: ProblemInstance, *, noise: float) -> float:
    """Return ln B of the graph after 2,000 random pulls: graph and residual against independent arms."""
    return instance.once("bayes", lambda: _log_factors(instance, noise))[0]


@fact(basis=BASIS)
def log_bayes_shuffled(instance: ProblemInstance, *, noise: float) -> float:
    """Return the largest ln B of 20 copies of the graph with shuffled nodes, after the same pulls."""
    return max(instance.once("bayes", lambda: _log_factors(instance, noise))[1:])


@fact(basis=BASIS)
def log_bayes_misled(instance: ProblemInstance, *, noise: float) -> float:
    """Return the share of these copies with evidence for them: ln B above 2."""
    factors = instance.once("bayes", lambda: _log_factors(instance, noise))
    return float(np.mean([value > CLEAR for value in factors[1:]]))


def _log_factors(instance: ProblemInstance, noise: float) -> list[float]:
    """Return ln B of the graph, then of its copies."""
    from graphdr.bandit.graph_prior import model
    from graphdr.bandit.graph_prior.evidence import log_bayes_factor

    stored = instance.others[BASIS]
    assert stored is not None  # every graph has eigenvectors
    theta = instance.arm_set(instance.theta)
    pulls, shuffles = instance.stream("bayes pulls"), instance.stream("bayes shuffles")
    arms = pulls.integers(len(theta), size=PULLS)
    rewards = theta[arms] + noise * pulls.standard_normal(PULLS)
    statistics = model.statistics(len(theta), arms, rewards)
    features, roughness = arm_features.graded(BASIS, stored)
    orders = [np.arange(len(features)), *(shuffles.permutation(len(features)) for _ in range(COPIES))]
    copies = (model.columns(instance.arm_set(features[order]), roughness) for order in orders)
    return [log_bayes_factor(statistics, copy) for copy in copies]
