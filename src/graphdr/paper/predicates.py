"""What a claim can state: predicates over the tidy table of one instance, each with the numbers that decide.

A cell is quantity[.field][@method or @predictor], as in a table. A predicate raises NoData if it lacks a number.
In its texts names stand in backticks: a reader gets words for them. Predicates work on plain lists and dictionaries,
since one claim may be checked thousands of times and a table of ten rows is no work for a library.
"""

import inspect
import operator
from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import median as middle_of
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from graphdr.core.errors import UserError, no_such
from graphdr.scores import cells
from graphdr.scores.cells import number

BOUNDS = {"above": operator.gt, "at_least": operator.ge, "below": operator.lt, "at_most": operator.le}
Numbers = dict[str, float]  # by problem
MOST = 0.95  # share of instances or settings from which a claim holds; below as large a share of the others it fails


class NoData(Exception):
    """Name the number that a predicate looks for in vain."""


class Outcome(NamedTuple):
    """Whether a predicate holds, the numbers that decided, and their data sets if some could be left out.

    The effect is by how much, where a predicate compares: how many times one number is another.
    """

    holds: bool
    measured: str
    used: frozenset[str] | None = None
    effect: float = np.nan


class Rows(NamedTuple):
    """The rows of a tidy table: what was measured by quantity, and factors by name; both know problems by place.

    Two experiments may share a problem, so that a place is both.
    """

    measured: Mapping[str, list[dict[str, Any]]]
    factors: Mapping[str, dict[str, Any]]


MEASURED = ("quantity", "method", "predictor", "value", "sem", "count")


def rows_of(table: pd.DataFrame) -> Rows:
    """Read the rows of a tidy table."""
    return gather(table.to_dict("records"))


def gather(records: Iterable[Mapping[str, Any]]) -> Rows:
    """Sort rows by what they measure, and factors by problem."""
    measured: dict[str, list[dict[str, Any]]] = defaultdict(list)
    factors: dict[str, dict[str, Any]] = defaultdict(dict)
    for row in records:
        place = f"{row['experiment']}:{row['problem']}"
        measured[row["quantity"]].append({"place": place} | {name: row[name] for name in MEASURED})
        for name, value in row.items():
            if name not in MEASURED:
                factors[name].setdefault(place, value)
    return Rows(measured, factors)


def lowest(table: Rows, *, of: str | list[str], among: list[str]) -> Outcome:
    """Tell whether a cell (or the best of several) is below the same quantity of all others on every problem."""
    return _extreme(table, of, among, 1)


def highest(table: Rows, *, of: str | list[str], among: list[str]) -> Outcome:
    """Tell whether a cell (or the best of several) is above the same quantity of all others on every problem."""
    return _extreme(table, of, among, -1)


def ratio(table: Rows, *, of: str, to: str, where: dict | None = None, **bounds: float) -> Outcome:
    """Tell whether one cell over another obeys the bounds on every problem where facts and factors obey theirs."""
    pairs = _beside(table, [of, to])
    quotients = {at: _quotient(one, other) for at, (one, other) in pairs.items()}
    chosen = dict(quotients)
    for name, limits in (where or {}).items():
        levels = _by_problem(table, name)
        chosen = {at: x for at, x in chosen.items() if at in levels and _obeys(levels[at], limits)}
    if not chosen:
        raise NoData(f"`{of}` where {' and '.join(f'`{name}`' for name in where)} are as asked for")
    label = f"{_key(of)} / {_key(to)} = "
    (first, second), *_ = pairs.values()
    one = f"{number(first)} / {number(second)} = {number(_quotient(first, second))}"
    text = label + (one if len(pairs) == 1 else _range(chosen.values()))
    if len(chosen) < len(quotients):
        text += f"; elsewhere {_range(x for at, x in quotients.items() if at not in chosen)}"
    holds = all(_obeys(x, bounds) for x in chosen.values())
    return Outcome(holds, text, effect=middle_of(chosen.values()))


def growth(table: Rows, *, of: str, along: str, **bounds: float) -> Outcome:
    """Tell whether the last cell along a factor over the first obeys the bounds."""
    line = _along(table, of, along)
    (start, first), (end, last) = line[0], line[-1]
    grown = _quotient(last, first)
    ends = f"{number(first)} at `{along}` = {start:g}, {number(last)} at {end:g}"
    return Outcome(_obeys(grown, bounds), f"{_key(of)}: {ends}, {number(grown)} times", effect=grown)


def monotone(table: Rows, *, of: str, along: str, falls=False, strict=True, first=None, last=None) -> Outcome:
    """Tell whether a cell rises (or falls) along a factor, with the given first and last value if there are such."""
    line = _along(table, of, along)
    steps = _steps(line) * (-1 if falls else 1)
    ordered = bool((steps > 0).all() if strict else (steps >= 0).all())
    ends = first in (None, line[0][1]) and last in (None, line[-1][1])
    return Outcome(ordered and ends, _line(line, of, along))


