"""Bases of all instances and draws, in and out of tables."""

import numpy as np

from graphdr.cache import io
from graphdr.graphs.arm_features import Basis
from graphdr.panels.rows import groups, stack


def write_bases(panel: dict[tuple[int, int], Basis], path: str) -> None:
    """Write bases keyed by (instance, draw), one row per component; no basis is a table without rows."""
    if not panel:
        return io.write("basis", io.nothing("basis"), path)
    parts = [
        {"instance": instance, "draw": draw, "component": np.arange(len(basis.values))}
        | {"value": basis.values, "residual": basis.residuals}
        for (instance, draw), basis in panel.items()
    ]
    vectors = [vector for basis in panel.values() for vector in basis.vectors.T]
    io.write("basis", stack(parts) | {"vector": vectors}, path)


def read_bases(path: str) -> dict[tuple[int, int], Basis]:
    """Read bases by (instance, draw)."""
    table = io.read("basis", path)
    values, residuals = io.values(table["value"]), io.values(table["residual"])
    vectors = table["vector"].combine_chunks()
    flat, offsets = io.values(vectors.values), io.values(vectors.offsets)
    panel = {}
    for key, rows in groups(table, "instance", "draw"):
        block = flat[offsets[rows.start] : offsets[rows.stop]]
        panel[tuple(map(int, key))] = Basis(block.reshape(len(values[rows]), -1).T, values[rows], residuals[rows])
    return panel
