"""The interactions and the users of a data set, out of their tables, and feature columns of a user for its nodes."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from graphdr.cache import io
from graphdr.core.errors import UserError, join_names, quote, reason
from graphdr.graphs.records import Records, Users

NODE = "node"
EXPECTED = f"a column {NODE!r} and columns of numbers are needed, with one row for every node"


def read_records(nodes_path: str, links_path: str) -> Records:
    """Read which source met which node, with the groups of the nodes as codes."""
    nodes, links = io.read("dataset_nodes", nodes_path), io.read("dataset_links", links_path)
    codes = [group_codes(nodes, name) for name in ("group", "subgroup") if nodes[name].null_count < len(nodes)]
    popularity = io.values(nodes["popularity"])
    source, node, weight = io.arrays(links, "source", "node", "weight")
    return Records(source, node, weight, popularity, np.column_stack(codes) if codes else None)


def group_codes(nodes: pa.Table, name: str) -> np.ndarray:
    """Return a column of groups as codes, -1 where the group of a node is unknown."""
    return io.values(nodes[name].combine_chunks().dictionary_encode().indices.fill_null(-1))


def read_users(path: str) -> Users:
    """Read the users, in the order of their numbers."""
    table = io.read("dataset_users", path)
    age = io.values(table["age"].fill_null(-1))
    gender, occupation = (io.values(table[name].fill_null("")) for name in ("gender", "occupation"))
    lists = table["friends"].combine_chunks()
    user = np.repeat(np.arange(len(table)), io.values(pc.list_value_length(lists).fill_null(0)))
    friend = io.values(lists.flatten())
    once = user < friend  # both friends list a friendship
    return Users(age, gender, occupation, np.stack([user[once], friend[once]]))


def read_user_columns(path: str, nodes_by_instance: Sequence[Sequence[str]]) -> list[np.ndarray]:
    """Read the columns for the named nodes of every instance (nodes x columns); other rows are left out."""
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise _wrong(path, f"it cannot be read as a parquet file ({reason(error)})") from None
    if table.column_names.count(NODE) != 1 or len(table.column_names) == 1:
        raise _wrong(path, f"its columns are {join_names(table.column_names) or 'none'}")
    io.record_input(path)
    features = table.drop_columns(NODE)
    for column in features.schema:
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            kind = join_names([column.type], 2)
            raise _wrong(path, f"column {quote(column.name, 2)} has the type {kind}, not numbers")
    columns = np.column_stack([io.values(column.cast(pa.float64())) for column in features.columns])
    rows: dict[str | None, int] = {}
    for row, name in enumerate(table[NODE].cast(pa.string()).to_pylist()):
        if name is None or name in rows:
            raise _wrong(path, "a row has no node" if name is None else f"node {quote(name)} has more than one row")
        rows[name] = row
    chosen = []
    for nodes in nodes_by_instance:
        if missing := [name for name in nodes if name not in rows]:
            mistake = f"{len(missing)} of {len(nodes)} nodes have no row, the first is {quote(missing[0], 2)}"
            begins = f"; the file begins with {quote(next(iter(rows)), 2)}" if rows else ""
            raise _wrong(path, mistake + begins)
        values = columns[[rows[name] for name in nodes]]
        for row, column in np.argwhere(~np.isfinite(values)):
            name = quote(features.column_names[column], 2)
            raise _wrong(path, f"column {name} has no finite number for node {quote(nodes[row], 2)}")
        chosen.append(values)
    return chosen


def _wrong(path: str, mistake: str) -> UserError:
    return UserError(f"user_columns: {path}: {mistake}; {EXPECTED}")
