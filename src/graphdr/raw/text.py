"""Read the delimited text of published data sets strictly, whole columns at once; an error names the place.

They have no quotes, so a quote is a letter like any other.
"""

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import UserError, quote, reason
from graphdr.raw.delimited import DelimitedText, Dialect, line_of
from graphdr.raw.sheets import FINITE, LARGEST, NUMBER, Sheet, fault, refuse

BOM = b"\xef\xbb\xbf"
Columns = Mapping[str, str | None]  # all columns of a file with their kind, or None if not used


class Raw(Protocol):
    """The files of a data set by role, in archives or elsewhere."""

    def open(self, role: str) -> IO[bytes]: ...
    def has(self, role: str) -> bool: ...
    def name(self, role: str) -> str: ...


class File(NamedTuple):
    """The name of a file and its bytes, as UTF-8 whatever the encoding was."""

    name: str
    data: bytes


class Kind(NamedTuple):
    """A kind of column: how it is parsed, which values are refused and why, and the type it ends as."""

    parsed: pa.DataType
    bad: Callable[[pa.ChunkedArray], pa.ChunkedArray] | None
    complaint: str
    type: pa.DataType


def _not_digits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.or_(pc.invert(pc.ascii_is_decimal(column)), pc.greater(pc.binary_length(column), 18))  # fits in int64


def _not_finite(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.invert(pc.less_equal(pc.abs(column), LARGEST))


def _texts(*right: str) -> Kind:
    """Return the kind of a column that holds no other texts than these."""

    def others(column: pa.ChunkedArray) -> pa.ChunkedArray:
        return pc.invert(pc.is_in(column, value_set=pa.array(right)))

    return Kind(pa.string(), others, f"is not {' or '.join(right)}", pa.string())


_WHOLE = "is not a whole number from 0, of at most 18 digits"

KINDS = {
    "text": Kind(pa.string(), None, "", pa.string()),
    "key": Kind(pa.string(), lambda column: pc.equal(column, ""), "is empty", pa.string()),
    "flag": _texts("0", "1"),
    "gender": _texts("F", "M"),
    "digits": Kind(pa.string(), _not_digits, _WHOLE, pa.string()),
    "count": Kind(pa.string(), _not_digits, _WHOLE, pa.int64()),  # as text first, for Arrow reads 0x1f as a number
    "float": Kind(pa.float64(), _not_finite, FINITE, pa.float64()),
    "float32": Kind(pa.float32(), _not_finite, FINITE, pa.float32()),
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
        name, data = raw.name(role), stream.read()
    if not data:
        raise UserError(f"{name}: empty file")
    return File(name, _from_latin1(name, data) if encoding == "latin-1" else data.removeprefix(BOM))


def first_line(file: File) -> str:
    """Return the first line of a file, without its end."""
    end = re.search(rb"[\r\n]|$", file.data)
    try:
        return file.data[: end.start() if end else None].decode()
    except UnicodeDecodeError:
        raise fault(file.name, 1, "not UTF-8 text") from None


def parse(file: File, columns: Columns, delimiter: str, header: str | None = None) -> Sheet:
    """Parse text into columns, which are all named with their kind, or None if not used.

    A header must be exactly this one, if any. CRLF, and a last line without an end, are accepted.
    """
    start, first = (0, 1) if header is None else (_below(file, header), 2)
    kinds = {name: KINDS[kind] for name, kind in columns.items() if kind}
    text = DelimitedText(file.name, file.data, Dialect(list(columns), delimiter, start, first))
    sheet = text.read({name: kind.parsed for name, kind in kinds.items()})
    for line in sheet.wrong:
        raise fault(file.name, line, sheet.complaint)
    checked = {name: _checked(sheet, name, sheet.columns[name], kind) for name, kind in kinds.items()}
    return sheet._replace(columns=pa.table(checked))


def within(sheet: Sheet, name: str, low: float, high: float) -> Sheet:
    """Return the sheet; a value of a column outside of low to high is a mistake of the file."""
    column = sheet.columns[name]
    bad = pc.or_(pc.less(column, low), pc.greater(column, high))
    refuse(sheet, bad, lambda row: f"{name} {column[row].as_py()} is not from {low} to {high}")
    return sheet


def vectors(sheet: Sheet, name: str) -> pa.ListArray:
    """Return a column of numbers separated by spaces as lists, which must be equally long."""
    lists = pc.split_pattern(sheet.columns[name].combine_chunks(), " ")
    sizes = pc.list_value_length(lists)
    size = sizes[0].as_py()
    refuse(sheet, pc.not_equal(sizes, size), lambda row: f"{name} has {sizes[row]} numbers; expected {size} as above")
    row_of = np.repeat(np.arange(len(lists)), size)
    return rows_of(_checked(sheet, name, lists.flatten(), KINDS["float32"], row_of), size)


def rows_of(numbers: pa.Array, size: int) -> pa.ListArray:
    """Cut numbers into lists of one size."""
    return pa.ListArray.from_arrays(pa.array(range(0, len(numbers) + 1, size), pa.int32()), numbers)


def _checked(sheet: Sheet, name: str, column: pa.Array, kind: Kind, rows: np.ndarray | None = None) -> pa.Array:
    """Return values as the type of their kind; ``rows`` has the row of each, if there are several in a row."""

    def complaint(at: int) -> str:
        return f"{name} {quote(column[at].as_py())} {kind.complaint}"

    values = column
    if column.type != kind.parsed:  # texts, for some are no numbers
        values = pc.utf8_trim_whitespace(column)
        refuse(sheet, pc.invert(pc.match_substring_regex(values, NUMBER)), complaint, rows)
        values = values.cast(kind.parsed)
    if kind.bad:
        refuse(sheet, kind.bad(values), complaint, rows)
    return values.cast(kind.type)


def _below(file: File, header: str) -> int:
    """Return the start of the line after the header; a wrong or repeated header is an error."""
    line, expected = first_line(file), header.encode()
    if line != header:
        raise fault(file.name, 1, f"header {quote(line)}; expected {header!r}")
    end = re.compile(rb"\r\n|\n|\r|$").match(file.data, len(expected))
    assert end is not None  # a line ends there
    again = file.data.find(end[0] + expected + end[0], len(expected))
    if end[0] and again >= 0:
        raise fault(file.name, line_of(file.data, again) + 1, "the header again; expected it in line 1 only")
    return end.end()


def _from_latin1(name: str, data: bytes) -> bytes:
    if data.isascii():
        return data
    try:
        data.decode()
        wrong = re.search(rb"[\x80-\xff]", data)  # accents of latin-1 are next to never valid UTF-8
    except UnicodeDecodeError:
        wrong = re.search(rb"[\x80-\x9f]", data)  # control characters: another Windows or Mac encoding
    if wrong:
        raise fault(name, line_of(data, wrong.start()), "not latin-1 text, the encoding of the official file")
    return data.decode("latin-1").encode()
