"""Parquet files of a user within bounds: the footer tells how much memory a table takes, before it is read.

The footer is read without Arrow, which ends the whole process on some damaged footers when it is asked for a column of
a row group. It is a struct of Thrift's compact protocol.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import UserError, quote
from graphdr.raw import bounded

if TYPE_CHECKING:
    import pyarrow.parquet as pq

MAGIC = b"PAR1"
TAIL = 8  # bytes at the end of the file: the length of the footer, and the magic
TRUE, FALSE, BYTE, INT16, INT32, INT64, DOUBLE, BINARY, LIST, SET = range(1, 11)  # Thrift's types
STRUCT = 12
ROW_GROUPS, COLUMNS, ROWS, CHUNK, VALUES, UNPACKED = 4, 1, 3, 3, 5, 6  # field numbers of the footer
DEEPEST = 30  # levels of structs and lists; the format has fewer than ten
VALUE = 8  # bytes that a value takes in memory at least
TEXTS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def opened(name: str, data: bytes) -> "pq.ParquetFile":
    """Open a Parquet file, without reading its columns."""
    import pyarrow.parquet as pq

    with _readable(name):
        file = pq.ParquetFile(pa.BufferReader(data))
        _ = file.schema_arrow.names  # raises if they are no text
        return file


def table(name: str, data: bytes, columns: list[str]) -> pa.Table:
    """Read columns of a Parquet file, whose names are distinct.

    Texts are read as dictionaries first, so that the size of many copies of a long text is known before they are made.
    """
    import pyarrow.parquet as pq

    file = opened(name, data)
    schema = file.schema_arrow
    with _readable(name):
        bounded.require(name, _memory(file, chunks(data), set(columns)), len(data), "its table")
        texts = [column.name for column in schema if column.type in TEXTS]
        packed = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts).read(columns)
        packed.validate(full=True)
        for column in packed.columns:
            if pa.types.is_dictionary(column.type) and column.type.value_type in TEXTS:
                sizes = [pc.binary_length(part.dictionary).take(part.indices) for part in column.chunks]
                size = sum(pc.sum(part.cast(pa.int64())).as_py() or 0 for part in sizes)
                bounded.require(name, size, len(data), "the texts of a column")
        return packed.cast(pa.schema([schema.field(column) for column in packed.column_names]))


def chunks(data: bytes) -> list[list[tuple[int, int, int]]]:
    """Return for each row group and column its rows, values and bytes unpacked, as the footer says; or a ValueError."""
    size = int.from_bytes(data[-TAIL:-4], "little")
    start = len(data) - TAIL - size
    if start < len(MAGIC) or not data.startswith(MAGIC) or not data.endswith(MAGIC):
        raise ValueError("no footer of a parquet file")
    try:
        footer = _Thrift(data[start:-TAIL]).struct(0)
        groups = []
        for group in footer[ROW_GROUPS]:
            parts = [column[CHUNK] for column in group[COLUMNS]]
            groups.append([(group[ROWS], part[VALUES], part[UNPACKED]) for part in parts])
    except (IndexError, KeyError, TypeError):
        raise ValueError("a damaged footer") from None
    if not all(isinstance(number, int) for group in groups for chunk in group for number in chunk):
        raise ValueError("a damaged footer")
    return groups


def _memory(file: "pq.ParquetFile", groups: list[list[tuple[int, int, int]]], columns: set[str]) -> int:
    """Return the bytes of memory that columns take, according to the footer."""
    leaves = [file.schema.column(place) for place in range(file.metadata.num_columns)]
    if any(len(group) != len(leaves) for group in groups):
        raise ValueError("a row group with another number of columns")
    total = 0
    for place, leaf in enumerate(leaves):
        if any(path in columns for path in accumulate(leaf.path.split("."), "{}.{}".format)):
            width = max(VALUE, leaf.length or 0)
            for rows, values, unpacked in (group[place] for group in groups):
                total += max(unpacked, 0) + width * max(rows, values, 0)
    return total


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turn the errors of a damaged file into one line."""
    try:
        yield
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{name}: not a readable parquet file ({quote(reason)})") from None


class _Thrift:
    """Read values one after the other; structs are dictionaries by field number."""

    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    def byte(self) -> int:
        self.position += 1
        return self.data[self.position - 1]

    def unsigned(self) -> int:
        """Read an unsigned number, seven bits at a time, the lowest first."""
        value = shift = 0
        while (part := self.byte()) > 127 and shift < 64:
            value |= (part & 127) << shift
            shift += 7
        return value | part << shift

    def integer(self) -> int:
        """Read a number whose lowest bit is its sign."""
        value = self.unsigned()
        return value >> 1 ^ -(value & 1)

    def value(self, kind: int, depth: int) -> Any:
        """Read integers, structs and lists; skip other values."""
        if depth > DEEPEST:
            raise ValueError("a footer that is nested too deeply")
        if kind in (INT16, INT32, INT64):
            return self.integer()
        if kind == STRUCT:
            return self.struct(depth)
        if kind in (LIST, SET):
            return self.list(depth)
        if kind not in (BYTE, DOUBLE, BINARY):
            raise ValueError(f"a footer with a value of kind {kind}")  # the format has no maps
        size = self.unsigned() if kind == BINARY else {BYTE: 1, DOUBLE: 8}[kind]
        self.position += size
        return None

    def struct(self, depth: int) -> dict[int, Any]:
        members: dict[int, Any] = {}
        number = 0
        while head := self.byte():
            kind, step = head & 15, head >> 4
            number = number + step if step else self.integer()
            members[number] = None if kind in (TRUE, FALSE) else self.value(kind, depth + 1)
        return members

    def list(self, depth: int) -> list[Any]:
        head = self.byte()
        kind, count = head & 15, head >> 4
        count = self.unsigned() if count == 15 else count
        if count > len(self.data) - self.position:  # each takes a byte at least
            raise ValueError("a footer with a list that it cannot hold")
        if kind in (TRUE, FALSE, BYTE):
            self.position += count
            return []
        return [self.value(kind, depth + 1) for _ in range(count)]
