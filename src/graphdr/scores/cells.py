"""The grammar of a table's cell: quantity[.statistic][@method or @predictor]."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from graphdr.core.errors import UserError

STATISTICS = ("value", "sem", "n")
OVER_INSTANCES = ("share", "largest")  # computed over the values of all instances; in tables only
HEADINGS = {"share": "share of instances where", "largest": "largest"}
PRINTED_AS_ZERO = 1e-9  # anything smaller is a rounding error

Entry = TypeVar("Entry")


class Cell(NamedTuple):
    """One number of a table: a quantity, a statistic of it, and the method or predictor that it belongs to."""

    quantity: str
    statistic: str
    key: str | None


def parse(where: str, text: str) -> Cell:
    """Parse one cell, e.g. ``regret@graphdr`` or ``regret.sem@gaussian``."""
    statistics = (*STATISTICS, *OVER_INSTANCES)
    match = re.fullmatch(r"([a-z0-9_]+)(?:\.([a-z]+))?(?:@([a-z0-9_]+))?", text)
    if match is None or (match[2] or "value") not in statistics:
        raise UserError(f"{where}: {text!r} is not quantity[.{'|'.join(statistics)}][@method]")
    return Cell(match[1], match[2] or "value", match[3])


def parse_columns(columns: Sequence[Mapping[str, str]]) -> list[tuple[str, Cell]]:
    """Return name and cell of every column of a table."""
    return [(name, parse(name, text)) for name, text in named(columns)]


def named(entries: Sequence[Mapping[str, Entry]]) -> list[tuple[str, Entry]]:
    """Flatten a list of one-entry mappings, as config.yaml has them, into pairs."""
    return [pair for entry in entries for pair in entry.items()]


def digits(cell: Cell, of_quantity: int) -> int:
    """Return the number of decimals of a cell: none for a count, two for a share, else those of its quantity."""
    return {"n": 0, "share": 2}.get(cell.statistic, of_quantity)


def heading(cell: Cell, quantity: str) -> str:
    """Return the heading of a cell's column, from the label of its quantity."""
    if cell.statistic == "value":
        return quantity
    return f"{HEADINGS.get(cell.statistic, f'{cell.statistic} of')} {quantity}"


def label(value: object) -> str:
    """Format the name of a row, which may be a number."""
    return f"{value:.12g}" if isinstance(value, int | float) else str(value)


def number(value: float, spec: str = ".4g") -> str:
    """Format a number, with rounding errors around zero as 0."""
    return f"{0.0 if abs(value) < PRINTED_AS_ZERO else value:{spec}}"


def humanize(text: str, labels: Mapping[str, str]) -> str:
    """Replace the names in backticks (cells, methods, data sets, factors) by their labels."""

    def label_of(match: re.Match[str]) -> str:
        name = match[1]
        quantity, _, key = name.partition("@")
        if name in labels or not key or quantity not in labels:
            return labels.get(name, name)
        return f"{labels.get(key, key)}: {labels[quantity]}"

    return re.sub(r"`([^`]+)`", label_of, text)
