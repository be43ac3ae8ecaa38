"""Read delimited text strictly, whole columns at once; an error is one line that names the place.

Quotes: published data sets and all tab-separated text have none, so a quote there is a letter like any other. Other
files of a user may quote a value: delimiters and line breaks are then part of the value, and a quote in it is doubled.
A quote inside of a value is a letter; one that is never closed, or is followed by more text, is an error.
"""

import csv
import re
import zipfile
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO, StringIO
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from graphdr.core.errors import UserError, join_names, quote, reason
from graphdr.raw import bounded

BOM = b"\xef\xbb\xbf"
BLOCK = 1 << 22  # bytes parsed at a time; no line of a real file comes near
ROWS = 1 << 16  # of quoted text, parsed at a time
LARGEST = 1e100  # the square of a number, and sums of squares, must be finite as well
SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars", "::": "double colons"}
Columns = Mapping[str, str | None]  # all columns of a file with their kind, or None if not used


class Raw(Protocol):
    """The files of a data set by role, in archives or in memory."""

    def open(self, role: str) -> IO[bytes]: ...
    def has(self, role: str) -> bool: ...
    def name(self, role: str) -> str: ...


class Memory(dict[str, bytes]):
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
    """The used columns of a file, its name, and the line numbers of its rows: from the first on, or one by one."""

    columns: Any  # a pa.Table, or a dictionary of arrays
    name: str
    first: int = 1
    unit: str = "line"
    lines: Sequence[int] | None = None
    faults: Sequence[tuple[int, str]] = ()  # lines that are no rows, and why

    def place(self, row: int) -> str:
        """Name the place of a row."""
        return f"{self.unit} {self.first + row if self.lines is None else self.lines[row]}"

    def fault(self, row: int, complaint: str) -> UserError:
        """Build the message for a mistake in a row."""
        return UserError(f"{self.name}, {self.place(row)}: {complaint}")


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
def opened(raw: Raw, role: str) -> Iterator[IO[bytes]]:
    """Open a file; damage becomes one clear error, also while it is read."""
    try:
        with raw.open(role) as stream:
            yield stream
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise UserError(f"{raw.name(role)}: cannot be read ({reason(error)}); fetch it again") from None


def load(raw: Raw, role: str, encoding: str = "utf-8") -> File:
    """Read a whole file that is declared to be utf-8 or latin-1."""
    with opened(raw, role) as stream:
        file = File(raw.name(role), stream.read())
    if not file.data:
        raise UserError(f"{file.name}: empty file")
    return _from_latin1(file) if encoding == "latin-1" else file._replace(data=file.data.removeprefix(BOM))


def contents(path: Path | str) -> bytes:
    """Return the bytes of a user's file within bounds, unpacked if it is gzipped by its name."""
    return bounded.contents(path)


def user_text(name: str, data: bytes) -> File:
    """Return a user's file without the traces of editors: a byte order mark, and empty lines at the end."""
    file = File(name, data.removeprefix(BOM).rstrip(b"\r\n"))
    if not file.data.strip():
        raise UserError(f"{name}: empty file")
    return file


def first_line(file: File) -> str:
    """Return the first line of a file, without its end."""
    end = re.search(rb"[\r\n]|$", file.data)
    try:
        return file.data[: end.start() if end else None].decode()
    except UnicodeDecodeError:
        raise fault(file.name, 1, "not UTF-8 text") from None


def heading(file: File, delimiter: str) -> list[str]:
    """Return the fields of the first line of a user's file."""
    line = first_line(file)
    if delimiter == "\t" or '"' not in line:
        return line.split(delimiter)
    return next(records(file.name, line, 1, delimiter))[1]


