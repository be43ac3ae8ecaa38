"""Facts about which reducer to choose: capture margins and residual diagnostics, of the true reward and of a pilot's.

The same facts exist twice: with the true reward, and as the problem's pilot, or one of another budget, sees them.
Diagnoses and candidates are compiled; whoever needs no such fact does not load the compiler.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from graphdr.bandit import pilot
from graphdr.core.rng import stream
from graphdr.facts.declare import PROBLEM, ProblemInstance, fact
from graphdr.facts.graph_facts import energy, energy_content, energy_graph, other_columns
from graphdr.graphs import arm_features
from graphdr.theory.constants import PILOT_SHARE

BUDGETS = (1, 4, 16, 64)  # pulls per node, of the pilots that every problem can be diagnosed with
HELD_OUT = 1000  # candidate sets that the residual is diagnosed on
RESAMPLES = 200  # of the pilot behind an interval
OF_PILOT = ("k", "noise", "pilot")  # factors behind what the problem's pilot sees …
OF_MEANS = (*OF_PILOT, "pilot_from")  # … and behind what is known of its noise


@fact("k", basis="content_pca", favourable=1)
def gamma(instance: ProblemInstance) -> float:
    """Return the capture margin Gamma_k against content-PCA; nan without content."""
    return energy(instance) - energy_content(instance)


@fact("k", basis="graph_pca", favourable=1)
def gamma_graph(instance: ProblemInstance) -> float:
    """Return the capture margin against graph-PCA, which sees the same graph."""
    return energy(instance) - energy_graph(instance)


@fact("k", favourable=1)
def gamma_full(instance: ProblemInstance) -> float:
    """Return the capture margin against full LinUCB, which keeps all energy: minus zeta_k squared."""
    return energy(instance) - 1.0


@fact(*OF_PILOT, budget=PROBLEM)
def pilot_error(instance: ProblemInstance) -> float:
    """Return e_r, how far the residual of the pilot is from the true one."""
    return pilot.pilot_error(_pilot(instance).theta, instance.theta, _low(instance))


@fact(*OF_MEANS, "delta", budget=PROBLEM)
def pilot_error_bound(instance: ProblemInstance) -> float:
    """Return an e_r that is known before the run and too small with a small chance; nan where no noise is known."""
    if not _of_means(instance):
        return np.nan
    chance = PILOT_SHARE * instance.spec["delta"]
    return pilot.error_bound(_pilot(instance), instance.spec["noise"], _low(instance), chance)


@fact(*OF_MEANS, basis="content_pca", favourable=1, budget=PROBLEM)
def gamma_pilot(instance: ProblemInstance) -> float:
    """Return Gamma_k against content-PCA as a pilot sees it; nan without content.

    Less what its noise adds, where the pilot is means of nodes, whose noise is known.
    """
    from graphdr.bandit.diagnosis import gamma as margin
    from graphdr.bandit.diagnosis import gamma_debiased

    other = other_columns(instance, "content_pca")
    if other is None:
        return np.nan
    if not _of_means(instance):
        return float(margin(_pilot(instance).theta, _low(instance), other))
    return gamma_debiased(_pilot(instance), instance.spec["noise"], _low(instance), other)


def _low(instance: ProblemInstance) -> np.ndarray:
    """Return U_k of the observed graph, which is what a learner has."""
    return arm_features.nontrivial(instance.observed_low.vectors, instance.spec["k"])


def _pilot(instance: ProblemInstance, budget: int | str = PROBLEM) -> pilot.Pilot:
    return instance.pilots[instance.spec[PROBLEM] if budget == PROBLEM else budget]


def _of_means(instance: ProblemInstance) -> bool:
    """Tell whether the problem's pilot is plain means of nodes."""
    from graphdr.bandit.pilot_sources import PREFIX

    return instance.pool.rows is None and instance.spec["pilot_from"] == PREFIX


def _streams(instance: ProblemInstance, purpose: str) -> np.random.Generator:
    return stream(instance.seed, purpose, n=instance.observed.n, instance=instance.index)


def _once(instance: ProblemInstance, key: object, make: Callable, *arguments):
    """Compute what several facts of an instance share once."""
    if key not in instance.memo:
        instance.memo[key] = make(*arguments)
    return instance.memo[key]


def _candidates(instance: ProblemInstance) -> np.ndarray:
    from graphdr.bandit.environment import Arena, offer

    adjacency, spec, pool = instance.observed.adjacency, instance.spec, instance.pool
    arena = Arena(instance.popularity, adjacency.indptr, adjacency.indices)
    streams = _streams(instance, "held out"), _streams(instance, "held out arrivals")
    n = instance.observed.n if pool.rows is None else pool.rows.shape[0]
    return offer(spec["candidates"], n, HELD_OUT, spec["arms"], *streams, arena, pool.blocks)


def _diagnosed(instance: ProblemInstance, quantity: str, budget: int | str | None) -> float:
    from graphdr.bandit.diagnosis import diagnose

    theta = instance.theta if budget is None else _pilot(instance, budget).theta
    rounds = _once(instance, "candidates", _candidates, instance), _streams(instance, "held out play")
    settings = theta, _low(instance), *rounds, instance.spec["ridge"], instance.pool
    return _once(instance, ("diagnosis", budget), diagnose, *settings)[quantity]


def _end(instance: ProblemInstance, basis: str | None, end: int) -> float:
    """Return an end of the margin's interval against a basis, or full LinUCB; nan if the data set has no such basis."""
    from graphdr.bandit.diagnosis import gamma_interval, resample

    other = None if basis is None else other_columns(instance, basis)
    if (basis is not None and other is None) or not _of_means(instance):
        return np.nan
    estimate, rng = _pilot(instance), _streams(instance, "pilot resamples")
    again = _once(instance, "pilot again", resample, estimate, RESAMPLES, rng)
    return _once(instance, ("interval", basis), gamma_interval, estimate, again, _low(instance), other)[end]


# The competitors that a margin has an interval against, by the name of the margin; full LinUCB has all columns.
AGAINST = {"gamma": "content_pca", "gamma_graph": "graph_pca", "gamma_full": None}
for _margin, _basis in AGAINST.items():
    _of_interval = fact(*OF_MEANS, basis=_basis, budget=PROBLEM, rounds=True, streams=("pilot resamples",))
    _of_interval(partial(_end, basis=_basis, end=0), f"{_margin}_low")
    _of_interval(partial(_end, basis=_basis, end=1), f"{_margin}_high")

DIAGNOSES = ("zeta_hat", "crw_hat", "srl_hat", "srl_hat_uniform", "g", "g_unnormalised")
# Whose view of the reward is diagnosed, by the suffix of the facts: the budget of a pilot, None for the true reward.
SEEN = {"": None, "_pilot": PROBLEM} | {f"_pilot_{pulls}": pulls for pulls in BUDGETS}
for _suffix, _budget in SEEN.items():
    _factors = OF_PILOT if _budget == PROBLEM else ("k", "noise") if _budget else ("k",)
    _held_out = {"favourable": -1, "budget": _budget, "streams": ("held out", "held out arrivals", "held out play")}
    for _quantity in DIAGNOSES:
        _of_diagnosis = fact(*_factors, "ridge", "candidates", "arms", **_held_out)
        _of_diagnosis(partial(_diagnosed, quantity=_quantity, budget=_budget), _quantity + _suffix)
