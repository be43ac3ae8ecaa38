"""Runs with the radius of a theorem against its bound: what was realised, what was allowed, and how it grows."""

import numpy as np
import pandas as pd

from graphdr.core.errors import required
from graphdr.theory import bounds
from graphdr.theory.constants import OF_PILOT, Constants
from graphdr.theory.results import MEASURED, RunResult

GUARANTEES = (
    "bound", "bound_ratio", "bound_generic_over_oracle", "srl_ratio", "crw_ratio", "width_ratio",
    "srl_slope", "crw_slope",
)  # fmt: skip
KEYS = ["problem", "instance", "draw", "seed"]
LARGEST = {"srl_ratio": "srl", "crw_ratio": "crw", "width_ratio": "potential"}  # and the check behind each


def check(runs: pd.DataFrame, problems: dict[str, Constants], rule: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Set every run against the bounds; return the runs with the bound of the rule, and the quantities of every run.

    The bound of a rule is missing where its theorem does not apply: Theorem 1 needs a reward without a residual.
    """
    bound, rows = np.full(len(runs), np.nan), []
    for key, places in runs.groupby(KEYS, sort=False).indices.items():
        part = runs.iloc[places]
        run = RunResult(*(part[name].to_numpy(float) for name in MEASURED))
        columns = ("longest", "size", "nu_k", "s_k_bar", "error")
        longest, size, nu_k, s_k_bar, error = (float(part[name].iloc[0]) for name in columns)
        pilot_error = error if rule in OF_PILOT else None
        c = problems[key[0]]._replace(bound_x=longest, size=size)
        checks = bounds.checks(run, c, (nu_k, s_k_bar), pilot_error)
        row = {quantity: checks[check].ratio.max() for quantity, check in LARGEST.items()}
        row["srl_slope"] = bounds.growth(run.t, required(run.srl, "srl"))
        row["crw_slope"] = bounds.growth(run.t, required(run.crw, "crw"))
        if rule in checks:
            bound[places] = checks[rule].bound
            row |= {"bound": checks[rule].bound[-1], "bound_ratio": checks[rule].ratio.max()}
        if rule == "oracle" and nu_k > bounds.NEGLIGIBLE:
            row["bound_generic_over_oracle"] = checks["generic"].bound[-1] / checks["oracle"].bound[-1]
        rows.append(dict(zip(KEYS, key, strict=True)) | row)
    return runs.assign(bound=bound), pd.DataFrame(rows).reindex(columns=[*KEYS, *GUARANTEES])


def measure(checked: pd.DataFrame) -> pd.DataFrame:
    """Reduce the quantities of runs to one per problem and instance: the largest ratio, or mean and standard error."""
    cell, parts = ["problem", "instance"], []
    first = checked[checked["draw"] == 0].set_index(cell)
    for quantity in GUARANTEES:
        grouped = first[quantity].dropna().groupby(level=cell, sort=False)
        largest = quantity.endswith("_ratio")
        values = grouped.agg(value="max" if largest else "mean", sem="sem", n="count").reset_index()
        parts.append(values.assign(quantity=quantity, **({"sem": np.nan} if largest else {})))
    return pd.concat([part for part in parts if len(part)], ignore_index=True).assign(draw=0)
