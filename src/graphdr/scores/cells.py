"""The grammar of a table's cell: quantity[.field][@method or @predictor]."""

import re
from typing import NamedTuple

from graphdr.core.errors import UserError

FIELDS = ("value", "sem", "n")


class Cell(NamedTuple):
    quantity: str
    field: str
    key: str | None


def parse(where: str, text: str) -> Cell:
    """Parse one cell, e.g. ``regret@graphdr`` or ``regret.sem@jl``."""
    match = re.fullmatch(r"([a-z0-9_]+)(?:\.([a-z]+))?(?:@([a-z0-9_]+))?", text)
    if match is None or (match[2] or "value") not in FIELDS:
        raise UserError(f"{where}: {text!r} is not quantity[.{'|'.join(FIELDS)}][@method]")
    return Cell(match[1], match[2] or "value", match[3])


def named(columns: list[dict[str, str]]) -> list[tuple[str, str]]:
    """Return (name, cell) of every column, in order: a list of one-entry mappings in config.yaml."""
    return [pair for column in columns for pair in column.items()]
