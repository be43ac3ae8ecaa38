"""All mistakes of a file in one message: what, how often, the first lines, and the option that would settle it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.advise.tabular import values
from graphdr.core.errors import UserError, join_names, quote_cell
from graphdr.raw.text import LARGEST, Sheet

SHOWN = 3  # further lines that are named
FINITE = f"is not a finite number of at most {LARGEST:g}"
TOLERANT = "--tolerant leaves such lines out"


class Problem(NamedTuple):
    """A mistake: where it is first, if it has a place, what it is, where more such are, and what would settle it."""

    place: str
    complaint: str
    more: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.complaint}{self.more}{'; ' if self.remedy else ''}{self.remedy}"


class Problems:
    """The mistakes of one file, and the rows to leave out where the user tolerates them."""

    def __init__(self, sheet: Sheet, tolerant: bool = False):
        self.sheet, self.tolerant, self.count = sheet, tolerant, len(next(iter(sheet.columns.values())))
        self.found: list[Problem] = []
        self.notes: list[str] = []
        self.bad: np.ndarray | None = None  # rows with a mistake
        if sheet.faults:
            lines, complaints = zip(*sheet.faults, strict=True)
            self._take([f"{sheet.unit} {line}" for line in lines[: SHOWN + 1]], len(lines), complaints[0], TOLERANT)
        if not self.count:
            raise self.error() if self.found else UserError(f"{sheet.name}: no rows that can be read")

    def rows(
        self,
        bad: Sequence[bool],
        complaint: Callable[[int], str],
        remedy: str = TOLERANT,
        rows: np.ndarray | None = None,
    ) -> None:
        """Note rows with a mistake; the places of ``bad`` are these ``rows``, if others."""
        at = np.flatnonzero(np.asarray(bad))
        if len(at) and self.bad is not None:  # a line counts once
            at = at[~self.bad[at if rows is None else rows[at]]]
        if not len(at):
            return
        row = at if rows is None else rows[at]
        places = [self.sheet.place(int(each)) for each in row[: SHOWN + 1]]
        self._take(places, len(at), complaint(int(at[0])), remedy)
        self.bad = np.zeros(self.count, bool) if self.bad is None else self.bad
        self.bad[row] = True

    def _take(self, places: list[str], count: int, complaint: str, remedy: str) -> None:
        first, *others = places
        unit = self.sheet.unit
        numbers = ", ".join(place.removeprefix(unit).strip() for place in others)
        many = f", {count - 1:,} more such: {unit}{'s' * (count > 2)} {numbers}{', …' * (count > len(places))}"
        if self.tolerant:
            lines = f"{count:,} lines are" if count > 1 else "a line is"
            self.notes.append(f"{Path(self.sheet.name).name}: {lines} left out (first: {first}: {complaint})")
        else:
            self.found.append(Problem(first, complaint, many if others else "", remedy))

    def whole(self, complaint: str, place: str = "", remedy: str = "") -> None:
        """Note a mistake of the file as a whole."""
        self.found.append(Problem(place, complaint, remedy=remedy))

    def kept(self) -> np.ndarray | None:
        """Refuse the file if it has mistakes; return the rows to keep, or None for all."""
        if self.found:
            raise self.error()
        if self.bad is None or not self.bad.any():
            return None
        if self.bad.all():
            raise UserError(f"{self.sheet.name}: no row is left; {self.notes[0]}")
        return np.flatnonzero(~self.bad)

    def error(self) -> UserError:
        """Build the message that names all mistakes."""
        name, found = self.sheet.name, self.found
        if len(found) == 1:
            return UserError(f"{name}{', ' if found[0].place else ': '}{found[0]}")
        once = [problem._replace(remedy="") if problem.remedy == TOLERANT else problem for problem in found]
        listed = " ".join(f"({number}) {problem}" for number, problem in enumerate(once, 1))
        tolerant = f"; {TOLERANT}" if once != found else ""
        return UserError(f"{name}: {len(found)} problems: {listed}{tolerant}")

    def numbers(self, name: str, rows: np.ndarray | None = None) -> np.ndarray:
        """Return a column as numbers, those that are not finite being mistakes."""
        column = self.sheet.columns[name]
        found = values.numbers(column)
        with np.errstate(invalid="ignore"):
            bad = ~(np.abs(found) <= LARGEST)
        self.rows(bad, lambda at: f"{quote_cell(name, _shown(column, at))} {FINITE}", rows=rows)
        return found

    def names(self, name: str) -> tuple[pa.Array, np.ndarray]:
        """Return the distinct names in a column and the place of each row: not empty, no tab and no line break."""
        names, place = values.places(self.sheet.columns[name])
        for wrong, why in (
            (pc.equal(names, ""), lambda key: f"{join_names([name])} is empty"),
            (
                pc.match_substring_regex(names, "[\t\r\n]"),
                lambda key: f"{quote_cell(name, key)} holds a tab or a line break",
            ),
        ):
            if pc.any(wrong).as_py():
                bad = wrong.to_numpy(zero_copy_only=False)[place]
                self.rows(bad, lambda row, why=why: why(names[int(place[row])].as_py()))
        return names, place


def together(*readers: Callable[[], object]) -> list:
    """Read several things; mistakes of all of them are one error."""
    found, errors = [], []
    for reader in readers:
        try:
            found.append(reader())
        except UserError as error:
            errors.append(str(error))
    if errors:
        raise joined(errors)
    return found


def joined(errors: list[str]) -> UserError:
    """Make one error of the messages of several."""
    return UserError(". Also ".join(dict.fromkeys(errors)))


def _shown(column: pa.Array, at: int) -> str:
    value = column[int(at)].as_py()
    return value if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)
