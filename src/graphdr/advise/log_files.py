"""Read a log of bandit rounds: the candidates, the arm played with its probability, and its reward.

A wide file has one row per round, with the candidates in one column or, without it, all arms as candidates. A long
file has a row for every candidate of a round, and a flag on the one that was played. Nothing is guessed or left out:
all mistakes are one line that names the file and the places in it.

A wide file with a column of positions has a row for every position of a page. Rows are on one page if they have the
same ``round`` or, without such a column, if they follow each other at (nearly) the same time. Rows that are wrongly put
on one page do little harm, since intervals over larger groups of rounds still hold.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import UserError, join_names, no_such, quote
from graphdr.raw import sheets
from graphdr.raw.dialect import PLAIN, TextFormat
from graphdr.raw.sheets import FINITE, LARGEST, InputErrors, encode, repeated, texts
from graphdr.raw.user_tables import KEY, LISTS, NUMBER, TEXT, TIME, USUAL, is_list, note, open_table
from graphdr.scores.offpolicy import FEWEST

NAMES = {role: [words.split() for words in groups] for role, groups in USUAL["logs"].items()}  # best first
NEEDED = USUAL["needed"]
KINDS = {"reward": NUMBER, "propensity": NUMBER, "time": TIME, "played": TEXT, "candidates": LISTS}  # others are keys
BETWEEN = ("|", ";", ",", " ")  # separators of candidates in one text: the first of these that occurs
SMALLEST = 1e-12  # propensity: squares of rewards over it must be finite
LEAST = 2 * FEWEST  # rounds: one half to learn from, one to evaluate on
POSITIONS = 100  # on a page, at most
NEAR = 0.01  # seconds between rows of one page; in the Open Bandit data they are a millisecond apart, or less


class Log(NamedTuple):
    """Rounds as arrays; arms are places in ``arms``, and round t offered ``candidates[starts[t]:starts[t + 1]]``.

    Without ``candidates`` and ``starts``, every round offered all arms there are. ``positions`` are the places on a
    page, as numbers from 0, and ``pages`` says which rounds were on one page; None where a log knows nothing of it.
    """

    name: str  # of the file, for messages
    arms: list[str]
    rewards: np.ndarray
    propensities: np.ndarray
    played: np.ndarray
    candidates: np.ndarray | None = None
    starts: np.ndarray | None = None
    positions: np.ndarray | None = None
    pages: np.ndarray | None = None
    notes: tuple[str, ...] = ()  # on how the file was read


def read(path: str | Path, columns: Mapping[str, str] | None = None, text_format: TextFormat = PLAIN) -> Log:
    """Read a table of text or a parquet file; ``columns`` names by role those that do not have usual names."""
    named = columns or {}
    if unknown := [role for role in named if role not in NAMES]:
        raise no_such("columns", "role", unknown[0], NAMES)
    usual = {word for groups in NAMES.values() for words in groups for word in words}
    usual |= {_normalize(column) for column in named.values()}
    table = open_table(Path(path), text_format, lambda name: _normalize(name) in usual)
    column_of = _find_roles(table.name, table.names, named)
    sheet = table.read({column: KINDS.get(role, KEY) for role, column in column_of.items()})
    columns_by_role = {role: sheet.columns[column] for role, column in column_of.items()}
    errors = InputErrors(sheet._replace(columns=columns_by_role), remedy="")
    log = _read_long(errors) if "played" in column_of else _read_wide(errors)
    return enough(log)._replace(notes=tuple(note(table.name, table.assumed)))


def enough(log: Log) -> Log:
    """Return the log if it has enough rounds to learn from some and evaluate on others."""
    count, unit = len(log.rewards), "rounds"
    if log.pages is not None:
        count, unit = len(np.unique(log.pages)), "pages"
    if count < LEAST:
        raise UserError(f"{log.name}: {count} {unit} are too few for an estimate; at least {LEAST} are needed")
    return log


def _find_roles(name: str, header: list[str], named: Mapping[str, str]) -> dict[str, str]:
    """Return the column of every role, those that the user named first; refuse missing and ambiguous ones."""
    if wrong := [column for column in named.values() if column not in header]:
        raise UserError(f"{name}: no column {quote(wrong[0])}; there are: {_briefly(header)}")
    if len(set(named.values())) < len(named):
        raise UserError(f"columns: one column is given for two roles: {_briefly(list(named.values()))}")
    roles = dict(named)
    for role, words in ((role, words) for role, groups in NAMES.items() for words in groups):
        if role in roles or (role == "played" and "candidates" in roles):
            continue
        matches = [column for column in header if column not in roles.values() and _normalize(column) in words]
        if len(matches) > 1:
            raise UserError(f"{name}: {role} may be any of the columns {_briefly(matches)}; say which")
        if matches:
            roles[role] = matches[0]
    for role in ("arm", "reward", "propensity", *(["round"] if "played" in roles else [])):
        if role not in roles:
            raise UserError(f"{name}: no column {role!r}, {NEEDED[role]}; there are: {_briefly(header)}")
    return roles


def _normalize(column: str) -> str:
    """Return a name as it is compared: ``is_played`` is ``played``, and ``Item ID`` is ``item``."""
    return re.sub(r"[\s_-]", "", column.lower()).removeprefix("is").removesuffix("id")


def _briefly(names: list[str]) -> str:
    return join_names(map(repr, names))


def _read_wide(errors: InputErrors) -> Log:
    columns = errors.sheet.columns
    positions, pages, order = _layout(errors)
    if "round" in columns and positions is None:
        ids = _names(errors, "round")
        again = "again; a long file needs a column 'played'"
        errors.add_rows(repeated(ids), lambda row: f"round {_quoted(ids, row)} {again}")
    played = _names(errors, "arm")
    rounds = np.arange(len(played))
    rewards, propensities = _outcomes(errors, rounds)
    arms, place = encode(played)
    candidates = starts = None
    if "candidates" in columns:
        offered, sizes = _candidates(columns["candidates"])
        errors.add_rows(sizes == 0, lambda row: "no candidates")
        arms, places = encode(pa.concat_arrays([offered, played]))
        candidates, place = places[: len(offered)], places[len(offered) :]
        starts, round_of = np.append(0, np.cumsum(sizes)), np.repeat(rounds, sizes)
        errors.add_rows(pc.equal(offered, ""), lambda at: "an empty name among the candidates", rows=round_of)
        _check_twice(errors, arms, round_of, candidates, round_of)
        there = np.bincount(round_of[candidates == place[round_of]], minlength=len(rounds)) > 0
        errors.add_rows(~there, lambda row: f"arm {_quoted(arms, place[row])} is not among its candidates")
    errors.refuse()
    log = Log(errors.sheet.name, arms.to_pylist(), rewards, propensities, place, candidates, starts, positions, pages)
    return log if order is None else _reorder(log, order)


def _layout(errors: InputErrors) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """Return positions and pages, where the file has them, and the order of its rows in time, where it is another."""
    columns = errors.sheet.columns
    times = sheets.times(columns["time"]) if "time" in columns else None
    order = None
    if times is not None and not (np.diff(times.values) >= 0).all():
        order = np.argsort(times.values, kind="stable")
    if "position" not in columns:
        return None, None, order
    names, positions = encode(_names(errors, "position"))
    if len(names) > POSITIONS:
        many = f"position has {len(names):,} values; a page has {POSITIONS} places at most"
        errors.add_file(f"{many}; if the column is something else, rename it")
    if "round" in columns:
        return positions, encode(_names(errors, "round"))[1], order
    if times is None:
        return positions, None, order
    rows = np.arange(len(positions)) if order is None else order
    pages = np.empty(len(rows), np.int64)
    pages[rows] = _number_pages(times.values[rows], positions[rows], NEAR if times.in_seconds else 0.0)
    return positions, pages, order


def _number_pages(times: np.ndarray, positions: np.ndarray, near: float) -> np.ndarray:
    """Number the pages of rows in the order of time: each begins after a gap, or where its first position is back."""
    gap = np.append(True, np.diff(times) > near)
    first = positions[np.flatnonzero(gap)][np.cumsum(gap) - 1]
    return np.cumsum(gap | (positions == first)) - 1


def _reorder(log: Log, order: np.ndarray) -> Log:
    parts = ("rewards", "propensities", "played", "positions", "pages")
    moved = {name: part[order] for name in parts if (part := getattr(log, name)) is not None}
    if log.candidates is not None and log.starts is not None:
        sizes = np.diff(log.starts)[order]
        starts = np.append(0, np.cumsum(sizes))
        places = np.repeat(log.starts[:-1][order] - starts[:-1], sizes) + np.arange(starts[-1])
        moved |= {"candidates": log.candidates[places], "starts": starts}
    return log._replace(**moved)


def _read_long(errors: InputErrors) -> Log:
    ids, round_of = encode(_names(errors, "round"))
    arms, place = encode(_names(errors, "arm"))
    _check_twice(errors, arms, round_of, place, np.arange(len(place)))
    marks = errors.sheet.columns["played"]
    flag = sheets.numbers(marks)
    wrong = ~np.isin(flag, (0, 1))
    if wrong.any():
        wrong &= np.asarray(pc.not_equal(texts(marks), ""))  # an empty one is 0
    errors.add_rows(wrong, lambda row: f"played {_quoted(marks, row)} is neither 0 nor 1")
    rows = np.flatnonzero(flag == 1)
    again = repeated(round_of[rows])
    second = "has a second arm that was played"
    errors.add_rows(again, lambda at: f"round {_quoted(ids, round_of[rows[at]])} {second}", rows=rows)
    unplayed = np.bincount(round_of[(flag == 1) | wrong], minlength=len(ids))[round_of] == 0
    errors.add_rows(unplayed, lambda row: f"round {_quoted(ids, round_of[row])} has no arm that was played")
    rows = rows[np.argsort(round_of[rows])]
    rewards, propensities = _outcomes(errors, rows)
    errors.refuse()
    order = np.argsort(round_of, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(round_of)))
    return Log(errors.sheet.name, arms.to_pylist(), rewards, propensities, place[rows], place[order], starts)


def _outcomes(errors: InputErrors, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rewards and propensities of the rows of played arms."""
    rewards, propensities = (_numbers(errors, role, rows) for role in ("reward", "propensity"))
    zero = "propensity 0 is zero: such an arm cannot have been played"
    errors.add_rows(propensities == 0, lambda at: zero, rows=rows)
    wrong, range_ = ~((propensities >= SMALLEST) & (propensities <= 1)), f"is not a probability from {SMALLEST:g} to 1"
    errors.add_rows(wrong, lambda at: f"propensity {propensities[at]:g} {range_}", rows=rows)
    return rewards, propensities


