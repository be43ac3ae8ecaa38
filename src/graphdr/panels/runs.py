"""Runs of all methods on all problems of a batch, out of tables."""

import numpy as np

from graphdr.cache import io
from graphdr.panels.rows import groups

Columns = dict[str, np.ndarray]


def read_runs(path: str) -> dict[tuple[str, str], Columns]:
    """Read runs: (method, problem) to the other columns; a method without data has none."""
    table = io.read("runs", path)
    columns = {name: io.values(table[name]) for name in table.column_names if name not in ("method", "problem")}
    return {
        key: {name: column[rows] for name, column in columns.items()}
        for key, rows in groups(table, "method", "problem")
    }
