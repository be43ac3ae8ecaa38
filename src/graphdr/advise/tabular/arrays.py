"""Columns as arrays: texts, numbers, times, and the places of names."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.raw.tables import encode

YES, NO = ("true", "yes"), ("false", "no")
NUMBER = r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?$"
EXACT = (pa.types.is_integer, pa.types.is_float64, pa.types.is_boolean)


def texts(column: pa.Array) -> pa.Array:
    """Return texts without blanks around them, empty where a value is missing."""
    return pc.utf8_trim_whitespace(pc.fill_null(column.cast(pa.string()), ""))


def numbers(column: pa.Array) -> np.ndarray:
    """Return a column as numbers: true and yes are 1, false and no are 0, and other texts are not finite."""
    if pa.types.is_dictionary(column.type):
        return _taken(numbers(column.dictionary), column.indices)
    if any(test(column.type) for test in EXACT):
        return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    words = pc.fill_null(column.cast(pa.string()), "")  # only the text of a float32 is exactly 0.1
    try:
        return words.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        words = pc.ascii_lower(pc.utf8_trim_whitespace(words))
    for synonyms, digit in ((YES, "1"), (NO, "0")):
        words = pc.if_else(pc.is_in(words, value_set=pa.array(synonyms)), digit, words)
    words = pc.if_else(pc.match_substring_regex(words, NUMBER), words, pa.scalar(None, pa.string()))
    return words.cast(pa.float64()).to_numpy(zero_copy_only=False)


def _taken(values: np.ndarray, places: pa.Array) -> np.ndarray:
    if not len(values):
        return np.full(len(places), np.nan)
    taken = values.take(pc.fill_null(places, 0).to_numpy(zero_copy_only=False))
    return np.where(places.is_null().to_numpy(zero_copy_only=False), np.nan, taken) if places.null_count else taken


class Times(NamedTuple):
    """Numbers that grow with time, in seconds if they were dates and else in an unknown unit."""

    values: np.ndarray
    in_seconds: bool


def times(column: pa.Array) -> Times | None:
    """Return a column of numbers or of dates such as 2024-12-31 as times, or None if it is neither."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    is_date = pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)
    if not is_date:
        values = numbers(column)
        if np.isfinite(values).all():
            return Times(values, False)
        column = texts(column)
    for zone in ("UTC", None):
        try:
            stamps = column.cast(pa.timestamp("us", getattr(column.type, "tz", zone)))
        except pa.ArrowException:
            continue
        if not stamps.null_count:
            return Times(stamps.cast(pa.int64()).to_numpy() / 1e6, True)
    return None


def repeated(values: np.ndarray | pa.Array) -> np.ndarray:
    """Tell of each value whether it occurred before."""
    place = encode(values if isinstance(values, pa.Array) else pa.array(values))[1]
    return np.diff(np.maximum.accumulate(place), prepend=-1) == 0


def places(column: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """Return the distinct names of a column as texts, in order of first appearance, and the place of each row."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    names = column.dictionary
    if pa.types.is_boolean(names.type):
        names = names.cast(pa.int8())
    names = pc.fill_null(names.cast(pa.string()), "")
    rows = column.indices
    if rows.null_count:  # a missing name is an empty one
        names, rows = pa.concat_arrays([names, pa.array([""])]), pc.fill_null(rows, len(names))
    rows = rows.to_numpy(zero_copy_only=False)
    return (names, rows) if _ordered(rows, len(names)) else compact(names, rows)


def _ordered(rows: np.ndarray, count: int) -> bool:
    """Tell whether all of so many names appear, numbered by first appearance."""
    if not len(rows):
        return not count
    steps = np.diff(np.maximum.accumulate(rows), prepend=-1)
    return bool(rows[0] == 0 and steps.max() <= 1 and rows.max() == count - 1)


def compact(names: pa.Array, rows: np.ndarray) -> tuple[pa.Array, np.ndarray]:
    """Return the names that have rows, in order of first appearance, and the place of each row among them."""
    used, again = encode(pa.array(rows))
    merged, place = encode(names.take(used))  # equal texts of two numbers are one name
    return merged, place[again]
