"""From runs to the tidy table, computed by hand."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from graphdr.scores.measure import MEASURES, curve, final_values, measure


def make_runs(finals: dict, problem: str = "p", horizon: int = 10) -> pd.DataFrame:
    """Make runs whose regret grows evenly to the given final value, by (instance, draw, seed)."""
    t = np.arange(1, horizon + 1)
    parts = [
        pd.DataFrame({"problem": problem, "instance": i, "draw": d, "seed": s, "t": t, "regret": final * t / horizon})
        for (i, d, s), final in finals.items()
    ]
    return pd.concat(parts, ignore_index=True)


def look_up(table: pd.DataFrame, **keys):
    rows = table[np.logical_and.reduce([table[name] == value for name, value in keys.items()])]
    assert len(rows) == 1
    return rows.iloc[0]


def test_final_regret_is_that_of_the_last_round_of_each_problem():
    runs = pd.concat([make_runs({(0, 0, 0): 5.0, (0, 0, 1): 7.0}), make_runs({(0, 0, 0): 9.0}, "long", 20)])
    finals = final_values(runs)
    assert finals[["problem", "seed", "regret"]].to_numpy().tolist() == [["p", 0, 5.0], ["p", 1, 7.0], ["long", 0, 9.0]]


def test_what_a_fit_found_is_measured_where_there_is_one():
    runs = make_runs({(0, 0, 0): 5.0, (0, 0, 1): 7.0})
    runs = runs.assign(gain=np.where(runs["seed"] == 0, 3.0, 4.0), gain_bound=np.nan)
    table = measure({"prior": final_values(runs)}, "none")
    assert look_up(table, quantity="gain")[["value", "n"]].tolist() == [3.5, 2]
    assert {"gain", "gain_bound"} <= set(MEASURES)
    assert "gain_bound" not in set(table["quantity"])


def test_slope_is_the_mean_of_regret_over_root_t_in_the_last_fifth():
    finals = final_values(make_runs({(0, 0, 0): 5.0, (3, 2, 1): 7.0}))
    late = np.array([9, 10])  # t > 0.8 T
    expected = [np.mean(final * late / 10 / np.sqrt(late)) for final in (5.0, 7.0)]
    assert_allclose(finals["slope"], expected)
    assert finals[["instance", "draw", "seed"]].to_numpy().tolist() == [[0, 0, 0], [3, 2, 1]]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Measurements of two methods: two instances, two seeds, and two further draws of the second method."""
    ours = {(0, 0, 0): 1.0, (0, 0, 1): 3.0, (1, 0, 0): 10.0, (1, 0, 1): 14.0}
    control = {(0, 0, 0): 2.0, (0, 0, 1): 8.0, (1, 0, 0): 11.0, (1, 0, 1): 12.0}
    control |= {(0, 1, 0): 4.0, (0, 1, 1): 6.0, (0, 2, 0): 8.0, (0, 2, 1): 10.0}
    return measure({"ours": final_values(make_runs(ours)), "control": final_values(make_runs(control))}, "ours")


@pytest.mark.parametrize(
    ("method", "quantity", "instance", "draw", "value", "sem", "n"),
    [
        ("ours", "regret", 0, 0, 2.0, 1.0, 2),  # (1 + 3) / 2, |1 - 3| / 2
        ("ours", "regret", 1, 0, 12.0, 2.0, 2),
        ("control", "regret", 0, 0, 5.0, 3.0, 2),  # further draws do not count
        ("control", "regret_gap", 0, 0, -3.0, 2.0, 2),  # 1 - 2 and 3 - 8: paired by seed
        ("control", "regret_gap", 1, 0, 0.5, 1.5, 2),  # 10 - 11 and 14 - 12
        ("control", "regret_ratio", 0, 0, 7 / 16, 1 / 16, 2),  # 1 / 2 and 3 / 8
        ("control", "regret_redrawn", 0, 0, 7.0, 2.0, 2),  # the draws' means, 5 and 9
        ("ours", "slope", 0, 0, 2.0 * (3 + 10**0.5) / 20, 1.0 * (3 + 10**0.5) / 20, 2),
        ("control", "regret", 0, 1, 5.0, 1.0, 2),
        ("control", "regret", 0, 2, 9.0, 1.0, 2),
    ],
)
def test_mean_standard_error_and_count(table, method, quantity, instance, draw, value, sem, n):
    row = look_up(table, method=method, quantity=quantity, instance=instance, problem="p", draw=draw)
    assert_allclose([row["value"], row["sem"], row["n"]], [value, sem, n])


def test_nothing_else_is_measured(table):
    assert {*table["quantity"]} == {"regret", "slope", "regret_redrawn", "regret_gap", "regret_ratio"} <= set(MEASURES)
    assert len(table) == 4 + 4 + 4 + 1 + 2  # regret, slope, gap and ratio; the redrawn instance, two further draws


def test_a_gap_is_taken_over_the_seeds_that_both_have_and_a_single_one_has_no_error():
    ours, other = make_runs({(0, 0, 0): 1.0, (0, 0, 1): 3.0}), make_runs({(0, 0, 1): 8.0, (0, 0, 2): 99.0})
    gap = look_up(measure({"ours": final_values(ours), "other": final_values(other)}, "ours"), quantity="regret_gap")
    assert (gap["value"], gap["n"], gap["draw"]) == (-5, 1, 0)
    assert np.isnan(gap["sem"])


def test_a_curve_is_instance_0_with_the_spread_over_the_instances():
    means = np.array([2.0, 10.0, 4.0, 8.0, 6.0])
    finals = {(i, 0, s): mean + offset for i, mean in enumerate(means) for s, offset in ((0, -1), (1, 1))}
    points = curve(make_runs(finals | {(0, 1, 0): 99.0}))
    assert points["t"].tolist() == list(range(1, 11))
    assert_allclose(points["mean"], 0.2 * points["t"])
    assert_allclose(points["sem"], 0.1 * points["t"])
    for name, share in (("panel_low", 0.05), ("panel_median", 0.5), ("panel_high", 0.95)):
        assert_allclose(points[name], np.quantile(means, share) * points["t"] / 10)
