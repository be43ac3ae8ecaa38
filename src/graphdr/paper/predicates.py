"""What a claim can state: predicates over the tidy table of one instance, each with the numbers that decide.

A cell is quantity[.field][@method or @predictor], as in a table. A predicate raises NoData if it lacks a number.
"""

import inspect
import operator
from typing import NamedTuple

import numpy as np
import pandas as pd

from graphdr.core.errors import UserError, no_such
from graphdr.scores import cells
from graphdr.scores.cells import number

BOUNDS = {"above": operator.gt, "at_least": operator.ge, "below": operator.lt, "at_most": operator.le}


class NoData(Exception):
    """Name the number that a predicate looks for in vain."""


class Outcome(NamedTuple):
    """Whether a predicate holds, the numbers that decided, and their data sets if some could be left out."""

    holds: bool
    measured: str
    used: frozenset[str] | None = None


def lowest(table: pd.DataFrame, *, of: str | list[str], among: list[str]) -> Outcome:
    """Tell whether a cell (or the best of several) is below the same quantity of all others on every problem."""
    return _extreme(table, of, among, 1)


def highest(table: pd.DataFrame, *, of: str | list[str], among: list[str]) -> Outcome:
    """Tell whether a cell (or the best of several) is above the same quantity of all others on every problem."""
    return _extreme(table, of, among, -1)


def ratio(table: pd.DataFrame, *, of: str, to: str, where: dict | None = None, **bounds: float) -> Outcome:
    """Tell whether one cell over another obeys the bounds on every problem where facts and factors obey theirs."""
    pairs = _beside(table, [of, to])
    quotients = pairs[of] / pairs[to]
    chosen = np.ones(len(quotients), bool)
    for name, limits in (where or {}).items():
        chosen &= _obeys(_by_problem(table, name).reindex(quotients.index), limits)
    if not chosen.any():
        raise NoData(f"{of} where {' and '.join(where)} are as asked for")
    label = f"{_key(of)} / {_key(to)} = "
    one = f"{number(pairs[of].iloc[0])} / {number(pairs[to].iloc[0])} = {number(quotients.iloc[0])}"
    text = label + (one if len(pairs) == 1 else _range(quotients[chosen]))
    if not chosen.all():
        text += f"; elsewhere {_range(quotients[~chosen])}"
    return Outcome(bool(_obeys(quotients[chosen], bounds).all()), text)


def growth(table: pd.DataFrame, *, of: str, along: str, **bounds: float) -> Outcome:
    """Tell whether the last cell along a factor over the first obeys the bounds."""
    line = _along(table, of, along)
    grown = line.iloc[-1] / line.iloc[0]
    ends = f"{number(line.iloc[0])} at {along} = {line.index[0]:g}, {number(line.iloc[-1])} at {line.index[-1]:g}"
    return Outcome(bool(_obeys(grown, bounds)), f"{_key(of)}: {ends}, {number(grown)} times")


def monotone(table: pd.DataFrame, *, of: str, along: str, falls=False, strict=True, first=None, last=None) -> Outcome:
    """Tell whether a cell rises (or falls) along a factor, with the given first and last value if there are such."""
    line = _along(table, of, along)
    steps = np.diff(line.to_numpy()) * (-1 if falls else 1)
    ordered = bool((steps > 0).all() if strict else (steps >= 0).all())
    ends = first in (None, line.iloc[0]) and last in (None, line.iloc[-1])
    return Outcome(ordered and ends, _line(line, of, along))


def argmin(table: pd.DataFrame, *, of: str, along: str, at: float) -> Outcome:
    """Tell whether a cell has its minimum at one value of a factor."""
    line = _along(table, of, along)
    return Outcome(bool(line.idxmin() == at), _line(line, of, along))


def unimodal(table: pd.DataFrame, *, of: str, along: str) -> Outcome:
    """Tell whether a cell falls along a factor down to its minimum, wherever that is, and rises from there on."""
    line = _along(table, of, along)
    least, steps = int(np.argmin(line.to_numpy())), np.diff(line.to_numpy())
    return Outcome(bool((steps[:least] < 0).all() and (steps[least:] > 0).all()), _line(line, of, along))


def equal(table: pd.DataFrame, *, of: str, to: str, along: str) -> Outcome:
    """Tell whether two cells agree at every value of a factor."""
    one, other = _along(table, of, along), _along(table, to, along)
    if not one.index.equals(other.index):
        raise NoData(f"{of} with {to} at every {along}")
    return Outcome(bool((one == other).all()), f"{_line(one, of, along)}; {_line(other, to, along)}")


def bounded(table: pd.DataFrame, *, of: str | list[str], **bounds: float) -> Outcome:
    """Tell whether every value of a cell (or of several) obeys the bounds; without a key these are of all methods."""
    names, found = [of] if isinstance(of, str) else of, []
    for name in names:
        try:
            found.append(values(table, name))
        except NoData:
            continue  # of several cells, one is enough
    if not found:
        raise NoData(" or ".join(names))
    numbers = pd.concat(found)
    return Outcome(bool(_obeys(numbers, bounds).all()), f"{' and '.join(names)} = {_range(numbers)}")


