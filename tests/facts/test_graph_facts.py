"""Facts about a problem: a contract over all of them, and the inequalities that they must obey."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_equal

from graphdr.facts import graph_facts
from graphdr.facts.registry import FACT_BASES, FACTORS, FACTS, budgets, needs_rounds
from graphdr.graphs import model, perturb, spectral
from tests.support import twins
from tests.support.instances import SPEC, embed, pose, value
from tests.support.project import draw_sbm


@pytest.mark.parametrize("name", [name for name in FACTS if name not in ("dk_holds_ratio", "dk_theory_ratio")])
@pytest.mark.parametrize(("flip", "tail"), [(0, 0), (0.05, 0.3)])
def test_every_fact_is_a_finite_number_that_comes_out_the_same_again(name, flip, tail, small_graph):
    """But for ratios of the Davis-Kahan lemma, which are not a number without or with much noise."""
    first = value(name, pose(small_graph, flip, tail))
    assert np.ndim(first) == 0
    assert np.isfinite(float(first))
    assert first >= 0 or name not in vars(graph_facts)
    assert first == value(name, pose(small_graph, flip, tail))


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_uses_just_the_factors_and_the_pilot_that_it_declares(name, small_graph):
    """But for the noise of a pilot, which is in its rewards."""
    instance = pose(small_graph, 0.05, 0.3)
    expected, needed = value(name, instance), budgets([name], SPEC["pilot"])

    def again(factors, pilots):
        return FACTS[name](instance._replace(memo={}, pilots=pilots), factors)

    declared = {factor: SPEC[factor] for factor in FACTORS.get(name, ())}
    pilots = {budget: instance.pilots[budget] for budget in needed}
    without_rounds = {budget: pilot._replace(nodes=None, rewards=None) for budget, pilot in pilots.items()}
    assert_equal(again(declared, pilots), expected)
    for factor in declared:
        if factor != "noise" or not FACTS[name].budget or name in ("gamma_pilot", "pilot_error_bound"):
            with pytest.raises(KeyError):
                again({other: declared[other] for other in declared if other != factor}, pilots)
    if needed:
        with pytest.raises(KeyError):
            again(declared, {})
    if needs_rounds([name]):
        with pytest.raises(ValueError, match="rewards"):
            again(declared, without_rounds)
    else:
        assert_equal(again(declared, without_rounds), expected)


def test_the_budgets_of_several_facts_are_sorted_and_named_once():
    names = ["zeta", "g", "g_pilot", "srl_hat_pilot_64", "pilot_error", "g_pilot_1", "gamma_low"]
    assert budgets(names, 16) == [1, 16, 64]
    assert budgets(names, 64) == [1, 64]
    assert budgets(["zeta", "g", "gamma"], 16) == []
    assert needs_rounds(names)
    assert not needs_rounds(names[:-1])


def test_nodes_and_edges_are_those_of_the_observed_graph(small_graph):
    instance = pose(small_graph, flip=0.05)
    assert value("nodes", instance) == instance.observed.n
    assert value("edges", instance) == instance.observed.adjacency.toarray().sum() / 2
    assert value("edges", instance) != value("edges", pose(small_graph))
    assert_allclose(value("degree", instance), (instance.observed.adjacency.toarray() > 0).sum(axis=1).mean())


@given(weight=st.floats(0, 1), flip=st.sampled_from([0, 0.1]))
def test_zeta_belongs_to_the_clean_graph(small_graph, weight, flip):
    expected = weight / np.hypot(1 - weight, weight)
    assert_allclose(value("zeta", pose(small_graph, flip, weight)), expected, atol=1e-9)


@given(tail=st.floats(0, 1), flip=st.sampled_from([0, 0.1]), k=st.integers(1, 10))
def test_energy_and_squared_tail_are_all_there_is(small_graph, tail, flip, k):
    instance = pose(small_graph, flip, tail)
    energy = value("energy", instance, k=k)
    assert_allclose(energy + value("zeta", instance, k=k) ** 2, 1, atol=1e-12)
    if instance.observed.n == small_graph.n:
        _, vectors = np.linalg.eigh(twins.laplacian(small_graph.adjacency.toarray()))
        assert_allclose(energy, np.sum((vectors[:, 1 : k + 1].T @ instance.theta) ** 2), atol=1e-9)


@pytest.mark.parametrize("k", [1, 3, 8, 12])
def test_energy_in_the_content_is_that_of_its_leading_left_singular_vectors(k, small_graph):
    instance = pose(small_graph, tail=0.3)
    embedding = embed(small_graph.n)
    left, _, _ = np.linalg.svd(embedding / np.linalg.norm(embedding, axis=1, keepdims=True))
    assert_allclose(value("energy_content", instance, k=k), np.sum((left[:, :k].T @ instance.theta) ** 2), atol=1e-9)
    assert np.isnan(value("energy_content", instance._replace(others={})))


@pytest.mark.parametrize("name", FACTS)
@pytest.mark.parametrize("basis", ["content_pca", "graph_pca"])
def test_just_the_facts_that_say_so_use_another_basis(basis, name, small_graph):
    instance = pose(small_graph, 0.05, 0.3)
    without = pose(small_graph, 0.05, 0.3)._replace(others={**instance.others, basis: None})
    changed = not np.array_equal(value(name, instance), value(name, without), equal_nan=True)
    assert changed == (FACT_BASES.get(name) == basis)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("flip", [0.005, 0.02, 0.08])
def test_eps_l_is_a_spectral_norm_and_bounds_all_eigenvalues(flip, seed):
    assert value("eps_l", pose(draw_sbm(seed), seed=seed)) == 0
    instance = pose(draw_sbm(seed), flip, seed=seed)
    clean, observed = (model.laplacian(g).toarray() for g in (instance.clean, instance.observed))
    assert len(clean) == len(observed)
    eps = value("eps_l", instance)
    assert_allclose(eps, np.linalg.norm(observed - clean, 2), atol=1e-12)
    shift = np.abs(np.linalg.eigvalsh(observed) - np.linalg.eigvalsh(clean))  # Weyl
    assert 0 < shift.max() <= eps + 1e-12


def test_eps_l_is_the_same_from_the_iterative_solver(small_graph, monkeypatch):
    observed = perturb.flip_pairs(small_graph, 0.05, np.random.default_rng(0))
    dense = graph_facts.perturbation_norm(observed, small_graph)
    monkeypatch.setattr(spectral, "DENSE_UP_TO", 0)
    assert_allclose(graph_facts.perturbation_norm(observed, small_graph), dense, rtol=1e-9)
    assert_allclose(graph_facts.perturbation_norm(small_graph, observed), dense, rtol=1e-9)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_gaps_and_envelopes_are_those_of_experiments_and_of_the_theory(k, small_graph):
    instance = pose(small_graph, flip=0.05, tail=0.3)
    eigenvalue = dict(enumerate(np.linalg.eigvalsh(twins.laplacian(small_graph.adjacency.toarray())), start=1))
    zeta, eps, gap, theory_gap = (value(name, instance, k=k) for name in ("zeta", "eps_l", "eigengap", "theory_gap"))
    assert_allclose(gap, eigenvalue[k + 2] - eigenvalue[k + 1], atol=1e-9)
    assert_allclose(theory_gap, eigenvalue[k + 1] - eigenvalue[k], atol=1e-9)
    assert_allclose(value("rho", instance, k=k), zeta + 4 * eps / gap)
    assert_allclose(value("rho_theory", instance, k=k), zeta + 4 * eps / theory_gap)
    assert_allclose(value("rho_rate", instance, k=k), zeta + eps / theory_gap)


def test_lost_nodes_are_no_perturbation_and_give_no_tail(small_graph):
    left = model.induced(small_graph, np.delete(np.arange(small_graph.n), [3, 17]))
    shrunk = pose(small_graph, observed=left)
    assert value("nodes", shrunk) == small_graph.n - 2
    assert value("eps_l", shrunk) == 0
    assert np.array_equal(graph_facts.surviving(shrunk.clean, shrunk.observed), shrunk.observed.origin)
    assert value("zeta", shrunk) < 1e-9
    assert value("zeta", shrunk._replace(theta=np.eye(len(shrunk.theta))[0])) > 0.1


@pytest.mark.parametrize("rule", ["k_hat_naive", "k_hat_bootstrap"])
@pytest.mark.parametrize("blocks", [3, 5])
def test_the_eigengap_of_a_clean_block_model_finds_its_blocks_from_k_min_to_k_max(rule, blocks):
    instance = pose(draw_sbm(0, n=100, blocks=blocks, p_out=0.02))
    for k_min, k_max in ((1, 8), (1, blocks - 1), (blocks - 1, 8)):
        assert value(rule, instance, k_min=k_min, k_max=k_max) == blocks - 1
    assert value("k_hat_bootstrap", instance, keep=1.0, resamples=2) == value("k_hat_naive", instance)
    assert 1 <= value(rule, instance, k_max=blocks - 2) <= blocks - 2
    assert blocks <= value(rule, instance, k_min=blocks) <= 8
    assert value(rule, instance, k_min=8) == 8


@given(gaps=st.lists(st.integers(0, 5), min_size=8, max_size=8), ends=st.tuples(st.integers(1, 8), st.integers(1, 8)))
def test_the_naive_rule_is_the_first_largest_gap_from_k_min_to_k_max(small_graph, gaps, ends):
    k_min, k_max = sorted(ends)
    instance = pose(small_graph)
    values = np.cumsum([0.0, 9.0, *gaps])  # the first gap, u_1 to u_2, is nobody's
    instance = instance._replace(observed_low=instance.observed_low._replace(values=values))
    chosen = value("k_hat_naive", instance, k_min=k_min, k_max=k_max)
    assert chosen == max(range(k_min, k_max + 1), key=lambda k: gaps[k - 1])


def test_davis_and_kahan_hold_in_the_convention_of_the_theory_wherever_they_apply():
    graph = draw_sbm(1, n=100, blocks=3, p_out=0.01)
    observed = [perturb.perturb_weights(graph, eps, np.random.default_rng(0)) for eps in (0.01, 0.05, 0.4)]
    for instance in (pose(graph, observed=other) for other in observed):
        eps, gap = value("eps_l", instance), value("theory_gap", instance)
        applies = 4 * eps <= gap
        assert value("dk_theory_qualifies", instance) == applies
        ratio = value("dk_theory_ratio", instance)
        if not applies:
            assert np.isnan(ratio)
            continue
        both = (np.linalg.eigh(twins.laplacian(g.adjacency.toarray()))[1][:, :3] for g in (graph, instance.observed))
        clean, noisy = (u @ u.T for u in both)
        assert_allclose(ratio, np.linalg.norm(noisy - clean, 2) / (4 * eps / gap), rtol=1e-6)
        assert 0 < ratio <= 1
    assert value("dk_theory_qualifies", pose(graph)) == 0  # without noise there is nothing to tell


def test_the_longest_feature_is_that_of_a_row_of_the_observed_basis(small_graph):
    instance = pose(small_graph, flip=0.05)
    rows = instance.observed_low.vectors[:, 1:4]
    assert_allclose(value("longest_feature", instance), max(np.sqrt(row @ row) for row in rows))
    assert value("longest_feature", instance) < 1


@pytest.mark.parametrize("k", [1, 3])
def test_corollary_1_compares_the_bounds_of_k_and_n_dimensions(k, small_graph):
    instance = pose(small_graph)

    def bound(d, t=100):
        radius = 0.1 * np.sqrt(d * np.log(1 + t / d) + 2 * np.log(20)) + 1
        return 2 * radius * np.sqrt(2 * t * d * np.log(1 + t / d))

    assert_allclose(value("bound_over_full", instance, k=k), bound(k) / bound(small_graph.n))
