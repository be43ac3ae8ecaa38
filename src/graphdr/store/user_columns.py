"""Feature columns of a user for the nodes, out of a parquet file."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from graphdr.cache import io
from graphdr.core.errors import UserError, join_names, quote, reason

NODE = "node"
EXPECTED = f"a column {NODE!r} and columns of numbers are needed, with one row for every node"


def read_user_columns(path: str, nodes_by_instance: Sequence[Sequence[str]]) -> list[np.ndarray]:
    """Read the columns for the named nodes of every instance (nodes x columns); other rows are left out."""
    table = _table(path)
    columns = _numbers(path, table)
    names = table[NODE].cast(pa.string()).to_pylist()
    place = {name: row for row, name in enumerate(names)}
    if None in place or len(place) < len(names):
        twice = next((name for row, name in enumerate(names) if name is None or place[name] != row), None)
        raise _wrong(path, "a row has no node" if twice is None else f"node {quote(twice)} has more than one row")
    chosen = []
    for nodes in nodes_by_instance:
        if missing := [name for name in nodes if name not in place]:
            mistake = f"{len(missing)} of {len(nodes)} nodes have no row, the first is {quote(missing[0], 2)}"
            raise _wrong(path, f"{mistake}; the file begins with {quote(names[0], 2)}" if names else mistake)
        values = columns[[place[name] for name in nodes]]
        if not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            numbers = [name for name in table.column_names if name != NODE]
            raise _wrong(
                path, f"column {quote(numbers[column], 2)} has no finite number for node {quote(nodes[row], 2)}"
            )
        chosen.append(values)
    return chosen


def _table(path: str) -> pa.Table:
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise _wrong(path, f"it cannot be read as a parquet file ({reason(error)})") from None
    if table.column_names.count(NODE) != 1 or len(table.column_names) == 1:
        raise _wrong(path, f"its columns are {join_names(table.column_names) or 'none'}")
    io.record_input(path)
    return table


def _numbers(path: str, table: pa.Table) -> np.ndarray:
    """Return all columns but the node as numbers (rows x columns), nan where a value is missing."""
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name == NODE:
            continue
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            raise _wrong(path, f"column {quote(name, 2)} has the type {join_names([column.type], 2)}, not numbers")
        columns.append(pc.fill_null(column.cast(pa.float64()), np.nan).to_numpy())
    return np.column_stack(columns)


def _wrong(path: str, mistake: str) -> UserError:
    return UserError(f"user_columns: {path}: {mistake}; {EXPECTED}")
