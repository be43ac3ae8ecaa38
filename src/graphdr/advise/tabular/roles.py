"""Which column of a table holds what: as the user says, by its usual name, by the words of its name, or by order."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from graphdr.advise.tabular.dialect import is_number
from graphdr.core.errors import quote

USUAL = tomllib.loads((Path(__file__).parent.parent / "columns.toml").read_text(encoding="utf-8"))
NAMES = {role: names.split() for role, names in USUAL["tables"].items()}  # best first
FILLING = set(USUAL["words"]["filling"].split())  # what a name may have besides the word that counts, the last one
DATE = re.compile(r"\d{4}-\d\d-\d\d([ T].*)?")
CLOCKS = ((3e8, 5e9), (3e11, 5e12))  # seconds and milliseconds since 1970, from 1979 on
UNNAMED = "(unnamed)"  # the heading of an index that a program wrote


class Roles(NamedTuple):
    """The column of every role that has one, needed roles that have none, and what was assumed."""

    columns: dict[str, str]
    missing: list[str]
    assumed: list[str]


def plain(name: str) -> str:
    """Return a name as it is compared: lower case, letters and digits alone."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def word(name: str) -> str:
    """Return the word that counts in a name: ``rating`` of ``Book-Rating``, ``from`` of ``FromNodeId``."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+", name)
    words = [part.lower() for part in parts]
    telling = [each for each in words if each not in FILLING]
    return (telling or words or [""])[-1]


def known(name: str, roles: Sequence[str]) -> bool:
    """Say whether a column of this name would have one of these roles."""
    worded = not any(map(str.isdigit, name))  # "user 1" is a user
    return any(plain(name) in NAMES[role] or (worded and _near(name, role)) for role in roles)


def _near(name: str, role: str) -> bool:
    telling = word(name)
    return telling in NAMES[role] or telling.removesuffix("s") in NAMES[role]


def find(table, named: Mapping[str, str], needed: Sequence[str], optional: Sequence[str] = ()) -> Roles:
    """Find the column of each role; the user named some, which must be there."""
    roles, names = (*needed, *optional), table.names
    columns, assumed = {role: named[role] for role in roles if role in named}, []
    free = [name for name in names if name not in columns.values()]
    for near in (False, True):
        for role in (role for role in roles if role not in columns):
            found = _matches(free, role, near)
            if found:
                columns[role] = found[0]
                free.remove(found[0])
                assumed += [_said(role, found)] if near or len(found) > 1 else []
    missing = [role for role in needed if role not in columns]
    if missing and UNNAMED in free and "node" in missing:  # an index that holds the keys
        columns["node"] = UNNAMED
        missing.remove("node")
        assumed.append("node: the column without a name (--node)")
    if not table.header:
        _by_order(table, columns, [role for role in roles if role not in columns])
        missing = [role for role in needed if role not in columns]
    elif len(names) == len(missing) + len(columns) == 2:  # two columns, in the usual order
        rest = [name for name in names if name not in columns.values()]
        columns |= dict(zip(missing, rest, strict=True))
        assumed += [_said(role, [columns[role]]) for role in missing]
        missing = []
    return Roles(columns, missing, assumed)


def _matches(free: list[str], role: str, near: bool) -> list[str]:
    if near:
        return [name for name in free if _near(name, role)]
    rank = {usual: place for place, usual in reversed(list(enumerate(NAMES[role])))}
    return sorted((name for name in free if plain(name) in rank), key=lambda name: rank[plain(name)])


def _said(role: str, found: list[str]) -> str:
    others = f", not {' or '.join(quote(name, 3) for name in found[1:3])}" if found[1:] else ""
    return f"{role}: column {quote(found[0], 3)}{others} (--{role})"


def _by_order(table, columns: dict[str, str], roles: list[str]) -> None:
    """Give columns without names to roles in order; one that looks like a time is no value and no weight."""
    for name in [name for name in table.names if name not in columns.values()]:
        while roles and (roles[0] in ("value", "weight") and _is_time(table.sample(name))):
            roles.pop(0)
        if roles:
            columns[roles.pop(0)] = name


def _is_time(fields: list[str]) -> bool:
    if fields and all(map(DATE.fullmatch, fields)):
        return True
    if not fields or not all(map(is_number, fields)):
        return False
    return any(low <= min(map(float, fields)) and max(map(float, fields)) <= high for low, high in CLOCKS)
