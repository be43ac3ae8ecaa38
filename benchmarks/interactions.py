"""Interactions of users with items that lie near them in a space of tastes, written to parquet part by part."""

from pathlib import Path

import numpy as np

AXES = 5  # of the space of tastes, a torus of side one
SPREAD = 0.35  # of a user's interactions around her taste, in mean distances between items
ELSEWHERE = 0.1  # share of the interactions that are with any item
ACTIVITY = 1.0  # deviation of the logarithm of a user's number of interactions
PART = 1_000_000  # interactions of one row group
GROUPS = 10  # row groups of one file


def tastes(items: int) -> np.ndarray:
    """Return the place of every item (items x AXES)."""
    return np.random.default_rng(items).random((items, AXES), np.float32)


def rewards(places: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return what every item pays: a wave along each axis, and what is the item's own."""
    waves = np.cos(2 * np.pi * (places + rng.random(AXES))).sum(axis=1)
    return waves / np.sqrt(AXES / 2) + 0.5 * rng.standard_normal(len(places))


def write(folder: Path, items: int, users: int, interactions: int, seed: int = 0) -> None:
    """Write that many interactions in no order: user and item as whole numbers, value 1 to 5."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    side = max(1, round((items / 4) ** (1 / AXES)))  # cells of four items
    cell = _cells(tastes(items), side)
    order = np.argsort(cell, kind="stable").astype(np.int32)
    starts = np.searchsorted(cell[order], np.arange(side**AXES + 1))
    home = rng.random((users, AXES), np.float32)
    activity = np.cumsum(rng.lognormal(0.0, ACTIVITY, users))
    activity /= activity[-1]
    spread = SPREAD * items ** (-1 / AXES) * 2
    parts = [min(PART, interactions - start) for start in range(0, interactions, PART)]
    writer = None
    for number, size in enumerate(parts):
        user = np.searchsorted(activity, rng.random(size)).astype(np.int32)
        place = home[user] + spread * rng.standard_normal((size, AXES), np.float32)
        met = _cells(place - np.floor(place), side)
        there = starts[met + 1] - starts[met]
        at = starts[met] + (there * rng.random(size) ** 1.5).astype(np.int64)  # the first of a cell are popular
        anywhere = (rng.random(size) < ELSEWHERE) | (there == 0)
        item = np.where(anywhere, (items * rng.random(size) ** 1.5).astype(np.int64), np.minimum(at, items - 1))
        columns = {"user": user, "item": order[item], "value": rng.integers(1, 6, size, np.int8)}
        if number % GROUPS == 0:
            if writer:
                writer.close()
            schema = pa.table(columns).schema
            writer = pq.ParquetWriter(folder / f"part-{number // GROUPS:04d}.parquet", schema, compression="zstd")
        writer.write_table(pa.table(columns), row_group_size=PART)
    writer.close()


def _cells(places: np.ndarray, side: int) -> np.ndarray:
    """Return the number of the cell that each place is in, of a grid with that many cells along an axis."""
    digits = np.minimum((places * side).astype(np.int64), side - 1)
    return digits @ side ** np.arange(AXES)
