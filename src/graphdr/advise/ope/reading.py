"""Read a log of bandit rounds: the candidates, the arm played with its probability, and its reward.

A wide file has one row per round, with the candidates in one column or, without it, all arms as candidates. A long
file has a row for every candidate of a round, and a flag on the one that was played. Nothing is guessed or left out:
a mistake is one line that names the file and the place in it.

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
from graphdr.raw.sheets import FINITE, LARGEST, InputErrors, Sheet, encode, refuse, repeated, texts
from graphdr.raw.user_tables import KEY, LISTS, NUMBER, TEXT, TIME, USUAL, is_list, note, open_table
from graphdr.scores.offpolicy import FEWEST

NAMES = {role: [words.split() for words in groups] for role, groups in USUAL["logs"].items()}  # best first
NEEDED = USUAL["needed"]
KINDS = {"reward": NUMBER, "propensity": NUMBER, "time": TIME, "played": TEXT, "candidates": LISTS}  # others are keys
BETWEEN = ("|", ";", ",", " ")  # separators of candidates in one text: the first of these that occurs
MISSING = ("", "na", "nan", "null", "none")
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
    InputErrors(sheet).refuse()
    sheet = sheet._replace(columns={role: sheet.columns[column] for role, column in column_of.items()})
    log = _read_long(sheet) if "played" in column_of else _read_wide(sheet)
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


def _read_wide(sheet: Sheet) -> Log:
    columns, rounds = sheet.columns, len(sheet.columns["arm"])
    positions, pages, order = _layout(sheet)
    if "round" in columns and positions is None:
        ids = _keys(sheet, "round")
        again = "again; a long file needs a column 'played'"
        refuse(sheet, repeated(ids), lambda row: f"round {_quoted(ids, row)} {again}")
    rewards, propensities = _outcomes(sheet, np.arange(rounds))
    played = _keys(sheet, "arm")
    arms, place = encode(played)
    sets: list[np.ndarray | None] = [None, None]
    if "candidates" in columns:
        offered, sizes = _candidates(sheet)
        refuse(sheet, sizes == 0, lambda row: "no candidates")
        arms, places = encode(pa.concat_arrays([offered, played]))
        candidates, place = places[: len(offered)], places[len(offered) :]
        round_of = np.repeat(np.arange(rounds), sizes)
        refuse(sheet, pc.equal(offered, ""), lambda at: "an empty name among the candidates", round_of)
        _refuse_twice(sheet, arms, round_of, candidates, round_of)
        there = np.bincount(round_of[candidates == place[round_of]], minlength=rounds) > 0
        refuse(sheet, ~there, lambda row: f"arm {_quoted(arms, place[row])} is not among its candidates")
        sets = [candidates, np.append(0, np.cumsum(sizes))]
    log = Log(sheet.name, arms.to_pylist(), rewards, propensities, place, sets[0], sets[1], positions, pages)
    return _reorder(log, order)


def _layout(sheet: Sheet) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """Return positions and pages, where the file has them, and the order of its rows in time, where it is another."""
    times = sheets.times(sheet.columns["time"]) if "time" in sheet.columns else None
    order = None
    if times is not None and not (np.diff(times.values) >= 0).all():
        order = np.argsort(times.values, kind="stable")
    if "position" not in sheet.columns:
        return None, None, order
    names, positions = encode(_keys(sheet, "position"))
    if len(names) > POSITIONS:
        many = f"position has {len(names):,} values; a page has {POSITIONS} places at most"
        raise UserError(f"{sheet.name}: {many}; if the column is something else, rename it")
    if "round" in sheet.columns:
        return positions, encode(_keys(sheet, "round"))[1], order
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


def _reorder(log: Log, order: np.ndarray | None) -> Log:
    """Sort the rounds of a log; None keeps their order."""
    if order is None:
        return log
    parts = ("rewards", "propensities", "played", "positions", "pages")
    moved = {name: part[order] for name in parts if (part := getattr(log, name)) is not None}
    if log.candidates is not None and log.starts is not None:
        sizes = np.diff(log.starts)[order]
        starts = np.append(0, np.cumsum(sizes))
        places = np.repeat(log.starts[:-1][order] - starts[:-1], sizes) + np.arange(starts[-1])
        moved |= {"candidates": log.candidates[places], "starts": starts}
    return log._replace(**moved)


def _read_long(sheet: Sheet) -> Log:
    ids, round_of = encode(_keys(sheet, "round"))
    arms, place = encode(_keys(sheet, "arm"))
    _refuse_twice(sheet, arms, round_of, place, np.arange(len(place)))
    marks = sheet.columns["played"]
    flag, wrong = _numbers(marks)
    wrong |= ~np.isin(np.nan_to_num(flag), (0, 1))
    refuse(sheet, wrong, lambda row: f"played {_quoted(marks, row)} is neither 0 nor 1")
    rows = np.flatnonzero(flag == 1)
    again = repeated(round_of[rows])
    refuse(sheet, again, lambda at: f"round {_quoted(ids, round_of[rows[at]])} has a second arm that was played", rows)
    unplayed = np.bincount(round_of[rows], minlength=len(ids))[round_of] == 0
    refuse(sheet, unplayed, lambda row: f"round {_quoted(ids, round_of[row])} has no arm that was played")
    rows = rows[np.argsort(round_of[rows])]
    rewards, propensities = _outcomes(sheet, rows)
    order = np.argsort(round_of, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(round_of)))
    return Log(sheet.name, arms.to_pylist(), rewards, propensities, place[rows], place[order], starts)


def _outcomes(sheet: Sheet, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rewards and propensities of the rows of played arms."""
    rewards, propensities = (_finite(sheet, role, rows) for role in ("reward", "propensity"))
    probability = "it is a probability, above 0 and at most 1"

    def refuse_propensities(wrong: np.ndarray, reason: str) -> None:
        refuse(sheet, wrong, lambda at: f"propensity {propensities[at]:g} {reason}", rows)

    refuse_propensities(propensities == 0, "is zero: such an arm cannot have been played")
    refuse_propensities(propensities < 0, f"is negative; {probability}")
    refuse_propensities(propensities > 1, f"is above one; {probability}")
    refuse_propensities(propensities < SMALLEST, f"is below {SMALLEST:g}, too small to divide by")
    return rewards, propensities


