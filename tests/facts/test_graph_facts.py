"""Facts about a problem: a contract over all of them, and the inequalities that they must obey."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_equal

from graphdr.facts import graph_facts
from graphdr.facts.registry import FACT_BASES, FACTORS, FACTS, budgets, needs_rounds
from graphdr.graphs import arm_features, bases, model, perturb, spectral
from tests.support import twins
from tests.support.instances import SPEC, embed, pose
from tests.support.project import draw_sbm

OF_GRAPH = [name for name, fact in FACTS.items() if fact.function.__module__ == graph_facts.__name__]
OF_GRAPH = [
    name for name in OF_GRAPH if name not in ("dk_holds_ratio", "dk_theory_ratio")
]  # nan without or with much noise


@pytest.mark.parametrize("name", OF_GRAPH)
@pytest.mark.parametrize(("flip", "tail"), [(0, 0), (0.05, 0), (0, 0.3), (0.05, 0.3)])
def test_every_fact_is_a_finite_number(name, flip, tail, small_graph):
    value = FACTS[name](pose(small_graph, flip, tail))
    assert np.ndim(value) == 0
    assert np.isfinite(float(value))
    assert value >= 0
    assert value == FACTS[name](pose(small_graph, flip, tail))


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_uses_just_the_factors_that_it_declares(name, small_graph):
    """But for the noise of a pilot, which is in its rewards."""
    instance = pose(small_graph, 0.05, 0.3)
    expected = FACTS[name](instance)
    declared = {factor: SPEC[factor] for factor in FACTORS.get(name, ())}
    assert_equal(FACTS[name](pose(small_graph, 0.05, 0.3)._replace(spec=declared)), expected)
    for factor in declared:
        less = instance._replace(spec={other: declared[other] for other in declared if other != factor}, memo={})
        if factor == "noise" and FACTS[name].budget and name not in ("gamma_pilot", "pilot_error_bound"):
            continue
        with pytest.raises(KeyError):
            FACTS[name](less)


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_reads_just_the_pilot_that_it_declares(name, small_graph):
    def value(budgets, keep_rounds=True):
        instance = pose(small_graph, 0.05, 0.3)
        gone = {} if keep_rounds else {"nodes": None, "rewards": None}
        return FACTS[name](instance._replace(pilots={own: instance.pilots[own]._replace(**gone) for own in budgets}))

    needed = budgets([name], SPEC["pilot"])
    expected = value(pose(small_graph).pilots)
    assert_equal(value(needed), expected)
    if needed:
        with pytest.raises(KeyError):
            value([])
    if needs_rounds([name]):
        with pytest.raises(TypeError):
            value(needed, keep_rounds=False)
    else:
        assert_equal(value(needed, keep_rounds=False), expected)


def test_the_budgets_of_several_facts_are_sorted_and_named_once():
    names = ["zeta", "g", "g_pilot", "srl_hat_pilot_64", "pilot_error", "g_pilot_1", "gamma_low"]
    assert budgets(names, 16) == [1, 16, 64]
    assert budgets(names, 64) == [1, 64]
    assert budgets(["zeta", "g", "gamma"], None) == []
    assert needs_rounds(names)
    assert not needs_rounds(names[:-1])


def test_nodes_and_edges_are_those_of_the_observed_graph(small_graph):
    instance = pose(small_graph, flip=0.05)
    assert FACTS["nodes"](instance) == instance.observed.n
    assert FACTS["edges"](instance) == instance.observed.adjacency.toarray().sum() / 2
    assert FACTS["edges"](instance) != FACTS["edges"](pose(small_graph))
    assert_allclose(FACTS["degree"](instance), (instance.observed.adjacency.toarray() > 0).sum(axis=1).mean())


@given(weight=st.floats(0, 1), flip=st.sampled_from([0, 0.1]))
def test_zeta_belongs_to_the_clean_graph(small_graph, weight, flip):
    expected = weight / np.hypot(1 - weight, weight)
    assert_allclose(FACTS["zeta"](pose(small_graph, flip, weight)), expected, atol=1e-9)


def test_zeta_falls_as_k_grows(small_graph):
    tails = [FACTS["zeta"](pose(small_graph, tail=0.3, k=k)) for k in range(1, 10)]
    assert np.all(np.diff(tails) < 0)


@given(tail=st.floats(0, 1), flip=st.sampled_from([0, 0.1]), k=st.integers(1, 10))
def test_energy_and_squared_tail_are_all_there_is(small_graph, tail, flip, k):
    instance = pose(small_graph, flip, tail, k=k)
    assert_allclose(FACTS["energy"](instance) + FACTS["zeta"](instance) ** 2, 1, atol=1e-12)
    if instance.observed.n == small_graph.n:
        _, vectors = np.linalg.eigh(twins.laplacian(small_graph.adjacency.toarray()))
        assert_allclose(FACTS["energy"](instance), np.sum((vectors[:, 1 : k + 1].T @ instance.theta) ** 2), atol=1e-9)


@pytest.mark.parametrize("k", [1, 3, 8, 12])
def test_energy_in_the_content_is_that_of_its_leading_left_singular_vectors(k, small_graph):
    instance = pose(small_graph, tail=0.3, k=k)
    embedding = embed(small_graph.n)
    left, _, _ = np.linalg.svd(embedding / np.linalg.norm(embedding, axis=1, keepdims=True))
    assert_allclose(FACTS["energy_content"](instance), np.sum((left[:, :k].T @ instance.theta) ** 2), atol=1e-9)
    assert np.isnan(FACTS["energy_content"](instance._replace(others={})))


@pytest.mark.parametrize("name", FACTS)
@pytest.mark.parametrize("basis", ["content_pca", "graph_pca"])
def test_just_the_facts_that_say_so_use_another_basis(basis, name, small_graph):
    instance = pose(small_graph, 0.05, 0.3)
    without = pose(small_graph, 0.05, 0.3)._replace(others={**instance.others, basis: None})
    changed = not np.array_equal(FACTS[name](instance), FACTS[name](without), equal_nan=True)
    assert changed == (FACT_BASES.get(name) == basis)


def test_a_data_set_without_content_lacks_just_the_facts_about_it():
    assert set(FACT_BASES.values()) == {"content_pca", "graph_pca", "laplacian_low"}
    assert "content_pca" in bases.FROM_DATA
    assert arm_features.FEATURES["content_pca"] is arm_features.leading


def test_without_flips_nothing_is_perturbed(small_graph):
    assert FACTS["eps_l"](pose(small_graph)) == 0
    assert FACTS["rho"](pose(small_graph, tail=0.3)) == FACTS["zeta"](pose(small_graph, tail=0.3))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("flip", [0.005, 0.02, 0.08])
def test_eps_l_is_a_spectral_norm_and_bounds_all_eigenvalues(flip, seed):
    instance = pose(draw_sbm(seed), flip, seed=seed)
    clean, observed = (model.laplacian(g).toarray() for g in (instance.clean, instance.observed))
    assert len(clean) == len(observed)
    eps = FACTS["eps_l"](instance)
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
def test_rho_is_the_envelope_of_the_robust_theorem(k, small_graph):
    instance = pose(small_graph, flip=0.05, tail=0.3, k=k)
    zeta, eps, gap = (FACTS[name](instance) for name in ("zeta", "eps_l", "eigengap"))
    assert_allclose(FACTS["rho"](instance), zeta + 4 * eps / gap)
    eigenvalue = dict(enumerate(instance.low.values, start=1))
    assert gap == eigenvalue[k + 2] - eigenvalue[k + 1]


@pytest.fixture(scope="module")
def shrunk(small_graph):
    """An instance whose observed graph has lost two nodes, and nothing else."""
    left = model.induced(small_graph, np.delete(np.arange(small_graph.n), [3, 17]))
    return pose(small_graph, observed=left)


def test_lost_nodes_are_no_perturbation(shrunk):
    assert FACTS["nodes"](shrunk) == shrunk.clean.n - 2
    assert FACTS["eps_l"](shrunk) == 0
    assert np.array_equal(graph_facts.surviving(shrunk.clean, shrunk.observed), shrunk.observed.origin)


def test_lost_nodes_give_no_tail(shrunk):
    assert FACTS["zeta"](shrunk) < 1e-9
    assert FACTS["zeta"](shrunk._replace(theta=np.eye(len(shrunk.theta))[0])) > 0.1


@pytest.mark.parametrize("rule", ["k_hat_naive", "k_hat_bootstrap"])
@pytest.mark.parametrize("blocks", [3, 5])
def test_the_eigengap_of_a_clean_block_model_finds_its_blocks(rule, blocks):
    graph = draw_sbm(0, n=100, blocks=blocks, p_out=0.02)
    assert FACTS[rule](pose(graph)) == blocks - 1


@pytest.mark.parametrize("flip", [0, 0.1, 0.25])
def test_a_bootstrap_that_keeps_every_edge_is_the_naive_rule(flip):
    instance = pose(draw_sbm(2), flip, keep=1.0, resamples=2)
    assert FACTS["k_hat_bootstrap"](instance) == FACTS["k_hat_naive"](instance)


@pytest.mark.parametrize("rule", ["k_hat_naive", "k_hat_bootstrap"])
def test_k_hat_is_at_most_k_max(rule):
    graph = draw_sbm(0, n=100, blocks=5, p_out=0.02)
    chosen = [FACTS[rule](pose(graph, k_max=k_max)) for k_max in (1, 2, 3, 4, 8)]
    assert chosen[0] == 1
    assert chosen[3:] == [4, 4]
    assert all(k <= k_max for k, k_max in zip(chosen, (1, 2, 3), strict=False))


def test_the_naive_rule_takes_the_smallest_of_equal_gaps(small_graph):
    instance = pose(small_graph)
    gaps = instance.observed_low._replace(values=np.array([0, 1, 2, 4, 6, 6, 6, 6, 6, 6]) / 4)
    instance = instance._replace(observed_low=gaps)
    assert FACTS["k_hat_naive"](instance) == 2


@pytest.mark.parametrize("rule", ["k_hat_naive", "k_hat_bootstrap"])
def test_k_hat_is_at_least_k_min(rule):
    graph = draw_sbm(0, n=100, blocks=3, p_out=0.02)
    assert FACTS[rule](pose(graph)) == 2
    for k_min in (1, 2, 3, 5, 8):
        k = FACTS[rule](pose(graph, k_min=k_min))
        assert k_min <= k <= SPEC["k_max"]
        assert k_min > 2 or k == 2
    assert FACTS[rule](pose(graph, k_min=8)) == 8


@given(gaps=st.lists(st.integers(0, 5), min_size=8, max_size=8), ends=st.tuples(st.integers(1, 8), st.integers(1, 8)))
def test_the_naive_rule_is_the_first_largest_gap_from_k_min_to_k_max(small_graph, gaps, ends):
    k_min, k_max = sorted(ends)
    instance = pose(small_graph, k_min=k_min, k_max=k_max)
    values = np.cumsum([0.0, 9.0, *gaps])  # the first gap, u_1 to u_2, is nobody's
    chosen = FACTS["k_hat_naive"](instance._replace(observed_low=instance.observed_low._replace(values=values)))
    assert chosen == max(range(k_min, k_max + 1), key=lambda k: gaps[k - 1])


@pytest.mark.parametrize("k", [1, 3, 6])
def test_the_gap_of_the_theory_is_that_above_the_first_k(k, small_graph):
    instance = pose(small_graph, flip=0.05, tail=0.3, k=k)
    eigenvalue = dict(enumerate(np.linalg.eigvalsh(twins.laplacian(small_graph.adjacency.toarray())), start=1))
    zeta, eps, gap = (FACTS[name](instance) for name in ("zeta", "eps_l", "theory_gap"))
    assert_allclose(gap, eigenvalue[k + 1] - eigenvalue[k], atol=1e-9)
    assert_allclose(FACTS["rho_theory"](instance), zeta + 4 * eps / gap)
    assert_allclose(FACTS["rho_rate"](instance), zeta + eps / gap)


def test_davis_and_kahan_hold_in_the_convention_of_the_theory_wherever_they_apply():
    graph = draw_sbm(1, n=100, blocks=3, p_out=0.01)
    observed = [perturb.perturb_weights(graph, eps, np.random.default_rng(0)) for eps in (0.01, 0.05, 0.4)]
    for instance in (pose(graph, observed=other) for other in observed):
        eps, gap = FACTS["eps_l"](instance), FACTS["theory_gap"](instance)
        applies = 4 * eps <= gap
        assert FACTS["dk_theory_qualifies"](instance) == applies
        ratio = FACTS["dk_theory_ratio"](instance)
        if not applies:
            assert np.isnan(ratio)
            continue
        both = (np.linalg.eigh(twins.laplacian(g.adjacency.toarray()))[1][:, :3] for g in (graph, instance.observed))
        clean, noisy = (u @ u.T for u in both)
        assert_allclose(ratio, np.linalg.norm(noisy - clean, 2) / (4 * eps / gap), rtol=1e-6)
        assert 0 < ratio <= 1
    assert FACTS["dk_theory_qualifies"](pose(graph)) == 0  # without noise there is nothing to tell


def test_the_longest_feature_is_that_of_a_row_of_the_observed_basis(small_graph):
    instance = pose(small_graph, flip=0.05)
    rows = instance.observed_low.vectors[:, 1:4]
    assert_allclose(FACTS["longest_feature"](instance), max(np.sqrt(row @ row) for row in rows))
    assert FACTS["longest_feature"](instance) < 1


@pytest.mark.parametrize("k", [1, 3])
def test_corollary_1_compares_the_bounds_of_k_and_n_dimensions(k, small_graph):
    instance = pose(small_graph, k=k)

    def bound(d, t=100):
        radius = 0.1 * np.sqrt(d * np.log(1 + t / d) + 2 * np.log(20)) + 1
        return 2 * radius * np.sqrt(2 * t * d * np.log(1 + t / d))

    assert_allclose(FACTS["bound_over_full"](instance), bound(k) / bound(small_graph.n))