def parse(file: File, columns: Columns, delimiter: str, header: str | None = None, quoted: bool = False) -> Sheet:
    """Parse text into columns, which are all named with their kind, or None if not used.

    A header must be exactly this one, if any. CRLF, and a last line without an end, are accepted. With ``quoted``,
    values may be quoted unless the delimiter is a tab; all used columns are texts then.
    """
    start, first = (0, 1) if header is None else (_below(file, header), 2)
    data, mark = file.data, delimiter
    if quoted and delimiter != "\t" and data.find(b'"', start) >= 0:
        return _parse_quoted(file, start, first, columns, delimiter)
    if len(delimiter) > 1:  # Arrow wants one character: take one that is in no text
        mark = "\x1f"
        if (at := data.find(mark.encode())) >= 0:
            raise fault(file.name, _line(data, at), f"character {mark!r}; expected text")
        data, start = data[start:].replace(delimiter.encode(), mark.encode()), 0
    body = pa.py_buffer(data).slice(start)
    if not body.size:
        raise UserError(f"{file.name}: no rows below the header")
    table = _table(body, columns, mark)
    if table is None:
        lines = body.to_pybytes().splitlines(keepends=True)
        ends = range(1, len(lines))
        row = bisect_left(ends, True, key=lambda end: _table(b"".join(lines[:end]), columns, mark) is None)
        raise fault(file.name, first + row, _complaint(lines[row], columns, mark, delimiter))
    sheet = Sheet(table, file.name, first)
    checked = {name: _checked(sheet, name, KINDS[kind]) for name, kind in columns.items() if kind}
    return sheet._replace(columns=pa.table(checked))


def _parse_quoted(file: File, start: int, first: int, columns: Columns, delimiter: str) -> Sheet:
    try:
        text = file.data[start:].decode()
    except UnicodeDecodeError as error:
        raise fault(file.name, _line(file.data, start + error.start), "not UTF-8 text") from None
    rows = records(file.name, text, first, delimiter)
    lines: list[int] = []
    tables = []
    used = {name: at for at, (name, kind) in enumerate(columns.items()) if kind}
    while block := list(islice(rows, ROWS)):
        for line, fields in block:
            if fields and len(fields) != len(columns):
                raise fault(file.name, line, _miscounted(len(fields), columns, delimiter))
        lines += [line for line, _ in block]
        # An empty line is a row of empty fields, as it is in text without quotes.
        texts = {name: [fields[at] if fields else "" for _, fields in block] for name, at in used.items()}
        tables.append(pa.table({name: pa.array(column, pa.string()) for name, column in texts.items()}))
    return Sheet(pa.concat_tables(tables), file.name, lines=lines)


