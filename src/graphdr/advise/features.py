"""Features of items as one matrix: numbers as they are, lists of numbers side by side, categories as indicators."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import UserError, join_names, quote, quote_cell
from graphdr.raw import sheets
from graphdr.raw.dialect import is_number
from graphdr.raw.sheets import FINITE, InputErrors

CATEGORIES = 1000  # different texts that a column may hold
LARGEST = 1 << 28  # numbers in all, which take 2 GB


def matrix(errors: InputErrors, names: list[str]) -> tuple[np.ndarray, list[str]]:
    """Return a row of numbers per row of the sheet, and assumptions about columns of texts."""
    parts, assumed, indicators = [], [], []
    for name in names:
        column = errors.sheet.columns[name]
        if _is_list(column):
            parts.append(_lists(errors, name))
        elif _is_category(column):
            keys, place = sheets.places(column)
            if len(keys) > CATEGORIES:
                assumed.append(f"column {quote(name)} is left out, for it holds {len(keys):,} different texts")
                continue
            _check_size(len(place), len(keys), errors.sheet.name)
            indicators.append(name)
            parts.append((place[:, None] == np.arange(len(keys))).astype(float))
        else:
            parts.append(errors.numbers(name)[:, None])
    if indicators:
        shown = join_names(map(repr, indicators))
        assumed.append(f"columns of texts as indicators, one per category: {shown}")
    if not parts:
        raise UserError(f"{errors.sheet.name}: no column of numbers or of at most {CATEGORIES:,} different texts")
    _check_size(len(parts[0]), sum(part.shape[1] for part in parts), errors.sheet.name)
    return np.hstack(parts), assumed


def _check_size(rows: int, columns: int, name: str) -> None:
    if rows * columns > LARGEST:
        raise UserError(
            f"{name}: {rows:,} × {columns:,} features are more than {LARGEST:,} numbers; take fewer columns"
        )


def _is_list(column: pa.Array) -> bool:
    words = str(column[0].as_py()).split() if pa.types.is_string(column.type) and len(column) else []
    return len(words) > 1 and all(map(is_number, words))


def _is_category(column: pa.Array) -> bool:
    """Tell whether a column is of texts: a single text among numbers is a mistake."""
    return np.isfinite(sheets.numbers(column)).mean() < 0.5


def _lists(errors: InputErrors, name: str) -> np.ndarray:
    sheet = errors.sheet
    lists = pc.split_pattern(pc.utf8_trim_whitespace(sheet.columns[name]), " ")
    sizes = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    errors.add_rows(sizes != sizes[0], lambda row: f"{sizes[row]} features; expected {sizes[0]} as above")
    rows = np.repeat(np.arange(len(sizes)), sizes)
    words = lists.flatten()
    values = sheets.numbers(words)
    errors.add_rows(~np.isfinite(values), lambda at: f"{quote_cell(name, words[at].as_py())} {FINITE}", rows=rows)
    even = sizes[rows] == sizes[0]
    numbers = np.zeros((len(sizes), sizes[0]))
    numbers[sizes == sizes[0]] = values[even].reshape(-1, sizes[0])
    return numbers
