"""Rows of delimited text as columns, by Arrow; all rows of a wrong length are found at once, each with its line."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from graphdr.core.errors import UserError, join_names, quote
from graphdr.raw.sheets import Sheet, fault

BLANKS = "blanks"  # any run of blanks and tabs
SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars", "::": "double colons"}
UNIT_SEPARATOR = "\x1f"  # in place of a separator of two letters; it occurs in no text
LONGEST = 1 << 22  # bytes of a row, and bytes that are parsed at a time
MOST = 100_000  # rows of another length that are collected


class Dialect(NamedTuple):
    """How a table is written: the names of its columns, where its rows begin, and how they are cut into fields."""

    names: list[str]
    separator: str
    start: int = 0  # byte of the first row
    line: int = 1  # of the first row
    quotes: bool = False  # a field may be quoted, and hold separators, line breaks and doubled quotes then
    escape: bool = False  # a quote in a quoted field has a backslash before it
    decimal: str = "."
    skip_empty: bool = False  # lines


class DelimitedText:
    """A table of text whose dialect is known."""

    def __init__(self, name: str, data: bytes, dialect: Dialect) -> None:
        self.name, self.dialect, self.separator = name, dialect, dialect.separator
        self.wrong: list[int] = []  # rows of another length, counted from 0
        self.complaint = ""  # about the first of these
        if not re.compile(rb"[^\r\n]").search(data, dialect.start):
            raise UserError(f"{name}: no rows below the header")
        self.body = pa.py_buffer(data).slice(dialect.start)
        if dialect.separator == BLANKS:
            self.body, self.separator = pa.py_buffer(_single_blanks(data[dialect.start :])), " "
        elif len(dialect.separator.encode()) > 1:
            mark = UNIT_SEPARATOR.encode()
            if (at := data.find(mark)) >= 0:
                raise fault(name, line_of(data, at), f"character {UNIT_SEPARATOR!r}; expected text")
            separated = data[dialect.start :].replace(dialect.separator.encode(), mark)
            self.body, self.separator = pa.py_buffer(separated), UNIT_SEPARATOR

    def read(self, types: Mapping[str, pa.DataType]) -> Sheet:
        """Read the columns that have a type, all as texts if one does not parse; rows of another length are wrong."""
        try:
            return Sheet(self._parse(types), self.name, self._line)
        except pa.ArrowException:
            pass
        try:
            str(memoryview(self.body), "utf-8")
            table = self._parse(dict.fromkeys(types, pa.string()), note_wrong=True)
        except UnicodeDecodeError as error:
            line = self.dialect.line + line_of(error.object, error.start) - 1
            raise fault(self.name, line, "not UTF-8 text") from None
        except pa.ArrowException:
            if len(self.wrong) > MOST:
                complaint = f"{self.complaint}, as in {MOST:,} more rows"
                raise fault(self.name, self._line(self.wrong[0]), complaint) from None
            longest = f"a row may be longer than {LONGEST >> 20} MB"
            raise UserError(f"{self.name}: cannot be parsed; {longest}") from None
        kept = np.delete(np.arange(len(table) + len(self.wrong)), self.wrong)
        wrong = [self._line(row) for row in self.wrong]
        return Sheet(table, self.name, lambda row: self._line(int(kept[row])), "line", wrong, self.complaint)

    def _parse(self, types: Mapping[str, pa.DataType], note_wrong: bool = False) -> pa.Table:
        dialect = self.dialect
        # Rows have numbers only where one thread reads them.
        read = arrow_csv.ReadOptions(column_names=dialect.names, block_size=LONGEST, use_threads=not note_wrong)
        split = arrow_csv.ParseOptions(
            delimiter=self.separator,
            quote_char='"' if dialect.quotes else False,
            double_quote=dialect.quotes,
            escape_char="\\" if dialect.escape else False,
            newlines_in_values=dialect.quotes,
            ignore_empty_lines=dialect.skip_empty,
            invalid_row_handler=self._note_wrong if note_wrong else None,
        )
        convert = arrow_csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[], decimal_point=dialect.decimal
        )
        return arrow_csv.read_csv(pa.BufferReader(self.body), read, split, convert)

    def _note_wrong(self, row: arrow_csv.InvalidRow) -> str:
        """Note a row of another length, and tell Arrow to skip it."""
        names, separator = self.dialect.names, self.dialect.separator
        if not self.wrong:
            expected = f"{len(names)} ({join_names(names)}), separated by {SEPARATORS.get(separator, separator)}"
            self.complaint = f"number of fields is {row.actual_columns}; expected {expected}"
            if self.dialect.quotes and row.text.count('"') % 2:
                self.complaint = f"a quote that is not closed: {quote(row.text)}"
        self.wrong.append(row.number - 1)
        return "skip" if len(self.wrong) <= MOST else "error"

    def _line(self, row: int) -> int:
        return int(self._lines[row]) if self.dialect.quotes or self.dialect.skip_empty else self.dialect.line + row

    @cached_property
    def _lines(self) -> np.ndarray:
        """The lines of all rows, for which the text is read once more."""
        return np.fromiter(self._row_lines(), np.int64)

    def _row_lines(self) -> Iterator[int]:
        first = line = self.dialect.line
        lines = io.TextIOWrapper(pa.BufferReader(self.body), "utf-8", "replace", newline="")
        if not self.dialect.quotes:
            yield from (line for line, row in enumerate(lines, first) if row.strip("\r\n"))
            return
        reader = csv.reader(lines, delimiter=self.separator, escapechar="\\" if self.dialect.escape else None)
        try:
            for fields in reader:
                if fields:
                    yield line
                line = first + reader.line_num
        except csv.Error as error:
            raise fault(self.name, line, f"cannot be parsed ({error})") from None


def line_of(data: bytes, at: int) -> int:
    """Return the line of a byte, counted from 1."""
    return len(data[: at + 1].splitlines())


def _single_blanks(data: bytes) -> bytes:
    """Return text with one blank between fields, and none at the ends of lines."""
    data = data.replace(b"\t", b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    for end in (b"\n", b"\r"):
        data = data.replace(b" " + end, end).replace(end + b" ", end)
    return data.strip(b" ")
