"""Predicates that a claim can state about the measurements of one instance, each with the numbers that decide.

A cell is quantity[.statistic][@method or @predictor], as in a table. A predicate raises NoData if it lacks a number.
Names in its texts stand in backticks, to be replaced by labels. Predicates work on plain lists and dictionaries,
because a claim may be checked thousands of times on tables of ten rows.
"""

import inspect
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median as median_of
from typing import Any, NamedTuple

import numpy as np

from graphdr.core.errors import UserError, no_such
from graphdr.scores import cells
from graphdr.scores.cells import number

BOUNDS = {"above": operator.gt, "at_least": operator.ge, "below": operator.lt, "at_most": operator.le}

Arguments = Mapping[str, Any]  # of a predicate, as config.yaml has them
Check = Mapping[str, Arguments]  # a predicate with its arguments: a mapping of one entry


class NoData(Exception):
    """Name the number that a predicate lacks."""


class Outcome(NamedTuple):
    """The result of a predicate.

    ``measured`` are the numbers that decided. ``used`` are their data sets, if some could be left out. ``effect`` is
    the ratio of the compared numbers, if the predicate compares.
    """

    holds: bool
    measured: str
    used: frozenset[str] | None = None
    effect: float = np.nan


class Rows:
    """The rows of the tidy table of one instance: all of a quantity, and the first of a place, which has its factors.

    A place is a problem of an experiment, since two experiments may share a problem.
    """

    def __init__(self, records: Iterable[Mapping[Any, Any]]):
        self.of_quantity: dict[str, list[tuple[str, Mapping[Any, Any]]]] = {}
        self.at_place: dict[str, Mapping[Any, Any]] = {}
        for row in records:
            place = f"{row['experiment']}:{row['problem']}"
            self.of_quantity.setdefault(row["quantity"], []).append((place, row))
            self.at_place.setdefault(place, row)

    def level(self, name: str) -> Mapping[str, Any]:
        """Return a factor or a fact by place."""
        if any(name in row for row in self.at_place.values()):
            return {place: row[name] for place, row in self.at_place.items()}
        return dict(values(self, name))


class Line(NamedTuple):
    """A cell along a factor or fact, sorted by level, also as text."""

    levels: list[float]
    values: list[float]
    text: str


def lowest(table: Rows, *, of: str | list[str], among: list[str]) -> Outcome:
    """Tell whether a cell (or the best of several) is below the same quantity of all others on every problem."""
    return _extreme(table, of, among, min)


def highest(table: Rows, *, of: str | list[str], among: list[str]) -> Outcome:
    """Tell whether a cell (or the best of several) is above the same quantity of all others on every problem."""
    return _extreme(table, of, among, max)


def ratio(table: Rows, *, of: str, to: str, where: Mapping[str, Arguments] | None = None, **bounds: float) -> Outcome:
    """Tell whether a cell over another obeys the bounds on every problem whose facts and factors obey ``where``."""
    pairs = _side_by_side(table, [of, to])
    chosen = {place: _quotient(*pair) for place, pair in pairs.items()}
    elsewhere = []
    for name, limits in (where or {}).items():
        levels = table.level(name)
        for place in [place for place in chosen if place not in levels or not _obeys(levels[place], limits)]:
            elsewhere.append(chosen.pop(place))
    if not chosen:
        conditions = " and ".join(f"`{name}`" for name in where or {})
        raise NoData(f"`{of}` where {conditions} are as asked for")
    text = f"{_key(of)} / {_key(to)} = "
    if len(pairs) == 1:
        text += " / ".join(map(number, *pairs.values())) + " = "
    text += _range(chosen.values())
    if elsewhere:
        text += f"; elsewhere {_range(elsewhere)}"
    return Outcome(all(_obeys(x, bounds) for x in chosen.values()), text, effect=median_of(chosen.values()))


def growth(table: Rows, *, of: str, along: str, **bounds: float) -> Outcome:
    """Tell whether the last cell along a factor over the first obeys the bounds."""
    line = _along(table, of, along)
    first, last = line.values[0], line.values[-1]
    grown = _quotient(last, first)
    ends = f"{number(first)} at `{along}` = {line.levels[0]:g}, {number(last)} at {line.levels[-1]:g}"
    return Outcome(_obeys(grown, bounds), f"{_key(of)}: {ends}, {number(grown)} times", effect=grown)


def monotone(
    table: Rows,
    *,
    of: str,
    along: str,
    falls: bool = False,
    strict: bool = True,
    first: float | None = None,
    last: float | None = None,
) -> Outcome:
    """Tell whether a cell rises (or falls) along a factor, and starts and ends at these values if there are any."""
    line = _along(table, of, along)
    steps = np.diff(line.values) * (-1 if falls else 1)
    ordered = bool((steps > 0).all() if strict else (steps >= 0).all())
    return Outcome(ordered and first in (None, line.values[0]) and last in (None, line.values[-1]), line.text)


