"""A graph with a reward per node, in the manner of RecBole's files: ``net`` holds the edges, ``item`` the nodes."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import no_column, quote
from graphdr.raw.adapters.recbole import about, header, select
from graphdr.raw.tables import Tables, degrees, encode, links, nodes
from graphdr.raw.text import Raw, load, refuse

ENDS = ("source_id", "target_id")


def read(raw: Raw) -> Tables:
    """Read nodes, in the order of ``item``, and the edges between them, of the weight that ``weight:float`` has, or 1.

    Popularity is the number of neighbours.
    """
    known = about(load(raw, "item"))
    keys, place = encode(known.columns["item_id"])
    again = np.diff(np.maximum.accumulate(place), prepend=-1) == 0
    refuse(known, again, lambda row: f"item_id {quote(keys[place[row]].as_py())} again")
    if "reward" not in known.columns.column_names:
        raise no_column(f"{known.name}, line 1", "reward:float", known.columns.column_names)
    file = load(raw, "net")
    types = header(file, *ENDS)
    weighted = types.get("weight") == "float"
    sheet = select(file, types, dict.fromkeys(ENDS, "key") | ({"weight": "float"} if weighted else {}))
    source, target = (_places(sheet, end, keys) for end in ENDS)
    weight = sheet.columns["weight"].to_numpy() if weighted else np.ones(len(source))
    refuse(sheet, weight <= 0, lambda row: f"weight {weight[row]:g} is not positive")
    columns = {name: known.columns[name].combine_chunks() for name in known.columns.column_names[1:]}
    return Tables(nodes(keys, degrees(source, target, len(keys)), **columns), links(source, target, weight))


def _places(sheet, end: str, keys: pa.Array) -> np.ndarray:
    """Return the numbers of the nodes at one end of the edges."""
    column = sheet.columns[end].combine_chunks()
    found = pc.index_in(column, value_set=keys)
    refuse(sheet, pc.is_null(found), lambda row: f"{end} {quote(column[row].as_py())} is not among the nodes")
    return found.to_numpy().astype(np.int64)
