"""Choose settings from a grid, and compare methods at their best settings."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd  # slow to import, and not needed to read settings

CHOSEN = {"best_alpha": "alpha", "best_ridge": "ridge", "best_k": "k", "best_rho": "rho"}  # quantity: setting
BEHIND = ("behind", "behind_low", "behind_high")  # regret above that of the best method, with its interval
LEVEL = 0.95  # of the interval
RUN = ["problem", "instance", "seed"]


def regrets(finals: "pd.DataFrame") -> "pd.DataFrame":
    """Return the mean final regret of every method on every problem and instance."""
    grouped = finals.groupby(["method", "problem", "instance"], sort=False)["regret"]
    return grouped.agg(value="mean", sem="sem", n="count").reset_index().assign(quantity="regret", draw=0)


def best(finals: "pd.DataFrame", variants: Sequence[tuple[str, str, Mapping[str, Any]]]) -> "pd.DataFrame":
    """Choose for every method and problem the setting with the lowest mean regret over all instances and seeds.

    A variant is a name in the runs, its method and a setting of the grid. On a tie the first variant wins.
    """
    import pandas as pd

    grid = pd.DataFrame(variants, columns=["variant", "method", "setting"])
    mean = finals.groupby(["problem", "method"], sort=False)["regret"].mean()
    rows = []
    for problem, of_problem in mean.groupby(level="problem", sort=False):
        played = grid.assign(regret=grid["variant"].map(of_problem.droplevel("problem"))).dropna(subset="regret")
        for method, tried in played.groupby("method", sort=False):
            setting = tried.loc[tried["regret"].idxmin(), "setting"]
            for quantity, name in CHOSEN.items():
                if name in setting:
                    rows.append((problem, method, quantity, float(setting[name]), len(tried)))
    table = pd.DataFrame(rows, columns=["problem", "method", "quantity", "value", "n"])
    return table.assign(instance=0, draw=0, sem=np.nan)


def behind(finals: "Mapping[str, pd.DataFrame]", ranked: Sequence[str]) -> "pd.DataFrame":
    """Measure how far every method is behind the best of the ranked ones, paired by seed, with a t interval.

    The best method has the lowest mean regret over all instances and seeds of a problem.
    """
    import pandas as pd
    from scipy.stats import t

    first_draws = {name: frame[frame["draw"] == 0] for name, frame in finals.items()}
    regret = pd.DataFrame({name: frame.set_index(RUN)["regret"] for name, frame in first_draws.items()})
    candidates = regret[[name for name in ranked if name in regret]]
    leader = candidates.groupby(level="problem", sort=False).mean().idxmin(axis=1)
    parts = []
    for problem, runs in regret.groupby(level="problem", sort=False):
        lost = runs.sub(runs[leader[problem]], axis=0)
        summaries = lost.groupby(level=["problem", "instance"], sort=False).agg(["mean", "sem", "count"])
        for method in lost:
            summary = summaries[method].dropna(subset=["mean"]).reset_index()
            mean, sem, count = summary["mean"], summary["sem"], summary["count"]
            reach = sem.fillna(0.0) * t.ppf((1 + LEVEL) / 2, np.maximum(count - 1, 1))
            common = {"problem": problem, "instance": summary["instance"], "draw": 0, "method": method, "n": count}
            for quantity, value in zip(BEHIND, (mean, mean - reach, mean + reach), strict=True):
                error = sem if quantity == BEHIND[0] else np.nan
                parts.append(pd.DataFrame(common | {"quantity": quantity, "value": value, "sem": error}))
    return pd.concat(parts, ignore_index=True)
