"""What a graph of the data would be, before anything is built: its size, its components, and the k that it allows."""

from typing import NamedTuple

import numpy as np

from graphdr.advise.files import refuse_equal
from graphdr.advise.paper.recbole import Dataset
from graphdr.core.errors import UserError
from graphdr.raw.text import Memory

FAMILY = {"recbole": "knn", "graph": "network"}
LEAST = 0.5  # share of the nodes that the largest component must hold


class Survey(NamedTuple):
    """The graph that the data make: nodes in all, asked for and in the largest component, its edges, and what k fit."""

    family: str
    available: int
    asked: int
    kept: int
    components: int
    edges: int
    grid: tuple[int, ...]
    transform: str
    content: str


def survey(data: Dataset, observed: dict, arms: int, nodes: int | None, grid: tuple[int, ...], told: bool) -> Survey:
    """Build the graph in memory and look at it; ``told`` says whether the user chose the grid."""
    from scipy.sparse.csgraph import connected_components

    from graphdr.graphs.from_data import FAMILIES
    from graphdr.graphs.records import Records
    from graphdr.raw.formats import adapter

    tables = adapter(data.format)(Memory(data.files), **data.options)
    links = (tables.links[name].to_numpy() for name in ("source", "node", "weight"))
    records = Records(*links, tables.nodes["popularity"].to_numpy())
    available = len(tables.nodes)
    asked = available if nodes is None else min(nodes, available)
    candidates = f"the {max(arms, 4)} candidates of a round"
    if asked < max(arms, 4):
        raise UserError(f"{asked} items are fewer than {candidates}; bring more data")
    family = FAMILY[data.format]
    parameters = {} if family == "network" else {"neighbours": observed["neighbours"], "transform": data.transform}
    whole = FAMILIES[family].__wrapped__(asked, records, **parameters)
    count, label = connected_components(whole.adjacency, directed=False)
    sizes = np.bincount(label)
    kept = int(sizes.max())
    reward = tables.nodes["reward"].to_numpy()[whole.origin[label == sizes.argmax()]]
    if kept < LEAST * len(whole.origin):
        part = f"its largest of {count:,} components holds {kept:,} of {len(whole.origin):,} nodes, less than half"
        raise UserError(f"the graph falls apart: {part}; bring more edges or interactions, or fewer nodes (--nodes N)")
    if kept < max(arms, 4):
        raise UserError(f"{kept} connected nodes are fewer than {candidates}")
    refuse_equal(reward, f"all {kept:,} connected nodes have the reward")
    fitting = tuple(k for k in grid if k + 2 <= kept)
    if not fitting or (told and fitting != grid):
        raise UserError(f"--k: {max(grid)} dimensions need {max(grid) + 2} connected nodes, the graph has {kept}")
    counts = available, asked, kept, int(count), whole.adjacency.nnz // 2
    return Survey(family, *counts, fitting, data.transform, data.content)
