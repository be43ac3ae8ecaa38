"""Estimates from a log as text: tables and warnings."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from graphdr.advise.ope.estimates import ESTIMATORS, ROUNDING, Row, evaluate
from graphdr.advise.ope.policies import Policy
from graphdr.advise.ope.reading import Log
from graphdr.core import terminal

FEW, SHARE = 30, 0.05  # effective rounds, and their share of all: below either, an interval is not to be trusted
DOUBTFUL = 4  # standard errors of the mean weight from one


class ByLog(NamedTuple):
    """The estimates of every policy from a log, and warnings about them."""

    estimates: list[Row]
    warnings: list[str]


def evaluate_by_log(
    log: Log, names: Sequence[str | int], arms: Mapping[str, np.ndarray | Policy | None], against: Sequence[str]
) -> ByLog:
    """Estimate from a log what policies would have earned, with warnings."""
    rows = evaluate(log, arms, names, against=against)
    return ByLog(rows, [*warnings(rows), *_page_warnings(log)])


def _page_warnings(log: Log) -> list[str]:
    """Warn that pages are unknown, where a log has several positions."""
    if log.positions is None or log.pages is not None or log.positions.max() == 0:
        return []
    unknown = "nothing says which rows were on one page (no usable time, and no column such as 'impression')"
    return [f"{log.name}: {unknown}; intervals take the rows as independent, and may be too narrow"]


def text(rows: Sequence[Row]) -> list[str]:
    """Lay out the estimates, then the differences, then the warnings."""
    lines: list[str] = []
    for caption, head, body in tables(rows):
        lines += [f"{caption}:", "", *terminal.table(head, body, terminal.figures(head), terminal.width()), ""]
    return [*lines, *warnings(rows)] if warnings(rows) else lines[:-1]


def tables(rows: Sequence[Row]) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return the estimates and the differences as tables of text: a caption, a head and rows each."""
    if not rows:
        return []
    level, digits = f"{100 * rows[0].level:g} % intervals", _digits(rows)
    values = [row for row in rows if row.against is None]
    compared = [row for row in rows if row.against is not None]
    head = ["policy", *ESTIMATORS.values(), "effective rounds"]
    caption = f"Mean reward a round, from {rows[0].rounds:,} rounds of the log, with {level}"
    shown = [(caption, head, _body(values, digits, len(head)))]
    if compared:
        head = ["difference", *ESTIMATORS.values()]
        caption = f"One policy minus another in the same rounds, with {level}"
        shown.append((caption, head, _body(compared, digits, len(head))))
    return shown


def warnings(rows: Sequence[Row]) -> list[str]:
    """Warn of policies with few effective rounds, and of weights that cannot be right, in a line each."""
    lines = []
    for row in {row.policy: row for row in rows if row.against is None}.values():
        if row.ess == 0:
            lines.append(f"{row.policy}: no estimate, for it would have played no arm that was logged")
        elif row.ess >= FEW and abs(row.weight - 1) > DOUBTFUL * row.weight_sem + ROUNDING:
            why = "propensities are wrong, or some candidates could never be played"
            lines.append(f"{row.policy}: its weights are {row.weight:.2f} on average, not 1: {why}")
        elif row.ess < max(FEW, SHARE * row.rounds):
            share = f"{row.ess:.0f} effective rounds of {row.rounds:,} ({100 * row.ess / row.rounds:.1f} %)"
            lines.append(f"{row.policy}: {share}: take its intervals with care, and log more random rounds")
    return lines


def _body(rows: Sequence[Row], digits: int, columns: int) -> list[list[str]]:
    cells: dict[str, list[str]] = {}
    for row in rows:
        label = row.policy if row.against is None else f"{row.policy} − {row.against}"
        interval = f"{row.value:.{digits}f} ({row.low:.{digits}f} … {row.high:.{digits}f})"
        cells.setdefault(label, [f"{row.ess:,.0f}"]).append(interval if row.ess else "–")
    return [[label, *intervals, ess][:columns] for label, (ess, *intervals) in cells.items()]


def _digits(rows: Sequence[Row]) -> int:
    """Return how many decimals show two digits of a typical error."""
    errors = [row.sem for row in rows if row.sem > 0]
    return int(np.clip(1 - np.floor(np.log10(np.median(errors))), 0, 9)) if errors else 3
