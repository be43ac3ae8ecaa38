"""Rows of a table that belong together: one group per instance, problem or draw."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from graphdr.cache import io

ProblemInstance = tuple[str, int]  # name of a problem and number of an instance
Columns = dict[str, np.ndarray]


def groups(table: pa.Table, *keys: str) -> Iterator[tuple[tuple[Any, ...], slice]]:
    """Yield the slices of consecutive rows that agree in all key columns, each with the values of the keys."""
    columns = [io.values(table[key]) for key in keys]
    if not len(table):
        return
    changed = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    starts = [0, *(np.flatnonzero(changed) + 1), len(table)]
    for begin, end in pairwise(starts):
        yield tuple(column[begin] for column in columns), slice(begin, end)


def split(table: pa.Table, keys: Sequence[str], columns: Sequence[str]) -> dict[Any, list[np.ndarray]]:
    """Return the columns of every group, by the values of the keys."""
    arrays = [io.values(table[name]) for name in columns]
    return {key: [array[rows] for array in arrays] for key, rows in groups(table, *keys)}


def stack(parts: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray | pa.Array]:
    """Concatenate equally named columns; repeat a scalar to the length of its part."""
    sizes = [max((len(column) for column in part.values() if np.ndim(column)), default=1) for part in parts]
    return {name: _concatenate([part[name] for part in parts], sizes) for name in parts[0]}


def _concatenate(values: list[Any], sizes: list[int]) -> np.ndarray | pa.Array:
    if any(map(np.ndim, values)):
        return np.concatenate([np.broadcast_to(value, size) for value, size in zip(values, sizes, strict=True)])
    if isinstance(values[0], str):
        return io.repeated(values, sizes)
    return np.repeat(np.array(values), sizes)
