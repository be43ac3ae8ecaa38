"""Set every number of the paper beside ours, with a verdict."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal

import numpy as np
import pandas as pd

from graphdr.core.markdown import pipe_table
from graphdr.scores import cells

MATCH, CLOSE = 0.03, 0.10
SLACK = 1 + 1e-9  # a border belongs to the better verdict, whatever rounding says
VERDICTS = ("match", "close", "not contradicted", "differs", "other data", "no data")
JUDGED = VERDICTS[:4]
KINDS = ("synthetic", "real")  # of numbers: on random graphs, and on data sets
OTHER = {"release", "incomplete"}  # marks of a data set whose numbers reproduce nothing


def half_digit(printed: str) -> float:
    """Return half a unit of the last digit of a number as it was printed."""
    return 0.5 * 10.0 ** Decimal(printed).as_tuple().exponent


def verdict(paper: str, paper_sem: float, ours: float, sem: float, panel, tolerance: float | None) -> str:
    """Judge our number against the paper's, given as printed.

    Quantities with a ``tolerance`` compare by difference (at least half of the last printed digit), the
    others by ratio or by two joint standard errors, where ours counts at most as much as the paper's.
    """
    if np.isnan(ours):
        return "no data"
    value = float(paper)
    off = abs(ours - value)
    if tolerance is None:
        theirs = np.nan_to_num(paper_sem)
        joint = np.hypot(theirs, min(np.nan_to_num(sem), theirs))  # else a noisy number of ours would match anything
        allowed = max(MATCH * abs(value), 2 * joint)
    else:
        allowed = max(tolerance, half_digit(paper))
    if off <= allowed * SLACK:
        return "match"
    if off <= CLOSE * abs(value) * SLACK:
        return "close"
    if len(panel) > 1:
        low, high = np.quantile(panel, [0.05, 0.95])
        if low <= value <= high:
            return "not contradicted"
    return "differs"


def percentile(value: float, panel) -> float:
    """Return the share of the panel below a value, ties counting half, in percent."""
    panel = np.asarray(panel, float)
    return float(100 * ((panel < value).mean() + (panel == value).mean() / 2))


def our_cell(line: Mapping, specs: Mapping[str, Mapping]) -> tuple[str, str, str]:
    """Return table, row and column of ours that a line of the paper is about; ``paper_rows`` has what it renames."""
    renamed = specs.get(line["artifact"], {}).get("paper_rows", {})
    return line["artifact"], cells.label(renamed.get(line["row"], line["row"])), line["column"]


def by_our_cell(lines: Iterable[Mapping], specs: Mapping[str, Mapping]) -> dict[tuple[str, str, str], Mapping]:
    """Return lines of the paper, or of the comparison, by table, row and column of ours."""
    return {our_cell(line, specs): line for line in lines}


def compare(
    reference: pd.DataFrame, tables: dict[str, pd.DataFrame], specs: dict, marks: dict, missing: Collection[str] = ()
) -> pd.DataFrame:
    """Join the paper's numbers (as printed strings) with our tables, one row each, in the paper's order.

    ``marks`` say of a data set in what it is not the paper's: its numbers, and scores over a pool with such a data set
    or without one that is ``missing``, are shown, but not judged.
    """
    lines = [(name, row) for name, table in tables.items() for row in table.to_dict("records")]
    ours = {(name, row["row"], row["column"]): row for name, row in lines}
    panel_names = ("panel_median", "panel_low", "panel_high")
    nothing = dict.fromkeys(("value", "sem", *panel_names), np.nan) | {"panel": [], "quantity": None}
    rows, other = [], {dataset for dataset, words in marks.items() if OTHER & set(words)} | set(missing)
    for printed in reference.to_dict("records"):
        spec = specs.get(printed["artifact"], {"tolerance": {}, "datasets": {}})
        place = our_cell(printed, specs)
        cell = ours.get(place, nothing)
        paper, paper_sem = float(printed["value"]), float(printed["sem"] or "nan")
        tolerance = spec["tolerance"].get(cell["quantity"])
        judged = verdict(printed["value"], paper_sem, cell["value"], cell["sem"], cell["panel"], tolerance)
        if judged != "no data" and other & set(spec["datasets"].get(place[1], [])):
            judged = "other data"
        rows.append(
            {name: printed[name] for name in ("artifact", "row", "column")}
            | {"paper": paper, "paper_sem": paper_sem, "ours": cell["value"], "sem": cell["sem"]}
            | {"ratio": cell["value"] / paper if paper else np.nan}
            | {name: cell[name] for name in panel_names}
            | {"percentile": percentile(paper, cell["panel"]) if len(cell["panel"]) > 1 else np.nan, "verdict": judged}
        )
    return pd.DataFrame(rows)


def identify(comparison: pd.DataFrame, cells: Mapping, specs: Mapping, observed: Collection[str]) -> pd.DataFrame:
    """Add to every number the cell of ours that it is about, and whether it comes from data sets or random graphs.

    ``cells`` names what stands in each table, row and column; two of one name show the same number of ours.
    """
    named, kinds = [], []
    for line in comparison.to_dict("records"):
        artifact, row, column = our_cell(line, specs)
        named.append(cells.get(artifact, {}).get(row, {}).get(column, f"{artifact}, {row}, {column}"))
        behind = specs.get(artifact, {"datasets": {}})["datasets"].get(row, [])
        kinds.append(KINDS[bool(set(behind) & set(observed))])
    return comparison.assign(cell=named, kind=kinds)


def headline(lines: Iterable[Mapping]) -> dict[str, dict[str, int]]:
    """Count synthetic and real numbers apart: those printed and judged, and the verdicts on distinct ones.

    A number that several tables print of the same cell counts once, with the verdict where it stands first.
    """
    counts = {kind: dict.fromkeys(("printed", *VERDICTS), 0) for kind in KINDS}
    seen = set()
    for line in lines:
        count, pair = counts[line["kind"]], (line["paper"], line["cell"])
        count["printed"] += line["verdict"] in JUDGED
        count[line["verdict"]] += pair not in seen
        seen.add(pair)
    return counts


def headline_table(lines: Iterable[Mapping]) -> list[str]:
    """Lay the headline out as a markdown table."""
    body = []
    for kind, count in headline(lines).items():
        distinct = sum(count[name] for name in JUDGED)
        body.append([kind, *(str(n) for n in (count["printed"], distinct, *(count[name] for name in JUDGED)))])
    return pipe_table(["numbers", "judged", "distinct", *JUDGED], body)


def markdown(comparison: pd.DataFrame, power: Sequence[str] = ()) -> str:
    """Render the comparison: a count of verdicts, what they can notice, one table per artifact, what is not built."""
    built = comparison[comparison["verdict"] != "no data"]
    other = (built["verdict"] == "other data").sum()
    lines = ["# Our numbers beside the paper's", "", *headline_table(comparison.to_dict("records")), ""]
    lines += ["A number that several tables print counts once among the distinct ones, which the verdicts count.", ""]
    if other:
        lines += [f"{other} more are shown but not judged: they come from other data.", ""]
    lines += [NOTE, "", SEM_NOTE, "", *power]
    head = ["row", "column", "paper", "ours", "ratio", "panel median (5–95 %)", "percentile", "verdict"]
    for artifact, part in built.groupby("artifact", sort=False):
        lines += [f"## {artifact}", "", *pipe_table(head, [_cells(row) for row in part.to_dict("records")]), ""]
    missing = comparison[comparison["verdict"] == "no data"]
    if len(missing):
        names = ", ".join(f"{name} ({count})" for name, count in missing["artifact"].value_counts(sort=False).items())
        lines += ["## Not built", "", f"No data for {len(missing)} numbers of: {names}.", ""]
    return "\n".join(lines)


NOTE = (
    "`match`: within 3 % or two joint standard errors, where ours counts at most as much as the paper's, and not at "
    "all where the paper prints none (correlations, energies and tails: within 0.01; gaps and counts: within half of "
    "the last printed digit); `close`: within 10 %; `not contradicted`: inside the 5–95 % range of our instances (of "
    "our permutations or JL matrices, on a data set), which says little; `other data`: another release or a part of "
    "the paper's data; percentile: where the paper's number lies among our instances."
)
SEM_NOTE = "Each ± is a standard error over seeds, on one graph with one reward: it leaves out how much these vary."


def _cells(row: dict) -> list[str]:
    def text(value, spec=".4g"):
        if value is None or np.isnan(value):
            return "–"
        return f"{value:.0f}" if abs(value) >= 1e4 else cells.number(value, spec)

    def with_error(value, sem):
        return text(value) + (f" ± {sem:.2g}" if sem > 0 else "")

    panel = f"{text(row['panel_median'])} ({text(row['panel_low'])} … {text(row['panel_high'])})"
    ours, theirs = with_error(row["ours"], row["sem"]), with_error(row["paper"], row["paper_sem"])
    spread = ["–", "–"] if np.isnan(row["percentile"]) else [panel, text(row["percentile"], ".0f")]  # of several values
    return [row["row"], row["column"], theirs, ours, text(row["ratio"], ".2f"), *spread, row["verdict"]]
