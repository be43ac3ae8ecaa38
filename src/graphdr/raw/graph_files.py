"""Read graphs from GraphML and SciPy's sparse matrices, as sheets of edges and of nodes."""

import io
import math
import zipfile
from array import array
from pathlib import Path
from xml.parsers import expat

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import UserError, join_names, quote
from graphdr.raw import bounded
from graphdr.raw.sheets import Sheet, fault, refuse, repeated

ATTRIBUTES = {"node": ("id",), "edge": ("source", "target")}  # of the elements of a GraphML file that are read
CELL, NODE = 8, 100  # bytes that an empty field of a sheet takes, and a node of a graph until it is read


def graphml(path: Path) -> tuple[Sheet, Sheet | None]:
    """Read the edges of a GraphML file, with any weights, and its nodes with their data, if it lists them."""
    data = bounded.contents(path)
    elements = _Elements(path)
    try:
        elements.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise UserError(f"{path}, line {error.lineno}: not XML ({expat.errors.messages[error.code]})") from None
    except (LookupError, ValueError) as error:
        raise UserError(f"{path}: not XML in an encoding that can be read ({join_names([error])})") from None
    edges, nodes = (elements.sheet(tag, len(data)) for tag in ("edge", "node"))
    if not len(elements.lines["edge"]):
        raise UserError(f"{path}: a graph without edges; expected GraphML with <edge> elements")
    for name in ("source", "target"):
        if name not in edges.columns or pc.any(pc.equal(edges.columns[name], "")).as_py():
            raise UserError(f"{path}: an edge without {name!r}; expected <edge source=… target=…>")
    if "id" not in nodes.columns:
        return edges, None
    ids = nodes.columns["id"]
    again = repeated(ids) | np.asarray(pc.equal(ids, ""), bool)
    refuse(nodes, again, lambda row: f"node id {quote(ids[row].as_py())} again, or empty; expected distinct ids")
    return edges, nodes


class _Elements:
    """Collect nodes and edges while a file is parsed: the line of each, and for every column the rows and texts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: dict[str, str] = {}  # of data, by key
        self.lines = {tag: array("q") for tag in ATTRIBUTES}
        self.columns: dict[str, dict[str, tuple[array[int], list[str]]]] = {tag: {} for tag in ATTRIBUTES}
        self.tag = self.key = ""  # of the element and of the data that are open
        self.parts: list[str] = []  # of a text
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start, self.end
        self.parser.CharacterDataHandler, self.parser.EntityDeclHandler = self.text, self.entity

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag, key = name.rpartition(" ")[2], attributes.get("key", "")
        if tag == "key":
            self.names[attributes.get("id", "")] = attributes.get("attr.name", attributes.get("id", ""))
        elif tag in ATTRIBUTES:
            self.tag = tag
            self.lines[tag].append(self.parser.CurrentLineNumber)
            for part in ATTRIBUTES[tag]:
                if part in attributes:
                    self.put(part, attributes[part])
        elif tag == "data" and self.tag:
            self.key, self.parts = self.names.get(key, key), []

    def text(self, text: str) -> None:
        if self.key and self.key not in ("id", "source", "target"):
            self.parts.append(text)

    def end(self, name: str) -> None:
        tag = name.rpartition(" ")[2]
        if tag == "data":
            if self.parts and self.tag:
                self.put(self.key, "".join(self.parts))
            self.key, self.parts = "", []
        elif tag in ATTRIBUTES:
            self.tag = ""

    def put(self, column: str, text: str) -> None:
        """Add a text of the open element; the last one in a column counts."""
        rows, texts = self.columns[self.tag].setdefault(column, (array("q"), []))
        rows.append(len(self.lines[self.tag]) - 1)
        texts.append(text.strip())

    def entity(self, name: str, *_: object) -> None:
        """Refuse a file that defines entities, which may expand to any amount of text or to other files."""
        complaint = f"defines the entity {quote(name)}; expected GraphML without entities"
        raise fault(str(self.path), self.parser.CurrentLineNumber, complaint)

    def sheet(self, tag: str, size: int) -> Sheet:
        """Return all columns in full length, empty where an element has no text."""
        lines, columns = self.lines[tag], {}
        cells = f"a table of {len(lines):,} {tag}s and {len(self.columns[tag]):,} different data"
        bounded.require(self.path, CELL * len(lines) * len(self.columns[tag]), size, cells)
        for name, (rows, texts) in self.columns[tag].items():
            place = np.full(len(lines), -1)
            place[np.frombuffer(rows, np.int64)] = np.arange(len(rows))
            columns[name] = pc.fill_null(pa.array(texts, pa.string()).take(pa.array(place, mask=place < 0)), "")
        return Sheet(columns, str(self.path), lines.__getitem__)


def npz(path: Path) -> tuple[Sheet, Sheet]:
    """Read the edges of a sparse adjacency matrix that SciPy saved, and all of its nodes; nothing is unpickled.

    Of a symmetric matrix the part above the diagonal is taken, and the diagonal. Nodes without an edge are kept, so a
    small file that claims very many nodes is refused.
    """
    import scipy.sparse as sp

    data = bounded.contents(path)
    try:
        _check_members(path, data)
        matrix = sp.load_npz(io.BytesIO(data))
        if hasattr(matrix, "check_format"):  # that entries are inside the shape, before they are used
            matrix.check_format()
        matrix = sp.coo_array(matrix)
        row, column, values = matrix.row, matrix.col, np.asarray(matrix.data, float)
    except (UserError, MemoryError):
        raise
    except Exception:  # of any kind, where bytes are damaged
        raise UserError(f"{path}: not a sparse matrix of scipy.sparse.save_npz, or a damaged one") from None
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UserError(f"{path}: shape {matrix.shape} is not that of an adjacency matrix, which is square")
    bounded.require(path, NODE * matrix.shape[0], len(data), f"a matrix of {matrix.shape[0]:,} nodes")
    kept = values != 0
    if (abs(matrix - matrix.T) > 0).nnz == 0:
        kept &= row <= column
    if not kept.any():
        raise UserError(f"{path}: an adjacency matrix without entries")
    texts = [pa.array(part[kept]).cast(pa.string()) for part in (row, column, values)]
    columns = dict(zip(("source", "target", "weight"), texts, strict=True))
    nodes = Sheet({"id": pa.array(np.arange(matrix.shape[0])).cast(pa.string())}, str(path), unit="node")
    return Sheet(columns, str(path), unit="entry"), nodes


def _check_members(path: Path, data: bytes) -> None:
    """Refuse arrays whose headers contradict the file, before any of them is read."""
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        bounded.require(path, sum(member.file_size for member in members), len(data), "its arrays, unpacked,")
        if len({member.filename for member in members}) < len(members):
            raise ValueError("two members of one name")
        for member in members:
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError("packed as NumPy packs nothing")
            with archive.open(member) as stream:
                shape, _, dtype = headers[np.lib.format.read_magic(stream)](stream)
                if dtype.kind not in "biufSU":
                    raise ValueError("neither numbers nor a text")
                if stream.tell() + dtype.itemsize * math.prod(shape) != member.file_size:
                    raise ValueError("another size than its header says")


READERS = {".graphml": graphml, ".npz": npz}