def argmin(table: Rows, *, of: str, along: str, at: float) -> Outcome:
    """Tell whether a cell has its minimum at one value of a factor."""
    line = _along(table, of, along)
    least, _ = min(line, key=operator.itemgetter(1))
    return Outcome(bool(least == at), _line(line, of, along))


def unimodal(table: Rows, *, of: str, along: str) -> Outcome:
    """Tell whether a cell falls along a factor down to its minimum, wherever that is, and rises from there on."""
    line = _along(table, of, along)
    least, steps = int(np.argmin([value for _, value in line])), _steps(line)
    return Outcome(bool((steps[:least] < 0).all() and (steps[least:] > 0).all()), _line(line, of, along))


def equal(table: Rows, *, of: str, to: str, along: str) -> Outcome:
    """Tell whether two cells agree at every value of a factor."""
    one, other = _along(table, of, along), _along(table, to, along)
    if [level for level, _ in one] != [level for level, _ in other]:
        raise NoData(f"`{of}` with `{to}` at every `{along}`")
    return Outcome(one == other, f"{_line(one, of, along)}; {_line(other, to, along)}")


def bounded(table: Rows, *, of: str | list[str], **bounds: float) -> Outcome:
    """Tell whether every value of a cell (or of several) obeys the bounds; without a key these are of all methods."""
    names, found = [of] if isinstance(of, str) else of, []
    for name in names:
        try:
            found += [value for _, value in values(table, name)]
        except NoData:
            continue  # of several cells, one is enough
    if not found:
        raise NoData(" or ".join(f"`{name}`" for name in names))
    told = " and ".join(f"`{name}`" for name in names)
    return Outcome(all(_obeys(x, bounds) for x in found), f"{told} = {_range(found)}")


def median(table: Rows, *, of: str, **bounds: float) -> Outcome:
    """Tell whether the median of a cell over all problems obeys the bounds."""
    found = values(table, of)
    numbers = [value for _, value in found]
    middle = middle_of(numbers)
    text = f"median of `{of}` = {number(middle)} of {_range(numbers)}"
    return Outcome(_obeys(middle, bounds), text, _datasets(table, [at for at, _ in found]))


def correct(table: Rows, *, of: str, wrong: int) -> Outcome:
    """Tell whether a count of right answers leaves at most so many wrong ones."""
    ((right,), *_), ((_, total), *_) = _beside(table, [of]).values(), values(table, of, "n")
    return Outcome(bool(right >= total - wrong), f"`{of}` = {right:g} of {total:g}")


def inseparable(table: Rows, *, of: str, to: str, by: str) -> Outcome:
    """Tell whether no threshold on a fact separates the problems where one cell is below another from the others."""
    wide = _beside(table, [of, to, by], complete=False)
    won = {at: fact for at, (one, other, fact) in wide.items() if one < other}
    lost = {at: fact for at, (_, _, fact) in wide.items() if at not in won}
    if not won or not lost:
        raise NoData("wins and losses to tell apart")
    named = _by_problem(table, "dataset")
    below, above = (", ".join(f"`{named[at]}` {number(x)}" for at, x in part.items()) for part in (won, lost))
    apart = max(won.values()) < min(lost.values()) or max(lost.values()) < min(won.values())
    text = f"`{by}` where {_key(of)} < {_key(to)}: {below}; elsewhere: {above}"
    return Outcome(not apart, text, _datasets(table, wide))


PREDICATES = {
    f.__name__: f
    for f in (lowest, highest, ratio, growth, monotone, argmin, unimodal, equal, bounded, median, correct, inseparable)
}


def check_arguments(where: str, predicate: str, arguments: dict) -> None:
    """Raise a UserError if a predicate does not exist or does not take these arguments."""
    if predicate not in PREDICATES:
        raise no_such(where, "predicate", predicate, PREDICATES)
    parameters = list(inspect.signature(PREDICATES[predicate]).parameters.values())[1:]
    named = {p.name: p for p in parameters if p.kind is p.KEYWORD_ONLY}
    limits = set(BOUNDS) if len(named) < len(parameters) else set()
    if unknown := sorted(set(arguments) - set(named) - limits):
        raise no_such(where, f"argument of {predicate}", unknown[0], set(named) | limits)
    if lacking := sorted(name for name, p in named.items() if p.default is p.empty and name not in arguments):
        raise UserError(f"{where}: {predicate} needs {', '.join(lacking)}")
    if limits and not limits & set(arguments):
        raise UserError(f"{where}: {predicate} needs a bound: {', '.join(BOUNDS)}")
    for cell in cell_names(arguments):
        if (field := cells.parse(where, cell).field) not in cells.FIELDS:
            raise UserError(f"{where}: {cell!r} is of all instances; a claim is judged on each, without .{field}")