def records(
    name: str, text: str, line: int, delimiter: str, strict: bool = True, escape: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of quoted text, each with the line in which it begins; a quote may be escaped by a backslash."""
    escapechar = "\\" if escape else None
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=strict, escapechar=escapechar)
    first = line
    try:
        for fields in reader:
            yield line, fields
            line = first + reader.line_num
    except csv.Error as error:
        raise fault(name, line, f"cannot be parsed ({error})") from None


def fault(name: str, line: int, complaint: str) -> UserError:
    """Build the message for a mistake in a line of a file."""
    return UserError(f"{name}, line {line}: {complaint}")


def refuse(sheet: Sheet, bad: Any, complaint: Callable[[int], str], rows: np.ndarray | None = None) -> None:
    """Raise an error for the first place that is marked as bad, if any; ``rows`` are the rows of the places."""
    places = np.flatnonzero(np.asarray(bad))
    if len(places):
        place = int(places[0])
        raise sheet.fault(place if rows is None else int(rows[place]), complaint(place))


def within(sheet: Sheet, name: str, low: float, high: float) -> Sheet:
    """Return the sheet if all values of a column are from low to high."""
    column = sheet.columns[name]
    bad = pc.or_(pc.less(column, low), pc.greater(column, high))
    refuse(sheet, bad, lambda row: f"{name} {column[row].as_py()} is not from {low} to {high}")
    return sheet


def among(sheet: Sheet, name: str, values: Sequence[str]) -> Sheet:
    """Return the sheet if all texts of a column are among these."""
    column = sheet.columns[name]
    bad = pc.invert(pc.is_in(column, value_set=pa.array(values)))
    refuse(sheet, bad, lambda row: f"{name} {quote(column[row].as_py())} is not {' or '.join(values)}")
    return sheet


def vectors(sheet: Sheet, name: str) -> pa.ListArray:
    """Return a column of numbers separated by spaces as lists, which must be equally long."""
    column = sheet.columns[name].combine_chunks()
    lists = pc.split_pattern(column, " ")
    sizes = pc.list_value_length(lists)
    size = sizes[0].as_py()
    refuse(sheet, pc.not_equal(sizes, size), lambda row: f"{name} has {sizes[row]} numbers; expected {size} as above")
    words, complaint = lists.flatten(), KINDS["float32"].complaint
    try:
        numbers = words.cast(pa.float32())
        bad = _not_finite(numbers)
    except pa.ArrowException:
        bad = [not _parses(word, "float32") for word in words.to_pylist()]
    row_of = np.repeat(np.arange(len(lists)), size)
    refuse(sheet, bad, lambda at: f"{name} {quote(words[at].as_py())} {complaint}", row_of)
    return rows_of(numbers, size)


def rows_of(numbers: pa.Array, size: int) -> pa.ListArray:
    """Cut numbers into lists of one size."""
    return pa.ListArray.from_arrays(pa.array(range(0, len(numbers) + 1, size), pa.int32()), numbers)


def _parses(text: str, kind: str) -> bool:
    try:
        return pa.scalar(text).cast(KINDS[kind].parsed) is not None
    except pa.ArrowException:
        return False


def _table(body: pa.Buffer | bytes, columns: Columns, mark: str) -> pa.Table | None:
    """Parse text, or return None if that cannot be done."""
    types = {name: KINDS[kind].parsed for name, kind in columns.items() if kind}
    read = arrow_csv.ReadOptions(column_names=list(columns), block_size=BLOCK)
    split = arrow_csv.ParseOptions(delimiter=mark, quote_char=False, double_quote=False, ignore_empty_lines=False)
    convert = arrow_csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[])
    try:
        return arrow_csv.read_csv(pa.BufferReader(body), read, split, convert)
    except pa.ArrowException:
        return None


def _checked(sheet: Sheet, name: str, kind: Kind) -> pa.ChunkedArray:
    column = sheet.columns[name]
    if kind.bad:
        refuse(sheet, kind.bad(column), lambda row: f"{name} {quote(column[row].as_py())} {kind.complaint}")
    return column.cast(kind.type)


def _below(file: File, header: str) -> int:
    """Return the start of the line after the header; a wrong or repeated header is an error."""
    line, expected = first_line(file), header.encode()
    if line != header:
        raise fault(file.name, 1, f"header {quote(line)}; expected {header!r}")
    end = re.compile(rb"\r\n|\n|\r|$").match(file.data, len(expected))
    assert end is not None  # a line ends there
    again = file.data.find(end[0] + expected + end[0], len(expected))
    if end[0] and again >= 0:
        raise fault(file.name, _line(file.data, again) + 1, "the header again; expected it in line 1 only")
    return end.end()


def _complaint(line: bytes, columns: Columns, mark: str, delimiter: str) -> str:
    try:
        fields = line.rstrip(b"\r\n").decode().split(mark)
    except UnicodeDecodeError:
        return "not UTF-8 text"
    if len(fields) != len(columns):
        return _miscounted(len(fields) if line.strip() else 0, columns, delimiter)
    for (name, kind), value in zip(columns.items(), fields, strict=True):
        if kind and not _parses(value, kind):
            return f"{name} {quote(value)} {KINDS[kind].complaint}"
    return f"cannot be parsed ({len(line)} bytes)"


def _miscounted(count: int, columns: Columns, delimiter: str) -> str:
    start = f"number of fields is {count}" if count else "empty line"
    return f"{start}; expected {len(columns)} ({join_names(columns)}), separated by {SEPARATORS[delimiter]}"


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
