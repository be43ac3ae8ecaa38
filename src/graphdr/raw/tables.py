"""The two tables that every data set becomes: nodes, which are the arms, and links to them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.cache.schemas import SCHEMAS
from graphdr.raw.text import Raw, Sheet, load, parse, refuse, short, within

NODES, LINKS = SCHEMAS["dataset_nodes"], SCHEMAS["dataset_links"]
Texts = pa.Array | pa.ChunkedArray


class Tables(NamedTuple):
    """A data set: its nodes, numbered from 0, and the links of users (or of citing nodes) to them."""

    nodes: pa.Table
    links: pa.Table


def nodes(key: pa.Array, popularity: np.ndarray, **known: pa.Array) -> pa.Table:
    """Build the table of nodes; an empty text is a missing one, and a missing title is the key."""
    known = {name: given(column) if pa.types.is_string(column.type) else column for name, column in known.items()}
    columns = {field.name: pa.nulls(len(key), field.type) for field in NODES} | known
    columns["node"] = pa.array(np.arange(len(key)), pa.int32())
    columns["key"], columns["title"] = key, pc.coalesce(columns["title"], key)
    columns["popularity"] = pa.array(popularity, pa.int64())
    return pa.table(columns, schema=NODES)


def links(source: np.ndarray, node: np.ndarray, weight: np.ndarray) -> pa.Table:
    """Build the table of links."""
    columns = (source, node, weight)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, LINKS, strict=True)], schema=LINKS)


def encode(texts: Texts) -> tuple[pa.Array, np.ndarray]:
    """Return the distinct texts in order of first appearance, and the place of each text among them."""
    whole = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    encoded = whole.dictionary_encode()
    return encoded.dictionary, encoded.indices.to_numpy()


def interactions(
    users: Texts, items: Texts, weights: np.ndarray, rewards: np.ndarray | None = None, about: Sheet | None = None
) -> Tables:
    """Number users and items by first appearance; count the rows of each item and average their rewards.

    A user and an item that meet in several rows stay several links, each counted in popularity and mean.
    Rewards are the weights unless given. What is known about the items comes from a sheet as for ``lookup``; a reward
    there takes the place of the mean.
    """
    _, source = encode(users)
    keys, node = encode(items)
    popularity = np.bincount(node, minlength=len(keys))
    reward = np.bincount(node, weights if rewards is None else rewards) / popularity
    known = {"reward": pa.array(reward, pa.float64())} | (lookup(about, keys) if about else {})
    return Tables(nodes(keys, popularity, **known), links(source, node, weights))


def ratings(raw: Raw, delimiter: str, kind: str = "digits", about: Callable[[Raw], Sheet] | None = None) -> Tables:
    """Read ratings from 1 to 5 of items by users, whose keys are of this kind, and what is known about the items."""
    columns = {"user": kind, "item": kind, "rating": "float", "timestamp": None}
    rows = within(parse(load(raw, "ratings"), columns, delimiter), "rating", 1, 5).columns
    sheet = about(raw) if about and raw.has("items") else None
    return interactions(rows["user"], rows["item"], rows["rating"].to_numpy(), about=sheet)


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
    found, place = encode(sheet.columns[name])
    first = np.flatnonzero(np.diff(np.maximum.accumulate(place), prepend=-1))  # places count up as texts appear
    if len(first) < len(place):
        original = sheet.columns.take(pa.array(first[place], pa.int64()))
        for other in others:
            bad = _differ(sheet.columns[other], original[other])
            refuse(sheet, bad, lambda row: f"{name} {short(found[place[row]].as_py())} again, with other values")
    rows = pa.array(first, pa.int64()).take(pc.index_in(keys, value_set=found))
    return {other: sheet.columns[other].combine_chunks().take(rows) for other in others}


def _differ(one: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_list(one.type):  # which Arrow does not compare
        return pa.array([a != b for a, b in zip(one.to_pylist(), other.to_pylist(), strict=True)])
    return pc.not_equal(one, other)


def given(texts: pa.Array) -> pa.Array:
    """Return the texts with null in place of empty ones."""
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
