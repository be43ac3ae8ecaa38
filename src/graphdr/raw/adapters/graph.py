"""A graph with a reward per node, in the manner of RecBole's files: ``net`` holds the edges, ``item`` the nodes."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import no_column, quote
from graphdr.raw.adapters.recbole import header, item_sheet, select
from graphdr.raw.sheets import Sheet, encode, first_rows, refuse
from graphdr.raw.tables import Tables, degrees, links, nodes
from graphdr.raw.text import Raw, load

ENDS = ("source_id", "target_id")


def read(raw: Raw) -> Tables:
    """Read nodes, in the order of ``item``, and the edges between them, of the weight that ``weight:float`` has, or 1.

    Popularity is the number of neighbours.
    """
    items = item_sheet(load(raw, "item"))
    keys, place = encode(items.columns["item_id"])
    again = ~first_rows(place)
    refuse(items, again, lambda row: f"item_id {quote(keys[place[row]].as_py())} again")
    if "reward" not in items.columns.column_names:
        raise no_column(f"{items.name}, line 1", "reward:float", items.columns.column_names)
    file = load(raw, "net")
    types = header(file, *ENDS)
    weighted = types.get("weight") == "float"
    sheet = select(file, types, dict.fromkeys(ENDS, "key") | ({"weight": "float"} if weighted else {}))
    source, target = (_places(sheet, end, keys) for end in ENDS)
    weight = sheet.columns["weight"].to_numpy() if weighted else np.ones(len(source))
    refuse(sheet, weight <= 0, lambda row: f"weight {weight[row]:g} is not positive")
    columns = {name: items.columns[name].combine_chunks() for name in items.columns.column_names[1:]}
    return Tables(nodes(keys, degrees(source, target, len(keys)), **columns), links(source, target, weight))


def _places(sheet: Sheet, end: str, keys: pa.Array) -> np.ndarray:
    """Return the numbers of the nodes at one end of the edges."""
    column = sheet.columns[end].combine_chunks()
    places = pc.index_in(column, value_set=keys)
    refuse(sheet, pc.is_null(places), lambda row: f"{end} {quote(column[row].as_py())} is not among the nodes")
    return np.asarray(places.to_numpy(), np.int64)
