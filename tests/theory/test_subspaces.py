"""The Davis-Kahan lemma holds in both conventions, each with its own gap and not with the other's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.facts.graph_facts import perturbation_norm
from graphdr.graphs.model import from_edges
from graphdr.graphs.spectral import low_eigenpairs
from graphdr.theory import constants
from tests.support import subspaces
from tests.support.small_bandits import noisy_graphs


def orthonormal(rng, n, k):
    return np.linalg.qr(rng.standard_normal((n, k)))[0]


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 4), other=st.integers(1, 4))
def test_projector_distance_is_the_norm_of_the_difference(seed, k, other):
    rng = np.random.default_rng(seed)
    u, v = orthonormal(rng, 6, k), orthonormal(rng, 6, other)
    expected = np.linalg.norm(u @ u.T - v @ v.T, 2)
    assert constants.projector_distance(u, v) == pytest.approx(expected, abs=1e-12)
    turned = u @ orthonormal(rng, k, k)  # another basis of the same span
    assert constants.projector_distance(turned, v) == pytest.approx(expected, abs=1e-12)
    assert constants.projector_distance(turned, u) == pytest.approx(0, abs=1e-12)


def test_small_rotations_are_not_lost_in_rounding():
    u, v = np.array([[1.0], [0.0]]), np.array([[np.cos(1e-11)], [np.sin(1e-11)]])
    assert constants.projector_distance(u, v) == pytest.approx(1e-11)


def test_each_convention_has_its_columns_and_its_gap():
    vectors, values = np.eye(5), np.array([0.0, 0.1, 0.3, 1.0, 1.5])
    theirs, ours = subspaces.CONVENTIONS["theory"], subspaces.CONVENTIONS["experiments"]
    assert_allclose(theirs.select(vectors, 2), vectors[:, :2])
    assert_allclose(ours.select(vectors, 2), vectors[:, 1:3])
    assert [theirs.gap(values, k) for k in (1, 2, 3)] == pytest.approx([0.1, 0.2, 0.7])
    assert [ours.gap(values, k) for k in (1, 2, 3)] == pytest.approx([0.1, 0.1, 0.1])  # lambda_2 is the bottleneck
    assert ours.gap(np.array([0.0, 0.9, 1.0, 1.2]), 1) == pytest.approx(0.1)  # lambda_3 is
    assert ours.gap(np.array([0.5, 0.6, 2.0, 3.0]), 1) == pytest.approx(0.1)  # of any symmetric matrix


@given(noisy=noisy_graphs())
def test_noisy_graphs_rotate_a_subspace_by_less_than_davis_kahan_allow(noisy):
    clean, observed, eps, k, convention, _ = noisy
    turned = subspaces.davis_kahan(clean, observed, eps, k, convention)
    select, gap = subspaces.CONVENTIONS[convention]
    assert turned.condition
    assert turned.bound == pytest.approx(4 * eps / gap(clean.values, k))
    assert turned.distance <= turned.bound + 1e-9
    one, other = select(clean.vectors, k), select(observed.vectors, k)
    assert np.linalg.norm(one - other @ (other.T @ one), 2) <= turned.bound + 1e-9  # (I - Pi-hat) Pi


def cliques(weight: float):
    """Join three cliques in a row, loosely and firmly; the edges of the loose one all have the same weight."""
    i, j = np.triu_indices(12, k=1)
    value = np.where(i // 4 == j // 4, np.where(i < 4, weight, 1.0), 0.0)
    value[(i == 3) & (j == 4)], value[(i == 7) & (j == 8)] = 0.001, 0.5
    return from_edges(12, i[value > 0], j[value > 0], value[value > 0])


def test_u_2_to_u_3_need_the_gap_below_them_as_well():
    """Heavier edges in one clique barely move the Laplacian but turn u_1, and what is orthogonal to it.

    Neither the gap of u_1..u_k nor the one above u_{k+1} sees it: both promise less than what happens.
    """
    clean, heavier = cliques(1.0), cliques(1.1)
    low, eps = low_eigenpairs(clean, 12), perturbation_norm(heavier, clean)
    turned = subspaces.davis_kahan(low, low_eigenpairs(heavier, 12), eps, 2, "experiments")
    assert turned.condition
    assert turned.distance <= turned.bound
    above = low.values[3] - low.values[2]
    for wrong in (subspaces.bottom_gap(low.values, 2), above):
        assert eps <= wrong / 4
        assert turned.distance > 10 * constants.dk_ratio(eps, wrong)
    own = subspaces.davis_kahan(low, low_eigenpairs(heavier, 12), eps, 2, "theory")  # of u_1, u_2 it is the right one
    assert own.condition
    assert own.distance <= own.bound < turned.distance
