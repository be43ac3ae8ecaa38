"""All mistakes of a file in one message: how often each occurs, in which lines, and the option that settles it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.advise.tabular import arrays
from graphdr.core.errors import UserError, join_names, quote_cell
from graphdr.raw.text import LARGEST, Sheet

SHOWN = 3  # further lines that are named
FINITE = f"is not a finite number of at most {LARGEST:g}"
TOLERANT = "--tolerant leaves such lines out"


class InputError(NamedTuple):
    """A mistake in a file: its first place, the complaint, further places, and the option that settles it."""

    place: str
    complaint: str
    more: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.complaint}{self.more}{'; ' if self.remedy else ''}{self.remedy}"


class InputErrors:
    """The mistakes of one file, and the rows to leave out where the user tolerates them."""

    def __init__(self, sheet: Sheet, tolerant: bool = False) -> None:
        self.sheet, self.tolerant = sheet, tolerant
        self.count = len(next(iter(sheet.columns.values())))
        self.errors: list[InputError] = []
        self.notes: list[str] = []
        self.bad = np.zeros(self.count, bool)  # rows with a mistake
        if sheet.faults:
            places = [f"{sheet.unit} {line}" for line, _ in sheet.faults[: SHOWN + 1]]
            self._add(places, len(sheet.faults), sheet.faults[0][1], TOLERANT)
        if not self.count:
            raise self.as_user_error() if self.errors else UserError(f"{sheet.name}: no rows that can be read")

    def add_rows(
        self,
        bad: Sequence[bool] | np.ndarray,
        complaint: Callable[[int], str],
        remedy: str = TOLERANT,
        rows: np.ndarray | None = None,
    ) -> None:
        """Add rows with a mistake; ``rows`` has the row of each place of ``bad``, if they differ."""
        at = np.flatnonzero(np.asarray(bad))
        row = at if rows is None else rows[at]
        first_mistakes = ~self.bad[row]  # a line counts once
        at, row = at[first_mistakes], row[first_mistakes]
        if len(at):
            places = [self.sheet.place(int(each)) for each in row[: SHOWN + 1]]
            self._add(places, len(at), complaint(int(at[0])), remedy)
            self.bad[row] = True

    def _add(self, places: list[str], count: int, complaint: str, remedy: str) -> None:
        first, *others = places
        if self.tolerant:
            lines = f"{count:,} lines are" if count > 1 else "a line is"
            self.notes.append(f"{Path(self.sheet.name).name}: {lines} left out (first: {first}: {complaint})")
            return
        more, unit = "", self.sheet.unit
        if others:
            numbers = ", ".join(place.removeprefix(unit).strip() for place in others)
            units, rest = unit + "s" * (count > 2), ", …" * (count > len(places))
            more = f", {count - 1:,} more such: {units} {numbers}{rest}"
        self.errors.append(InputError(first, complaint, more, remedy))

    def add_file(self, complaint: str, place: str = "", remedy: str = "") -> None:
        """Add a mistake of the file as a whole."""
        self.errors.append(InputError(place, complaint, remedy=remedy))

    def refuse(self) -> None:
        """Raise an error if there are mistakes that are not tolerated, or no row is left without one."""
        if self.errors:
            raise self.as_user_error()
        if self.bad.all():
            raise UserError(f"{self.sheet.name}: no row is left; {self.notes[0]}")

    def as_user_error(self) -> UserError:
        """Build the message that names all mistakes."""
        name, errors = self.sheet.name, self.errors
        if len(errors) == 1:
            return UserError(f"{name}{', ' if errors[0].place else ': '}{errors[0]}")
        texts = [str(error._replace(remedy="") if error.remedy == TOLERANT else error) for error in errors]
        listed = " ".join(f"({number}) {text}" for number, text in enumerate(texts, 1))
        tolerant = f"; {TOLERANT}" if any(error.remedy == TOLERANT for error in errors) else ""
        return UserError(f"{name}: {len(errors)} problems: {listed}{tolerant}")

    def numbers(self, name: str) -> np.ndarray:
        """Return a column as numbers; those that are not finite are mistakes."""
        column = self.sheet.columns[name]
        numbers = arrays.numbers(column)
        with np.errstate(invalid="ignore"):
            bad = ~(np.abs(numbers) <= LARGEST)
        self.add_rows(bad, lambda at: f"{quote_cell(name, _shown(column, at))} {FINITE}")
        return numbers

    def names(self, name: str) -> tuple[pa.Array, np.ndarray]:
        """Return the distinct names in a column and the place of each row; empty names and line breaks are mistakes."""
        names, place = arrays.places(self.sheet.columns[name])
        empty, broken = (
            wrong.to_numpy(zero_copy_only=False)[place]
            for wrong in (pc.equal(names, ""), pc.match_substring_regex(names, "[\t\r\n]"))
        )
        self.add_rows(empty, lambda row: f"{join_names([name])} is empty")
        self.add_rows(
            broken, lambda row: f"{quote_cell(name, names[int(place[row])].as_py())} holds a tab or a line break"
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


def _shown(column: pa.Array, at: int) -> str:
    value = column[int(at)].as_py()
    return value if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)
