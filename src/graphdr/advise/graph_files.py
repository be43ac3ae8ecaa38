"""Graphs in formats of their own, GraphML and SciPy's sparse matrices, as sheets of edges and of nodes."""

import io
import zipfile
import zlib
from pathlib import Path
from xml.parsers import expat

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.advise.files import content, repeated
from graphdr.core.errors import UserError
from graphdr.raw.text import Sheet, refuse

KEPT = {"node": ("id",), "edge": ("source", "target")}  # attributes of the elements of a GraphML file
UNREADABLE = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, MemoryError),
    *(NotImplementedError, zipfile.BadZipFile, zlib.error),
)


def graphml(path: Path) -> tuple[Sheet, Sheet]:
    """Read the edges of a GraphML file, with their weights if they have any, and its nodes with their data."""
    elements, data = _Collector(), content(path)
    try:
        elements.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise UserError(f"{path}, line {error.lineno}: not XML ({expat.errors.messages[error.code]})") from None
    edges, nodes = (_sheet(path, elements.rows[tag]) for tag in ("edge", "node"))
    if not elements.rows["edge"]:
        raise UserError(f"{path}: a graph without edges; expected GraphML with <edge> elements")
    for name in ("source", "target"):
        if name not in edges.columns or "" in edges.columns[name].to_pylist():
            raise UserError(f"{path}: an edge without {name!r}; expected <edge source=… target=…>")
    ids = nodes.columns.get("id", pa.array([], pa.string()))
    again = repeated(ids) | np.asarray(pc.equal(ids, ""), bool)
    refuse(nodes, again, lambda row: f"node id {ids[row].as_py()!r} again, or empty; expected distinct ids")
    return edges, nodes


class _Collector:
    """Collect nodes and edges with their data, each with its line, while a file is parsed."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.rows: dict[str, list[tuple[int, dict]]] = {tag: [] for tag in KEPT}
        self.current = self.key = None
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start, self.end
        self.parser.CharacterDataHandler = self.text

    def start(self, name: str, attributes: dict) -> None:
        tag = name.rpartition(" ")[2]
        if tag == "key":
            self.names[attributes.get("id", "")] = attributes.get("attr.name", attributes.get("id", ""))
        elif tag in KEPT:
            self.current = {part: attributes[part] for part in KEPT[tag] if part in attributes}
            self.rows[tag].append((self.parser.CurrentLineNumber, self.current))
        elif tag == "data" and self.current is not None:
            self.key = self.names.get(attributes.get("key", ""), attributes.get("key", ""))

    def text(self, text: str) -> None:
        if self.key and self.current is not None and self.key not in ("id", "source", "target"):
            self.current[self.key] = self.current.get(self.key, "") + text

    def end(self, name: str) -> None:
        tag = name.rpartition(" ")[2]
        if tag == "data":
            self.key = None
        elif tag in KEPT:
            self.current = None


def _sheet(path: Path, rows: list[tuple[int, dict]]) -> Sheet:
    order = dict.fromkeys(name for _, row in rows for name in row)
    columns = {name: pa.array([row.get(name, "").strip() for _, row in rows], pa.string()) for name in order}
    return Sheet(columns, str(path), lines=[line for line, _ in rows])


def npz(path: Path) -> tuple[Sheet, Sheet]:
    """Read the edges of a sparse adjacency matrix that SciPy saved, and all of its nodes; nothing is unpickled.

    Of a symmetric matrix the part above the diagonal is taken, and the diagonal.
    """
    import scipy.sparse as sp

    data = content(path)
    try:
        matrix = sp.load_npz(io.BytesIO(data))
        if hasattr(matrix, "check_format"):  # that entries are inside the shape, before anything follows them
            matrix.check_format()
        matrix = sp.coo_array(matrix)
        row, column, values = matrix.row, matrix.col, np.asarray(matrix.data, float)
    except UNREADABLE:
        raise UserError(f"{path}: not a sparse matrix of scipy.sparse.save_npz, or a damaged one") from None
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UserError(f"{path}: shape {matrix.shape} is not that of an adjacency matrix, which is square")
    kept = values != 0
    if (abs(matrix - matrix.T) > 0).nnz == 0:
        kept &= row <= column
    if not kept.any():
        raise UserError(f"{path}: an adjacency matrix without entries")
    texts = [pa.array(part[kept]).cast(pa.string()) for part in (row, column, values)]
    columns = dict(zip(("source", "target", "weight"), texts, strict=True))
    nodes = Sheet({"id": pa.array(np.arange(matrix.shape[0])).cast(pa.string())}, str(path), unit="node")
    return Sheet(columns, str(path), unit="entry"), nodes


READERS = {".graphml": graphml, ".npz": npz}
