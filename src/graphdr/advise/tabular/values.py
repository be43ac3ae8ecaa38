"""Columns as arrays: numbers, times and the places of names."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.raw.tables import encode

YES, NO = ("true", "yes"), ("false", "no")
NUMBER = r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?$"
EXACT = (pa.types.is_integer, pa.types.is_float64, pa.types.is_boolean)


def numbers(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return a column as numbers: true and yes are 1, false and no are 0, and what is no number is not finite."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        return _taken(numbers(column.dictionary), column.indices)
    if any(test(column.type) for test in EXACT):
        return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    texts = pc.fill_null(column.cast(pa.string()), "")  # a float32 says 0.1 by its text alone
    try:
        return texts.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        words = pc.ascii_lower(pc.utf8_trim_whitespace(texts))
    for same, digit in ((YES, "1"), (NO, "0")):
        words = pc.if_else(pc.is_in(words, value_set=pa.array(same)), digit, words)
    words = pc.if_else(pc.match_substring_regex(words, NUMBER), words, pa.scalar(None, pa.string()))
    return words.cast(pa.float64()).to_numpy(zero_copy_only=False)


def _taken(values: np.ndarray, places: pa.Array) -> np.ndarray:
    taken = (
        values.take(pc.fill_null(places, 0).to_numpy(zero_copy_only=False)) if len(values) else np.empty(len(places))
    )
    return np.where(places.is_null().to_numpy(zero_copy_only=False), np.nan, taken) if places.null_count else taken


def times(column: pa.Array) -> np.ndarray | None:
    """Return a column as numbers that grow with time, or None if it is neither numbers nor dates as 2024-12-31."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string(column.type):
        for zone in (None, "UTC"):
            try:
                column = column.cast(pa.timestamp("us", zone))
                break
            except pa.ArrowException:
                continue
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        if column.null_count:
            return None
        return column.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy(zero_copy_only=False) / 1e6
    try:
        values = numbers(column)
    except pa.ArrowException:
        return None
    return values if np.isfinite(values).all() else None


def places(column: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """Return the distinct names of a column as texts, in order of first appearance, and the place of each row."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    names = column.dictionary
    if pa.types.is_boolean(names.type):
        names = names.cast(pa.int8())
    names = pc.fill_null(names.cast(pa.string()), "")
    rows = column.indices
    if rows.null_count:  # no name is an empty one
        names, rows = pa.concat_arrays([names, pa.array([""])]), pc.fill_null(rows, len(names))
    rows = rows.to_numpy(zero_copy_only=False)
    return (names, rows) if _ordered(rows, len(names)) else compact(names, rows)


def _ordered(rows: np.ndarray, count: int) -> bool:
    """Say whether each of so many names appears, the names being numbered as they appear."""
    if not len(rows):
        return not count
    steps = np.diff(np.maximum.accumulate(rows), prepend=-1)
    return bool(rows[0] == 0 and steps.max() <= 1 and rows.max() == count - 1)


def compact(names: pa.Array, rows: np.ndarray) -> tuple[pa.Array, np.ndarray]:
    """Return those of the names that have rows, in order of first appearance, and the rows' places among them."""
    used, again = encode(pa.array(rows))
    merged, place = encode(names.take(used))  # texts that two numbers have in common are one name
    return merged, place[again]