def argmin(table: Rows, *, of: str, along: str, at: float) -> Outcome:
    """Tell whether a cell has its minimum at this level of a factor."""
    line = _along(table, of, along)
    return Outcome(bool(line.levels[int(np.argmin(line.values))] == at), line.text)


def unimodal(table: Rows, *, of: str, along: str) -> Outcome:
    """Tell whether a cell falls along a factor down to its minimum and rises after it."""
    line = _along(table, of, along)
    steps, lowest_at = np.diff(line.values), int(np.argmin(line.values))
    return Outcome(bool((steps[:lowest_at] < 0).all() and (steps[lowest_at:] > 0).all()), line.text)


def equal(table: Rows, *, of: str, to: str, along: str) -> Outcome:
    """Tell whether two cells agree at every level of a factor."""
    first, second = _along(table, of, along), _along(table, to, along)
    if first.levels != second.levels:
        raise NoData(f"`{of}` with `{to}` at every `{along}`")
    return Outcome(first.values == second.values, f"{first.text}; {second.text}")


def bounded(table: Rows, *, of: str | list[str], **bounds: float) -> Outcome:
    """Tell whether every value of some cells obeys the bounds; a cell without a key has the values of all methods."""
    names = [f"`{name}`" for name in _several(of)]
    numbers = [value for name in _several(of) for _, value in _found(table, name)]  # any of the cells is enough
    if not numbers:
        raise NoData(" or ".join(names))
    return Outcome(all(_obeys(x, bounds) for x in numbers), f"{' and '.join(names)} = {_range(numbers)}")


def median(table: Rows, *, of: str, **bounds: float) -> Outcome:
    """Tell whether the median of a cell over all problems obeys the bounds."""
    places, numbers = zip(*values(table, of), strict=True)
    middle = median_of(numbers)
    text = f"median of `{of}` = {number(middle)} of {_range(numbers)}"
    return Outcome(_obeys(middle, bounds), text, _datasets(table, places))


def correct(table: Rows, *, of: str, wrong: int) -> Outcome:
    """Tell whether a count of correct predictions leaves at most so many wrong ones."""
    ((right,), *_) = _side_by_side(table, [of]).values()
    _, total = values(table, of, "n")[0]
    return Outcome(bool(right >= total - wrong), f"`{of}` = {right:g} of {total:g}")


def inseparable(table: Rows, *, of: str, to: str, by: str) -> Outcome:
    """Tell whether no threshold on a fact separates the problems where a cell is below another from the others."""
    triples = _side_by_side(table, [of, to, by], complete=False)
    won = {place: fact for place, (first, second, fact) in triples.items() if first < second}
    lost = {place: fact for place, (_, _, fact) in triples.items() if place not in won}
    if not won or not lost:
        raise NoData("wins and losses to tell apart")
    datasets = table.level("dataset")
    below, above = (", ".join(f"`{datasets[at]}` {number(x)}" for at, x in part.items()) for part in (won, lost))
    separable = max(won.values()) < min(lost.values()) or max(lost.values()) < min(won.values())
    text = f"`{by}` where {_key(of)} < {_key(to)}: {below}; elsewhere: {above}"
    return Outcome(not separable, text, _datasets(table, triples))


PREDICATES: dict[str, Callable[..., Outcome]] = {
    predicate.__name__: predicate
    for predicate in (
        lowest, highest, ratio, growth, monotone, argmin, unimodal, equal, bounded, median, correct, inseparable,
    )
}  # fmt: skip


def check_arguments(where: str, predicate: str, arguments: Arguments) -> None:
    """Raise a UserError if a predicate does not exist or does not take these arguments."""
    if predicate not in PREDICATES:
        raise no_such(where, "predicate", predicate, PREDICATES)
    _, *parameters = inspect.signature(PREDICATES[predicate]).parameters.values()
    keywords = {p.name: p for p in parameters if p.kind is p.KEYWORD_ONLY}
    limits = set(BOUNDS) if len(keywords) < len(parameters) else set()
    if unknown := sorted(set(arguments) - set(keywords) - limits):
        raise no_such(where, f"argument of {predicate}", unknown[0], set(keywords) | limits)
    if lacking := sorted(name for name, p in keywords.items() if p.default is p.empty and name not in arguments):
        raise UserError(f"{where}: {predicate} needs {', '.join(lacking)}")
    if limits and not limits & set(arguments):
        raise UserError(f"{where}: {predicate} needs a bound: {', '.join(BOUNDS)}")
    for cell in cell_names(arguments):
        statistic = cells.parse(where, cell).statistic
        if statistic not in cells.STATISTICS:
            raise UserError(f"{where}: {cell!r} is of all instances; a claim is judged on each, without .{statistic}")


