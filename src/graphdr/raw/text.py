"""Read raw text strictly: whole columns at once, and where that fails one message that names the line."""

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import BinaryIO, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import UserError

BOM = b"\xef\xbb\xbf"
BLOCK = 1 << 22  # bytes parsed at a time; no line of a real file comes near
LARGEST = 1e100  # the square of a number, and sums of squares, must be finite as well
SEPARATORS = {"\t": "tabs", ",": "commas", "|": "bars", "::": "double colons"}


class Raw(Protocol):
    """The files of a data set by role, wherever they are: in a folder, in an archive or in memory."""

    def open(self, role: str) -> BinaryIO:
        """Open a file as a stream of bytes, already unpacked."""

    def has(self, role: str) -> bool:
        """Say whether the file is there; only an optional one may be absent."""

    def name(self, role: str) -> str:
        """Return the name of the file for messages."""


class Memory(dict):
    """Raw files in memory: bytes by role."""

    def open(self, role: str) -> BytesIO:
        return BytesIO(self[role])

    def has(self, role: str) -> bool:
        return role in self

    def name(self, role: str) -> str:
        return role


class File(NamedTuple):
    """The name of a file and its bytes, as UTF-8 whatever the encoding was."""

    name: str
    data: bytes


class Sheet(NamedTuple):
    """The used columns of a file, its name, and the number of the line with the first row."""

    columns: pa.Table
    name: str
    first: int


class Kind(NamedTuple):
    """A kind of column: how it is parsed, which values are refused and why, and the type it ends as."""

    parsed: pa.DataType
    bad: Callable[[pa.ChunkedArray], pa.ChunkedArray] | None
    complaint: str
    type: pa.DataType


def _not_digits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.or_(pc.invert(pc.ascii_is_decimal(column)), pc.greater(pc.binary_length(column), 18))  # fits in int64


