"""The graph of interactions that do not fit in memory: Dask sorts them on disk and finds nearest items in parallel.

The matrix of items and users is written twice, by rows (items) and by columns (users).
"""

from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graphdr.core.errors import join_names, quote
from graphdr.core.extras import needed_for
from graphdr.graphs.from_data import union
from graphdr.graphs.model import Graph
from graphdr.graphs.neighbours import EXACT, Sides, nearest

WHOLE = ("approximate",)  # searches that cannot be split by rows
BUCKET = 16_000_000  # interactions that a task sorts in memory, about 0.5 GB
ENTRY = np.dtype([("key", np.int32), ("other", np.int32), ("value", np.float32)])
SIDES = {"rows": ("item", "user"), "columns": ("user", "item")}  # roles of rows and columns of the matrix


class RowGroup(NamedTuple):
    """A part of a parquet file."""

    path: str
    number: int
    rows: int


class Buckets(NamedTuple):
    """How items and users are divided into buckets of consecutive numbers."""

    folder: Path
    number: int
    width: dict[str, int]  # by role


class Range(NamedTuple):
    """The rows of one bucket of a matrix, and its number of columns."""

    first: int
    rows: int
    columns: int


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
    groups, shape = _survey([str(path) for path in files], names)
    count = -(-sum(group.rows for group in groups) // BUCKET)
    buckets = Buckets(folder / "pieces", count, {role: -(-size // count) for role, size in shape.items()})
    buckets.folder.mkdir()
    compute([delayed(_split)(at, group, names, buckets) for at, group in enumerate(groups)])
    for side, (key, other) in SIDES.items():
        firsts = [min(bucket * buckets.width[key], shape[key]) for bucket in range(count + 1)]
        ranges = [Range(firsts[at], firsts[at + 1] - firsts[at], shape[other]) for at in range(count)]
        tasks = [delayed(_join)(buckets.folder, side, at, len(groups), rows) for at, rows in enumerate(ranges)]
        lengths = compute(tasks)
        for part in ("indices", "data"):
            with (folder / f"{side}-{part}").open("wb") as whole:
                for bucket in range(count):
                    whole.write((buckets.folder / f"{side}-{part}-{bucket}").read_bytes())
        np.save(folder / f"{side}-starts.npy", np.concatenate([[0], np.cumsum(np.concatenate(lengths))]))
    rmtree(buckets.folder)


def _survey(files: list[str], names: dict[str, str]) -> tuple[list[RowGroup], dict[str, int]]:
    """Return all row groups and the numbers of users and items, from the footers of the files alone."""
    import pyarrow.parquet as pq

    groups, shape = [], {"user": 0, "item": 0}
    for path in files:
        footer = pq.read_metadata(path)
        columns = {footer.schema.column(at).name: at for at in range(len(footer.schema))}
        if missing := [name for name in names.values() if name not in columns]:
            raise ValueError(f"{path}: no column {quote(missing[0])}; there are: {join_names(columns)}")
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            if not group.num_rows:
                continue
            groups.append(RowGroup(path, number, group.num_rows))
            for role in shape:
                limits = group.column(columns[names[role]]).statistics
                if limits is None or not limits.has_min_max or not isinstance(limits.min, int) or limits.min < 0:
                    raise ValueError(f"{path}: column {names[role]!r} is not of whole numbers from 0, with statistics")
                shape[role] = max(shape[role], limits.max + 1)
    if not groups:
        raise ValueError("there are no interactions")
    if max(shape.values()) >= 2**31:
        raise ValueError(f"users and items are numbers below 2³¹ - 1, not {max(shape.values()) - 1}: number them anew")
    return groups, shape


def _split(at: int, group: RowGroup, names: dict[str, str], buckets: Buckets) -> None:
    """Write a row group twice, sorted into buckets of items and of users, with the start of each bucket."""
    import pyarrow.parquet as pq

    table = pq.ParquetFile(group.path).read_row_group(group.number, columns=list(names.values()))
    if any(table[name].null_count for name in names.values()):
        raise ValueError(f"{group.path}: row group {group.number} has missing values: leave such rows out")
    columns = {role: table[name].to_numpy() for role, name in names.items()}
    values = columns.get("value", np.ones(group.rows, np.float32)).astype(np.float32)
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"{group.path}: row group {group.number} has values that are not finite and positive")
    for side, (key, other) in SIDES.items():
        bucket = columns[key] // buckets.width[key]
        order = np.argsort(bucket, kind="stable")
        entries = np.empty(len(order), ENTRY)
        entries["key"], entries["other"], entries["value"] = columns[key][order], columns[other][order], values[order]
        starts = np.searchsorted(bucket[order], np.arange(buckets.number + 1))
        np.save(buckets.folder / f"{side}-{at}.npy", entries)
        np.save(buckets.folder / f"{side}-{at}-starts.npy", starts)


def _join(folder: Path, side: str, bucket: int, groups: int, block: Range) -> np.ndarray:
    """Write the rows of one bucket, sorted and repeats added up; return the number of entries of each."""
    parts = []
    for at in range(groups):
        starts = np.load(folder / f"{side}-{at}-starts.npy")
        entries = np.load(folder / f"{side}-{at}.npy", mmap_mode="r")
        parts.append(np.array(entries[starts[bucket] : starts[bucket + 1]]))
    entries = np.concatenate(parts)
    places = entries["key"] - block.first, entries["other"]
    rows = sp.coo_array((entries["value"], places), shape=(block.rows, block.columns)).tocsr()
    rows.indices.astype(np.int32).tofile(folder / f"{side}-indices-{bucket}")
    rows.data.astype(np.float32).tofile(folder / f"{side}-data-{bucket}")
    return np.diff(rows.indptr)


def open_matrix(folder: Path) -> Sides:
    """Return the matrix in a folder, mapped into memory."""
    starts = {side: np.load(folder / f"{side}-starts.npy") for side in SIDES}
    n, users = len(starts["rows"]) - 1, len(starts["columns"]) - 1
    rows = _map_side(folder, "rows", starts["rows"], (n, users))
    return Sides(rows=rows, columns=_map_side(folder, "columns", starts["columns"], (users, n)))


def _map_side(folder: Path, side: str, starts: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    indices = np.memmap(folder / f"{side}-indices", np.int32, "r")
    data = np.memmap(folder / f"{side}-data", np.float32, "r")
    matrix = sp.csr_array((data, indices, starts.astype(np.int32 if starts[-1] < 2**31 else np.int64)), shape=shape)
    matrix.has_sorted_indices = matrix.has_canonical_format = True  # _join sorted them: skip a check of all
    return matrix


def compute(tasks: list[Any]) -> tuple[Any, ...]:
    """Run tasks where Dask is told to; a free worker takes one task at a time."""
    from dask import base, config

    with config.set(chunksize=1):
        return base.compute(*tasks)
