"""Runs against bounds, computed by hand on two runs."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from graphdr.theory import bound_checks, bounds, constants

PROBLEM = constants.Constants(k=2, noise=0.1, delta=0.05, ridge=1.0)
T = np.arange(1, 5)


def make_runs(slope: float, seed: int, residual: float = 1.0) -> pd.DataFrame:
    """Make a run whose regret, leverage and width all grow evenly."""
    told = {"longest": 1.0, "size": 0.8, "nu_k": 0.5, "s_k_bar": 1.3, "error": 0.2}
    paths = {"regret": slope * T, "srl": residual * 0.1 * T, "crw": residual * 0.3 * T, "widths": 0.4 * T}
    pilot = {"srl_pilot": 0.2 * T, "crw_pilot": 0.5 * T}
    return pd.DataFrame({"problem": "p", "instance": 0, "draw": 0, "seed": seed, "t": T} | paths | pilot | told)


def measured(rule: str, residual: float = 1.0) -> tuple[pd.DataFrame, pd.DataFrame]:
    runs = pd.concat([make_runs(1.0, 0, residual), make_runs(2.0, 1, residual)], ignore_index=True)
    runs, checked = bound_checks.check(runs, {"p": PROBLEM}, rule)
    return runs, bound_checks.measure(checked).set_index("quantity")


def test_the_bound_of_a_rule_is_that_of_its_theorem():
    c = constants.Constants(2, 0.1, 0.05, 1.0, 1.0, 0.8)
    expected = {
        "generic": bounds.generic(T, c, 0.5, 1.3),
        "oracle": bounds.oracle(T, c, 0.1 * T, 0.3 * T),
        "estimated": bounds.estimated(T, c, 0.2 * T, 0.5 * T, 0.2),
        "a_priori": bounds.estimated(T, c._replace(delta=0.025), 0.2 * T, 0.5 * T, 0.2),
        "uninflated": bounds.uninflated(T, c, 0.1 * T, 0.3 * T),
    }
    for rule, bound in expected.items():
        runs, table = measured(rule)
        assert_allclose(runs["bound"], np.tile(bound, 2))
        assert_allclose(table.at["bound", "value"], bound[-1])
        assert_allclose(table.at["bound_ratio", "value"], (2.0 * T / bound).max())
        assert ("bound_generic_over_oracle" in table.index) == (rule == "oracle")
    ratio = measured("oracle")[1].at["bound_generic_over_oracle", "value"]
    assert_allclose(ratio, expected["generic"][-1] / expected["oracle"][-1])


def test_leverage_width_and_widths_are_set_against_their_envelopes():
    _, table = measured("oracle")
    potential = np.sqrt(2 * T * 2 * np.log(1 + T / 2))
    assert_allclose(table.at["srl_ratio", "value"], (0.1 * T / (0.5 * potential)).max())
    assert_allclose(table.at["crw_ratio", "value"], 0.3)
    assert_allclose(table.at["width_ratio", "value"], (0.4 * T / potential).max())
    assert_allclose(table.loc[["srl_slope", "crw_slope"], "value"], 1)
    assert (table["n"] == 2).all()


@pytest.mark.parametrize("residual", [0.0, 1.0])
def test_theorem_1_bounds_only_runs_without_a_residual(residual):
    runs, table = measured("exact", residual)
    assert runs["bound"].notna().all() == (residual == 0)
    assert ("bound" in table.index) == (residual == 0)
