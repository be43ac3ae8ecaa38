"""Summarize runs as measurements and curves: final regret, slope, further draws and paired differences, with errors."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from graphdr.scores.chosen import BEHIND, CHOSEN
from graphdr.theory.bound_checks import GUARANTEES
from graphdr.theory.results import FITTED

RESIDUAL = ("srl", "crw", "widths")  # at T, where a method has a residual
HINDSIGHT = ("oracle_regret", "oracle_k", "oracle_gap")  # of the best fixed k, for a method of adaptive k
MEASURES = (
    "regret", "slope", "regret_redrawn", "regret_gap", "regret_ratio",
    *RESIDUAL, *FITTED, *GUARANTEES, *HINDSIGHT, *CHOSEN, *BEHIND,
)  # fmt: skip
LATE = 0.8  # the slope is averaged over the rounds after this share of the horizon
INSTANCE = ["problem", "instance"]


def final_values(runs: pd.DataFrame) -> pd.DataFrame:
    """Reduce checkpoints to one row per problem, instance, draw and seed: slope, and the other columns at T."""
    keys = ["problem", "instance", "draw", "seed"]
    horizon = runs.groupby("problem", sort=False)["t"].transform("max")
    late = runs[runs["t"] > LATE * horizon]
    slope = (late["regret"] / np.sqrt(late["t"])).groupby([late[key] for key in keys], sort=False).mean()
    columns = ["regret", *(name for name in (*RESIDUAL, *FITTED) if name in runs)]
    final = runs[runs["t"] == horizon].set_index(keys)[columns]
    return final.join(slope.rename("slope")).reset_index()


def summary(values: pd.Series, by: Sequence[str] = INSTANCE) -> pd.DataFrame:
    """Return mean, standard error and count of an indexed series within each group of its levels."""
    grouped = values.groupby(level=list(by), sort=False)
    return grouped.agg(value="mean", sem="sem", n="count").reset_index()


def hindsight(regret: pd.Series, fixed: Mapping[int, pd.Series]) -> list[pd.DataFrame]:
    """Compare the regret of an adaptive k with that of the best fixed k of every problem and instance.

    All series are indexed by problem, instance and seed. The best k has the lowest mean over the seeds, the smallest k
    on a tie. The gap is the regret of the adaptive k minus that of the best k, paired by seed.
    """
    regrets = pd.DataFrame({k: fixed[k] for k in sorted(fixed)})
    best_k = regrets.groupby(level=INSTANCE, sort=False).mean().idxmin(axis=1)
    column = regrets.columns.get_indexer(best_k.reindex(regrets.index.droplevel("seed")))
    best_regret = pd.Series(regrets.to_numpy()[np.arange(len(regrets)), column], regrets.index)
    chosen = best_k.rename("value").reset_index().assign(n=len(fixed))
    parts = summary(best_regret), chosen, summary((regret - best_regret).dropna())
    return [part.assign(quantity=quantity) for quantity, part in zip(HINDSIGHT, parts, strict=True)]


def measure(
    finals: Mapping[str, pd.DataFrame], against: str, grids: Mapping[str, Mapping[str, int]] | None = None
) -> pd.DataFrame:
    """Measure every method on every problem and instance, and the regret of every further draw of a basis.

    ``finals`` maps methods to their final values. ``grids`` maps a method of adaptive k to methods of a fixed k, each
    with its k. Gap and ratio compare the regret of ``against`` with that of the method, over the seeds they share.
    """
    first: dict[str, pd.DataFrame] = {}
    for method, frame in finals.items():
        first[method] = frame[frame["draw"] == 0].drop(columns="draw").set_index([*INSTANCE, "seed"])
    parts = []
    for method, frame in first.items():
        measured = [
            summary(frame[quantity].dropna()).assign(quantity=quantity)
            for quantity in frame
            if frame[quantity].notna().any()
        ]
        if method != against and against in first:
            other, regret = first[against]["regret"], frame["regret"]
            measured.append(summary((other - regret).dropna()).assign(quantity="regret_gap"))
            measured.append(summary((other / regret[regret > 0]).dropna()).assign(quantity="regret_ratio"))
        grid = (grids or {}).get(method, {})
        fixed = {k: first[name]["regret"] for name, k in grid.items() if name in first}
        if fixed:
            measured += hindsight(frame["regret"], fixed)
        further = finals[method][finals[method]["draw"] > 0]  # draws of a random basis, and then the mean over them
        if len(further):
            draws = summary(further.set_index([*INSTANCE, "draw"])["regret"], [*INSTANCE, "draw"])
            mean = summary(draws.set_index(INSTANCE)["value"])
            measured += [draws.assign(quantity="regret"), mean.assign(quantity="regret_redrawn")]
        parts += [part.assign(method=method) for part in measured]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(draw=table["draw"].fillna(0).astype(int) if "draw" in table else 0)


def curve(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the mean regret of instance 0 over its seeds, the spread of that mean over the instances, and the bound.

    The bound is averaged over the seeds of instance 0, and NaN where runs have none.
    """
    first_draw = runs[runs["draw"] == 0]
    by_round = first_draw.groupby([*INSTANCE, "t"], sort=False)["regret"]
    means = by_round.agg(mean="mean", sem="sem").reset_index()
    first_instance = means[means["instance"] == 0].drop(columns="instance")
    spread = means.groupby(["problem", "t"], sort=False)["mean"].quantile([0.05, 0.5, 0.95]).unstack()
    spread.columns = ["panel_low", "panel_median", "panel_high"]
    points = first_instance.merge(spread.reset_index(), on=["problem", "t"])
    if "bound" not in runs:
        return points.assign(bound=np.nan)
    bound = first_draw[first_draw["instance"] == 0].groupby(["problem", "t"], sort=False)["bound"].mean()
    return points.merge(bound.reset_index(), on=["problem", "t"])
