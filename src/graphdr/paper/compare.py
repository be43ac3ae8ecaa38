"""Compare every number of the paper with ours, with a verdict."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from graphdr.core.terminal import pipe_table
from graphdr.scores import cells

MATCH, CLOSE = 0.03, 0.10
SLACK = 1 + 1e-9  # a border belongs to the better verdict, in spite of rounding
VERDICTS = ("match", "close", "not contradicted", "differs", "other data", "no data")
JUDGED = VERDICTS[:4]
KINDS = ("synthetic", "real")  # of numbers: on random graphs, and on data sets
OTHER = {"release", "incomplete"}  # marks of a data set whose numbers reproduce nothing
SPREAD = ("panel_median", "panel_low", "panel_high")

Line = Mapping[str, Any]  # a row of the comparison, or a number that the paper prints


@dataclass(frozen=True)
class ComparedTable:
    """How a table of ours relates to one of the paper."""

    paper_rows: dict[str, str] = field(default_factory=dict)  # rows that the paper calls otherwise, with our name
    tolerance: dict[str, float] = field(default_factory=dict)  # quantities that are compared by difference
    datasets: dict[str, list[str]] = field(default_factory=dict)  # data sets behind each of our rows
    real: list[str] = field(default_factory=list)  # our rows that are about no random graphs
    cells: dict[str, dict[str, str]] = field(default_factory=dict)  # by row and column: equal names are the same number


Tables = Mapping[str, ComparedTable]


class Place(NamedTuple):
    """A cell of one of our tables."""

    table: str
    row: str
    column: str


class Ours(NamedTuple):
    """Our number: value, standard error, and its values on all instances or draws."""

    value: float
    sem: float
    instances: Sequence[float] | np.ndarray


def half_digit(printed: str) -> float:
    """Return half a unit of the last digit of a number as it was printed."""
    return float(0.5 * 10.0 ** int(Decimal(printed).as_tuple().exponent))


def verdict(printed: str, paper_sem: float, ours: Ours, tolerance: float | None) -> str:
    """Judge our number against the paper's, as it was printed.

    Quantities with a ``tolerance`` compare by difference (at least half of the last printed digit), the
    others by ratio or by two joint standard errors, where ours counts at most as much as the paper's.
    """
    if np.isnan(ours.value):
        return "no data"
    paper = float(printed)
    off = abs(ours.value - paper)
    if tolerance is None:
        theirs = np.nan_to_num(paper_sem)
        joint = np.hypot(theirs, min(np.nan_to_num(ours.sem), theirs))  # else a noisy number would match anything
        allowed = max(MATCH * abs(paper), 2 * joint)
    else:
        allowed = max(tolerance, half_digit(printed))
    if off <= allowed * SLACK:
        return "match"
    if off <= CLOSE * abs(paper) * SLACK:
        return "close"
    if len(ours.instances) > 1:
        low, high = np.quantile(ours.instances, [0.05, 0.95])
        if low <= paper <= high:
            return "not contradicted"
    return "differs"


def percentile(value: float, instances: Sequence[float] | np.ndarray) -> float:
    """Return the share of the instances below a value, ties counting half, in percent."""
    numbers = np.asarray(instances, float)
    return float(100 * ((numbers < value).mean() + (numbers == value).mean() / 2))


def our_cell(line: Line, tables: Tables) -> Place:
    """Return the cell of ours that a number of the paper is compared with."""
    renamed = tables.get(line["artifact"], ComparedTable()).paper_rows
    return Place(line["artifact"], cells.label(renamed.get(line["row"], line["row"])), line["column"])


def by_our_cell(lines: Iterable[Line], tables: Tables) -> dict[Place, Line]:
    """Return lines of the paper, or of the comparison, by our cell."""
    return {our_cell(line, tables): line for line in lines}


def compare(
    reference: pd.DataFrame,
    built: Mapping[str, pd.DataFrame],
    tables: Tables,
    marks: Mapping[str, Collection[str]],
    missing: Collection[str] = (),
) -> pd.DataFrame:
    """Compare the paper's numbers (as printed strings) with our tables, one row each, in the paper's order.

    ``marks`` say how a data set differs from the paper's. Numbers on such a data set, and scores over several data sets
    with such a data set or without a ``missing`` one, are shown, but not judged.
    """
    ours: dict[Place, Line] = {}
    for name, built_table in built.items():
        ours |= {Place(name, row["row"], row["column"]): row for row in built_table.to_dict("records")}
    nothing: Line = dict.fromkeys(("value", "sem", *SPREAD), np.nan) | {"panel": [], "quantity": None}
    other = {dataset for dataset, words in marks.items() if OTHER & set(words)} | set(missing)
    rows = []
    for line in reference.to_dict("records"):
        table, place = tables.get(line["artifact"], ComparedTable()), our_cell(line, tables)
        cell = ours.get(place, nothing)
        number = Ours(cell["value"], cell["sem"], cell["panel"])
        paper, paper_sem = float(line["value"]), float(line["sem"] or "nan")
        word = verdict(line["value"], paper_sem, number, table.tolerance.get(cell["quantity"]))
        if word != "no data" and other & set(table.datasets.get(place.row, [])):
            word = "other data"
        row = {name: line[name] for name in ("artifact", "row", "column")}
        row |= {"paper": paper, "paper_sem": paper_sem, "ours": number.value, "sem": number.sem}
        row |= {"ratio": number.value / paper if paper else np.nan} | {name: cell[name] for name in SPREAD}
        below = percentile(paper, number.instances) if len(number.instances) > 1 else np.nan
        row |= {"percentile": below, "cell": table.cells.get(place.row, {}).get(place.column, ", ".join(place))}
        rows.append(row | {"kind": KINDS[place.row in table.real], "verdict": word})
    return pd.DataFrame(rows)


def headline(lines: Iterable[Line]) -> dict[str, dict[str, int]]:
    """Count synthetic and real numbers: those printed and judged, and the verdicts on distinct ones.

    A number that several tables print of the same cell counts once, with its first verdict.
    """
    counts = {kind: dict.fromkeys(("printed", *VERDICTS), 0) for kind in KINDS}
    seen = set()
    for line in lines:
        count, number = counts[line["kind"]], (line["paper"], line["cell"])
        count["printed"] += line["verdict"] in JUDGED
        count[line["verdict"]] += number not in seen
        seen.add(number)
    return counts


def headline_table(lines: Iterable[Line]) -> list[str]:
    """Render the headline as a markdown table."""
    body = []
    for kind, count in headline(lines).items():
        verdicts = [count[word] for word in JUDGED]
        body.append([kind, *map(str, (count["printed"], sum(verdicts), *verdicts))])
    return pipe_table(["numbers", "judged", "distinct", *JUDGED], body)


def markdown(comparison: pd.DataFrame, power: Sequence[str] = ()) -> str:
    """Render the comparison: counts of verdicts, their power, one table per artifact, and what is not built."""
    built = comparison[comparison["verdict"] != "no data"]
    other = (built["verdict"] == "other data").sum()
    lines = ["# Our numbers beside the paper's", "", *headline_table(comparison.to_dict("records")), ""]
    lines += ["A number that several tables print counts once among the distinct ones, which the verdicts count.", ""]
    if other:
        lines += [f"{other} more are shown but not judged: they come from other data.", ""]
    lines += [NOTE, "", SEM_NOTE, "", *power]
    head = ["row", "column", "paper", "ours", "ratio", "panel median (5–95 %)", "percentile", "verdict"]
    for artifact, part in built.groupby("artifact", sort=False):
        lines += [f"## {artifact}", "", *pipe_table(head, [_texts(row) for row in part.to_dict("records")]), ""]
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


def _texts(row: Line) -> list[str]:
    """Format a row of the comparison."""
    paper, ours = (
        _number(row[value]) + (f" ± {row[sem]:.2g}" if row[sem] > 0 else "")
        for value, sem in (("paper", "paper_sem"), ("ours", "sem"))
    )
    spread = ["–", "–"]
    if not np.isnan(row["percentile"]):
        median, low, high = (_number(row[name]) for name in SPREAD)
        spread = [f"{median} ({low} … {high})", _number(row["percentile"], ".0f")]
    return [row["row"], row["column"], paper, ours, _number(row["ratio"], ".2f"), *spread, row["verdict"]]


def _number(value: float | None, spec: str = ".4g") -> str:
    if value is None or np.isnan(value):
        return "–"
    return f"{value:.0f}" if abs(value) >= 1e4 else cells.number(value, spec)
