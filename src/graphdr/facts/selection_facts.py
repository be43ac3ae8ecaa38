"""Facts that help to choose a method: capture margins and residual diagnostics, of the true reward and of pilots.

Diagnoses and candidates are compiled; functions import them, so that other facts do not load the compiler.
"""

from functools import partial

import numpy as np

from graphdr.bandit import pilot as pilots
from graphdr.facts.declare import PROBLEM, ProblemInstance, fact
from graphdr.facts.graph_facts import energy, energy_content, energy_graph, other_columns
from graphdr.graphs import arm_features
from graphdr.theory.constants import PILOT_SHARE

BUDGETS = (1, 4, 16, 64)  # pulls per node, of the pilots that every problem can be diagnosed with
HELD_OUT = 1000  # candidate sets that the residual is diagnosed on
RESAMPLES = 200  # of the pilot, for an interval


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
def pilot_error(instance: ProblemInstance, *, k: int, pilot: int) -> float:
    """Return e_r, the distance of the residual of the pilot from the true one."""
    return pilots.pilot_error(instance.pilots[pilot].theta, instance.theta, _low(instance, k))


@fact(budget=PROBLEM)
def pilot_error_bound(
    instance: ProblemInstance, *, k: int, pilot: int, noise: float, delta: float, pilot_source: str
) -> float:
    """Return a bound on e_r that is known before the run and holds with high probability; nan without known noise."""
    if not _of_means(instance, pilot_source):
        return np.nan
    return pilots.error_bound(instance.pilots[pilot], noise, _low(instance, k), PILOT_SHARE * delta)


@fact(basis="content_pca", favourable=1, budget=PROBLEM)
def gamma_pilot(instance: ProblemInstance, *, k: int, pilot: int, noise: float, pilot_source: str) -> float:
    """Return the pilot's estimate of Gamma_k against content-PCA; nan without content.

    If the pilot is means of nodes, whose noise is known, the bias by the noise is subtracted.
    """
    from graphdr.bandit.diagnosis import gamma as margin
    from graphdr.bandit.diagnosis import gamma_debiased

    other = other_columns(instance, "content_pca", k)
    if other is None:
        return np.nan
    if not _of_means(instance, pilot_source):
        return float(margin(instance.pilots[pilot].theta, _low(instance, k), other))
    return gamma_debiased(instance.pilots[pilot], noise, _low(instance, k), other)


def _low(instance: ProblemInstance, k: int) -> np.ndarray:
    """Return U_k of the observed graph, which a learner has."""
    return arm_features.nontrivial(instance.observed_low.vectors, k)


def _of_means(instance: ProblemInstance, pilot_source: str) -> bool:
    """Tell whether the problem's pilot is plain means of nodes."""
    from graphdr.bandit.pilot_sources import PREFIX

    return instance.arm_set.rows is None and pilot_source == PREFIX


def _interval_end(
    instance: ProblemInstance, *, basis: str | None, end: int, k: int, pilot: int, pilot_source: str
) -> float:
    """Return an end of the margin's interval against a basis, or full LinUCB; nan if the data set has no such basis."""
    from graphdr.bandit.diagnosis import gamma_interval, resample

    other = None if basis is None else other_columns(instance, basis, k)
    if (basis is not None and other is None) or not _of_means(instance, pilot_source):
        return np.nan
    estimate, rng = instance.pilots[pilot], instance.stream("pilot resamples")
    resamples = instance.once("pilot resamples", lambda: resample(estimate, RESAMPLES, rng))
    low = _low(instance, k)
    return instance.once(("interval", basis), lambda: gamma_interval(estimate, resamples, low, other))[end]


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
    instance: ProblemInstance, *, quantity: str, budget: int | None, k: int, ridge: float, candidates: str, arms: int
) -> float:
    """Diagnose the residual of the true reward, or of the estimate by a pilot of this budget."""
    from graphdr.bandit.diagnosis import diagnose

    theta = instance.theta if budget is None else instance.pilots[budget].theta
    sets = instance.once("candidates", lambda: _candidates(instance, candidates, arms))
    low = _low(instance, k)
    return instance.once(("diagnosis", budget), lambda: diagnose(theta, low, sets, ridge, instance.arm_set))[quantity]


def _pilot_diagnosis(
    instance: ProblemInstance, *, quantity: str, pilot: int, k: int, ridge: float, candidates: str, arms: int
) -> float:
    """Diagnose the residual of the estimate by the problem's pilot."""
    return _diagnosis(instance, quantity=quantity, budget=pilot, k=k, ridge=ridge, candidates=candidates, arms=arms)


DIAGNOSES = ("zeta_hat", "crw_hat", "srl_hat", "g", "g_unnormalised")
_held_out = partial(fact, favourable=-1)
for _quantity in DIAGNOSES:
    _held_out(_quantity)(partial(_diagnosis, quantity=_quantity, budget=None))
    _held_out(f"{_quantity}_pilot", budget=PROBLEM)(partial(_pilot_diagnosis, quantity=_quantity))
    for _pulls in BUDGETS:
        _held_out(f"{_quantity}_pilot_{_pulls}", budget=_pulls)(partial(_diagnosis, quantity=_quantity, budget=_pulls))
