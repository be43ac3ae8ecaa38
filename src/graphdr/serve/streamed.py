"""The graph of interactions that do not fit in memory: Dask sorts them on disk and finds nearest items in parallel.

The matrix of items and users is written twice, by rows (items) and by columns (users).
"""

from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphdr.core.errors import join_names, needed_for, quote
from graphdr.graphs.from_data import union
from graphdr.graphs.model import Graph
from graphdr.graphs.neighbours import EXACT, Sides, nearest

WHOLE = ("approximate",)  # searches that cannot be split by rows
BUCKET = 16_000_000  # interactions that a task sorts in memory, about 0.5 GB
ENTRY = np.dtype([("key", np.int32), ("other", np.int32), ("value", np.float32)])
SIDES = {"rows": ("item", "user"), "columns": ("user", "item")}  # roles of rows and columns of the matrix


def from_parquet(
    files: Sequence[str | Path],
    user: str = "user",
    item: str = "item",
    value: str | None = None,
    *,
    neighbours: int = 10,
    search: str = EXACT,
    folder: str | Path | None = None,
    blocks: int = 2,
) -> Graph:
    """Build the graph of ``from_interactions`` from parquet files that are larger than memory, with Dask.

    Parameters
    ----------
    files : sequence of paths
        Parquet files of one kind, in any order. A row group at a time is read.
    user, item : str
        The columns of users and of items: whole numbers from 0 to 2³¹ - 1, with few gaps.
    value : str, optional
        The column of positive values; by default every row counts one. Values of a pair that comes again are added
        up. They are kept in single precision.
    neighbours : int
        How many others every item is joined to, if as many share a user with it. Edges have weight one.
    search : {"exact", "approximate"}
        Compare all pairs of items that share a user, or those that pynndescent proposes. Cosines and ties are those of
        the whole rows in either case.
    folder : path, optional
        Where the sorted interactions go, at most 40 bytes for each; by default a temporary one. All workers see it.
    blocks : int
        Parts that the search is split into, at best one for each worker.

    Returns
    -------
    Graph
        A node for every item number up to the largest, in that order. It need not be connected.

    Notes
    -----
    Tasks run where Dask is told to run them: in a ``dask.distributed.Client``, or as ``dask.config`` says.

    Examples
    --------
    >>> import tempfile, pyarrow, pyarrow.parquet
    >>> met = pyarrow.table({"user": [1, 1, 2, 2, 3, 3], "item": [0, 1, 0, 1, 1, 2]})
    >>> with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
    ...     pyarrow.parquet.write_table(met, file.name)
    ...     graphdr.from_parquet([file.name], neighbours=1).adjacency.sum(axis=1).tolist()
    [1.0, 2.0, 1.0]
    """
    with TemporaryDirectory(dir=folder) as scratch:
        sort(files, user, item, value, Path(scratch))
        near = search_blocks(Path(scratch), neighbours, search, blocks)
    i, rank = np.nonzero(near >= 0)
    return union(len(near), i, near[i, rank])


def search_blocks(folder: Path, neighbours: int, search: str, blocks: int) -> np.ndarray:
    """Return the nearest items of all items (n x neighbours, -1 for none), with a task for every block of items."""
    from dask.delayed import delayed

    n = len(np.load(folder / "rows-starts.npy", mmap_mode="r")) - 1
    parts = np.array_split(np.arange(n), 1 if search in WHOLE else blocks)
    return np.concatenate(compute([delayed(_search)(folder, neighbours, search, part) for part in parts]))


def _search(folder: Path, neighbours: int, search: str, queries: np.ndarray) -> np.ndarray:
    return nearest(open_matrix(folder), neighbours, search, queries=queries)[0].astype(np.int32)


