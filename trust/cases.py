"""Bad and odd inputs for Hypothesis: files, configurations, archives and graphs, each with what must hold for it."""

import copy
import gzip
import io as streams
import re
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import yaml
from hypothesis import strategies as st
from pyarrow import parquet
from scipy import sparse

from graphdr.core.errors import QUOTED, UserError
from graphdr.raw.adapters import adapter, formats
from trust.checkout import ROOT

ADAPTERS = {name: adapter(name) for name in formats()}
FIXTURES = ROOT / "tests" / "fixtures"
PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in</body></html>\n"
RARE = "ǂ"  # a letter that no message of ours holds: as often as it is there, a file was quoted
LONG = [(RARE * 300).encode(), (RARE * 40 + "\x85\u2028\x1b[31m").encode() * 5, " ".join([RARE * 30] * 20).encode()]
FIELDS = [
    *(b"", b"nan", b"NaN", b"inf", b"-inf", b"-1", b"0", b"1e308", b"1e999", b"9" * 30, b"0x1f", b"1_0", b"+5", b" 3"),
    *(b"3 ", b"\xff", b"\xc3\xa9", b"\xe9", b"\x00", b"null", b"True", b'"5"', b"5;5", b"../..", b"$(id)", b"1e-320"),
    *LONG,
]
SEPARATORS = (b"::", b"\t", b"|", b",", b" ", b"-")
ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "cp037", "utf-8-sig", "latin-1", "cp1252")
VALUES = [
    *(None, True, -1, 0, 1, 10**9, 10**30, 1e308, float("nan"), float("inf"), 0.5, "", "x", "1e5", "nan", [], {}, [[]]),
    *(
        "$(touch pwned)",
        "a; rm -rf x",
        "a b",
        "../../etc/passwd",
        "{input}",
        "Ω",
        "a\nb",
        "x" * 5000,
        RARE * 5000,
        "'",
        '"',
        "-n",
    ),
    *({"": 1}, {"a b": {}}, {"$(id)": {}}, ["graphdr", "graphdr"], [None], [{}], {"x": None}),
]


class Memory(dict[str, bytes]):
    """Raw files in memory, by role, that are called as those in an archive."""

    def open(self, role: str) -> streams.BytesIO:
        return streams.BytesIO(self[role])

    def has(self, role: str) -> bool:
        return role in self

    def name(self, role: str) -> str:
        return f"archive.zip: {role}"


def fixture(adapter: str) -> Memory:
    """Read the example of an adapter: a folder with one file per role."""
    return Memory({path.name: path.read_bytes() for path in sorted((FIXTURES / adapter).iterdir())})


@st.composite
def odd_files(draw, data: bytes) -> bytes:
    """Draw a file that is odd as a whole or in a few places."""
    for _ in range(draw(st.integers(1, 3))):
        data = draw(st.sampled_from([_whole, _lines, _fields, _bytes]))(draw, data)
    return data


def _whole(draw, data: bytes) -> bytes:
    text = data.decode("utf-8", errors="replace")
    lines = data.splitlines(keepends=True)
    return draw(
        st.sampled_from(
            [
                *(b"", b"\n", b"\r\n", b"\x00", PAGE, gzip.compress(data), b"\xef\xbb\xbf" + data, data * 2),
                *(data.replace(b"\n", b"\r\n"), data.replace(b"\n", b"\r"), data.rstrip(b"\n"), data + b"\n"),
                *(b"".join(lines[:1]), b"".join(lines[:2]), b"".join(lines[1:]), b"".join(reversed(lines))),
                *(text.encode(name, errors="replace") for name in ENCODINGS),
            ]
        )
    )


