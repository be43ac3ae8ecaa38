"""Find the column of each role: as the user says, by its usual name, by the words of its name, or by order."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from graphdr.advise.tabular.dialect import is_number
from graphdr.advise.tabular.opening import UNNAMED, OpenedTable
from graphdr.core.errors import quote

USUAL = tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))
NAMES = {role: names.split() for role, names in USUAL["tables"].items()}  # best first
FILLER_WORDS = set(USUAL["words"]["filling"].split())
DATE = re.compile(r"\d{4}-\d\d-\d\d([ T].*)?")
CLOCKS = ((3e8, 5e9), (3e11, 5e12))  # seconds and milliseconds since 1970, from 1979 on


class Roles(NamedTuple):
    """The column of every role that has one, required roles that have none, and assumptions."""

    columns: dict[str, str]
    missing: list[str]
    assumed: list[str]


def normalize(name: str) -> str:
    """Return a name as it is compared: lower case, letters and digits alone."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def significant_word(name: str) -> str:
    """Return the word that matters in a name: ``rating`` of ``Book-Rating``, ``from`` of ``FromNodeId``."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+", name)
    words = [part.lower() for part in parts]
    significant = [word for word in words if word not in FILLER_WORDS]
    return (significant or words or [""])[-1]


def is_usual(name: str, roles: Sequence[str]) -> bool:
    """Tell whether a column of this name would have one of these roles."""
    by_word = not any(map(str.isdigit, name))  # "user 1" is a user
    return any(normalize(name) in NAMES[role] or (by_word and _matches_word(name, role)) for role in roles)


def _matches_word(name: str, role: str) -> bool:
    word = significant_word(name)
    return word in NAMES[role] or word.removesuffix("s") in NAMES[role]


def find_roles(
    table: OpenedTable, named: Mapping[str, str], required: Sequence[str], optional: Sequence[str] = ()
) -> Roles:
    """Find the column of each role; the columns in ``named`` are from the user and exist."""
    roles = (*required, *optional)
    columns, assumed = {role: named[role] for role in roles if role in named}, []
    free = [name for name in table.names if name not in columns.values()]
    for match, certain in ((_by_usual_name, True), (_by_word, False)):
        for role in roles:
            if role not in columns and (names := match(free, role)):
                columns[role] = names[0]
                free.remove(names[0])
                if len(names) > 1 or not certain:
                    assumed.append(_assumption(role, names))
    if "node" in required and "node" not in columns and UNNAMED in free:  # an index that holds the keys
        columns["node"] = UNNAMED
        assumed.append("node: the column without a name (--node)")
    missing = [role for role in required if role not in columns]
    if not table.header:
        _assign_by_order(table, columns, [role for role in roles if role not in columns])
    elif len(table.names) == len(missing) + len(columns) == 2:  # two columns, in the usual order
        rest = [name for name in table.names if name not in columns.values()]
        columns |= dict(zip(missing, rest, strict=True))
        assumed += [_assumption(role, [columns[role]]) for role in missing]
    return Roles(columns, [role for role in required if role not in columns], assumed)


def _by_usual_name(names: list[str], role: str) -> list[str]:
    usual = [name for name in names if normalize(name) in NAMES[role]]
    return sorted(usual, key=lambda name: NAMES[role].index(normalize(name)))


def _by_word(names: list[str], role: str) -> list[str]:
    return [name for name in names if _matches_word(name, role)]


def _assumption(role: str, names: list[str]) -> str:
    others = f", not {' or '.join(quote(name, 3) for name in names[1:3])}" if names[1:] else ""
    return f"{role}: column {quote(names[0], 3)}{others} (--{role})"


def _assign_by_order(table: OpenedTable, columns: dict[str, str], roles: list[str]) -> None:
    """Assign columns without names to roles in order; a column that looks like a time is no value and no weight."""
    for name in [name for name in table.names if name not in columns.values()]:
        while roles and roles[0] in ("value", "weight") and _is_time(table.sample.get(name, [])):
            roles.pop(0)
        if roles:
            columns[roles.pop(0)] = name


def _is_time(texts: list[str]) -> bool:
    if texts and all(map(DATE.fullmatch, texts)):
        return True
    if not texts or not all(map(is_number, texts)):
        return False
    return any(low <= min(map(float, texts)) and max(map(float, texts)) <= high for low, high in CLOCKS)