def sort(files: Sequence[str | Path], user: str, item: str, value: str | None, folder: Path) -> None:
    """Write the matrix of items and users to a folder, by rows and by columns."""
    with needed_for("graphdr.from_parquet", "scale"):
        from dask.delayed import delayed
    names = {"user": user, "item": item} | ({"value": value} if value else {})
    groups, rows, shape = _survey([str(path) for path in files], names)
    count, pieces = -(-rows // BUCKET), folder / "pieces"
    pieces.mkdir()
    # A bucket holds a range of keys, which begins and ends at two of these.
    limits = {role: np.minimum(np.arange(count + 1) * -(-size // count), size) for role, size in shape.items()}
    compute([delayed(_split)(pieces, at, group, names, limits) for at, group in enumerate(groups)])
    for side, (key, other) in SIDES.items():
        ranges = zip(limits[key][:-1], limits[key][1:], strict=True)
        tasks = [
            delayed(_join)(pieces, side, bucket, len(groups), first, (last - first, shape[other]))
            for bucket, (first, last) in enumerate(ranges)
        ]
        lengths = compute(tasks)
        for part in ("indices", "data"):
            with (folder / f"{side}-{part}").open("wb") as whole:
                for bucket in range(count):
                    whole.write((pieces / f"{side}-{part}-{bucket}").read_bytes())
        np.save(folder / f"{side}-starts.npy", np.concatenate([[0], np.cumsum(np.concatenate(lengths))]))
    rmtree(pieces)


def _survey(files: list[str], names: dict[str, str]) -> tuple[list[tuple[str, int]], int, dict[str, int]]:
    """Return all row groups, the number of their rows, and of users and items, from the footers of the files alone."""
    import pyarrow.parquet as pq

    groups, rows, shape = [], 0, {"user": 0, "item": 0}
    for path in files:
        footer = pq.read_metadata(path)
        columns = {footer.schema.column(at).name: at for at in range(len(footer.schema))}
        if missing := [name for name in names.values() if name not in columns]:
            raise ValueError(f"{path}: no column {quote(missing[0])}; there are: {join_names(columns)}")
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            if not group.num_rows:
                continue
            groups.append((path, number))
            rows += group.num_rows
            for role in shape:
                limits = group.column(columns[names[role]]).statistics
                if limits is None or not limits.has_min_max or not isinstance(limits.min, int) or limits.min < 0:
                    raise ValueError(f"{path}: column {names[role]!r} is not of whole numbers from 0, with statistics")
                shape[role] = max(shape[role], limits.max + 1)
    if not groups:
        raise ValueError("there are no interactions")
    if max(shape.values()) >= 2**31:
        raise ValueError(f"users and items are numbers below 2³¹ - 1, not {max(shape.values()) - 1}: number them anew")
    return groups, rows, shape


def _split(pieces: Path, at: int, group: tuple[str, int], names: dict[str, str], limits: dict[str, np.ndarray]) -> None:
    """Write a row group twice, sorted into buckets of items and of users, with the start of each bucket."""
    import pyarrow.parquet as pq

    path, number = group
    table = pq.ParquetFile(path).read_row_group(number, columns=list(names.values()))
    if any(table[name].null_count for name in names.values()):
        raise ValueError(f"{path}: row group {number} has missing values: leave such rows out")
    columns = {"value": np.ones(len(table))} | {role: table[name].to_numpy() for role, name in names.items()}
    values = columns["value"].astype(np.float32)
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"{path}: row group {number} has values that are not finite and positive")
    for side, (key, other) in SIDES.items():
        bucket = np.digitize(columns[key], limits[key]) - 1
        order = np.argsort(bucket, kind="stable")
        entries = np.empty(len(order), ENTRY)
        entries["key"], entries["other"], entries["value"] = columns[key][order], columns[other][order], values[order]
        np.save(pieces / f"{side}-{at}.npy", entries)
        np.save(pieces / f"{side}-{at}-starts.npy", np.searchsorted(bucket[order], np.arange(len(limits[key]))))


def _join(pieces: Path, side: str, bucket: int, groups: int, first: int, shape: tuple[int, int]) -> np.ndarray:
    """Write the rows of one bucket, sorted and repeats added up; return the number of entries of each."""
    parts = []
    for at in range(groups):
        starts: np.ndarray = np.load(pieces / f"{side}-{at}-starts.npy")
        entries: np.ndarray = np.load(pieces / f"{side}-{at}.npy", mmap_mode="r")
        parts.append(np.array(entries[starts[bucket] : starts[bucket + 1]]))
    entries = np.concatenate(parts)
    rows = sp.coo_array((entries["value"], (entries["key"] - first, entries["other"])), shape=shape).tocsr()
    rows.indices.astype(np.int32).tofile(pieces / f"{side}-indices-{bucket}")
    rows.data.astype(np.float32).tofile(pieces / f"{side}-data-{bucket}")
    return np.diff(rows.indptr)


def open_matrix(folder: Path) -> Sides:
    """Return the matrix in a folder, mapped into memory."""
    starts = {side: np.load(folder / f"{side}-starts.npy") for side in SIDES}
    sides = {}
    for side, other in (("rows", "columns"), ("columns", "rows")):
        indices = np.memmap(folder / f"{side}-indices", np.int32, "r")
        data = np.memmap(folder / f"{side}-data", np.float32, "r")
        indptr = starts[side].astype(np.int32 if starts[side][-1] < 2**31 else np.int64)
        matrix = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, len(starts[other]) - 1))
        matrix.has_sorted_indices = matrix.has_canonical_format = True  # _join sorted them: skip a check of all
        sides[side] = matrix
    return Sides(**sides)


def compute(tasks: list[Any]) -> tuple[Any, ...]:
    """Run tasks where Dask is told to; a free worker takes one task at a time."""
    from dask import base, config

    with config.set(chunksize=1):
        return base.compute(*tasks)
