"""What a user brings as RecBole's files, which the workflow reads: for the protocol of the paper."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.advise.data import Data, mean_reward
from graphdr.advise.files import refuse_equal
from graphdr.core.errors import UserError
from graphdr.raw.tables import encode

ROWS = 1 << 20  # written at a time


class Dataset(NamedTuple):
    """The data in the workflow's own format: bytes by role, and what the block of the data set must say of them."""

    format: str
    files: dict[str, bytes]
    content: str
    transform: str
    options: dict  # of the adapter
    notes: list[str]


def dataset(data: Data) -> Dataset:
    """Return the data in the workflow's format: a graph with a reward per node if there is one, else interactions."""
    if data.edges:
        return _graph(data)
    if data.interactions:
        return _interactions(data)
    raise UserError("--features alone makes no graph of the paper's kind; give interactions or --edges FILE besides")


def _interactions(data: Data) -> Dataset:
    met = data.interactions
    written = {"user_id:token": (data.users, met.user), "item_id:token": (data.keys, met.item)}
    if met.value is not None:
        written["value:float"] = pa.array(met.value)
    # Without a reward of its own, an item has the mean of its values, which the workflow takes itself.
    attributes = _attributes(data, rewarded=data.rewards is not None or met.value is None)
    logged = {"log1p": True} if data.transform == "log1p" else {}
    options = ({"value": "value"} if met.value is not None else {}) | logged
    content = "features" if data.features is not None else "none" if met.value is None else "ratings"
    texts = {"inter": _written(written)} | ({"item": _written(attributes)} if len(attributes) > 1 else {})
    return Dataset("recbole", texts, content, data.transform, options, data.notes)


def _graph(data: Data) -> Dataset:
    edges = data.edges
    written = {"source_id:token": (data.keys, edges.source), "target_id:token": (data.keys, edges.target)}
    written |= {} if edges.weight is None else {"weight:float": pa.array(edges.weight)}
    attributes = _attributes(data, rewarded=True)
    if data.rewards:  # the order of the rewards decides between nodes of one degree
        order = encode(pa.array(data.rewards.item))[0]
        attributes = {name: column.take(order) for name, column in attributes.items()}
    content = "features" if data.features is not None else "none"
    texts = {"net": _written(written), "item": _written(attributes)}
    return Dataset("graph", texts, content, "identity", {}, data.notes)


def _attributes(data: Data, rewarded: bool) -> dict[str, pa.Array]:
    """Return what is known about the items, one column per fact; the reward of several rows is their mean."""
    attributes = {"item_id:token": data.keys}
    if rewarded:
        reward = mean_reward(data)
        refuse_equal(reward, "all items have the reward")
        attributes["reward:float"] = pa.array(reward)
    if data.titles is not None:
        attributes["title:token_seq"] = data.titles
    if data.features is not None:
        columns = [pa.array(np.ascontiguousarray(column)).cast(pa.string()) for column in data.features.T]
        attributes["features:float_seq"] = pc.binary_join_element_wise(*columns, " ") if columns[1:] else columns[0]
    return attributes


def _written(columns: dict[str, pa.Array | tuple[pa.Array, np.ndarray]]) -> bytes:
    """Write columns with their typed names as one of RecBole's files; a pair is names and their places."""
    first = next(iter(columns.values()))
    count = len(first[1] if isinstance(first, tuple) else first)
    parts = ["\t".join(columns).encode()]
    for start in range(0, count, ROWS):
        texts = [_texts(column, slice(start, start + ROWS)) for column in columns.values()]
        lines = pc.binary_join_element_wise(*texts, "\t") if len(texts) > 1 else texts[0]
        parts.append(pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "\n")[0].as_buffer().to_pybytes())
    return b"\n".join([*parts, b""])


def _texts(column: pa.Array | tuple[pa.Array, np.ndarray], rows: slice) -> pa.Array:
    if isinstance(column, tuple):
        return column[0].take(pa.array(column[1][rows]))
    return column[rows].cast(pa.string())
