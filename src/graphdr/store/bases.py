"""Bases of all instances and draws, in and out of tables."""

import numpy as np

from graphdr.cache import io
from graphdr.graphs.arm_features import Basis
from graphdr.store.rows import groups, stack

InstanceDraw = tuple[int, int]


def write_bases(bases: dict[InstanceDraw, Basis], path: str) -> None:
    """Write bases keyed by (instance, draw), one row per component; without bases, a table without rows."""
    if not bases:
        return io.write("basis", io.nothing("basis"), path)
    parts = []
    for (instance, draw), basis in bases.items():
        key = {"instance": instance, "draw": draw, "component": np.arange(len(basis.values))}
        parts.append(key | {"value": basis.values, "residual": basis.residuals})
    vectors = [vector for basis in bases.values() for vector in basis.vectors.T]
    io.write("basis", stack(parts) | {"vector": vectors}, path)


def read_bases(path: str) -> dict[InstanceDraw, Basis]:
    """Read bases by (instance, draw)."""
    table = io.read("basis", path)
    values, residuals = io.values(table["value"]), io.values(table["residual"])
    vectors = table["vector"].combine_chunks()
    flat, offsets = io.values(vectors.values), io.values(vectors.offsets)
    bases = {}
    for (instance, draw), rows in groups(table, "instance", "draw"):
        block = flat[offsets[rows.start] : offsets[rows.stop]]
        basis = Basis(block.reshape(len(values[rows]), -1).T, values[rows], residuals[rows])
        bases[int(instance), int(draw)] = basis
    return bases
