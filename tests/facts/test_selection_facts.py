"""Capture margins and residual diagnostics, of the true reward and of a pilot's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphdr.bandit import diagnosis
from graphdr.facts import graph_facts
from graphdr.facts.registry import FACTORS, FACTS, FAVOURABLE
from graphdr.facts.selection_facts import AGAINST, DIAGNOSES
from graphdr.graphs import arm_features
from tests.support.instances import SPEC, pose

OF_SELECTION = [name for name in FACTS if name not in vars(graph_facts)]


def tailed(graph, **spec):
    return pose(graph, tail=0.3, **spec)


@pytest.mark.parametrize("name", [*OF_SELECTION, "energy_graph"])
def test_every_fact_is_a_finite_number_that_comes_out_the_same_again(name, small_graph):
    value = float(FACTS[name](tailed(small_graph)))
    assert np.isfinite(value)
    assert value == FACTS[name](tailed(small_graph))
    assert set(FACTORS[name]) <= {*SPEC}


@pytest.mark.parametrize("name", ["gamma", "gamma_pilot", "gamma_low", "gamma_high"])
def test_without_content_there_is_no_margin(name, small_graph):
    assert np.isnan(FACTS[name](tailed(small_graph)._replace(others={})))


def test_margins_are_differences_of_energies(small_graph):
    instance = tailed(small_graph)
    low = arm_features.nontrivial(instance.low.vectors, 3)
    kept = np.sum((low.T @ instance.theta) ** 2)
    for fact, basis in (("gamma", "content_pca"), ("gamma_graph", "graph_pca")):
        other = np.sum((instance.others[basis].vectors[:, :3].T @ instance.theta) ** 2)
        assert_allclose(FACTS[fact](instance), kept - other, atol=1e-10)
    assert_allclose(FACTS["gamma_full"](instance), kept - 1, atol=1e-10)


def test_a_long_pilot_sees_what_is_true(small_graph):
    short, long = (tailed(small_graph, pilot=pulls, noise=0.5) for pulls in (1, 4096))
    assert FACTS["pilot_error"](long) < 0.1 < FACTS["pilot_error"](short)
    assert abs(FACTS["gamma_pilot"](long) - FACTS["gamma"](long)) < 0.02
    for name in DIAGNOSES:
        assert abs(FACTS[f"{name}_pilot"](long) - FACTS[name](long)) < 0.05 * max(1, FACTS[name](long))


def test_the_interval_of_a_pilot_contains_its_estimate(small_graph):
    instance = tailed(small_graph)
    assert FACTS["gamma_low"](instance) < FACTS["gamma_pilot"](instance) < FACTS["gamma_high"](instance)


@pytest.mark.parametrize("margin", AGAINST)
def test_the_interval_of_a_long_pilot_closes_in_on_the_true_margin(margin, small_graph):
    short, long = (tailed(small_graph, pilot=pulls) for pulls in (4, 4096))
    ends = [[FACTS[f"{margin}_{end}"](instance) for end in ("low", "high")] for instance in (short, long)]
    assert ends[0][1] - ends[0][0] > 5 * (ends[1][1] - ends[1][0]) > 0
    assert ends[1][0] - 0.01 < FACTS[margin](long) < ends[1][1] + 0.01


def test_a_fact_without_its_pilot_is_an_error_and_not_a_pilot_played_in_secret(small_graph):
    instance = tailed(small_graph)._replace(pilots={})
    assert np.isfinite(FACTS["g"](instance))
    for name in ("g_pilot", "zeta_hat_pilot_16", "gamma_low"):
        with pytest.raises(KeyError):
            FACTS[name](instance)


def test_a_budget_of_its_own_is_the_pilot_of_that_many_pulls(small_graph):
    instance = tailed(small_graph, pilot=4)
    for name in DIAGNOSES:
        assert FACTS[f"{name}_pilot_4"](instance) == FACTS[f"{name}_pilot"](instance)
        assert FACTS[f"{name}_pilot_1"](instance) != FACTS[f"{name}_pilot"](instance)


def test_g_is_made_of_width_and_leverage(small_graph):
    instance = tailed(small_graph)
    crw, srl = FACTS["crw_hat"](instance), FACTS["srl_hat"](instance)
    assert_allclose(FACTS["g"](instance), diagnosis.g(crw, srl, 3, 1000))
    assert_allclose(FACTS["g_unnormalised"](instance), crw + 2 * srl)


@pytest.mark.parametrize("candidates", ["uniform", "popularity", "neighbourhood"])
def test_the_diagnosis_is_made_on_the_candidates_of_the_problem(candidates, small_graph):
    value = FACTS["crw_hat"](tailed(small_graph, candidates=candidates))
    others = {FACTS["crw_hat"](tailed(small_graph, candidates=name)) for name in ("uniform", "neighbourhood")}
    assert value > 0
    assert len(others) == 2


def test_every_margin_and_diagnosis_has_a_direction():
    described = {name for name in FACTS if name.endswith(("_low", "_high")) or name.startswith("log_bayes")}
    described |= {"pilot_error", "pilot_error_bound"}
    assert set(OF_SELECTION) - set(FAVOURABLE) == described
    assert all(FAVOURABLE[name] == (1 if name.startswith("gamma") else -1) for name in set(OF_SELECTION) - described)
    others = {name: sign for name, sign in FAVOURABLE.items() if name not in OF_SELECTION}
    assert {name for name, sign in others.items() if sign > 0} == {"energy", "eigengap"}
    assert {name for name, sign in others.items() if sign < 0} == {
        "zeta",
        "rho",
        "rho_theory",
        "rho_rate",
        "srl",
        "crw",
    }