def cell_names(arguments: dict) -> list[str]:
    """Return the cells among the arguments of a predicate."""
    named = [arguments[name] for name in ("of", "to") if name in arguments]
    return [cell for part in named for cell in ([part] if isinstance(part, str) else part)]


def values(table: Rows, text: str, field: str | None = None) -> list[tuple[str, float]]:
    """Look up a cell: problem and number; without a key it may be there several times on a problem."""
    cell = cells.parse("claims", text)
    field = {"n": "count"}.get(field or cell.field, field or cell.field)
    found = [
        (row["place"], row[field])
        for row in table.measured.get(cell.quantity, ())
        if cell.key is None or cell.key in (row["method"], row["predictor"])
    ]
    found = [(place, value) for place, value in found if value is not None and value == value]
    if not found:
        raise NoData(f"`{text}`")
    return found


def _beside(table: Rows, texts: list[str], complete: bool = True) -> dict[str, tuple[float, ...]]:
    """Set cells side by side by problem; a problem that lacks one is an error or, if allowed, left out."""
    columns: dict[str, Numbers] = {}
    for text in texts:
        found = values(table, text)
        columns[text] = dict(found)
        if len(columns[text]) < len(found):
            raise UserError(f"claims: {text!r} is more than one number on {found[0][0]}")
    places = dict.fromkeys(at for column in columns.values() for at in column)
    whole = [at for at in places if all(at in column for column in columns.values())]
    if complete and len(whole) < len(places):
        at = next(at for at in places if at not in whole)
        raise NoData(f"`{next(text for text, column in columns.items() if at not in column)}` on {at}")
    if not whole:
        raise NoData(" with ".join(f"`{text}`" for text in texts))
    return {at: tuple(column[at] for column in columns.values()) for at in whole}


def _by_problem(table: Rows, name: str) -> dict[str, Any]:
    """Return a factor or a fact of every problem."""
    return table.factors[name] if name in table.factors else dict(values(table, name))


def _along(table: Rows, text: str, factor: str) -> list[tuple[float, float]]:
    """Return a cell against a factor or fact, in its order."""
    levels = _by_problem(table, factor)
    line = sorted((levels[at], value) for at, (value,) in _beside(table, [text]).items())
    if len({level for level, _ in line}) < len(line):
        raise UserError(f"claims: {text!r} is there twice at one value of {factor!r}")
    return line


def _steps(line: list[tuple[float, float]]) -> np.ndarray:
    return np.diff([value for _, value in line])


def _extreme(table: Rows, of: str | list[str], among: list[str], sign: int) -> Outcome:
    ours = [of] if isinstance(of, str) else of
    quantity = cells.parse("claims", ours[0]).quantity
    others = [f"{quantity}@{key}" for key in among]
    wide, texts, ahead, holds = _beside(table, [*ours, *others]), [], [], True
    for problem, row in wide.items():
        (best, own), (rival, next_best) = (
            min(zip(names, part, strict=True), key=lambda pair: sign * pair[1])
            for names, part in ((ours, row[: len(ours)]), (others, row[len(ours) :]))
        )
        text = f"{_key(best)} {number(own)}, best other {_key(rival)} {number(next_best)}"
        texts.append(f"{problem}: {text}" if len(wide) > 1 else text)
        ahead.append(_quotient(next_best, own))
        holds &= sign * own < sign * next_best
    return Outcome(bool(holds), "; ".join(texts), effect=middle_of(ahead))


def _quotient(one: float, other: float) -> float:
    """Divide as NumPy does: by zero there is infinity, or nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.float64(one) / other)


def _obeys(value: float, bounds: Mapping[str, float]) -> bool:
    return all(BOUNDS[name](value, limit) for name, limit in bounds.items())


def _datasets(table: Rows, places: Iterable[str]) -> frozenset[str]:
    named = _by_problem(table, "dataset")
    return frozenset(named[at] for at in places)


def _key(text: str) -> str:
    """Name a cell by its method or predictor, which tells it apart, or else by its quantity."""
    cell = cells.parse("claims", text)
    return f"`{cell.key or cell.quantity}`"


def _line(line: list[tuple[float, float]], of: str, along: str) -> str:
    levels, numbers = zip(*line, strict=True)
    return f"`{of}` at `{along}` {', '.join(f'{level:g}' for level in levels)}: {', '.join(map(number, numbers))}"


def _range(found: Iterable[float]) -> str:
    numbers = list(found)
    if len(numbers) == 1:
        return number(numbers[0])
    return f"{number(min(numbers))} … {number(max(numbers))} ({len(numbers)} values)"
