"""Constants and bounds are the paper's formulas, round by round, and meet in the limits where they should."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.theory import bounds, constants

T = np.array([1, 2, 3, 10, 100, 20_000])
sizes = st.floats(0, 3)


@st.composite
def draw_constants(draw):
    bound_x = draw(st.floats(0.1, 2))
    return constants.Constants(
        k=draw(st.integers(1, 8)),
        noise=draw(sizes),
        delta=draw(st.sampled_from([1e-6, 0.05, 0.5])),
        ridge=bound_x**2 * draw(st.floats(1, 4)),
        bound_x=bound_x,
        size=draw(sizes),
    )


def a_of(t, c):
    """Return A_t as it is printed."""
    return math.sqrt(2 * t * c.k * math.log(1 + t * c.bound_x**2 / (c.ridge * c.k)))


def beta0_of(t, c):
    """Return beta_t^0 as it is printed."""
    grown = c.k * math.log(1 + (t - 1) * c.bound_x**2 / (c.ridge * c.k))
    return c.noise * math.sqrt(grown + 2 * math.log(1 / c.delta)) + math.sqrt(c.ridge) * c.size


# The right sides of the theorems as they are printed: t, constants, leverage B, width C, nu or e_r, and S-bar.
PRINTED = {
    "exact": lambda t, c, b, w, x, s: 2 * beta0_of(t + 1, c) * a_of(t, c),
    "generic": lambda t, c, b, w, x, s: (
        2 * beta0_of(t + 1, c._replace(size=s)) * a_of(t, c)
        + 4 * x * t * c.k * math.log(1 + t * c.bound_x**2 / (c.ridge * c.k))
        + 2 * x * t
    ),
    "oracle": lambda t, c, b, w, x, s: 2 * beta0_of(t + 1, c) * a_of(t, c) + 2 * b * a_of(t, c) + w,
    "estimated": lambda t, c, b, w, x, s: (
        2 * beta0_of(t + 1, c) * a_of(t, c)
        + 2 * (b + c.bound_x * x * a_of(t, c)) * a_of(t, c)
        + w
        + 2 * c.bound_x * x * t
    ),
    "a_priori": lambda t, c, b, w, x, s: PRINTED["estimated"](t, c._replace(delta=c.delta / 2), b, w, x, s),
    "uninflated": lambda t, c, b, w, x, s: 2 * beta0_of(t + 1, c) * a_of(t, c) + b * a_of(t, c) + t * b + w,
}
# The same arguments as each bound takes them.
ARGUMENTS = {
    "exact": lambda b, w, x, s: (),
    "generic": lambda b, w, x, s: (x, s),
    "oracle": lambda b, w, x, s: (b, w),
    "estimated": lambda b, w, x, s: (b, w, x),
    "a_priori": lambda b, w, x, s: (b, w, x),
    "uninflated": lambda b, w, x, s: (b, w),
}


def bound(name, t, c, b, w, x, s):
    return bounds.BOUNDS[name](t, c, *ARGUMENTS[name](b, w, x, s))


def test_every_bound_is_printed_here():
    assert set(PRINTED) == set(ARGUMENTS) == set(bounds.BOUNDS)


def test_the_constants_of_a_case_done_by_hand():
    """With k = R = L = lambda = 1 and delta = e^-1/2: beta_1 = 1 + S, and A_t uses log(1 + t)."""
    c = constants.Constants(1, 1.0, math.exp(-0.5), 1.0, 1.0, 2.0)
    e_minus_1 = math.e - 1
    assert constants.beta0(1, *c) == pytest.approx(3)
    assert constants.beta0(1 + e_minus_1, *c) == pytest.approx(math.sqrt(2) + 2)
    assert constants.potential(e_minus_1, 1, 1.0, 1.0) == pytest.approx(math.sqrt(2 * e_minus_1))
    assert bounds.exact(e_minus_1, c) == pytest.approx(2 * (math.sqrt(2) + 2) * math.sqrt(2 * e_minus_1))
    assert constants.nu(0.3, 0.9, 0.02, 0.4, 2.0) == pytest.approx(2 * (0.3 + 0.9 * 0.2))
    assert constants.dk_ratio(0.02, 0.4) == pytest.approx(0.2)


@pytest.mark.parametrize("name", PRINTED)
@given(c=draw_constants(), x=sizes, s=sizes, seed=st.integers(0, 2**32 - 1))
def test_bounds_are_those_printed_whether_for_all_rounds_or_one(name, c, x, s, seed):
    b, w = np.random.default_rng(seed).uniform(0, 5, (2, len(T)))
    together = bound(name, T, c, b, w, x, s)
    rows = list(zip(T, b, w, strict=True))
    assert_allclose(together, [PRINTED[name](t, c, own, width, x, s) for t, own, width in rows], rtol=1e-12)
    assert_allclose(together, [bound(name, t, c, own, width, x, s) for t, own, width in rows], rtol=1e-14)


@pytest.mark.parametrize("name", PRINTED)
@given(c=draw_constants(), b=sizes, w=sizes, x=sizes, s=sizes, more=st.floats(0.01, 2))
def test_bounds_grow_with_everything_that_makes_a_problem_harder(name, c, b, w, x, s, more):
    here = bound(name, T, c, b, w, x, s)
    assert np.all(np.diff(here) >= 0)
    for harder in (
        c._replace(k=c.k + 1),
        c._replace(noise=c.noise + more),
        c._replace(delta=c.delta / (1 + more)),
        c._replace(size=c.size + more),
    ):
        assert np.all(bound(name, T, harder, b, w, x, s) >= here * (1 - 1e-12))
    for values in ((b + more, w, x, s), (b, w + more, x, s), (b, w, x + more, s), (b, w, x, s + more)):
        used = ARGUMENTS[name](*values) != ARGUMENTS[name](b, w, x, s)
        there = bound(name, T, c, *values)
        assert np.all(there > here) if used else np.array_equal(there, here)


@given(c=draw_constants(), nu_k=sizes, s=sizes)
def test_the_generic_bound_is_the_oracle_bound_at_the_envelopes(c, nu_k, s):
    srl, crw = bounds.envelope(T, c, nu_k)
    assert_allclose(bounds.oracle(T, c._replace(size=s), srl, crw), bounds.generic(T, c, nu_k, s), rtol=1e-14)
    assert_allclose(srl, [nu_k * a_of(t, c) for t in T], rtol=1e-12)
    assert_allclose(crw, 2 * nu_k * T, rtol=1e-12)


def test_a_graph_without_gap_allows_any_rotation_unless_it_is_not_noisy():
    assert constants.dk_ratio(0.1, 0.0) == np.inf
    assert constants.dk_ratio(0.0, 0.0) == 0
    assert constants.nu(0.2, 1.0, 0.1, 0.0) == np.inf
    assert constants.nu(0.2, 0.0, 0.1, 0.0) == 0.2  # a reward that is all tail has nothing left to rotate


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 5))
def test_a_reward_is_split_into_inside_and_residual(seed, k):
    rng = np.random.default_rng(seed)
    vectors, _ = np.linalg.qr(rng.standard_normal((9, k)))
    theta = rng.standard_normal(9)
    size, residual = constants.split(theta, vectors)
    assert_allclose(vectors.T @ residual, 0, atol=1e-12)
    assert size**2 + residual @ residual == pytest.approx(theta @ theta)
    assert np.linalg.norm(vectors @ (vectors.T @ theta)) == pytest.approx(size)
    with pytest.raises(ValueError, match="orthonormal"):
        constants.split(theta, 1.1 * vectors)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_growth_is_the_exponent_of_a_power_over_the_last_half_alone(power):
    t = np.arange(100, 20_001, 100)
    steep = np.where(t <= 10_000, t**3.0, 7.0 * t**power)
    assert bounds.growth(t, steep) == pytest.approx(power)
    assert bounds.growth(t, 2 * steep) == pytest.approx(power)
    assert bounds.growth(t, 1e-12 * t) == 0  # what rounding leaves does not grow
    assert bounds.growth(t, np.where(t <= 15_000, 0.0, steep)) == pytest.approx(power)
    assert bounds.growth(t, np.zeros(len(t))) == 0
