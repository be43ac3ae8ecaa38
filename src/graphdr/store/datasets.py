"""The interactions and the users of a data set, out of their tables."""

import numpy as np
import pyarrow.compute as pc

from graphdr.cache import io
from graphdr.graphs.records import Records, Users


def read_records(nodes_path: str, links_path: str) -> Records:
    """Read which source met which node, with the groups of the nodes as codes."""
    nodes, links = io.read("dataset_nodes", nodes_path), io.read("dataset_links", links_path)
    kinds = [nodes[name] for name in ("group", "subgroup") if nodes[name].null_count < len(nodes)]
    codes = [io.values(kind.combine_chunks().dictionary_encode().indices.fill_null(-1)) for kind in kinds]
    popularity = io.values(nodes["popularity"])
    source, node, weight = (io.values(links[name]) for name in ("source", "node", "weight"))
    return Records(source, node, weight, popularity, np.column_stack(codes) if codes else None)


def read_users(path: str) -> Users:
    """Read the users, in the order of their numbers."""
    table = io.read("dataset_users", path)
    age = io.values(table["age"].fill_null(-1))
    gender, occupation = (io.values(table[name].fill_null("")) for name in ("gender", "occupation"))
    lists = table["friends"].combine_chunks()
    user = np.repeat(np.arange(len(table)), io.values(pc.list_value_length(lists).fill_null(0)))
    friend = io.values(lists.flatten())
    once = user < friend  # both friends list a friendship
    return Users(age, gender, occupation, np.stack([user[once], friend[once]]))
