"""Settings chosen from a grid, and methods at their best compared with the best of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd  # which those who only read settings do without

# What is measured, and the setting that it is.
CHOSEN = {"best_alpha": "alpha", "best_ridge": "ridge", "best_k": "k", "best_rho": "rho"}
BEHIND = ("behind", "behind_low", "behind_high")  # regret above that of the best method, with its interval
LEVEL = 0.95  # of the interval
PLACE = ["problem", "instance", "seed"]


def regrets(finals: "pd.DataFrame") -> "pd.DataFrame":
    """Return the mean regret of every method on every problem and instance; ``finals`` has all runs at their end."""
    grouped = finals.groupby(["method", "problem", "instance"], sort=False)["regret"]
    return grouped.agg(value="mean", sem="sem", n="count").reset_index().assign(quantity="regret", draw=0)


def best(finals: "pd.DataFrame", variants: Sequence[tuple[str, str, dict[str, Any]]]) -> "pd.DataFrame":
    """Choose the setting of the least mean regret over all instances and seeds, for every method and problem.

    ``variants`` are (name in the runs, method, setting); of equals, the first is taken.
    """
    import pandas as pd

    mean = finals.groupby(["problem", "method"], sort=False)["regret"].mean()
    rows = []
    for problem, means in mean.groupby(level="problem", sort=False):
        means = means.droplevel("problem")
        for method in dict.fromkeys(method for _, method, _ in variants):
            tried = [(means[name], setting) for name, of, setting in variants if of == method and name in means.index]
            if tried:
                _, setting = min(tried, key=lambda pair: pair[0])
                told = {quantity: setting[knob] for quantity, knob in CHOSEN.items() if knob in setting}
                rows += [(problem, method, quantity, float(value), len(tried)) for quantity, value in told.items()]
    table = pd.DataFrame(rows, columns=["problem", "method", "quantity", "value", "n"])
    return table.assign(instance=0, draw=0, sem=np.nan)


def behind(finals: dict[str, "pd.DataFrame"], ranked: Sequence[str]) -> "pd.DataFrame":
    """Measure how far every method is behind the best of the ranked ones, seed by seed, with a t-interval.

    The best has the least mean regret over all instances and seeds of a problem.
    """
    import pandas as pd
    from scipy.stats import t

    regret = pd.DataFrame(
        {name: frame[frame["draw"] == 0].set_index(PLACE)["regret"] for name, frame in finals.items()}
    )
    leader = (
        regret[[name for name in ranked if name in regret]].groupby(level="problem", sort=False).mean().idxmin(axis=1)
    )
    parts = []
    for problem, runs in regret.groupby(level="problem", sort=False):
        lost = runs.sub(runs[leader[problem]], axis=0)
        by = [level for level in PLACE if level != "seed"]
        summed = lost.groupby(level=by, sort=False).agg(["mean", "sem", "count"])
        for name in lost:
            found = summed[name].dropna(subset=["mean"]).reset_index()
            reach = found["sem"].fillna(0.0) * t.ppf((1 + LEVEL) / 2, np.maximum(found["count"] - 1, 1))
            values = found["mean"], found["mean"] - reach, found["mean"] + reach
            common = {"problem": problem, "instance": found["instance"], "draw": 0, "method": name, "n": found["count"]}
            for quantity, value in zip(BEHIND, values, strict=True):
                sem = found["sem"] if quantity == BEHIND[0] else np.nan
                parts.append(pd.DataFrame(common | {"quantity": quantity, "value": value, "sem": sem}))
    return pd.concat(parts, ignore_index=True)
