"""Facts about a problem: a contract over all of them, and the inequalities that they must obey."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.facts import graph_facts
from graphdr.facts.graph_facts import FACT_BASES, FACTORS, FACTS
from graphdr.graphs import arm_features, bases, model, perturb, spectral
from tests.support import twins
from tests.support.problem_instances import SPEC, embed, pose
from tests.support.project import draw_sbm


@pytest.mark.parametrize("name", FACTS)
@pytest.mark.parametrize(("flip", "tail"), [(0, 0), (0.05, 0), (0, 0.3), (0.05, 0.3)])
def test_every_fact_is_a_finite_number(name, flip, tail, small_graph):
    value = FACTS[name](pose(small_graph, flip, tail))
    assert np.ndim(value) == 0
    assert np.isfinite(float(value))
    assert value >= 0
    assert value == FACTS[name](pose(small_graph, flip, tail))


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_uses_just_the_factors_that_it_declares(name, small_graph):
    setting = pose(small_graph, 0.05, 0.3)
    expected = FACTS[name](setting)
    declared = {factor: SPEC[factor] for factor in FACTORS.get(name, ())}
    assert FACTS[name](pose(small_graph, 0.05, 0.3)._replace(spec=declared)) == expected
    for factor in declared:
        with pytest.raises(KeyError):
            FACTS[name](setting._replace(spec={other: declared[other] for other in declared if other != factor}))


def test_nodes_and_edges_are_those_of_the_observed_graph(small_graph):
    setting = pose(small_graph, flip=0.05)
    assert FACTS["nodes"](setting) == setting.observed.n
    assert FACTS["edges"](setting) == setting.observed.adjacency.toarray().sum() / 2
    assert FACTS["edges"](setting) != FACTS["edges"](pose(small_graph))
    assert_allclose(FACTS["degree"](setting), (setting.observed.adjacency.toarray() > 0).sum(axis=1).mean())


@given(weight=st.floats(0, 1), flip=st.sampled_from([0, 0.1]))
def test_zeta_belongs_to_the_clean_graph(small_graph, weight, flip):
    expected = weight / np.hypot(1 - weight, weight)
    assert_allclose(FACTS["zeta"](pose(small_graph, flip, weight)), expected, atol=1e-9)


def test_zeta_falls_as_k_grows(small_graph):
    tails = [FACTS["zeta"](pose(small_graph, tail=0.3, k=k)) for k in range(1, 10)]
    assert np.all(np.diff(tails) < 0)


@given(tail=st.floats(0, 1), flip=st.sampled_from([0, 0.1]), k=st.integers(1, 10))
def test_energy_and_squared_tail_are_all_there_is(small_graph, tail, flip, k):
    setting = pose(small_graph, flip, tail, k=k)
    assert_allclose(FACTS["energy"](setting) + FACTS["zeta"](setting) ** 2, 1, atol=1e-12)
    if setting.observed.n == small_graph.n:
        _, vectors = np.linalg.eigh(twins.laplacian(small_graph.adjacency.toarray()))
        assert_allclose(FACTS["energy"](setting), np.sum((vectors[:, 1 : k + 1].T @ setting.theta) ** 2), atol=1e-9)


@pytest.mark.parametrize("k", [1, 3, 8, 12])
def test_energy_in_the_content_is_that_of_its_leading_left_singular_vectors(k, small_graph):
    setting = pose(small_graph, tail=0.3, k=k)
    embedding = embed(small_graph.n)
    left, _, _ = np.linalg.svd(embedding / np.linalg.norm(embedding, axis=1, keepdims=True))
    assert_allclose(FACTS["energy_content"](setting), np.sum((left[:, :k].T @ setting.theta) ** 2), atol=1e-9)
    assert np.isnan(FACTS["energy_content"](setting._replace(others={})))


def test_just_the_facts_that_say_so_use_the_content(small_graph):
    setting = pose(small_graph, 0.05, 0.3)
    without = {name: fact(setting._replace(others={}, rng=np.random.default_rng(0))) for name, fact in FACTS.items()}
    using = {name for name in FACTS if FACTS[name](pose(small_graph, 0.05, 0.3)) != without[name]}
    assert using == set(FACT_BASES)
    assert set(FACT_BASES.values()) <= bases.FROM_DATA
    assert arm_features.FEATURES["content_pca"] is arm_features.leading


def test_without_flips_nothing_is_perturbed(small_graph):
    assert FACTS["eps_l"](pose(small_graph)) == 0
    assert FACTS["rho"](pose(small_graph, tail=0.3)) == FACTS["zeta"](pose(small_graph, tail=0.3))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("flip", [0.005, 0.02, 0.08])
def test_eps_l_is_a_spectral_norm_and_bounds_all_eigenvalues(flip, seed):
    setting = pose(draw_sbm(seed), flip, seed=seed)
    clean, observed = (model.laplacian(g).toarray() for g in (setting.clean, setting.observed))
    assert len(clean) == len(observed)
    eps = FACTS["eps_l"](setting)
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
    setting = pose(small_graph, flip=0.05, tail=0.3, k=k)
    zeta, eps, gap = (FACTS[name](setting) for name in ("zeta", "eps_l", "eigengap"))
    assert_allclose(FACTS["rho"](setting), zeta + 4 * eps / gap)
    eigenvalue = dict(enumerate(setting.low.values, start=1))
    assert gap == eigenvalue[k + 2] - eigenvalue[k + 1]


@pytest.fixture(scope="module")
def shrunk(small_graph):
    """A setting whose observed graph has lost two nodes, and nothing else."""
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
    setting = pose(draw_sbm(2), flip, keep=1.0, resamples=2)
    assert FACTS["k_hat_bootstrap"](setting) == FACTS["k_hat_naive"](setting)


@pytest.mark.parametrize("rule", ["k_hat_naive", "k_hat_bootstrap"])
def test_k_hat_is_at_most_k_max(rule):
    graph = draw_sbm(0, n=100, blocks=5, p_out=0.02)
    found = [FACTS[rule](pose(graph, k_max=k_max)) for k_max in (1, 2, 3, 4, 8)]
    assert found[0] == 1
    assert found[3:] == [4, 4]
    assert all(k <= k_max for k, k_max in zip(found, (1, 2, 3), strict=False))


def test_the_naive_rule_takes_the_smallest_of_equal_gaps(small_graph):
    setting = pose(small_graph)
    gaps = setting.observed_low._replace(values=np.array([0, 1, 2, 4, 6, 6, 6, 6, 6, 6]) / 4)
    setting = setting._replace(observed_low=gaps)
    assert FACTS["k_hat_naive"](setting) == 2


@pytest.mark.parametrize("rule", ["k_hat_naive", "k_hat_bootstrap"])
def test_k_hat_is_at_least_k_min(rule):
    graph = draw_sbm(0, n=100, blocks=3, p_out=0.02)
    assert FACTS[rule](pose(graph)) == 2
    for k_min in (1, 2, 3, 5, 8):
        found = FACTS[rule](pose(graph, k_min=k_min))
        assert k_min <= found <= SPEC["k_max"]
        assert k_min > 2 or found == 2
    assert FACTS[rule](pose(graph, k_min=8)) == 8


@given(gaps=st.lists(st.integers(0, 5), min_size=8, max_size=8), ends=st.tuples(st.integers(1, 8), st.integers(1, 8)))
def test_the_naive_rule_is_the_first_largest_gap_from_k_min_to_k_max(small_graph, gaps, ends):
    k_min, k_max = sorted(ends)
    setting = pose(small_graph, k_min=k_min, k_max=k_max)
    values = np.cumsum([0.0, 9.0, *gaps])  # the first gap, u_1 to u_2, is nobody's
    found = FACTS["k_hat_naive"](setting._replace(observed_low=setting.observed_low._replace(values=values)))
    assert found == max(range(k_min, k_max + 1), key=lambda k: gaps[k - 1])
