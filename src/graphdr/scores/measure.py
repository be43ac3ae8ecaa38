"""From runs to the tidy table: final regret, slope, further draws and paired differences, with errors."""

import numpy as np
import pandas as pd

from graphdr.scores.chosen import BEHIND, CHOSEN
from graphdr.theory.bound_checks import GUARANTEES
from graphdr.theory.outcome import FITTED

RESIDUAL = ("srl", "crw", "widths")  # at T, where a method has a residual
HINDSIGHT = ("oracle_regret", "oracle_k", "oracle_gap")  # of the k that an adaptive method would have done best with
MEASURES = (
    "regret", "slope", "regret_redrawn", "regret_gap", "regret_ratio",
    *RESIDUAL, *FITTED, *GUARANTEES, *HINDSIGHT, *CHOSEN, *BEHIND,
)  # fmt: skip
LATE = 0.8  # the slope is averaged over the rounds after this share of the horizon


def final_values(runs: pd.DataFrame) -> pd.DataFrame:
    """Reduce checkpoints to one row per problem, instance, draw and seed: slope, and the rest at T."""
    keys = ["problem", "instance", "draw", "seed"]
    horizon = runs.groupby("problem", sort=False)["t"].transform("max")
    late = runs[runs["t"] > LATE * horizon]
    slope = (late["regret"] / np.sqrt(late["t"])).groupby([late[key] for key in keys], sort=False).mean()
    columns = ["regret", *(name for name in (*RESIDUAL, *FITTED) if name in runs)]
    final = runs[runs["t"] == horizon].set_index(keys)[columns]
    return final.join(slope.rename("slope")).reset_index()


def summary(values: pd.Series, by: list[str]) -> pd.DataFrame:
    """Return mean, standard error and count of an indexed series within each group of its levels."""
    grouped = values.groupby(level=by, sort=False)
    return grouped.agg(value="mean", sem="sem", n="count").reset_index()


def hindsight(regret: pd.Series, fixed: dict[int, pd.Series]) -> list[pd.DataFrame]:
    """Compare the regret of an adaptive k with that of the best fixed k of every problem and instance, in hindsight.

    All are indexed by problem, instance and seed. The best k has the smallest mean over the seeds, the smallest k on
    a tie; the gap is what the adaptive k loses to it, seed by seed.
    """
    cell = ["problem", "instance"]
    each = pd.DataFrame({k: fixed[k] for k in sorted(fixed)})
    best = each.groupby(level=cell, sort=False).mean().idxmin(axis=1)
    place = each.columns.get_indexer(best.reindex(each.index.droplevel("seed")))
    best_regret = pd.Series(each.to_numpy()[np.arange(len(each)), place], each.index)
    chosen = best.rename("value").reset_index().assign(n=len(fixed))
    compared = summary(best_regret, cell), chosen, summary((regret - best_regret).dropna(), cell)
    return [part.assign(quantity=quantity) for quantity, part in zip(HINDSIGHT, compared, strict=True)]


def measure(
    finals: dict[str, pd.DataFrame], against: str, grids: dict[str, dict[str, int]] | None = None
) -> pd.DataFrame:
    """Measure every method on every problem and instance, and the regret of every further draw.

    ``finals`` maps a method to its final values. The gap is the regret of ``against`` minus that of the method, the
    ratio the one over the other, over the seeds that they share. ``grids`` maps a method of adaptive k to those of a
    fixed k, with that k.
    """
    cell, parts = ["problem", "instance"], []
    first = {method: frame[frame["draw"] == 0].drop(columns="draw") for method, frame in finals.items()}
    first = {method: frame.set_index([*cell, "seed"]) for method, frame in first.items()}
    for method, frame in first.items():
        for quantity in frame:
            if frame[quantity].notna().any():
                parts.append(summary(frame[quantity].dropna(), cell).assign(method=method, quantity=quantity))
        if method != against and against in first:
            gap = (first[against]["regret"] - frame["regret"]).dropna()
            parts.append(summary(gap, cell).assign(method=method, quantity="regret_gap"))
            share = (first[against]["regret"] / frame["regret"][frame["regret"] > 0]).dropna()
            parts.append(summary(share, cell).assign(method=method, quantity="regret_ratio"))
        fixed = {k: first[other]["regret"] for other, k in (grids or {}).get(method, {}).items() if other in first}
        if fixed:
            parts += [part.assign(method=method) for part in hindsight(frame["regret"], fixed)]
        further = finals[method][finals[method]["draw"] > 0]
        if len(further):
            draws = summary(further.set_index([*cell, "draw"])["regret"], [*cell, "draw"])
            parts.append(draws.assign(method=method, quantity="regret"))
            per_draw = draws.set_index(cell)["value"]
            parts.append(summary(per_draw, cell).assign(method=method, quantity="regret_redrawn"))
    table = pd.concat(parts, ignore_index=True)
    return table.assign(draw=table["draw"].fillna(0).astype(int) if "draw" in table else 0)


def curve(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the mean regret of instance 0 over its seeds, and the spread of that mean over the instances.

    Where runs have a bound, its mean over these seeds stands beside.
    """
    first = runs[runs["draw"] == 0]
    means = first.groupby(["problem", "instance", "t"], sort=False)["regret"].agg(mean="mean", sem="sem").reset_index()
    first_instance = means[means["instance"] == 0].drop(columns="instance")
    spread = means.groupby(["problem", "t"], sort=False)["mean"].quantile([0.05, 0.5, 0.95]).unstack()
    spread.columns = ["panel_low", "panel_median", "panel_high"]
    points = first_instance.merge(spread.reset_index(), on=["problem", "t"])
    if "bound" not in runs:
        return points.assign(bound=np.nan)
    bound = first[first["instance"] == 0].groupby(["problem", "t"], sort=False)["bound"].mean()
    return points.merge(bound.reset_index(), on=["problem", "t"])