def _finite(sheet: Sheet, role: str, rows: np.ndarray) -> np.ndarray:
    column = sheet.columns[role].take(pa.array(rows))
    values, wrong = _numbers(column)
    wrong |= np.abs(values) > LARGEST
    refuse(sheet, wrong, lambda at: f"{role} {_quoted(column, at)} {FINITE}", rows)
    refuse(sheet, np.isnan(values), lambda at: f"{role} is missing", rows)
    return values


def _candidates(sheet: Sheet) -> tuple[pa.Array, np.ndarray]:
    """Return the names of all candidates, round by round, and how many each round has."""
    column = sheet.columns["candidates"]
    if not is_list(column.type):
        lists = texts(column)
        mark = next((mark for mark in BETWEEN if pc.any(pc.match_substring(lists, mark)).as_py()), BETWEEN[0])
        lists = pc.if_else(pc.equal(lists, ""), pa.scalar(None, pa.string()), lists)  # an empty text has no candidates
        column = pc.split_pattern(lists, mark)
    sizes = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    return texts(pc.list_flatten(column)), sizes.astype(np.int64)


def _keys(sheet: Sheet, role: str) -> pa.Array:
    """Return a column of names, none of them empty."""
    names = texts(sheet.columns[role])
    refuse(sheet, pc.equal(names, ""), lambda row: f"{role} is missing")
    return names


def _numbers(column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers, nan where they are missing, and which values are neither; true is 1 and false 0."""
    numbers = sheets.numbers(column)
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        missing = np.asarray(pc.is_in(pc.ascii_lower(texts(column)), value_set=pa.array(MISSING)))
        return np.where(missing, np.nan, numbers), wrong & ~missing
    return numbers, wrong


def _refuse_twice(sheet: Sheet, arms: pa.Array, round_of: np.ndarray, place: np.ndarray, rows: np.ndarray) -> None:
    again = repeated(round_of.astype(np.int64) * len(arms) + place)
    refuse(sheet, again, lambda at: f"candidate {_quoted(arms, place[at])} twice in its round", rows)


def _quoted(column: pa.Array, at: int) -> str:
    return quote(column[int(at)].as_py())