def cell_names(arguments: Arguments) -> list[str]:
    """Return the cells among the arguments of a predicate."""
    return [cell for name in ("of", "to") if name in arguments for cell in _several(arguments[name])]


def values(table: Rows, text: str, statistic: str | None = None) -> list[tuple[str, float]]:
    """Look up a cell: pairs of place and number; a cell without a key may have several numbers at a place."""
    if pairs := _found(table, text, statistic):
        return pairs
    raise NoData(f"`{text}`")


def _found(table: Rows, text: str, statistic: str | None = None) -> list[tuple[str, float]]:
    """Look up a cell that may have no number."""
    cell = cells.parse("claims", text)
    column = statistic or cell.statistic
    column = "count" if column == "n" else column  # n is a factor
    pairs = []
    for place, row in table.of_quantity.get(cell.quantity, ()):
        value = row[column]
        if cell.key in (None, row["method"], row["predictor"]) and value is not None and value == value:
            pairs.append((place, value))
    return pairs


def _several(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


def _side_by_side(table: Rows, texts: Sequence[str], complete: bool = True) -> dict[str, tuple[float, ...]]:
    """Join cells by place; a place that lacks a cell raises NoData or, if not ``complete``, is left out."""
    columns: dict[str, dict[str, float]] = {}
    for text in texts:
        pairs = values(table, text)
        columns[text] = dict(pairs)
        if len(columns[text]) < len(pairs):
            raise UserError(f"claims: {text!r} is more than one number on {pairs[0][0]}")
    joined: dict[str, tuple[float, ...]] = {}
    for place in dict.fromkeys(place for column in columns.values() for place in column):
        lacking = [text for text, column in columns.items() if place not in column]
        if not lacking:
            joined[place] = tuple(column[place] for column in columns.values())
        elif complete:
            raise NoData(f"`{lacking[0]}` on {place}")
    if not joined:
        raise NoData(" with ".join(f"`{text}`" for text in texts))
    return joined


def _along(table: Rows, text: str, factor: str) -> Line:
    """Return a cell against a factor or fact."""
    by_place = table.level(factor)
    points = sorted((by_place[place], value) for place, (value,) in _side_by_side(table, [text]).items())
    levels, numbers = [level for level, _ in points], [value for _, value in points]
    if len(set(levels)) < len(levels):
        raise UserError(f"claims: {text!r} is there twice at one value of {factor!r}")
    shown = f"{', '.join(f'{level:g}' for level in levels)}: {', '.join(map(number, numbers))}"
    return Line(levels, numbers, f"`{text}` at `{factor}` {shown}")


def _extreme(table: Rows, of: str | list[str], among: list[str], better: Callable[..., Any]) -> Outcome:
    """Compare the best of some cells with the best of all others; ``better`` is ``min`` or ``max``."""
    ours = _several(of)
    quantity = cells.parse("claims", ours[0]).quantity
    others = [f"{quantity}@{key}" for key in among]
    joined = _side_by_side(table, [*ours, *others])
    texts, effects, holds = [], [], True
    for place, numbers in joined.items():
        by_cell = dict(zip([*ours, *others], numbers, strict=True))
        best, rival = (better(names, key=by_cell.__getitem__) for names in (ours, others))
        text = f"{_key(best)} {number(by_cell[best])}, best other {_key(rival)} {number(by_cell[rival])}"
        texts.append(f"{place}: {text}" if len(joined) > 1 else text)
        effects.append(_quotient(by_cell[rival], by_cell[best]))
        holds &= by_cell[best] != by_cell[rival] and best == better(best, rival, key=by_cell.__getitem__)
    return Outcome(bool(holds), "; ".join(texts), effect=median_of(effects))


def _quotient(first: float, second: float) -> float:
    """Divide as NumPy does: dividing by zero gives infinity or NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.float64(first) / second)


def _obeys(value: float, bounds: Mapping[str, float]) -> bool:
    return all(BOUNDS[name](value, limit) for name, limit in bounds.items())


def _datasets(table: Rows, places: Iterable[str]) -> frozenset[str]:
    datasets = table.level("dataset")
    return frozenset(datasets[place] for place in places)


def _key(text: str) -> str:
    """Name a cell by its method or predictor, or else by its quantity."""
    cell = cells.parse("claims", text)
    return f"`{cell.key or cell.quantity}`"


def _range(numbers: Iterable[float]) -> str:
    listed = list(numbers)
    if len(listed) == 1:
        return number(listed[0])
    return f"{number(min(listed))} … {number(max(listed))} ({len(listed)} values)"
