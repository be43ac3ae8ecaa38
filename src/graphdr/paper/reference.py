"""Read the numbers and claims that the paper prints, and the reasons for differences, from CSV files."""

import math
from collections.abc import Collection
from pathlib import Path

import pandas as pd
import pyarrow as pa

from graphdr.core.errors import quote
from graphdr.raw.dialect import TextFormat
from graphdr.raw.sheets import Sheet, fault, refuse
from graphdr.raw.user_tables import TEXT, open_table

NUMBERS = ("artifact", "row", "column", "value", "sem")
CLAIMS = ("claim", "where", "statement")
REASONS = ("artifact", "row", "column", "why")


def numbers(path: str) -> pd.DataFrame:
    """Read the paper's numbers, as text with the digits of the paper."""
    sheet = _read(path, NUMBERS)
    pairs = list(zip(*(sheet.columns[name].to_pylist() for name in ("value", "sem")), strict=True))
    bad = [not _finite(value) or bool(sem and not _finite(sem)) for value, sem in pairs]
    refuse(sheet, bad, lambda row: _wrong_pair(*pairs[row]))
    return pd.DataFrame(sheet.columns.to_pydict(), dtype=str)


def claims(path: str) -> pd.DataFrame:
    """Read the paper's claims, each named once."""
    sheet = _read(path, CLAIMS)
    names = sheet.columns["claim"].to_pylist()
    first = {name: row for row, name in reversed(list(enumerate(names))) if name}
    bad = [first.get(name) != row for row, name in enumerate(names)]
    refuse(sheet, bad, lambda row: f"claim {quote(names[row])}; expected a name that is not above")
    return pd.DataFrame(sheet.columns.to_pydict(), dtype=str)


def reasons(path: str) -> dict[tuple[str, str, str], str]:
    """Read why numbers differ, by table, row and column of the paper; an empty row or column stands for all."""
    lines = _read(path, REASONS).columns.to_pylist()
    return {(line["artifact"], line["row"], line["column"]): line["why"] for line in lines}


def _read(path: str, needed: Collection[str]) -> Sheet:
    """Read a file whose header names all columns once, the needed ones among them."""
    table = open_table(Path(path), TextFormat("utf-8", ",", True))
    if missing := [name for name in needed if name not in table.names]:
        raise fault(path, 1, f"no column {quote(missing[0])}; expected {', '.join(needed)}")
    sheet = table.read(dict.fromkeys(table.names, TEXT))
    for line in sheet.wrong:
        raise fault(path, line, sheet.complaint)
    return sheet._replace(columns=pa.table(sheet.columns))


def _wrong_pair(value: str, sem: str) -> str:
    return f"value {quote(value, 2)}, sem {quote(sem, 2)}; expected numbers, sem or nothing"


def _finite(number: str) -> bool:
    try:
        return math.isfinite(float(number)) and "_" not in number
    except ValueError:
        return False