def median(table: pd.DataFrame, *, of: str, **bounds: float) -> Outcome:
    """Tell whether the median of a cell over all problems obeys the bounds."""
    numbers = values(table, of)
    middle = float(numbers.median())
    text = f"median of {of} = {number(middle)} of {_range(numbers)}"
    return Outcome(bool(_obeys(middle, bounds)), text, _datasets(table, numbers))


def correct(table: pd.DataFrame, *, of: str, wrong: int) -> Outcome:
    """Tell whether a count of right answers leaves at most so many wrong ones."""
    right, total = _beside(table, [of])[of].iloc[0], values(table, of, "n").iloc[0]
    return Outcome(bool(right >= total - wrong), f"{of} = {right:g} of {total:g}")


def inseparable(table: pd.DataFrame, *, of: str, to: str, by: str) -> Outcome:
    """Tell whether no threshold on a fact separates the problems where one cell is below another from the others."""
    wide = _beside(table, [of, to, by], complete=False)
    wins = wide[of] < wide[to]
    if wins.all() or not wins.any():
        raise NoData("wins and losses to tell apart")
    won, lost = wide.loc[wins, by], wide.loc[~wins, by]
    named = _by_problem(table, "dataset")
    below, above = (", ".join(f"{named[at]} {number(x)}" for at, x in part.items()) for part in (won, lost))
    apart = won.max() < lost.min() or lost.max() < won.min()
    text = f"{by} where {_key(of)} < {_key(to)}: {below}; elsewhere: {above}"
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


def values(table: pd.DataFrame, text: str, field: str | None = None) -> pd.Series:
    """Look up a cell on every problem of the table; without a key it may be there several times."""
    cell = cells.parse("claims", text)
    field = {"n": "count"}.get(field or cell.field, field or cell.field)
    chosen = (table["quantity"] == cell.quantity) & table[field].notna()
    if cell.key is not None:
        chosen &= (table["method"] == cell.key) | (table["predictor"] == cell.key)
    if not chosen.any():
        raise NoData(text)
    return table.loc[chosen, field].set_axis(_place(table[chosen]))


def _place(table) -> pd.Series:
    """Name the problem of every row; two experiments may share a problem."""
    return table["experiment"] + ":" + table["problem"]


def _beside(table, texts: list[str], complete: bool = True) -> pd.DataFrame:
    """Set cells side by side, one row per problem; a problem that lacks one is an error or, if allowed, left out."""
    columns = {text: values(table, text) for text in texts}
    for text, column in columns.items():
        if not column.index.is_unique:
            raise UserError(f"claims: {text!r} is more than one number on {column.index[0]}")
    wide = pd.DataFrame(columns)
    lacking = wide.isna().any(axis=1)
    if complete and lacking.any():
        row = wide[lacking].iloc[0]
        raise NoData(f"{row.index[row.isna()][0]} on {row.name}")
    if lacking.all():
        raise NoData(" with ".join(texts))
    return wide[~lacking]


def _by_problem(table, name: str) -> pd.Series:
    """Return a factor or a fact of every problem."""
    if name in table.columns:
        first = table.drop_duplicates(["experiment", "problem"])
        return first[name].set_axis(_place(first))
    return values(table, name)


def _along(table, text: str, factor: str) -> pd.Series:
    """Return a cell against a factor or fact, in its order."""
    wide = _beside(table, [text])
    line = wide[text].set_axis(_by_problem(table, factor).reindex(wide.index)).sort_index()
    if not line.index.is_unique:
        raise UserError(f"claims: {text!r} is there twice at one value of {factor!r}")
    return line


def _extreme(table, of: str | list[str], among: list[str], sign: int) -> Outcome:
    ours = [of] if isinstance(of, str) else of
    quantity = cells.parse("claims", ours[0]).quantity
    others = [f"{quantity}@{key}" for key in among]
    wide = sign * _beside(table, [*ours, *others])
    texts = []
    for problem, row in wide.iterrows():
        best, rival = row[ours].idxmin(), row[others].idxmin()
        text = f"{_key(best)} {number(sign * row[best])}, best other {_key(rival)} {number(sign * row[rival])}"
        texts.append(f"{problem}: {text}" if len(wide) > 1 else text)
    return Outcome(bool((wide[ours].min(axis=1) < wide[others].min(axis=1)).all()), "; ".join(texts))


def _obeys(numbers, bounds: dict[str, float]):
    return np.logical_and.reduce([BOUNDS[name](numbers, limit) for name, limit in bounds.items()])


def _datasets(table, numbers) -> frozenset[str]:
    return frozenset(_by_problem(table, "dataset").reindex(numbers.index.unique()))


def _key(text: str) -> str:
    """Name a cell by its method or predictor, which tells it apart, or else by its quantity."""
    cell = cells.parse("claims", text)
    return cell.key or cell.quantity


def _line(line, of: str, along: str) -> str:
    return f"{of} at {along} {', '.join(f'{level:g}' for level in line.index)}: {', '.join(map(number, line))}"


def _range(numbers) -> str:
    if len(numbers) == 1:
        return number(numbers.iloc[0])
    return f"{number(numbers.min())} … {number(numbers.max())} ({len(numbers)} values)"
