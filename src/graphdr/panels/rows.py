"""Rows of a table that belong together: one group per instance, problem or draw."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from graphdr.cache import io


def groups(table: pa.Table, *keys: str) -> Iterator[tuple[tuple, slice]]:
    """Yield the slices of consecutive rows that agree in all key columns."""
    columns = [io.values(table[key]) for key in keys]
    if not len(table):
        return
    changed = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    starts = [0, *(np.flatnonzero(changed) + 1), len(table)]
    for begin, end in pairwise(starts):
        yield tuple(column[begin] for column in columns), slice(begin, end)


def stack(parts: list[dict]) -> dict[str, np.ndarray | pa.Array]:
    """Concatenate equally named columns; a scalar is repeated to the length of its part."""
    lengths = [max((len(v) for v in part.values() if np.ndim(v)), default=1) for part in parts]

    def column(values):
        if not any(map(np.ndim, values)):
            texts = isinstance(values[0], str)
            return io.repeated(values, lengths) if texts else np.repeat(np.array(values), lengths)
        return np.concatenate([np.broadcast_to(value, size) for value, size in zip(values, lengths, strict=True)])

    return {name: column([part[name] for part in parts]) for name in parts[0]}
