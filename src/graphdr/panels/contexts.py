"""Pools of contexts of all problems and instances, in and out of tables."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from graphdr.bandit.pool import NODE, Pool
from graphdr.cache import io
from graphdr.panels.rows import groups, stack


def write_pools(pools: Mapping[tuple[str, int], Pool], path: str) -> None:
    """Write the rows of pools keyed by (problem, instance); a pool of the nodes themselves has none."""
    parts = []
    for (problem, instance), pool in pools.items():
        if pool.rows is not None:
            context = np.repeat(np.arange(pool.rows.shape[0]), np.diff(pool.rows.indptr))
            held = {"context": context, "node": pool.rows.indices, "weight": pool.rows.data}
            parts.append({"problem": problem, "instance": instance} | held)
    io.write("contexts", stack(parts) if parts else io.nothing("contexts"), path)


def read_pools(
    path: str, problems: Iterable[Mapping[str, Any]], thetas: Mapping[tuple[str, int], np.ndarray]
) -> dict[tuple[str, int], Pool]:
    """Read the pools of problems by (problem, instance); without a file, the arms are nodes."""
    blocks = {spec["name"]: spec.get("segments", 1) if spec.get("context", NODE) != NODE else 1 for spec in problems}
    pools = {key: Pool(blocks=blocks[key[0]]) for key in thetas if key[0] in blocks}
    if path:
        import scipy.sparse as sp

        table = io.read("contexts", path)
        context, node, weight = (io.values(table[name]) for name in ("context", "node", "weight"))
        for key, rows in groups(table, "problem", "instance"):
            shape = 1 + context[rows][-1], len(thetas[key])
            pools[key] = Pool(sp.csr_array((weight[rows], (context[rows], node[rows])), shape=shape))
    return pools