def _candidates(column: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """Return the names of all candidates, round by round, and how many each round has."""
    if not is_list(column.type):
        lists = texts(column)
        mark = next((mark for mark in BETWEEN if pc.any(pc.match_substring(lists, mark)).as_py()), BETWEEN[0])
        lists = pc.if_else(pc.equal(lists, ""), pa.scalar(None, pa.string()), lists)  # an empty text has no candidates
        column = pc.split_pattern(lists, mark)
    sizes = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    return texts(pc.list_flatten(column)), sizes.astype(np.int64)


def _names(errors: InputErrors, role: str) -> pa.Array:
    """Return a column of names without blanks around them; empty ones are mistakes."""
    names = texts(errors.sheet.columns[role])
    errors.add_rows(pc.equal(names, ""), lambda row: f"{role} is missing")
    return names


def _numbers(errors: InputErrors, role: str, rows: np.ndarray) -> np.ndarray:
    """Return the numbers in some rows; those that are not finite are mistakes."""
    column = errors.sheet.columns[role].take(pa.array(rows))
    values = sheets.numbers(column)
    missing = np.zeros(len(rows), bool)
    if not np.isfinite(values).all():
        missing = np.asarray(pc.equal(texts(column), ""))
    errors.add_rows(missing, lambda at: f"{role} is missing", rows=rows)
    errors.add_rows(~(np.abs(values) <= LARGEST), lambda at: f"{role} {_quoted(column, at)} {FINITE}", rows=rows)
    return values


def _check_twice(
    errors: InputErrors, arms: pa.Array, round_of: np.ndarray, place: np.ndarray, rows: np.ndarray
) -> None:
    again = repeated(round_of.astype(np.int64) * len(arms) + place)
    errors.add_rows(again, lambda at: f"candidate {_quoted(arms, place[at])} twice in its round", rows=rows)


def _quoted(column: pa.Array, at: int) -> str:
    return quote(column[int(at)].as_py())
