"""The graph of interactions that do not fit in memory, its neighbours found by workers of Dask."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from graphdr.graphs.from_data import union
from graphdr.graphs.model import Graph
from graphdr.graphs.neighbours import EXACT, nearest
from graphdr.serve.streamed.on_disk import compute, opened, sort

WHOLE = ("approximate",)  # searches that cannot be split by rows


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
        The columns that say who met what: whole numbers from 0 to 2³¹ - 1, with few gaps.
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
        found = search_blocks(Path(scratch), neighbours, search, blocks)
    i, at = np.nonzero(found >= 0)
    return union(len(found), i, found[i, at])


def search_blocks(folder: Path, neighbours: int, search: str, blocks: int) -> np.ndarray:
    """Return the nearest items of all items (n x neighbours, -1 for none), a task for every block of them."""
    import dask

    n = len(np.load(folder / "rows-starts.npy", mmap_mode="r")) - 1
    parts = np.array_split(np.arange(n), 1 if search in WHOLE else blocks)
    return np.concatenate(compute([dask.delayed(_search)(folder, neighbours, search, part) for part in parts]))


def _search(folder: Path, neighbours: int, search: str, queries: np.ndarray) -> np.ndarray:
    return nearest(opened(folder), neighbours, search, queries=queries)[0].astype(np.int32)
