"""Capture margins, residual diagnostics of the true reward and of a pilot's, and the Bayes factor of a graph."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from graphdr.bandit import diagnosis
from graphdr.bandit.arm_set import ArmSet
from graphdr.facts import graph_facts
from graphdr.facts.registry import FACTS, FAVOURABLE
from graphdr.facts.selection_facts import AGAINST, COPIES, DIAGNOSES
from graphdr.graphs import arm_features
from tests.support.instances import pose, value
from tests.support.project import draw_sbm

OF_SELECTION = [name for name in FACTS if name not in vars(graph_facts)]


def tailed(graph, **factors):
    return pose(graph, tail=0.3, **factors)


@pytest.mark.parametrize("name", ["gamma", "gamma_pilot", "gamma_low", "gamma_high"])
def test_without_content_there_is_no_margin(name, small_graph):
    assert np.isnan(value(name, tailed(small_graph)._replace(others={})))


def test_margins_are_differences_of_energies(small_graph):
    instance = tailed(small_graph)
    low = arm_features.nontrivial(instance.low.vectors, 3)
    kept = np.sum((low.T @ instance.theta) ** 2)
    for fact, basis in (("gamma", "content_pca"), ("gamma_graph", "graph_pca")):
        other = np.sum((instance.others[basis].vectors[:, :3].T @ instance.theta) ** 2)
        assert_allclose(value(fact, instance), kept - other, atol=1e-10)
    assert_allclose(value("gamma_full", instance), kept - 1, atol=1e-10)


def test_a_long_pilot_sees_what_is_true(small_graph):
    factors = {"pilot": 4096, "noise": 0.5}
    short, long = tailed(small_graph, pilot=1, noise=0.5), tailed(small_graph, **factors)
    assert value("pilot_error", long, **factors) < 0.1 < value("pilot_error", short, pilot=1, noise=0.5)
    assert abs(value("gamma_pilot", long, **factors) - value("gamma", long)) < 0.02
    for name in DIAGNOSES:
        true = value(name, long)
        assert abs(value(f"{name}_pilot", long, **factors) - true) < 0.05 * max(1, true)


@pytest.mark.parametrize("margin", AGAINST)
def test_the_interval_of_a_long_pilot_closes_in_on_the_true_margin(margin, small_graph):
    def interval(instance, pulls):
        return [value(f"{margin}_{end}", instance, pilot=pulls) for end in ("low", "high")]

    usual = tailed(small_graph)
    assert value("gamma_low", usual) < value("gamma_pilot", usual) < value("gamma_high", usual)
    short, long = (tailed(small_graph, pilot=pulls) for pulls in (4, 4096))
    (low, high), (lower, upper) = interval(short, 4), interval(long, 4096)
    assert high - low > 5 * (upper - lower) > 0
    assert lower - 0.01 < value(margin, long) < upper + 0.01


def test_a_budget_of_its_own_is_the_pilot_of_that_many_pulls(small_graph):
    instance = tailed(small_graph, pilot=4)
    for name in DIAGNOSES:
        assert value(f"{name}_pilot_4", instance) == value(f"{name}_pilot", instance, pilot=4)
        assert value(f"{name}_pilot_1", instance) != value(f"{name}_pilot", instance, pilot=4)


def test_g_is_made_of_width_and_leverage(small_graph):
    instance = tailed(small_graph)
    crw, srl = value("crw_hat", instance), value("srl_hat", instance)
    assert_allclose(value("g", instance), diagnosis.g(crw, srl, 3, 1000))
    assert_allclose(value("g_unnormalised", instance), crw + 2 * srl)


def test_the_diagnosis_is_made_on_the_candidates_of_the_problem(small_graph):
    candidates = ("uniform", "popularity", "neighbourhood")
    diagnoses = {value("crw_hat", tailed(small_graph), candidates=name) for name in candidates}
    assert min(diagnoses) > 0
    assert len(diagnoses) == 3


def test_every_margin_and_diagnosis_has_a_direction():
    for name in OF_SELECTION:
        is_described = name.endswith(("_low", "_high")) or name.startswith(("log_bayes", "pilot_error"))
        assert FAVOURABLE.get(name, 0) == (0 if is_described else 1 if name.startswith("gamma") else -1)
    others = {name: sign for name, sign in FAVOURABLE.items() if name not in OF_SELECTION}
    good, bad = ("energy", "eigengap"), ("zeta", "rho", "rho_theory", "rho_rate", "srl", "crw")
    assert others == dict.fromkeys(good, 1) | dict.fromkeys(bad, -1)


# The evidence for a graph


def test_rewards_speak_for_their_graph_and_not_for_its_shuffled_copies():
    true, largest, misled = (
        [value(name, pose(draw_sbm(seed), tail=0.3, seed=seed)) for seed in range(3)]
        for name in ("log_bayes", "log_bayes_shuffled", "log_bayes_misled")
    )
    assert min(true) > 10
    assert max(largest) < min(true)
    assert np.mean(misled) <= 0.02


def test_copies_are_shuffled_graphs(small_graph):
    """A reward that no graph explains tells no copy from the graph itself: its rank among them is any."""
    instance = pose(small_graph)
    rng = np.random.default_rng(0)
    ranks = []
    for number in range(12):
        posed = instance._replace(theta=rng.standard_normal(small_graph.n) / 5, number=number, memo={})
        value("log_bayes", posed)
        true, *copies = posed.memo["bayes"]
        assert len(copies) == COPIES
        ranks.append(np.mean(np.array(copies) < true))
    assert 0.25 < np.mean(ranks) < 0.75


def test_the_arms_of_a_pool_are_what_is_pulled(small_graph):
    nodes = pose(small_graph, tail=0.3)
    same = nodes._replace(arm_set=ArmSet(sparse.eye_array(small_graph.n, format="csr")), memo={})
    mixed = nodes._replace(
        arm_set=ArmSet(sparse.csr_array(np.full((5, small_graph.n), 0.1))), memo={}
    )  # all arms alike
    assert value("log_bayes", same) == value("log_bayes", nodes)
    assert value("log_bayes", mixed) < 2 < value("log_bayes", nodes)
