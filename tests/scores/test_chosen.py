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
    result = chosen.best(finals, VARIANTS)
    settings = result.set_index(["method", "quantity"])["value"].to_dict()
    assert settings == {
        ("a", "best_alpha"): 0.1, ("a", "best_k"): 5, ("full", "best_alpha"): 2, ("full", "best_ridge"): 0.1,
    }  # fmt: skip
    assert set(result["n"]) == {2}
    assert set(result["instance"]) == {0}


def test_of_equal_settings_the_first_is_chosen_and_problems_choose_apart():
    first = runs({"a-k_2": [4, 4], "a-k_5": [4, 4]})
    second = runs({"a-k_2": [5, 5], "a-k_5": [4, 4]}, "q")
    result = chosen.best(pd.concat([first, second]), VARIANTS).query("quantity == 'best_k'")
    assert dict(zip(result["problem"], result["value"], strict=True)) == {"p": 2, "q": 5}


def test_a_method_is_behind_the_best_seed_by_seed_with_a_t_interval():
    best, other, control = [10.0, 12, 14, 11, 13, 9], [15.0, 13, 20, 18, 13, 12], [1.0] * 6
    finals = {"best": runs({"": best}), "other": runs({"": other}), "control": runs({"": control})}
    result = chosen.behind(finals, ["best", "other"]).set_index(["method", "instance", "quantity"])["value"]
    for instance in (0, 1):
        lost = np.subtract(other, best)[instance::2]
        low, high = stats.t.interval(0.95, len(lost) - 1, lost.mean(), stats.sem(lost))
        assert result["other", instance, "behind"] == pytest.approx(lost.mean())
        assert result["other", instance, "behind_low"] == pytest.approx(low)
        assert result["other", instance, "behind_high"] == pytest.approx(high)
        assert result["best", instance, "behind"] == 0
        assert result["control", instance, "behind"] < 0  # shown, but not the best
