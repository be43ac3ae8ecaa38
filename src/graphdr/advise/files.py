"""Tables of a user in any usual format, as sheets of text columns: mistakes name the file and the line."""

import gzip
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import UserError
from graphdr.raw.text import BOM, KINDS, SEPARATORS, short

DELIMITERS = ("\t", ",", ";", "|")
TYPED = (".inter", ".item", ".net")  # RecBole's atomic files, whose header names a type besides
WRONG = (b"\x1f\x8b", b"PK\x03\x04", b"<!DOCTYPE", b"<html")


class Sheet(NamedTuple):
    """Columns of text by name, the file that they are from, and how a row is named: the lines, or that of the first."""

    columns: dict[str, pa.Array]
    name: str
    first: int = 2
    unit: str = "line"
    note: str = ""
    lines: list[int] | None = None

    def place(self, row: int) -> str:
        """Name the place of a row."""
        return f"{self.unit} {self.lines[row] if self.lines else self.first + row}"

    def fault(self, row: int, complaint: str) -> UserError:
        """Build the message for a mistake in a row."""
        return UserError(f"{self.name}, {self.place(row)}: {complaint}")

    def refuse(self, bad: np.ndarray | pa.Array, complaint: Callable[[int], str]) -> None:
        """Raise an error for the first row that is marked as bad, if there is one."""
        bad = np.asarray(bad, bool)
        if bad.any():
            row = int(bad.argmax())
            raise self.fault(row, complaint(row))


def read(path: Path, header: bool | None = None, known: Iterable[str] = ()) -> Sheet:
    """Read a table; without a word on its header, the first line is one unless it holds numbers and no known name."""
    if path.suffix == ".parquet":
        return _parquet(path)
    data = content(path)
    if not data.strip():
        raise UserError(f"{path}: empty file")
    return _text(path, data, header, known)


def content(path: Path) -> bytes:
    """Return the bytes of a file, unpacked if they are gzipped."""
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise UserError(f"{path}: cannot be read ({' '.join(reason.split())})") from None


def _parquet(path: Path) -> Sheet:
    import pyarrow.parquet as pq

    content(path)  # what cannot be read at all is said in the same words for every format
    try:
        table = pq.read_table(path)
        columns = {name: _as_text(table[name].combine_chunks()) for name in table.column_names}
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise UserError(f"{path}: not a readable parquet file ({str(error).splitlines()[0][:80]})") from None
    if len(columns) < len(table.column_names):
        raise UserError(f"{path}: two columns of one name: {', '.join(table.column_names)}")
    if not columns or not len(table):
        raise UserError(f"{path}: no rows")
    return Sheet(columns, str(path), 1, "row")


def _as_text(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type) or pa.types.is_fixed_size_list(column.type):
        texts = (" ".join(map(str, numbers)) if numbers is not None else "" for numbers in column.to_pylist())
        return pa.array(texts, pa.string())
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return pc.fill_null(column.cast(pa.string()), "")


def _text(path: Path, data: bytes, header: bool | None, known: Iterable[str]) -> Sheet:
    name = str(path)
    data = data.removeprefix(BOM).rstrip(b"\r\n")
    if data.startswith(WRONG) or b"\0" in data[:4096]:
        raise UserError(f"{name}: not a table of text (csv, tsv or RecBole), nor a parquet file by its name")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{name}, line {line}: not UTF-8 text") from None
    start = data.split(b"\n", 1)[0].rstrip(b"\r").decode()
    typed = Path(path.name.removesuffix(".gz")).suffix in TYPED
    delimiter = "\t" if typed else max(DELIMITERS, key=start.count)
    fields = [field.strip().strip('"') for field in start.split(delimiter)]
    if typed:
        fields = [field.rpartition(":")[0] or field for field in fields]
    known = set(known)
    first = header if header is not None else typed or not _is_data(fields, known)
    names = fields if first else [str(number) for number in range(1, 1 + len(fields))]
    if len(set(names)) < len(names):
        raise UserError(f"{name}, line 1: two columns of one name: {', '.join(names)}")
    if first and b"\n" not in data:
        raise UserError(f"{name}: no rows below the header")
    table = _parsed(name, data, names, delimiter, quoted=delimiter != "\t", skip=int(first))
    note = "" if first else f"{path.name} has no header: its columns are 1 to {len(names)}"
    return Sheet({field: table[field].combine_chunks() for field in names}, name, 1 + int(first), note=note)


def _is_data(fields: list[str], known: set[str]) -> bool:
    """Tell whether a first line holds data: some number, and no name that a column would have."""
    return any(_is_number(field) for field in fields) and not any(plain(field) in known for field in fields)


def plain(name: str) -> str:
    """Return a name as it is compared: lower case, letters and digits alone."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _is_number(text: str) -> bool:
    try:
        return "_" not in text and bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _parsed(name: str, data: bytes, names: list[str], delimiter: str, quoted: bool, skip: int) -> pa.Table:
    from pyarrow import csv

    wrong: list = []

    def remember(row) -> str:
        wrong.append(row)
        return "error"

    quote = '"' if quoted else False
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=names, skip_rows=skip, use_threads=False),
            csv.ParseOptions(
                delimiter=delimiter, quote_char=quote, ignore_empty_lines=False, invalid_row_handler=remember
            ),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), null_values=[], strings_can_be_null=False
            ),
        )
    except pa.ArrowException as error:
        if wrong and wrong[0].number:
            found = f"number of fields is {wrong[0].actual_columns}" if wrong[0].text.strip() else "empty line"
            marks = SEPARATORS.get(delimiter, repr(delimiter))
            line = f"{name}, line {wrong[0].number}"
            raise UserError(f"{line}: {found}; expected {len(names)} ({', '.join(names)}) between {marks}") from None
        raise UserError(f"{name}: not a table of text ({str(error).splitlines()[0][:80]})") from None
    return table


def numbers(sheet: Sheet, name: str) -> np.ndarray:
    """Return a column as finite numbers."""
    column, complaint = sheet.columns[name], KINDS["float"].complaint
    try:
        values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        values = np.array([float(text) if _is_number(text) else np.nan for text in column.to_pylist()])
    sheet.refuse(KINDS["float"].bad(pa.array(values)), lambda row: f"{name} {short(column[row].as_py())} {complaint}")
    return values


def keys(sheet: Sheet, name: str) -> pa.Array:
    """Return a column of names of users, items or nodes: not empty, and without a tab or a line break."""
    column = sheet.columns[name]
    sheet.refuse(pc.equal(column, ""), lambda row: f"{name} is empty")
    sheet.refuse(
        pc.match_substring_regex(column, "[\t\r\n]"),
        lambda row: f"{name} {short(column[row].as_py())} holds a tab or a line break",
    )
    return column
