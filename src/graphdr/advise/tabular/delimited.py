"""The rows of a table of text as columns: by Arrow, and row by row only to name the place of a mistake."""

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from graphdr.advise.tabular.dialect import BLANKS, LONGEST, Dialect, is_number
from graphdr.core.errors import UserError, join_names, quote
from graphdr.raw.text import SEPARATORS, Sheet, records

KEY, NUMBER, TIME, TEXT, LISTS = "key", "number", "time", "text", "lists"  # what a column is read as
TYPES = {KEY: pa.dictionary(pa.int32(), pa.string()), NUMBER: pa.float64(), TEXT: pa.string(), LISTS: pa.string()}
ROW = re.compile(rb"[^\r\n]+")
BLOCK = LONGEST  # bytes parsed at a time
MOST = 100_000  # rows of another length that are collected
EMPTY = (b"\n\n", b"\n\r", b"\r\r")  # where a line without a row is
MARK = "\x1f"  # stands for a separator of two letters: it is in no text


class Delimited(NamedTuple):
    """A file of text whose dialect is known: names of columns, and the columns that are asked for."""

    name: str
    data: bytes
    dialect: Dialect

    @property
    def names(self) -> list[str]:
        """Return the names of the columns."""
        return self.dialect.names

    @property
    def header(self) -> bool:
        """Say whether the names are the file's own."""
        return self.dialect.header

    @property
    def assumed(self) -> list[str]:
        """Return what was assumed about the text."""
        return self.dialect.assumed

    def sample(self, name: str) -> list[str]:
        """Return the first fields of a column."""
        place = self.names.index(name)
        return [row[place] for row in self.dialect.sample if len(row) > place]

    def sheet(self, kinds: Mapping[str, str]) -> Sheet:
        """Read columns as these kinds, or as texts if one does not parse; rows of another length are faults."""
        if not ROW.search(self.data, self.dialect.start):
            raise UserError(f"{self.name}: no rows below the header")
        body, mark = self._body()
        types = {name: self._type(name, kind) for name, kind in kinds.items()}
        table = self._parsed(body, mark, types)
        if table is None and set(types.values()) - {TYPES[KEY], TYPES[TEXT]}:
            texts = {name: type_ if type_ == TYPES[KEY] else TYPES[TEXT] for name, type_ in types.items()}
            table = self._parsed(body, mark, texts)
        if table is not None:
            return Sheet(self._columns(table, kinds), self.name, self.dialect.line, lines=self._lines(body, mark))
        return self._faulty(body, mark, kinds)

    def _faulty(self, body: pa.Buffer, mark: str, kinds: Mapping[str, str]) -> Sheet:
        """Read the rows of the right length, and say which are not."""
        refused = Refused()
        table = self._parsed(body, mark, dict.fromkeys(kinds, TYPES[TEXT]), refused)
        if table is None and len(refused.rows) > MOST:
            complaint = f"{self._miscounted(refused.first)}, as in {MOST:,} more rows"
            raise UserError(f"{self.name}, line {self.dialect.line + refused.rows[0] - 1}: {complaint}")
        if table is None:
            raise UserError(f"{self.name}: cannot be parsed; a row may be longer than {LONGEST >> 20} MB")
        count = len(table) + len(refused.rows)
        found = self._lines(body, mark)
        starts = np.arange(count) + self.dialect.line
        if found is not None:
            starts = np.array([found[row] for row in range(count)])
        wrong = np.array(refused.rows, int) - 1
        complaint = self._miscounted(refused.first) if refused.rows else ""
        faults = [(int(line), complaint) for line in starts[wrong]]
        return Sheet(self._columns(table, kinds), self.name, lines=np.delete(starts, wrong), faults=faults)

    def _miscounted(self, row: arrow_csv.InvalidRow) -> str:
        if self.dialect.quotes and row.text.count('"') % 2:
            return f"a quote that is not closed: {quote(row.text)}"
        names = join_names(self.names)
        mark = SEPARATORS.get(self.dialect.separator, self.dialect.separator)
        return f"number of fields is {row.actual_columns}; expected {len(self.names)} ({names}), separated by {mark}"

    def _type(self, name: str, kind: str) -> pa.DataType:
        """Return the type that a column is parsed as first, by what its first fields are."""
        if kind in (NUMBER, TIME):
            if all(is_number(field, self.dialect.decimal) for field in self.sample(name)):
                return TYPES[NUMBER]
            return pa.timestamp("us") if kind == TIME else TYPES[TEXT]
        return TYPES[kind]

    def _body(self) -> tuple[pa.Buffer, str]:
        """Return the rows and the letter between their fields."""
        start, separator = self.dialect.start, self.dialect.separator
        if separator == BLANKS:
            return pa.py_buffer(_single_blanks(self.data[start:])), " "
        if len(separator.encode()) > 1:
            if self.data.find(MARK.encode()) >= 0:
                raise UserError(f"{self.name}: character {MARK!r}; expected text")
            return pa.py_buffer(self.data[start:].replace(separator.encode(), MARK.encode())), MARK
        return pa.py_buffer(self.data).slice(start), separator

    def _lines(self, body: pa.Buffer, mark: str) -> "_Lines | None":
        """Return the lines of the rows, or None if they follow each other."""
        if self.dialect.quotes or any(self.data.find(end, self.dialect.start) >= 0 for end in EMPTY):
            return _Lines(self, body, mark)
        return None

    def _parsed(
        self, body: pa.Buffer, mark: str, types: dict[str, pa.DataType], refused: "Refused | None" = None
    ) -> pa.Table | None:
        """Parse the rows, or return None; rows of other lengths are skipped if they are asked for."""

        shape = self.dialect
        # Rows have numbers only where one thread reads them.
        read = arrow_csv.ReadOptions(column_names=self.names, block_size=BLOCK, use_threads=refused is None)
        split = arrow_csv.ParseOptions(
            delimiter=mark,
            quote_char='"' if shape.quotes else False,
            double_quote=shape.quotes,
            escape_char="\\" if shape.escape else False,
            newlines_in_values=shape.quotes,
            ignore_empty_lines=True,
            invalid_row_handler=None if refused is None else refused.skip,
        )
        convert = arrow_csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[], decimal_point=shape.decimal
        )
        try:
            return arrow_csv.read_csv(pa.BufferReader(body), read, split, convert)
        except pa.ArrowException:
            return None

    def _columns(self, table: pa.Table, kinds: Mapping[str, str]) -> dict[str, pa.Array]:
        table = table.unify_dictionaries()
        columns = {name: table[name].combine_chunks() for name in table.column_names}
        if self.dialect.decimal == ",":
            numbers = [name for name, kind in kinds.items() if kind in (NUMBER, TIME) and _is_text(columns[name])]
            point = {"pattern": r"^([-+]?[0-9]+),([0-9]+)$", "replacement": r"\1.\2"}
            columns |= {name: pc.replace_substring_regex(columns[name], **point) for name in numbers}
        return columns


