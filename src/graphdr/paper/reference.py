"""What the paper prints, as files of comma-separated text: read strictly, a mistake being one line that names it."""

import csv
import math
from collections.abc import Collection
from typing import TYPE_CHECKING

from graphdr.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

NUMBERS = ("artifact", "row", "column", "value", "sem")
CLAIMS = ("claim", "where", "statement")


def numbers(path: str) -> "pd.DataFrame":
    """Read the paper's numbers, as text with the digits of the paper."""
    rows = _rows(path, NUMBERS)
    for line, row in rows:
        if not _finite(row["value"]) or (row["sem"] and not _finite(row["sem"])):
            raise _fault(path, line, f"value {row['value']!r}, sem {row['sem']!r}; expected numbers, sem or nothing")
    return _frame(rows)


def claims(path: str) -> "pd.DataFrame":
    """Read the paper's claims, each named once."""
    rows, seen = _rows(path, CLAIMS), set()
    for line, row in rows:
        if not row["claim"] or row["claim"] in seen:
            raise _fault(path, line, f"claim {row['claim']!r}; expected a name that is not above")
        seen.add(row["claim"])
    return _frame(rows)


def _rows(path: str, needed: Collection[str]) -> list[tuple[int, dict[str, str]]]:
    """Return the rows with their lines; all have as many fields as the header, which names the needed ones."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = next(reader, [])
            if missing := [name for name in needed if header.count(name) != 1]:
                raise _fault(path, 1, f"column {missing[0]!r} is not there once; expected {', '.join(needed)}")
            rows = [(reader.line_num, fields) for fields in reader if fields]
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text") from None
    except csv.Error as error:
        raise _fault(path, reader.line_num, f"cannot be parsed ({error})") from None
    for line, fields in rows:
        if len(fields) != len(header):
            raise _fault(path, line, f"number of fields is {len(fields)}; expected {len(header)}")
    if not rows:
        raise UserError(f"{path}: no rows below the header")
    return [(line, dict(zip(header, fields, strict=True))) for line, fields in rows]


def _frame(rows: list[tuple[int, dict[str, str]]]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame([row for _, row in rows], dtype=str)


def _finite(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def _fault(path: str, line: int, complaint: str) -> UserError:
    return UserError(f"{path}, line {line}: {complaint}")
