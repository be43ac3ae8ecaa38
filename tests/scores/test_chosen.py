"""Settings chosen from a grid, and how far methods are behind the best of them."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from graphdr.scores import chosen

VARIANTS = [
    ("a-k_2", "a", {"alpha": 0.1, "k": 2}),
    ("a-k_5", "a", {"alpha": 0.1, "k": 5}),
    ("full-1", "full", {"alpha": 1.0, "ridge": 0.1}),
    ("full-2", "full", {"alpha": 2.0, "ridge": 0.1}),
    ("random", "random", {}),
]


def runs(regrets: dict[str, list[float]], problem: str = "p") -> pd.DataFrame:
    """Build the ends of runs: regrets of every method on two instances, seeds in turn."""
    rows = [(m, problem, s % 2, 0, s // 2, r) for m, values in regrets.items() for s, r in enumerate(values)]
    return pd.DataFrame(rows, columns=["method", "problem", "instance", "draw", "seed", "regret"])


def test_the_setting_of_the_least_mean_over_instances_and_seeds_is_chosen():
    finals = runs({"a-k_2": [1, 9], "a-k_5": [4, 4], "full-1": [3, 3], "full-2": [2, 2], "random": [7, 7]})
    found = chosen.best(finals, VARIANTS)
    told = found.set_index(["method", "quantity"])["value"].to_dict()
    assert told == {
        ("a", "best_alpha"): 0.1, ("a", "best_k"): 5, ("full", "best_alpha"): 2, ("full", "best_ridge"): 0.1,
    }  # fmt: skip
    assert set(found["n"]) == {2}
    assert set(found["instance"]) == {0}


def test_of_equal_settings_the_first_is_chosen_and_problems_choose_apart():
    one = runs({"a-k_2": [4, 4], "a-k_5": [4, 4]})
    two = runs({"a-k_2": [5, 5], "a-k_5": [4, 4]}, "q")
    found = chosen.best(pd.concat([one, two]), VARIANTS).query("quantity == 'best_k'")
    assert dict(zip(found["problem"], found["value"], strict=True)) == {"p": 2, "q": 5}


def test_a_method_is_behind_the_best_seed_by_seed_with_a_t_interval():
    best, other, control = [10.0, 12, 14, 11, 13, 9], [15.0, 13, 20, 18, 13, 12], [1.0] * 6
    finals = {"best": runs({"": best}), "other": runs({"": other}), "control": runs({"": control})}
    found = chosen.behind(finals, ["best", "other"]).set_index(["method", "instance", "quantity"])["value"]
    for instance in (0, 1):
        lost = np.subtract(other, best)[instance::2]
        low, high = stats.t.interval(0.95, len(lost) - 1, lost.mean(), stats.sem(lost))
        assert found["other", instance, "behind"] == pytest.approx(lost.mean())
        assert found["other", instance, "behind_low"] == pytest.approx(low)
        assert found["other", instance, "behind_high"] == pytest.approx(high)
        assert found["best", instance, "behind"] == 0
        assert found["control", instance, "behind"] < 0  # shown, but not the best