def _not_finite(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.or_(pc.invert(pc.is_finite(column)), pc.greater(pc.abs(column), LARGEST))


_WHOLE = "is not a whole number from 0, of at most 18 digits"

KINDS = {
    "text": Kind(pa.string(), None, "", pa.string()),
    "key": Kind(pa.string(), lambda column: pc.equal(column, ""), "is empty", pa.string()),
    "digits": Kind(pa.string(), _not_digits, _WHOLE, pa.string()),
    "count": Kind(pa.string(), _not_digits, _WHOLE, pa.int64()),  # as text first, for Arrow reads 0x1f as a number
    "float": Kind(pa.float64(), _not_finite, "is not a finite number of at most 1e100", pa.float64()),
    "float32": Kind(pa.float32(), _not_finite, "is not a finite number of at most 1e100", pa.float32()),
}


@contextmanager
def opened(raw: Raw, role: str) -> Iterator[BinaryIO]:
    """Open a file; damage that shows while it is read is one clear error."""
    try:
        with raw.open(role) as stream:
            yield stream
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{raw.name(role)}: cannot be read ({reason}); fetch it again") from None


def load(raw: Raw, role: str, encoding: str = "utf-8") -> File:
    """Read a whole file that is declared to be utf-8 or latin-1."""
    with opened(raw, role) as stream:
        file = File(raw.name(role), stream.read())
    if not file.data:
        raise UserError(f"{file.name}: empty file")
    if encoding == "latin-1":
        return _from_latin1(file)
    return file._replace(data=file.data.removeprefix(BOM))


def first_line(file: File) -> str:
    """Return the first line of a file, without its end."""
    try:
        return re.match(rb"[^\r\n]*", file.data)[0].decode()
    except UnicodeDecodeError:
        raise fault(file.name, 1, "not UTF-8 text") from None


def parse(file: File, columns: dict[str, str | None], delimiter: str, header: str | None = None) -> Sheet:
    """Parse text without quoting into columns, all fields of a line being named with their kind, or None if not used.

    A header must be just as given, if one is. CRLF, and a last line without an end, are accepted.
    """
    start, first = (0, 1) if header is None else (_below(file, header), 2)
    data, mark = file.data, delimiter
    if len(delimiter) > 1:  # Arrow wants one character: take one that is in no text
        mark = "\x1f"
        if (at := data.find(mark.encode())) >= 0:
            raise fault(file.name, _line(data, at), f"character {mark!r}; expected text")
        data = data.replace(delimiter.encode(), mark.encode())
    body = pa.py_buffer(data).slice(start)
    if not body.size:
        raise UserError(f"{file.name}: no rows below the header")
    try:
        table = _table(body, columns, mark)
    except pa.ArrowException:
        lines = body.to_pybytes().splitlines(keepends=True)
        row = _first_refused(lines, columns, mark)
        raise fault(file.name, first + row, _complaint(lines[row], columns, mark, delimiter)) from None
    sheet = Sheet(table, file.name, first)
    return sheet._replace(columns=pa.table({name: _checked(sheet, name, columns[name]) for name in table.column_names}))


def fault(name: str, line: int, complaint: str) -> UserError:
    """Build the message for a mistake in a line of a file."""
    return UserError(f"{name}, line {line}: {complaint}")


def short(value: object) -> str:
    """Show a value in a message, however long it is."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def refuse(sheet: Sheet, bad: pa.ChunkedArray, complaint: Callable[[int], str]) -> None:
    """Raise an error for the first row that is marked as bad, if there is one."""
    row = pc.index(bad, True).as_py()
    if row >= 0:
        raise fault(sheet.name, sheet.first + row, complaint(row))


def within(sheet: Sheet, name: str, low: float, high: float) -> Sheet:
    """Return the sheet if all values of a column are from low to high."""
    column = sheet.columns[name]
    bad = pc.or_(pc.less(column, low), pc.greater(column, high))
    refuse(sheet, bad, lambda row: f"{name} {column[row].as_py()} is not from {low} to {high}")
    return sheet


def vectors(sheet: Sheet, name: str) -> pa.ListArray:
    """Return a column of numbers separated by spaces as lists, which must be of one length."""
    column = sheet.columns[name].combine_chunks()
    lists = pc.split_pattern(column, " ")
    length = pc.list_value_length(lists)
    most = length[0].as_py()
    refuse(sheet, pc.not_equal(length, most), lambda row: f"{name} has {length[row]} numbers; expected {most} as above")
    try:
        numbers = lists.flatten().cast(pa.float32())
        bad = _not_finite(numbers)
    except pa.ArrowException:
        bad = pa.array([not _is_number(text) for text in lists.flatten().to_pylist()])
    at = pc.index(bad, True).as_py()
    if at >= 0:
        word = short(lists.flatten()[at].as_py())
        raise fault(sheet.name, sheet.first + at // most, f"{name} {word} {KINDS['float32'].complaint}")
    return pa.ListArray.from_arrays(pa.array(range(0, len(numbers) + 1, most), pa.int32()), numbers)


def _is_number(text: str) -> bool:
    try:
        return bool(pa.scalar(text).cast(pa.float32()))
    except pa.ArrowException:
        return False


def _table(body: pa.Buffer, columns: dict[str, str | None], mark: str) -> pa.Table:
    from pyarrow import csv

    types = {name: KINDS[kind].parsed for name, kind in columns.items() if kind}
    return csv.read_csv(
        pa.BufferReader(body),
        csv.ReadOptions(column_names=list(columns), block_size=BLOCK),
        csv.ParseOptions(
            delimiter=mark, quote_char=False, double_quote=False, escape_char=False, ignore_empty_lines=False
        ),
        csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[], strings_can_be_null=False),
    )


def _checked(sheet: Sheet, name: str, kind: str) -> pa.ChunkedArray:
    column, (_, bad, complaint, type_) = sheet.columns[name], KINDS[kind]
    if bad:
        refuse(sheet, bad(column), lambda row: f"{name} {short(column[row].as_py())} {complaint}")
    return column.cast(type_)


def _below(file: File, header: str) -> int:
    """Return where the line after the header begins; a wrong or repeated header is an error."""
    found, expected = first_line(file), header.encode()
    if found != header:
        raise fault(file.name, 1, f"header {short(found)}; expected {header!r}")
    end = re.compile(rb"\r\n|\n|\r|$").match(file.data, len(expected))
    again = file.data.find(end[0] + expected + end[0], len(expected))
    if end[0] and again >= 0:
        raise fault(file.name, _line(file.data, again) + 1, "the header again; expected it in line 1 only")
    return end.end()


def _first_refused(lines: list[bytes], columns: dict[str, str | None], mark: str) -> int:
    """Find the first line that cannot be parsed, by halving."""
    low, high = 0, len(lines)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            _table(pa.py_buffer(b"".join(lines[low:middle])), columns, mark)
            low = middle
        except pa.ArrowException:
            high = middle
    return low


def _complaint(line: bytes, columns: dict[str, str | None], mark: str, delimiter: str) -> str:
    try:
        fields = line.rstrip(b"\r\n").decode().split(mark)
    except UnicodeDecodeError:
        return "not UTF-8 text"
    if len(fields) != len(columns):
        found = f"number of fields is {len(fields)}" if line.strip() else "empty line"
        names = ", ".join([*columns][:8] + ["…"] * (len(columns) > 8))
        return f"{found}; expected {len(columns)} ({names}), separated by {SEPARATORS[delimiter]}"
    for (name, kind), field in zip(columns.items(), fields, strict=True):
        try:
            pa.scalar(field).cast(KINDS[kind or "text"].parsed)
        except pa.ArrowException:
            return f"{name} {short(field)} {KINDS[kind].complaint}"
    return f"cannot be parsed ({len(line)} bytes)"


def _from_latin1(file: File) -> File:
    if file.data.isascii():
        return file
    try:
        file.data.decode()
        wrong = re.search(rb"[\x80-\xff]", file.data)  # accents of latin-1 are next to never valid UTF-8
    except UnicodeDecodeError:
        wrong = re.search(rb"[\x80-\x9f]", file.data)  # control characters: another Windows or Mac encoding
    if wrong:
        raise fault(file.name, _line(file.data, wrong.start()), "not latin-1 text, the encoding of the official file")
    return file._replace(data=file.data.decode("latin-1").encode())


def _line(data: bytes, at: int) -> int:
    return len(data[: at + 1].splitlines())
