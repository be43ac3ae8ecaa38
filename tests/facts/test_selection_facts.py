"""Capture margins and residual diagnostics, of the true reward and of a pilot's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphdr.bandit import pilot
from graphdr.facts import registry
from graphdr.facts.registry import FAVOURABLE
from graphdr.facts.selection_facts import AGAINST, DIAGNOSES, FACTS
from graphdr.graphs import arm_features
from tests.support.problem_instances import PILOT_SPEC, setting_of


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_is_a_finite_number_that_comes_out_the_same_again(name, small_graph):
    value = float(FACTS[name](setting_of(small_graph)))
    assert np.isfinite(value)
    assert value == FACTS[name](setting_of(small_graph))
    assert set(registry.FACTORS[name]) <= {*PILOT_SPEC, "k"}


@pytest.mark.parametrize("name", ["gamma", "gamma_pilot", "gamma_low", "gamma_high"])
def test_without_content_there_is_no_margin(name, small_graph):
    assert np.isnan(FACTS[name](setting_of(small_graph)._replace(others={})))


def test_margins_are_differences_of_energies(small_graph):
    setting = setting_of(small_graph)
    low = arm_features.nontrivial(setting.low.vectors, 3)
    kept = np.sum((low.T @ setting.theta) ** 2)
    for fact, basis in (("gamma", "content_pca"), ("gamma_graph", "graph_pca")):
        other = np.sum((setting.others[basis].vectors[:, :3].T @ setting.theta) ** 2)
        assert_allclose(FACTS[fact](setting), kept - other, atol=1e-10)
    assert_allclose(FACTS["gamma_full"](setting), kept - 1, atol=1e-10)


def test_a_long_pilot_sees_what_is_true(small_graph):
    short, long = (setting_of(small_graph, pilot=pulls, noise=0.5) for pulls in (1, 4096))
    assert FACTS["pilot_error"](long) < 0.1 < FACTS["pilot_error"](short)
    assert abs(FACTS["gamma_pilot"](long) - FACTS["gamma"](long)) < 0.02
    for name in DIAGNOSES:
        assert abs(FACTS[f"{name}_pilot"](long) - FACTS[name](long)) < 0.05 * max(1, FACTS[name](long))


def test_the_interval_of_a_pilot_contains_its_estimate(small_graph):
    setting = setting_of(small_graph)
    assert FACTS["gamma_low"](setting) < FACTS["gamma_pilot"](setting) < FACTS["gamma_high"](setting)


@pytest.mark.parametrize("margin", AGAINST)
def test_the_interval_of_a_long_pilot_closes_in_on_the_true_margin(margin, small_graph):
    short, long = (setting_of(small_graph, pilot=pulls) for pulls in (4, 4096))
    ends = [[FACTS[f"{margin}_{end}"](own) for end in ("low", "high")] for own in (short, long)]
    assert ends[0][1] - ends[0][0] > 5 * (ends[1][1] - ends[1][0]) > 0
    assert ends[1][0] - 0.01 < FACTS[margin](long) < ends[1][1] + 0.01


def test_what_a_pilot_saw_is_kept(small_graph):
    setting = setting_of(small_graph, pilot=4)
    assert setting.pilots == {}
    FACTS["g"](setting)
    assert setting.pilots == {}
    FACTS["g_pilot"](setting)
    FACTS["zeta_hat_pilot_16"](setting)
    assert {pulls: own.pulls.sum() for pulls, own in setting.pilots.items()} == {4: 4 * 40, 16: 16 * 40}


def test_a_budget_of_its_own_is_the_pilot_of_that_many_pulls(small_graph):
    setting = setting_of(small_graph, pilot=4)
    for name in DIAGNOSES:
        assert FACTS[f"{name}_pilot_4"](setting) == FACTS[f"{name}_pilot"](setting)
        assert FACTS[f"{name}_pilot_1"](setting) != FACTS[f"{name}_pilot"](setting)


def test_g_is_made_of_width_and_leverage(small_graph):
    setting = setting_of(small_graph)
    crw, srl = FACTS["crw_hat"](setting), FACTS["srl_hat"](setting)
    assert_allclose(FACTS["g"](setting), pilot.g(crw, srl, 3, 1000))
    assert_allclose(FACTS["g_unnormalised"](setting), crw + 2 * srl)


@pytest.mark.parametrize("candidates", ["uniform", "popularity", "neighbourhood"])
def test_the_diagnosis_is_made_on_the_candidates_of_the_problem(candidates, small_graph):
    value = FACTS["crw_hat"](setting_of(small_graph, candidates=candidates))
    others = {FACTS["crw_hat"](setting_of(small_graph, candidates=name)) for name in ("uniform", "neighbourhood")}
    assert value > 0
    assert len(others) == 2


def test_every_margin_and_diagnosis_has_a_direction():
    described = {"energy_graph", "pilot_error"} | {name for name in FACTS if name.endswith(("_low", "_high"))}
    assert set(FACTS) - set(FAVOURABLE) == described
    assert all(FAVOURABLE[name] == (1 if name.startswith("gamma") else -1) for name in set(FACTS) - described)
