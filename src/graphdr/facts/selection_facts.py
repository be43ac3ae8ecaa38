"""Facts about which reducer to choose: capture margins and residual diagnostics, of the true reward and of a pilot's.

The same facts exist twice: with the true reward, and as a pilot of ``pilot`` pulls a node sees them.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from graphdr.core.rng import stream
from graphdr.facts.graph_facts import Setting, energy, energy_content
from graphdr.graphs import arm_features

BUDGETS = (1, 4, 16, 64)  # pulls a node, of the pilots that every problem can be diagnosed with
HELD_OUT = 1000  # candidate sets that the residual is diagnosed on
RESAMPLES = 200  # of the pilot behind an interval


def gamma(setting: Setting) -> float:
    """Return the capture margin Gamma_k against content-PCA; nan without content."""
    return energy(setting) - energy_content(setting)


def energy_graph(setting: Setting) -> float:
    """Return the reward energy inside the first k components of graph-PCA."""
    return 1.0 - arm_features.tail(_columns(setting, "graph_pca"), setting.theta) ** 2


def gamma_graph(setting: Setting) -> float:
    """Return the capture margin against graph-PCA, which sees the same graph."""
    return energy(setting) - energy_graph(setting)


def gamma_full(setting: Setting) -> float:
    """Return the capture margin against full LinUCB, which keeps all energy: minus zeta_k squared."""
    return energy(setting) - 1.0


def _columns(setting: Setting, basis: str) -> np.ndarray:
    """Return the first k components of another basis than the graph's own."""
    return arm_features.leading(setting.others[basis].vectors, setting.spec["k"])


def _low(setting: Setting) -> np.ndarray:
    """Return U_k of the observed graph, which is what a learner has."""
    return arm_features.nontrivial(setting.observed_low.vectors, setting.spec["k"])


def _streams(setting: Setting, purpose: str) -> np.random.Generator:
    return stream(setting.root, purpose, n=setting.observed.n, instance=setting.instance)


def _once(memo: dict, key, make):
    """Compute what several facts of a setting share once."""
    if key not in memo:
        memo[key] = make()
    return memo[key]


def _pilot(setting: Setting, pulls: int | None = None):
    """Return the pilot of so many pulls a node, those of the problem if none are given."""
    from graphdr.bandit import pilot

    pulls = pulls or setting.spec["pilot"]
    noise, rounds = setting.spec["noise"], pulls * setting.observed.n
    make = partial(pilot.play, setting.theta, noise, rounds, _streams(setting, "pilot"))
    return _once(setting.pilots, pulls, make)


def _candidates(setting: Setting) -> np.ndarray:
    from graphdr.bandit.environment import CANDIDATES, Arena

    adjacency, spec = setting.observed.adjacency, setting.spec
    arena = Arena(setting.popularity, adjacency.indptr, adjacency.indices)
    draw = CANDIDATES[spec["candidates"]]
    return draw(setting.observed.n, HELD_OUT, spec["arms"], _streams(setting, "held out"), arena)


def _diagnosis(setting: Setting, seen: Callable[[Setting], np.ndarray], name: str) -> dict[str, float]:
    from graphdr.bandit import pilot

    def make():
        arms = _once(setting.memo, "candidates", lambda: _candidates(setting))
        play = _streams(setting, "held out play")
        return pilot.diagnose(seen(setting), _low(setting), arms, play, setting.spec["ridge"])

    return _once(setting.memo, f"diagnosis{name}", make)


# What is diagnosed, by the suffix of its facts: the true reward, what the problem's pilot sees, what others see.
SEEN = {"": lambda setting: setting.theta, "_pilot": lambda setting: _pilot(setting).theta} | {
    f"_pilot_{pulls}": lambda setting, pulls=pulls: _pilot(setting, pulls).theta for pulls in BUDGETS
}


def _of_diagnosis(quantity: str, suffix: str) -> Callable[[Setting], float]:
    """Return the fact that reads one quantity of the residual diagnosis."""

    def fact(setting: Setting) -> float:
        return _diagnosis(setting, SEEN[suffix], suffix)[quantity]

    fact.__name__ = quantity + suffix
    return fact


def pilot_error(setting: Setting) -> float:
    """Return e_r, how far the residual of the pilot is from the true one."""
    from graphdr.bandit import pilot

    return pilot.pilot_error(_pilot(setting).theta, setting.theta, _low(setting))


def gamma_pilot(setting: Setting) -> float:
    """Return Gamma_k against content-PCA as a pilot sees it, less what its noise adds; nan without content."""
    from graphdr.bandit import pilot

    if setting.others.get("content_pca") is None:
        return np.nan
    subspaces = _low(setting), _columns(setting, "content_pca")
    return pilot.gamma_debiased(_pilot(setting), setting.spec["noise"], *subspaces)


def _interval(setting: Setting, basis: str) -> tuple[float, float]:
    from graphdr.bandit import pilot

    everything = basis == arm_features.IDENTITY
    if not everything and setting.others.get(basis) is None:
        return np.nan, np.nan

    def make():
        draw = partial(pilot.resample, _pilot(setting), RESAMPLES, _streams(setting, "pilot resamples"))
        again = _once(setting.memo, "pilot again", draw)
        other = None if everything else _columns(setting, basis)
        return pilot.gamma_interval(_pilot(setting), again, _low(setting), other)

    return _once(setting.memo, f"interval {basis}", make)


# The competitors that a margin has an interval against, by the name of the margin.
AGAINST = {"gamma": "content_pca", "gamma_graph": "graph_pca", "gamma_full": arm_features.IDENTITY}


def _end(margin: str, end: int) -> Callable[[Setting], float]:
    """Return the fact that is one end of the bootstrap interval of a margin, as a pilot sees it."""

    def fact(setting: Setting) -> float:
        return _interval(setting, AGAINST[margin])[end]

    fact.__name__ = f"{margin}_{('low', 'high')[end]}"
    return fact


DIAGNOSES = ("zeta_hat", "crw_hat", "srl_hat", "srl_hat_uniform", "g", "g_unnormalised")
ENDS = [_end(margin, end) for margin in AGAINST for end in (0, 1)]
MARGINS = (gamma, energy_graph, gamma_graph, gamma_full, pilot_error, gamma_pilot, *ENDS)
FACTS = {f.__name__: f for f in MARGINS} | {
    fact.__name__: fact for name in DIAGNOSES for fact in (_of_diagnosis(name, suffix) for suffix in SEEN)
}
FACTORS = {name: ("k", "noise", "ridge", "pilot", "candidates", "arms") for name in FACTS}
FACT_BASES = dict.fromkeys(("gamma", "gamma_pilot", "gamma_low", "gamma_high"), "content_pca") | dict.fromkeys(
    ("energy_graph", "gamma_graph", "gamma_graph_low", "gamma_graph_high"), "graph_pca"
)
