"""Read the rows of a delimited text as columns: by Arrow, and row by row only to name the place of a mistake."""

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from graphdr.advise.tabular.dialect import BLANKS, LONGEST, Dialect, is_number
from graphdr.core.errors import UserError, join_names, quote
from graphdr.raw.text import SEPARATORS, Sheet, records

KEY, NUMBER, TIME, TEXT, LISTS = "key", "number", "time", "text", "lists"  # kinds of columns
TYPES = {KEY: pa.dictionary(pa.int32(), pa.string()), NUMBER: pa.float64(), TEXT: pa.string(), LISTS: pa.string()}
ROW = re.compile(rb"[^\r\n]+")
BLOCK = LONGEST  # bytes parsed at a time
MOST = 100_000  # rows of another length that are collected
EMPTY_LINES = (b"\n\n", b"\n\r", b"\r\r")
UNIT_SEPARATOR = "\x1f"  # in place of a separator of two letters; it occurs in no text


class DelimitedText:
    """The rows of a text whose dialect is known."""

    def __init__(self, name: str, data: bytes, dialect: Dialect) -> None:
        self.name, self.data, self.dialect = name, data, dialect
        self.sample = dialect.sample

    def read(self, kinds: Mapping[str, str]) -> Sheet:
        """Read columns by kind, or as texts if one does not parse; rows of another length are faults."""
        if not ROW.search(self.data, self.dialect.start):
            raise UserError(f"{self.name}: no rows below the header")
        self.body, self.separator = self._body()
        types = {column: self._type(column, kind) for column, kind in kinds.items()}
        table = self._parse(types)
        if table is None and set(types.values()) - {TYPES[KEY], TYPES[TEXT]}:
            texts = {column: kind if kind == TYPES[KEY] else TYPES[TEXT] for column, kind in types.items()}
            table = self._parse(texts)
        if table is not None:
            return Sheet(self._columns(table, kinds), self.name, self.dialect.line, lines=self._lines())
        return self._read_with_faults(kinds)

    def _body(self) -> tuple[pa.Buffer, str]:
        """Return the rows and the letter between their fields."""
        start, separator = self.dialect.start, self.dialect.separator
        if separator == BLANKS:
            return pa.py_buffer(_single_blanks(self.data[start:])), " "
        if len(separator.encode()) > 1:
            mark = UNIT_SEPARATOR.encode()
            if self.data.find(mark) >= 0:
                raise UserError(f"{self.name}: character {UNIT_SEPARATOR!r}; expected text")
            return pa.py_buffer(self.data[start:].replace(separator.encode(), mark)), UNIT_SEPARATOR
        return pa.py_buffer(self.data).slice(start), separator

    def _type(self, column: str, kind: str) -> pa.DataType:
        """Return the type to try first, by the first fields of a column."""
        if kind not in (NUMBER, TIME):
            return TYPES[kind]
        if all(is_number(text, self.dialect.decimal) for text in self.sample[column]):
            return TYPES[NUMBER]
        return pa.timestamp("us") if kind == TIME else TYPES[TEXT]

    def _parse(self, types: Mapping[str, pa.DataType], refused: "RefusedRows | None" = None) -> pa.Table | None:
        """Parse the rows, or return None; ``refused`` collects rows of another length, which are skipped."""
        dialect = self.dialect
        # Rows have numbers only where one thread reads them.
        read = arrow_csv.ReadOptions(column_names=dialect.names, block_size=BLOCK, use_threads=refused is None)
        split = arrow_csv.ParseOptions(
            delimiter=self.separator,
            quote_char='"' if dialect.quotes else False,
            double_quote=dialect.quotes,
            escape_char="\\" if dialect.escape else False,
            newlines_in_values=dialect.quotes,
            ignore_empty_lines=True,
            invalid_row_handler=None if refused is None else refused.skip,
        )
        convert = arrow_csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[], decimal_point=dialect.decimal
        )
        try:
            return arrow_csv.read_csv(pa.BufferReader(self.body), read, split, convert)
        except pa.ArrowException:
            return None

    def _read_with_faults(self, kinds: Mapping[str, str]) -> Sheet:
        """Read the rows of the right length, and list the lines of the others."""
        refused = RefusedRows()
        table = self._parse(dict.fromkeys(kinds, TYPES[TEXT]), refused)
        if table is None and len(refused.rows) > MOST:
            complaint = f"{self._wrong_length(refused.first)}, as in {MOST:,} more rows"
            raise UserError(f"{self.name}, line {self.dialect.line + refused.rows[0] - 1}: {complaint}")
        if table is None:
            raise UserError(f"{self.name}: cannot be parsed; a row may be longer than {LONGEST >> 20} MB")
        count, lines = len(table) + len(refused.rows), self._lines()
        starts = np.arange(count) + self.dialect.line
        if lines is not None:
            starts = np.array([lines[row] for row in range(count)])
        wrong = np.array(refused.rows, int) - 1
        complaint = self._wrong_length(refused.first) if refused.rows else ""
        faults = [(int(line), complaint) for line in starts[wrong]]
        return Sheet(self._columns(table, kinds), self.name, lines=np.delete(starts, wrong).tolist(), faults=faults)

    def _wrong_length(self, row: arrow_csv.InvalidRow) -> str:
        if self.dialect.quotes and row.text.count('"') % 2:
            return f"a quote that is not closed: {quote(row.text)}"
        names = self.dialect.names
        expected = f"expected {len(names)} ({join_names(names)})"
        separator = SEPARATORS.get(self.dialect.separator, self.dialect.separator)
        return f"number of fields is {row.actual_columns}; {expected}, separated by {separator}"

    def _columns(self, table: pa.Table, kinds: Mapping[str, str]) -> dict[str, pa.Array]:
        """Return the columns in one piece, with decimal points."""
        table = table.unify_dictionaries()
        columns = {name: table[name].combine_chunks() for name in table.column_names}
        if self.dialect.decimal == ",":
            for name, kind in kinds.items():
                if kind in (NUMBER, TIME) and pa.types.is_string(columns[name].type):
                    pattern, replacement = r"^([-+]?[0-9]+),([0-9]+)$", r"\1.\2"
                    columns[name] = pc.replace_substring_regex(columns[name], pattern, replacement)
        return columns

    def _lines(self) -> "RowLines | None":
        """Return the line of every row, or None if rows are consecutive lines."""
        empty_lines = any(self.data.find(end, self.dialect.start) >= 0 for end in EMPTY_LINES)
        return RowLines(self._row_lines()) if self.dialect.quotes or empty_lines else None

    def _row_lines(self) -> Iterator[int]:
        dialect, data = self.dialect, self.body.to_pybytes()
        if dialect.quotes:
            rows = records(self.name, data.decode(), dialect.line, self.separator, strict=False, escape=dialect.escape)
            yield from (line for line, fields in rows if fields)
            return
        line, at, end = dialect.line, 0, b"\n" if b"\n" in data else b"\r"
        for row in ROW.finditer(data):
            line, at = line + data.count(end, at, row.start()), row.start()
            yield line


class RefusedRows:
    """The numbers of rows that have another length than the others, and the first of these rows."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.first: arrow_csv.InvalidRow | None = None

    def skip(self, row: arrow_csv.InvalidRow) -> str:
        """Record a row, and tell Arrow to skip it."""
        self.rows.append(row.number)
        self.first = self.first or row
        return "skip" if len(self.rows) <= MOST else "error"


class RowLines(Sequence[int]):
    """The line in which each row begins, computed as far as it is asked for."""

    def __init__(self, lines: Iterator[int]) -> None:
        self.starts, self.more = array("q"), lines

    def __len__(self) -> int:
        self.starts.extend(self.more)
        return len(self.starts)

    def __getitem__(self, row: int) -> int:  # type: ignore[override] # no slices
        if row >= len(self.starts):
            self.starts.extend(islice(self.more, row + 1 - len(self.starts)))
        return self.starts[min(row, len(self.starts) - 1)]


def _single_blanks(data: bytes) -> bytes:
    """Replace every run of blanks and tabs by one blank, and remove those at the ends of lines."""
    data = data.replace(b"\t", b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    for end in (b"\n", b"\r"):
        data = data.replace(b" " + end, end).replace(end + b" ", end)
    return data.strip(b" ")
