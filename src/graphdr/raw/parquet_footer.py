"""What the footer of a parquet file says about its columns, read without Arrow.

Arrow reads damaged footers as errors, except where Python asks it for one column of a row group: there it ends the
whole process. The footer is a struct of Thrift's compact protocol, which takes a page to read.
"""

from typing import NamedTuple

MAGIC = b"PAR1"
TAIL = 8  # bytes at the end of the file: the length of the footer, and the magic
TRUE, FALSE, BYTE, INT16, INT32, INT64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
ROW_GROUPS, COLUMNS, ROWS, CHUNK, VALUES, UNPACKED = 4, 1, 3, 3, 5, 6  # numbers of fields in the format
DEEPEST = 30  # levels of structs and lists; the format has fewer than ten


class Chunk(NamedTuple):
    """A column of a row group: the rows of the group, the values of the column, and its bytes unpacked."""

    rows: int
    values: int
    unpacked: int


def chunks(data: bytes) -> list[list[Chunk]]:
    """Return the columns of every row group as the footer claims them, or raise a ValueError."""
    size = int.from_bytes(data[-TAIL:-4], "little")
    start = len(data) - TAIL - size
    if start < len(MAGIC) or not data.startswith(MAGIC) or not data.endswith(MAGIC):
        raise ValueError("no footer of a parquet file")
    try:
        footer = _Reader(data[start:-TAIL]).struct(0)
        return [[_chunk(group, column[CHUNK]) for column in group[COLUMNS]] for group in footer[ROW_GROUPS]]
    except (IndexError, KeyError, TypeError, AttributeError):
        raise ValueError("a damaged footer") from None


def _chunk(group: dict, column: dict) -> Chunk:
    found = Chunk(group[ROWS], column[VALUES], column[UNPACKED])
    if not all(isinstance(number, int) for number in found):
        raise TypeError
    return found


class _Reader:
    """Read values one after the other; structs are dictionaries from the numbers of their fields."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def whole(self) -> int:
        """Read a number from 0 on, seven bits at a time, the lowest first."""
        value = shift = 0
        while (part := self.byte()) > 127 and shift < 64:
            value |= (part & 127) << shift
            shift += 7
        return value | part << shift

    def integer(self) -> int:
        """Read a number whose lowest bit is its sign."""
        value = self.whole()
        return value >> 1 ^ -(value & 1)

    def skip(self, count: int) -> None:
        self.at += count

    def value(self, kind: int, depth: int) -> object:
        if depth > DEEPEST:
            raise ValueError("a footer that is nested too deeply")
        if kind in (INT16, INT32, INT64):
            return self.integer()
        if kind == BINARY:
            return self.skip(self.whole())
        if kind == STRUCT:
            return self.struct(depth)
        if kind in (LIST, SET):
            return self.list(depth)
        if kind in (BYTE, DOUBLE):
            return self.skip(1 if kind == BYTE else 8)
        raise ValueError(f"a footer with a value of kind {kind}")  # the format has no maps

    def struct(self, depth: int) -> dict[int, object]:
        fields, number = {}, 0
        while head := self.byte():
            kind, step = head & 15, head >> 4
            number = number + step if step else self.integer()
            fields[number] = None if kind in (TRUE, FALSE) else self.value(kind, depth + 1)
        return fields

    def list(self, depth: int) -> list:
        head = self.byte()
        kind, count = head & 15, head >> 4
        count = self.whole() if count == 15 else count
        if count > len(self.data) - self.at:  # each takes a byte at least
            raise ValueError("a footer with a list that it cannot hold")
        if kind in (TRUE, FALSE, BYTE):
            return self.skip(count) or []
        return [self.value(kind, depth + 1) for _ in range(count)]
