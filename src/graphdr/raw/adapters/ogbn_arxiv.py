"""The citation graph ogbn-arxiv in its official layout of gzipped csv files."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import UserError
from graphdr.raw.sheets import Sheet, refuse
from graphdr.raw.tables import Tables, degrees, links, lookup, nodes
from graphdr.raw.text import Raw, load, parse, rows_of, within

DIMENSION = 128


def read(raw: Raw) -> Tables:
    """Read papers and citations; a paper's group is its label, and its reward depends on the selection, hence is null.

    Popularity is the number of papers that cite the paper or are cited by it.
    """
    labels = parse(load(raw, "labels"), {"label": "count"}, ",").columns["label"]
    n = len(labels)
    edges = parse(load(raw, "edges"), {"citing node": "count", "cited node": "count"}, ",")
    source, node = (within(edges, name, 0, n - 1).columns[name].to_numpy() for name in ("citing node", "cited node"))
    columns = {"features": _features(raw, n)} if raw.has("features") else {}
    table = nodes(_keys(raw, n), degrees(source, node, n), group=_groups(raw, labels.cast(pa.string())), **columns)
    return Tables(table, links(source, node, np.ones(len(node))))


def _groups(raw: Raw, labels: pa.ChunkedArray) -> pa.ChunkedArray:
    if not raw.has("categories"):
        return labels
    sheet = parse(load(raw, "categories"), {"label": "digits", "group": "key"}, ",", header="label idx,arxiv category")
    return pc.coalesce(lookup(sheet, labels.combine_chunks())["group"], labels)


def _keys(raw: Raw, n: int) -> pa.Array:
    """Return the ids of the papers, or the numbers of the nodes where there are none."""
    if not raw.has("papers"):
        return pa.array(np.arange(n), pa.int64()).cast(pa.string())
    sheet = parse(load(raw, "papers"), {"node": "count", "paper": "key"}, ",", header="node idx,paper id")
    node, paper = sheet.columns["node"].to_numpy(), sheet.columns["paper"].combine_chunks()
    refuse(sheet, node != np.arange(len(node)), lambda row: f"node {node[row]}; expected {row}, nodes being in order")
    _expect_rows(sheet, n)
    if repeated := n - len(pc.unique(paper)):
        raise UserError(f"{sheet.name}: {repeated} nodes have the paper id of another; expected distinct ids")
    return paper


def _features(raw: Raw, n: int) -> pa.ListArray:
    sheet = parse(load(raw, "features"), {f"feature {i}": "float32" for i in range(DIMENSION)}, ",")
    _expect_rows(sheet, n)
    matrix = np.column_stack([column.to_numpy() for column in sheet.columns.columns])
    return rows_of(pa.array(matrix.ravel()), DIMENSION)


def _expect_rows(sheet: Sheet, n: int) -> None:
    if len(sheet.columns) != n:
        raise UserError(f"{sheet.name}: {len(sheet.columns)} rows; expected one for each of the {n} nodes with a label")
