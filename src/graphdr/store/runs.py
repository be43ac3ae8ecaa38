"""Runs of all methods on all problems of a batch, out of tables."""

from graphdr.cache import io
from graphdr.store.rows import Columns, split


def read_runs(path: str) -> dict[tuple[str, str], Columns]:
    """Read runs: (method, problem) to the other columns; a method without data is left out."""
    table = io.read("runs", path)
    names = [name for name in table.column_names if name not in ("method", "problem")]
    runs = split(table, ("method", "problem"), names)
    return {key: dict(zip(names, columns, strict=True)) for key, columns in runs.items()}
