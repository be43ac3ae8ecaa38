"""The tables of a data set: nodes, which are the arms, links to them, and the users whom the links come from."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.cache.io import SCHEMAS
from graphdr.core.errors import quote
from graphdr.raw.sheets import Sheet, Texts, encode, first_rows, refuse
from graphdr.raw.text import Raw, load, parse, within

NODES, LINKS, USERS = (SCHEMAS[f"dataset_{name}"] for name in ("nodes", "links", "users"))
NOBODY = pa.table([pa.nulls(0, kind) for kind in USERS.types], schema=USERS)
OLDEST = 150  # years


class Tables(NamedTuple):
    """A data set: its nodes, numbered from 0, the links of users (or of citing nodes) to them, and the users."""

    nodes: pa.Table
    links: pa.Table
    users: pa.Table = NOBODY


def nodes(key: pa.Array, popularity: np.ndarray, **attributes: pa.Array) -> pa.Table:
    """Build the table of nodes; an empty text is a missing one, and a missing title is the key."""
    columns = _numbered(NODES, "node", key, attributes)
    columns["title"] = pc.coalesce(columns["title"], key)
    columns["popularity"] = pa.array(popularity, pa.int64())
    return pa.table(columns, schema=NODES)


def users(key: pa.Array, **attributes: pa.Array) -> pa.Table:
    """Build the table of users; an empty text is a missing one."""
    return pa.table(_numbered(USERS, "source", key, attributes), schema=USERS)


def _numbered(schema: pa.Schema, number: str, key: pa.Array, attributes: dict[str, pa.Array]) -> dict[str, pa.Array]:
    columns = {column.name: pa.nulls(len(key), column.type) for column in schema}
    for name, column in attributes.items():
        columns[name] = null_if_empty(column) if pa.types.is_string(column.type) else column
    return columns | {number: pa.array(np.arange(len(key)), pa.int32()), "key": key}


def links(source: np.ndarray, node: np.ndarray, weight: np.ndarray) -> pa.Table:
    """Build the table of links."""
    columns = zip((source, node, weight), LINKS.types, strict=True)
    return pa.table([pa.array(column, kind) for column, kind in columns], schema=LINKS)


def interactions(
    user: Texts, item: Texts, weights: np.ndarray, rewards: np.ndarray | None = None, items: Sheet | None = None
) -> Tables:
    """Number users and items by first appearance; count the rows of each item and average their rewards.

    Several rows of a user and an item are several links, each counted in popularity and mean. Rewards are the weights
    by default. Attributes of items come from a sheet as for ``lookup``; a reward there replaces the mean.
    """
    names, source = encode(user)
    keys, node = encode(item)
    popularity = np.bincount(node, minlength=len(keys))
    reward = np.bincount(node, weights if rewards is None else rewards) / popularity
    attributes = {"reward": pa.array(reward, pa.float64())} | (lookup(items, keys) if items else {})
    return Tables(nodes(keys, popularity, **attributes), links(source, node, weights), users(names))


def ratings(
    raw: Raw,
    delimiter: str,
    kind: str = "digits",
    items: Callable[[Raw], Sheet] | None = None,
    people: Callable[[Raw], Sheet] | None = None,
) -> Tables:
    """Read ratings of items by users; a rating outside of 1 to 5 is a mistake of the file.

    ``kind`` is that of the keys of users and items. ``items`` and ``people`` read the attributes of items and of users
    where the raw data have them.
    """
    columns = {"user": kind, "item": kind, "rating": "float", "timestamp": None}
    rows = within(parse(load(raw, "ratings"), columns, delimiter), "rating", 1, 5).columns
    sheet = items(raw) if items and raw.has("items") else None
    tables = interactions(rows["user"], rows["item"], rows["rating"].to_numpy(), items=sheet)
    return with_people(tables, people(raw)) if people and raw.has("users") else tables


def with_people(tables: Tables, sheet: Sheet) -> Tables:
    """Add age, gender and occupation of users, from a sheet as for ``lookup``; users without links are left out."""
    if "age" in sheet.columns.column_names:
        within(sheet, "age", 0, OLDEST)
    key = tables.users["key"].combine_chunks()
    return tables._replace(users=users(key, **lookup(sheet, key)))


def with_friends(tables: Tables, sheet: Sheet) -> Tables:
    """Add the friends of users, pairs of keys in the columns of a sheet; users without links are left out.

    A friendship holds both ways, whether it has one row or several.
    """
    key = tables.users["key"].combine_chunks()
    first, second = sheet.columns.columns
    refuse(sheet, pc.equal(first, second), lambda row: f"user {quote(first[row].as_py())} is a friend of themselves")
    places = [pc.index_in(column, value_set=key).combine_chunks() for column in (first, second)]
    valid = pc.and_(*map(pc.is_valid, places))
    i, j = (place.filter(valid).to_numpy().astype(np.int64) for place in places)
    user, friend = np.divmod(np.unique(np.concatenate([i, j]) * len(key) + np.concatenate([j, i])), len(key))
    starts = np.searchsorted(user, np.arange(len(key) + 1))
    lists = pa.ListArray.from_arrays(pa.array(starts, pa.int32()), pa.array(friend, pa.int32()))
    at = USERS.get_field_index("friends")
    return tables._replace(users=tables.users.set_column(at, USERS.field(at), lists))


def degrees(i: np.ndarray, j: np.ndarray, n: int) -> np.ndarray:
    """Count the neighbours of each of n nodes: links in both directions, no loops, no repeats."""
    pairs = pc.unique(pa.array(np.minimum(i, j) * n + np.maximum(i, j)))  # faster than NumPy's
    low, high = np.divmod(pairs.to_numpy(), n)
    apart = low != high
    return np.bincount(low[apart], minlength=n) + np.bincount(high[apart], minlength=n)


def lookup(sheet: Sheet, keys: pa.Array) -> dict[str, pa.Array]:
    """Return the other columns of a sheet at the rows of these keys, its first column; null for an absent key.

    A key may be repeated only with the same values.
    """
    name, *others = sheet.columns.column_names
    distinct, place = encode(sheet.columns[name])
    first = np.flatnonzero(first_rows(place))
    if len(first) < len(place):
        original = sheet.columns.take(pa.array(first[place], pa.int64()))
        for other in others:
            bad = _unequal(sheet.columns[other], original[other])
            refuse(sheet, bad, lambda row: f"{name} {quote(distinct[place[row]].as_py())} again, with other values")
    rows = pa.array(first, pa.int64()).take(pc.index_in(keys, value_set=distinct))
    return {other: sheet.columns[other].combine_chunks().take(rows) for other in others}


def _unequal(first: pa.ChunkedArray, second: pa.ChunkedArray) -> Any:
    if pa.types.is_list(first.type):  # which Arrow does not compare
        return pa.array([a != b for a, b in zip(first.to_pylist(), second.to_pylist(), strict=True)])
    return pc.not_equal(first, second)


def null_if_empty(texts: pa.Array) -> pa.Array:
    """Return the texts with null in place of empty ones."""
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
