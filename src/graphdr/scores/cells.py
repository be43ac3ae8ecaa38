"""The grammar of a table's cell: quantity[.field][@method or @predictor]."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from graphdr.core.errors import UserError

FIELDS = ("value", "sem", "n")
OVER_INSTANCES = ("share", "largest")  # of the values on all instances: fields of a table alone
FIELD_WORDS = {"share": "share of instances where", "largest": "largest"}
PRINTED_AS_ZERO = 1e-9  # what is smaller is a rounding error


class Cell(NamedTuple):
    quantity: str
    field: str
    key: str | None


def parse(where: str, text: str) -> Cell:
    """Parse one cell, e.g. ``regret@graphdr`` or ``regret.sem@gaussian``."""
    match, fields = re.fullmatch(r"([a-z0-9_]+)(?:\.([a-z]+))?(?:@([a-z0-9_]+))?", text), (*FIELDS, *OVER_INSTANCES)
    if match is None or (match[2] or "value") not in fields:
        raise UserError(f"{where}: {text!r} is not quantity[.{'|'.join(fields)}][@method]")
    return Cell(match[1], match[2] or "value", match[3])


def digits(cell: Cell, of_quantity: int) -> int:
    """Return how many digits a cell is shown with: a count has none, a share has two."""
    return {"n": 0, "share": 2}.get(cell.field, of_quantity)


def heading(cell: Cell, quantity: str) -> str:
    """Name what a cell shows of its quantity."""
    return quantity if cell.field == "value" else f"{FIELD_WORDS.get(cell.field, f'{cell.field} of')} {quantity}"


def named(columns: list[dict[str, str]]) -> list[tuple[str, str]]:
    """Return (name, cell) of every column, in order: a list of one-entry mappings in config.yaml."""
    return [pair for column in columns for pair in column.items()]


def label(value: object) -> str:
    """Spell the name of a row, which may be a number."""
    return f"{value:.12g}" if isinstance(value, int | float) else str(value)


def number(value: float, spec: str = ".4g") -> str:
    """Print a number, a rounding error of zero as 0."""
    return f"{0.0 if abs(value) < PRINTED_AS_ZERO else value:{spec}}"


def worded(text: str, labels: Mapping[str, str]) -> str:
    """Put words for the names that stand in backticks in a text: cells, methods, data sets and factors."""

    def words(match: re.Match[str]) -> str:
        quantity, _, key = match[1].partition("@")
        if match[1] in labels or not key or quantity not in labels:
            return labels.get(match[1], match[1])
        return f"{labels.get(key, key)}: {labels[quantity]}"

    return re.sub(r"`([^`]+)`", words, text)
