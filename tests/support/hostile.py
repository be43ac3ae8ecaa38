"""Hostile files by name, each with the arguments of ``graphdr advise`` that read it and what the answer must say."""

import gzip
import io
import os
import socket
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

CLAIM = 10**12  # numbers, of 8 TB
COLUMNS = ("user", "item", "value", "source", "target", "reward", "propensity")  # of a table for every command
GRAPHML = "<graphml>{}<graph>{}<edge source='a' target='b'/></graph></graphml>"


def npy(shape: tuple, data: bytes, kind: str = "<f8") -> bytes:
    """Return an array whose header may claim anything."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})
    return stream.getvalue() + data


def plain(array) -> bytes:
    array = np.asarray(array)
    return npy(array.shape, array.tobytes(), array.dtype.str)


def npz(path: Path, packing: int = zipfile.ZIP_DEFLATED, twice: str = "", **changes: bytes) -> None:
    """Write a matrix of one entry, some of its arrays changed and perhaps one of them there twice."""
    parts = {
        "format": plain(b"coo"),
        "shape": plain([5, 5]),
        "data": plain([1.0]),
        "row": plain([0]),
        "col": plain([1]),
    }
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", packing) as archive:
        warnings.simplefilter("ignore")  # of the same name twice
        for name, data in (parts | changes).items():
            archive.writestr(f"{name}.npy", data)
        if twice:
            archive.writestr(f"{twice}.npy", parts[twice])


def claimed_member(path: Path) -> None:
    """Write a matrix whose table of contents says of one array that it unpacks to 4 GB."""
    npz(path)
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = b"\xfe\xff\xff\xff"
    path.write_bytes(data)


def many_rows(path: Path) -> None:
    zeros = np.zeros(5_000_000, np.int8)
    pq.write_table(pa.table(dict.fromkeys(COLUMNS, zeros)), path, row_group_size=len(zeros), write_statistics=False)


def many_copies(path: Path) -> None:
    places = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, np.int32)), pa.array(["x" * 10**6]))
    pq.write_table(pa.table(dict.fromkeys(COLUMNS, places)), path, store_schema=False)


def listening(path: Path) -> None:
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.relpath(path))  # an address is short
    server.close()


def laughs() -> str:
    lines = [f'<!ENTITY l{at} "{f"&l{at - 1};" * 10}">' for at in range(1, 10)]
    node = "<node id='a'><data key='x'>&l9;</data></node>"
    return f'<!DOCTYPE g [<!ENTITY l0 "ha">{"".join(lines)}]>' + GRAPHML.format("", node)


def outside() -> str:
    return "<!DOCTYPE g [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>" + GRAPHML.format("", "&x;")


def long_text() -> str:
    node = "<node id='a'><data key='x'>" + "a\n" * 500_000 + "</data></node><node id='b'/>"
    return GRAPHML.format("\n" * 10**6, node)


def own_keys() -> str:
    nodes = (f"<node id='n{at}'><data key='k{at}'>1</data></node>" for at in range(10_000))
    return GRAPHML.format("", "".join(nodes))


def anchors() -> str:
    lines = (f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]\n" for at in range(1, 30))
    return "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(lines)


def text(content: str | bytes) -> Callable[[Path], object]:
    data = content.encode() if isinstance(content, str) else content
    return lambda path: path.write_bytes(data)


DAMAGED, SPECIAL = "not a sparse matrix of scipy.sparse.save_npz", ", not a file; save the data in a file first"
NO_REWARDS = "no rewards; give --rewards FILE"
FILES = {  # how each is made, and a part of the line that answers it
    "pipe.csv": (os.mkfifo, f"a pipe, a socket or a device{SPECIAL}"),
    "folder.csv": (Path.mkdir, f"a folder{SPECIAL}"),
    "socket.csv": (listening, f"a pipe, a socket or a device{SPECIAL}"),
    "bomb.csv.gz": (lambda path: path.write_bytes(gzip.compress(bytes(10**8), 1)), "not plausible data"),
    "cut.csv.gz": (lambda path: path.write_bytes(gzip.compress(os.urandom(1000))[:500]), "cannot be read"),
    "no_gzip.csv.gz": (text("user,item,value\n"), "cannot be read"),
    "rows.parquet": (many_rows, "its table would take "),
    "copies.parquet": (many_copies, "the texts of a column would take 20.0 GB"),
    "cut.parquet": (text(b"PAR1" + bytes(100) + b"\xff\xff\xff\x7fPAR1"), "not a readable parquet file"),
    "commas.csv": (text("," * 10**5), "100,001 columns; expected at most 100,000"),
    "columns.csv": (text(",".join(f"c{at}" for at in range(400_000))), "400,000 columns; expected at most 100,000"),
    "lines.csv": (text(",".join(COLUMNS) + "\n" * 5_000_000), "no rows below the header"),
    "blank_lines.csv": (text(" ".join(COLUMNS) + " \n" * 2_000_000), "no rows that can be read"),
    "zeros.csv": (text(bytes(10**6)), ""),
    "quote.csv": (text('user,item,value\n"' + "a\n" * 500_000), ""),
    "nodes.npz": (lambda path: npz(path, shape=plain([2 * 10**9] * 2)), "a matrix of 2,000,000,000 nodes"),
    "claim.npz": (lambda path: npz(path, data=npy((CLAIM,), bytes(8))), DAMAGED),
    "member.npz": (claimed_member, "its arrays, unpacked, would take 4.3 GB"),
    "bomb.npz": (lambda path: npz(path, data=npy((10**7,), bytes(8 * 10**7))), "unpacked, would take 80.0 MB"),
    "twice.npz": (lambda path: npz(path, twice="row"), DAMAGED),
    "packed.npz": (lambda path: npz(path, zipfile.ZIP_BZIP2), DAMAGED),
    "object.npz": (lambda path: npz(path, data=npy((1,), b"\x80\x04N.", "|O")), DAMAGED),
    "complex.npz": (lambda path: npz(path, data=plain([1j])), DAMAGED),
    "outside.npz": (lambda path: npz(path, row=plain([7])), DAMAGED),
    "negative.npz": (lambda path: npz(path, data=npy((-1, -1), bytes(8))), DAMAGED),
    "oblong.npz": (lambda path: npz(path, shape=plain([5, 6])), "which is square"),
    "cut.npz": (lambda path: (sp.save_npz(path, sp.eye(50)), path.write_bytes(path.read_bytes()[:-60])), DAMAGED),
    "text.graphml": (text(long_text()), NO_REWARDS),
    "laughs.graphml": (text(laughs()), "defines the entity 'l0'"),
    "outside.graphml": (text(outside()), "defines the entity 'x'"),
    "deep.graphml": (text("<a>" * 300_000), "not XML"),
    "keys.graphml": (text(own_keys()), "a table of 10,000 nodes and 10,001 different data"),
}  # fmt: skip


def write_all(folder: Path) -> dict[str, str]:
    """Write all files, and return what must be said of each."""
    for name, (write, _) in FILES.items():
        write(folder / name)
    return {"/dev/zero": f"a pipe, a socket or a device{SPECIAL}", **{name: said for name, (_, said) in FILES.items()}}
