"""The matrix of items and users on disk, by rows and by columns: Dask sorts interactions of parquet files into it."""

from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree

import numpy as np
import scipy.sparse as sp

from graphdr.core.errors import join_names, quote
from graphdr.core.extras import needed_for
from graphdr.graphs.neighbours import Sides

BUCKET = 16_000_000  # interactions that a task sorts in memory, about 0.5 GB of it
ENTRY = np.dtype([("key", np.int32), ("other", np.int32), ("value", np.float32)])
SIDES = {"rows": ("item", "user"), "columns": ("user", "item")}


def sort(files: Sequence[str | Path], user: str, item: str, value: str | None, folder: Path) -> None:
    """Write the matrix of items and users to a folder, by rows and by columns, in rounds of tasks."""
    with needed_for("graphdr.from_parquet", "scale"):
        import dask
    names = {"user": user, "item": item} | ({"value": value} if value else {})
    groups, shape = _survey([str(path) for path in files], names)
    buckets = -(-sum(rows for *_, rows in groups) // BUCKET)
    width = {role: -(-size // buckets) for role, size in shape.items()}
    pieces = folder / "pieces"
    pieces.mkdir()
    compute([dask.delayed(_split)(at, *group, names, width, buckets, pieces) for at, group in enumerate(groups)])
    for side, (key, other) in SIDES.items():
        firsts = [min(bucket * width[key], shape[key]) for bucket in range(buckets + 1)]
        sizes = [(firsts[bucket], firsts[bucket + 1] - firsts[bucket], shape[other]) for bucket in range(buckets)]
        counts = compute([dask.delayed(_join)(pieces, side, b, len(groups), *size) for b, size in enumerate(sizes)])
        for part in ("indices", "data"):
            with (folder / f"{side}-{part}").open("wb") as whole:
                for bucket in range(buckets):
                    whole.write((pieces / f"{side}-{part}-{bucket}").read_bytes())
        np.save(folder / f"{side}-starts.npy", np.concatenate([[0], np.cumsum(np.concatenate(counts))]))
    rmtree(pieces)


def _survey(files: list[str], names: dict[str, str]) -> tuple[list[tuple[str, int, int]], dict[str, int]]:
    """Return all row groups with their rows, and how many users and items there are, from the files' footers alone."""
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
            groups.append((path, number, group.num_rows))
            for role in shape:
                known = group.column(columns[names[role]]).statistics
                if known is None or not known.has_min_max or not isinstance(known.min, int) or known.min < 0:
                    raise ValueError(f"{path}: column {names[role]!r} is not of whole numbers from 0, with statistics")
                shape[role] = max(shape[role], known.max + 1)
    if not groups:
        raise ValueError("there are no interactions")
    if max(shape.values()) >= 2**31:
        raise ValueError(f"users and items are numbers below 2³¹ - 1, not {max(shape.values()) - 1}: number them anew")
    return groups, shape


def _split(at: int, path: str, number: int, rows: int, names: dict, width: dict, buckets: int, folder: Path) -> None:
    """Write a row group twice, sorted into buckets of items and of users, with the place where each begins."""
    import pyarrow.parquet as pq

    table = pq.ParquetFile(path).read_row_group(number, columns=list(names.values()))
    if any(table[name].null_count for name in names.values()):
        raise ValueError(f"{path}: row group {number} has missing values: leave such rows out")
    columns = {role: table[name].to_numpy() for role, name in names.items()}
    values = columns.get("value", np.ones(rows, np.float32)).astype(np.float32)
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"{path}: row group {number} has values that are not finite and positive")
    for side, (key, other) in SIDES.items():
        bucket = columns[key] // width[key]
        order = np.argsort(bucket, kind="stable")
        entries = np.empty(len(order), ENTRY)
        entries["key"], entries["other"], entries["value"] = columns[key][order], columns[other][order], values[order]
        np.save(folder / f"{side}-{at}.npy", entries)
        np.save(folder / f"{side}-{at}-starts.npy", np.searchsorted(bucket[order], np.arange(buckets + 1)))


def _join(folder: Path, side: str, bucket: int, groups: int, first: int, size: int, width: int) -> np.ndarray:
    """Write the rows of one bucket, sorted and repeats added up; return the number of entries of each."""
    parts = []
    for at in range(groups):
        starts = np.load(folder / f"{side}-{at}-starts.npy")
        entries = np.load(folder / f"{side}-{at}.npy", mmap_mode="r")
        parts.append(np.array(entries[starts[bucket] : starts[bucket + 1]]))
    entries = np.concatenate(parts)
    rows = sp.coo_array((entries["value"], (entries["key"] - first, entries["other"])), shape=(size, width)).tocsr()
    rows.indices.astype(np.int32).tofile(folder / f"{side}-indices-{bucket}")
    rows.data.astype(np.float32).tofile(folder / f"{side}-data-{bucket}")
    return np.diff(rows.indptr)


def opened(folder: Path) -> Sides:
    """Return the matrix in a folder, which the system reads from disk as it is looked at."""
    parts = {}
    for side in SIDES:
        starts = np.load(folder / f"{side}-starts.npy")
        kinds = {"indices": np.int32, "data": np.float32}
        indices, data = (np.memmap(folder / f"{side}-{part}", kind, "r") for part, kind in kinds.items())
        parts[side] = indices, data, starts
    n, users = (len(parts[side][2]) - 1 for side in SIDES)
    shapes = {"rows": (n, users), "columns": (users, n)}
    return Sides(**{side: _view(*parts[side], shapes[side]) for side in SIDES})


def _view(indices: np.ndarray, data: np.ndarray, starts: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    matrix = sp.csr_array((data, indices, starts.astype(np.int32 if starts[-1] < 2**31 else np.int64)), shape=shape)
    matrix.has_sorted_indices = matrix.has_canonical_format = True  # they are: no need to look at all of them
    return matrix


def compute(tasks: list) -> tuple:
    """Run tasks where Dask is told to; a worker that is free takes one, and not a handful."""
    import dask

    with dask.config.set(chunksize=1):
        return dask.compute(*tasks)
