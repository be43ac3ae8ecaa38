"""Columns of a file with the places of their rows: their values as arrays, and their mistakes in one message."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import UserError, join_names, quote_cell

LARGEST = 1e100  # the square of a number, and sums of squares, must be finite as well
NUMBER = r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$"
YES, NO = ("true", "yes"), ("false", "no")
SHOWN = 3  # further lines that are named
FINITE = f"is not a finite number of at most {LARGEST:g}"
TOLERANT = "--tolerant leaves such lines out"
Texts = Any  # a pa.Array or pa.ChunkedArray


class Sheet(NamedTuple):
    """The used columns of a file, its name, and the number of the line, or whatever the unit is, of each row."""

    columns: Any  # a pa.Table, or a dictionary of arrays
    name: str
    line: Callable[[int], int] = (1).__add__
    unit: str = "line"
    wrong: Sequence[int] = ()  # lines that are no rows
    complaint: str = ""  # about the first of these

    def place(self, row: int) -> str:
        """Name the place of a row."""
        return f"{self.unit} {self.line(row)}"


def fault(name: str, line: int, complaint: str) -> UserError:
    """Build the message for a mistake in a line of a file."""
    return UserError(f"{name}, line {line}: {complaint}")


def refuse(sheet: Sheet, bad: Any, complaint: Callable[[int], str], rows: np.ndarray | None = None) -> None:
    """Raise an error for the first place that is marked as bad, if any; ``rows`` are the rows of the places."""
    places = np.flatnonzero(np.asarray(bad))
    if len(places):
        at = int(places[0])
        raise UserError(f"{sheet.name}, {sheet.place(at if rows is None else int(rows[at]))}: {complaint(at)}")


# Values


def encode(texts: Texts) -> tuple[pa.Array, np.ndarray]:
    """Return the distinct texts in order of first appearance, and the place of each text among them."""
    whole = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    encoded = whole.dictionary_encode()
    return encoded.dictionary, encoded.indices.to_numpy()


def first_rows(place: np.ndarray) -> np.ndarray:
    """Tell of each place whether it is the first of its number; numbers count up as they appear."""
    return np.diff(np.maximum.accumulate(place), prepend=-1) > 0


def repeated(values: np.ndarray | pa.Array) -> np.ndarray:
    """Tell of each value whether it occurred before."""
    return ~first_rows(encode(values if isinstance(values, pa.Array) else pa.array(values))[1])


def texts(column: pa.Array) -> pa.Array:
    """Return texts without blanks around them, empty where a value is missing."""
    return pc.utf8_trim_whitespace(pc.fill_null(column.cast(pa.string()), ""))


def numbers(column: pa.Array) -> np.ndarray:
    """Return a column as numbers: true and yes are 1, false and no are 0, and other texts are not finite."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        values, places = np.append(numbers(column.dictionary), np.nan), pc.fill_null(column.indices, -1)
        return values.take(places.to_numpy(zero_copy_only=False))
    if pa.types.is_integer(kind) or pa.types.is_float64(kind) or pa.types.is_boolean(kind):
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


class Times(NamedTuple):
    """Numbers that grow with time, in seconds if they were dates and else in an unknown unit."""

    values: np.ndarray
    in_seconds: bool