def _lines(draw, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    at, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    kind = draw(st.sampled_from(["twice", "gone", "moved", "empty", "joined"]))
    if kind == "joined":
        return b"".join([*lines[:at], lines[at].rstrip(b"\r\n"), *lines[at + 1 :]])
    line = {"twice": lines[at] * 2, "gone": b"", "moved": lines[other], "empty": b"\n"}[kind]
    return b"".join([*lines[:at], line, *lines[at + 1 :]])


def _fields(draw, data: bytes) -> bytes:
    """Replace, remove or add a field of a line, or a column of all lines."""
    separator = next((mark for mark in SEPARATORS if mark in data), b",")
    lines = [line.split(separator) for line in data.split(b"\n")]
    chosen = range(len(lines)) if draw(st.booleans()) else [draw(st.integers(0, len(lines) - 1))]
    column = draw(st.integers(0, max(map(len, lines)) - 1))
    field = draw(st.sampled_from(FIELDS))
    kind = draw(st.sampled_from(["replace", "remove", "add"]))
    for at in chosen:
        if column < len(lines[at]) and lines[at] != [b""]:
            lines[at][column : column + (kind != "add")] = [] if kind == "remove" else [field]
    return b"\n".join(separator.join(line) for line in lines)


def _bytes(draw, data: bytes) -> bytes:
    at = draw(st.integers(0, len(data)))
    return draw(st.sampled_from([data[:at], data[at:]])) + draw(st.binary(max_size=4)) + data[at + 1 :]


@st.composite
def odd_configurations(draw) -> dict:
    """Draw the tiny configuration with one to three places changed, removed or added."""
    config = copy.deepcopy(_tiny())
    for _ in range(draw(st.integers(1, 3))):
        block, depth = config, draw(st.sampled_from([5, 4, 3, 2, 6, 1]))
        while True:
            places = sorted(block) if isinstance(block, dict) else list(range(len(block)))
            place = draw(st.sampled_from(places)) if places else None
            depth -= 1
            if place is None or depth <= 0 or not isinstance(block[place], dict | list):
                break
            block = block[place]
        _change(draw, block, place)
    return config


def _change(draw, block, place) -> None:
    value = copy.deepcopy(draw(st.sampled_from(VALUES)))
    kind = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
    if kind == "remove" and place is not None:
        del block[place]
    elif kind == "add" or place is None:
        name = draw(
            st.sampled_from(["new", "a b", "$(id)", "", "../x", "graphdr", "sbm", "UPPER", "x" * 300, RARE * 300])
        )
        block.update({name: value}) if isinstance(block, dict) else block.append(value)
    else:
        block[place] = value


def _tiny() -> dict:
    return yaml.safe_load((ROOT / "tests" / "support" / "tiny.yaml").read_text(encoding="utf-8"))


MEMBER = b"".join(b"%d\t%d\t%d\t0\n" % (i % 7 + 1, i % 5 + 1, i % 5 + 1) for i in range(40))
EVIL = ("../evil", "/etc/passwd", "a/../../evil", "C:\\x", "\\\\host\\x", "..\\x", "~/x", "a\x00b", "CON", "x" * 300)


def user_files() -> dict[str, bytes]:
    """Return a small file of every format that a user may bring, by its name."""
    table, matrix, rows = (
        streams.BytesIO(),
        streams.BytesIO(),
        [(f"u{at % 7}", f"i{at % 5}", at % 3) for at in range(40)],
    )
    columns = dict(zip(("user", "item", "value"), zip(*rows, strict=True), strict=True))
    parquet.write_table(pa.table({name: list(column) for name, column in columns.items()}), table)
    sparse.save_npz(matrix, sparse.coo_array((np.ones(8), (np.arange(8), np.arange(1, 9))), shape=(9, 9)))
    text = "".join(f"{user},{item},{value}\n" for user, item, value in [("user", "item", "value"), *rows])
    nodes = "".join(f"<node id='n{at}'>\n<data key='d'>{at}</data></node>\n" for at in range(9))
    edges = "".join(f"<edge source='n{at}' target='n{at + 1}'/>\n" for at in range(8))
    graph = f"<graphml><key id='d' attr.name='reward'/>\n<graph>{nodes}{edges}</graph></graphml>"
    return {
        "t.csv": text.encode(), "t.csv.gz": gzip.compress(text.encode()), "t.parquet": table.getvalue(),
        "g.graphml": graph.encode(), "g.npz": matrix.getvalue(),
    }  # fmt: skip


@st.composite
def odd_archives(draw) -> bytes:
    """Draw a zip with the member u.data, perhaps with evil members, bombs or damaged bytes."""
    buffer = streams.BytesIO()
    with zipfile.ZipFile(buffer, "w", draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))) as archive:
        archive.writestr(draw(st.sampled_from(["u.data", "top/u.data", "U.DATA"])), MEMBER)
        for name in draw(st.lists(st.sampled_from(EVIL), max_size=2, unique=True)):
            archive.writestr(zipfile.ZipInfo(name), b"evil")
        if draw(st.booleans()):
            link = zipfile.ZipInfo("link")
            link.external_attr = 0o120777 << 16
            archive.writestr(link, "/etc/passwd")
    data = bytearray(buffer.getvalue())
    for _ in range(draw(st.integers(0, 3))):
        data[draw(st.integers(0, len(data) - 1))] ^= 1 << draw(st.integers(0, 7))
    return bytes(data[: len(data) - draw(st.sampled_from([0, 0, 0, 1, 22, 60]))]) or PAGE


@st.composite
def odd_graphs(draw) -> tuple[int, np.ndarray, np.ndarray]:
    """Draw nodes and edges: empty, disconnected, with isolated nodes, or so regular that eigenvalues tie."""
    n = draw(st.integers(1, 14))
    i, j = np.triu_indices(n, k=1)
    kind = draw(st.sampled_from(["any", "sparse", "complete", "star", "ring", "cliques", "empty"]))
    keep = {
        "complete": np.ones(len(i), bool),
        "star": i == 0,
        "ring": (j - i == 1) | (j - i == n - 1),
        "cliques": i // 4 == j // 4,
        "empty": np.zeros(len(i), bool),
    }.get(kind)
    if keep is None:
        rng = np.random.default_rng(draw(st.integers(0, 10**6)))
        keep = rng.random(len(i)) < (0.5 if kind == "any" else 0.1)
    return n, i[keep], j[keep]


def one_line(error: UserError, names: str = r"archive\.zip: \w+(, line \d+)?: \S") -> bool:
    """Tell whether an error is one line of bearable length that names the file, and the line where there is one.

    It quotes at most 80 characters of the file, and printable ones alone.
    """
    text = str(error)
    bearable = len(text) < 400 and text.isprintable() and text.count(RARE) <= QUOTED
    return bool(re.match(names, text)) and bearable


def path_of(folder: Path, data: bytes) -> Path:
    """Write an archive where nothing else is."""
    path = folder / "odd.zip"
    path.write_bytes(data)
    return path