class Refused:
    """The numbers of rows that have another length than the others, and the first of these rows."""

    def __init__(self):
        self.rows, self.first = [], None

    def skip(self, row: arrow_csv.InvalidRow) -> str:
        """Take a row, and have it skipped."""
        self.rows.append(row.number)
        self.first = self.first or row
        return "skip" if len(self.rows) <= MOST else "error"


class _Lines(Sequence):
    """The line in which each row begins, as far as it was asked for."""

    def __init__(self, file: Delimited, body: pa.Buffer, mark: str):
        self.starts, self.more = array("q"), self._found(file, body, mark)

    def __len__(self) -> int:
        self.starts.extend(self.more)
        return len(self.starts)

    def __getitem__(self, row: int) -> int:
        if row >= len(self.starts):
            self.starts.extend(islice(self.more, row + 1 - len(self.starts)))
        return self.starts[min(row, len(self.starts) - 1)]

    @staticmethod
    def _found(file: Delimited, body: pa.Buffer, mark: str) -> Iterator[int]:
        shape, data = file.dialect, body.to_pybytes()
        if shape.quotes:
            rows = records(file.name, data.decode(), shape.line, mark, strict=False, escape=shape.escape)
            yield from (line for line, fields in rows if fields)
            return
        line, at, end = shape.line, 0, b"\n" if b"\n" in data else b"\r"
        for row in ROW.finditer(data):
            line, at = line + data.count(end, at, row.start()), row.start()
            yield line


def _is_text(column: pa.Array) -> bool:
    return pa.types.is_string(column.type)


def _single_blanks(data: bytes) -> bytes:
    """Make every run of blanks and tabs one blank, and none of those at the ends of lines."""
    data = data.replace(b"\t", b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    for end in (b"\n", b"\r"):
        data = data.replace(b" " + end, end).replace(end + b" ", end)
    return data.strip(b" ")