def times(column: pa.Array) -> Times | None:
    """Return a column of numbers or of dates such as 2024-12-31 as times, or None if it is neither."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
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
    highest = np.maximum.accumulate(rows)
    if len(rows) and highest[-1] == len(names) - 1 and np.diff(highest, prepend=-1).max() == 1:
        return names, rows
    return compact(names, rows)


def compact(names: pa.Array, rows: np.ndarray) -> tuple[pa.Array, np.ndarray]:
    """Return the names that have rows, in order of first appearance, and the place of each row among them."""
    used, again = encode(pa.array(rows))
    merged, place = encode(names.take(used))  # equal texts of two numbers are one name
    return merged, place[again]


# Mistakes


class InputErrors:
    """The mistakes of a file: how often each occurs, in which lines, and the option that settles it.

    Where the user tolerates them, rows with a mistake are marked as ``bad``, and ``left_out`` says so, in the end also
    among the ``notes``.
    """

    def __init__(
        self, sheet: Sheet, tolerant: bool = False, notes: list[str] | None = None, remedy: str = TOLERANT
    ) -> None:
        self.sheet, self.tolerant, self.notes, self.remedy = sheet, tolerant, [] if notes is None else notes, remedy
        self.left_out: list[str] = []
        self.errors: list[tuple[str, str, str]] = []  # the first place, the complaint, and the remedy of each
        count = len(next(iter(sheet.columns.values())))
        self.bad = np.zeros(count, bool)
        if sheet.wrong:
            self._add(sheet.wrong[: SHOWN + 1], len(sheet.wrong), sheet.complaint, remedy)
        if not count:
            raise self._as_user_error() if self.errors else UserError(f"{sheet.name}: no rows that can be read")

    def add_rows(
        self,
        bad: Sequence[bool] | np.ndarray,
        complaint: Callable[[int], str],
        remedy: str | None = None,
        rows: np.ndarray | None = None,
    ) -> None:
        """Add rows with a mistake; ``rows`` has the row of each place of ``bad``, if they differ."""
        at = np.flatnonzero(np.asarray(bad))
        row = at if rows is None else rows[at]
        first_mistakes = ~self.bad[row]  # a line counts once
        at, row = at[first_mistakes], row[first_mistakes]
        if len(at):
            lines = [self.sheet.line(int(each)) for each in row[: SHOWN + 1]]
            self._add(lines, len(row), complaint(int(at[0])), self.remedy if remedy is None else remedy)
            self.bad[row] = True

    def _add(self, lines: Sequence[int], count: int, complaint: str, remedy: str) -> None:
        unit, first, *others = self.sheet.unit, *map(str, lines)
        if self.tolerant:
            rows = f"{count:,} lines are" if count > 1 else "a line is"
            self.left_out.append(f"{Path(self.sheet.name).name}: {rows} left out (first: {unit} {first}: {complaint})")
            return
        if others:
            rest = ", …" if count > SHOWN + 1 else ""
            complaint += f", {count - 1:,} more such: {unit}{'s' * (count > 2)} {', '.join(others)}{rest}"
        self.errors.append((f"{unit} {first}", complaint, remedy))

    def add_file(self, complaint: str, place: str = "", remedy: str = "") -> None:
        """Add a mistake of the file as a whole."""
        self.errors.append((place, complaint, remedy))

    def refuse(self) -> np.ndarray:
        """Return the rows without a mistake; raise an error if there are none, or mistakes that are not tolerated."""
        if self.errors:
            raise self._as_user_error()
        if self.bad.all():
            raise UserError(f"{self.sheet.name}: no row is left; {self.left_out[0]}")
        self.notes += self.left_out
        return np.flatnonzero(~self.bad)

    def _as_user_error(self) -> UserError:
        """Build the message that names all mistakes; the most general remedy is said once."""
        name, tolerable = self.sheet.name, any(remedy == TOLERANT for _, _, remedy in self.errors)
        shown = []
        for place, complaint, remedy in self.errors:
            where = f"{place}: " if place else ""
            shown.append(f"{where}{complaint}" + (f"; {remedy}" if remedy not in ("", TOLERANT) else ""))
        end = f"; {TOLERANT}" if tolerable else ""
        if len(shown) == 1:
            return UserError(f"{name}{', ' if self.errors[0][0] else ': '}{shown[0]}{end}")
        listed = " ".join(f"({number}) {text}" for number, text in enumerate(shown, 1))
        return UserError(f"{name}: {len(shown)} problems: {listed}{end}")

    def numbers(self, name: str) -> np.ndarray:
        """Return a column as numbers; those that are not finite are mistakes."""
        column = self.sheet.columns[name]
        values = numbers(column)

        def complaint(at: int) -> str:
            value = column[at].as_py()
            return f"{quote_cell(name, f'{value:g}' if isinstance(value, float) else str(value))} {FINITE}"

        self.add_rows(~(np.abs(values) <= LARGEST), complaint)
        return values

    def names(self, name: str) -> tuple[pa.Array, np.ndarray]:
        """Return the distinct names in a column and the place of each row; empty names and line breaks are mistakes."""
        names, place = places(self.sheet.columns[name])
        empty, broken = pc.equal(names, ""), pc.match_substring_regex(names, "[\t\r\n]")
        self.add_rows(np.asarray(empty)[place], lambda row: f"{join_names([name])} is empty")
        self.add_rows(
            np.asarray(broken)[place],
            lambda row: f"{quote_cell(name, names[int(place[row])].as_py())} holds a tab or a line break",
        )
        return names, place


def run_all(*steps: Callable[[], object]) -> list[Any]:
    """Call several functions; mistakes of all of them are one error."""
    results, errors = [], []
    for step in steps:
        try:
            results.append(step())
        except UserError as error:
            errors.append(str(error))
    if errors:
        raise join_errors(errors)
    return results


def join_errors(errors: list[str]) -> UserError:
    """Make one error of the messages of several."""
    return UserError(". Also ".join(dict.fromkeys(errors)))
