"""Open a user's table in any usual format: see its columns, and read those that are needed."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from graphdr.advise.tabular.delimited import KEY, LISTS, DelimitedText
from graphdr.advise.tabular.dialect import PLAIN, TextFormat, require_columns, sniff
from graphdr.advise.tabular.encoding import as_utf8
from graphdr.core.errors import UserError, join_names, quote
from graphdr.raw import bounded, parquet_files
from graphdr.raw.parquet_files import MAGIC
from graphdr.raw.text import Sheet

READING = 6  # times the size of a text that reading it takes; more for very short rows (SECURITY.md)
RECBOLE = (".inter", ".item", ".net")  # files whose header has a type for every column
WRONG = (b"\x1f\x8b", b"PK\x03\x04", b"<!DOCTYPE", b"<html")
UNNAMED = "(unnamed)"  # the heading of an index that a program wrote


class OpenedTable(NamedTuple):
    """A table whose columns can be read: ``read`` takes the kind of each column that is needed."""

    name: str
    names: list[str]  # of the columns
    read: Callable[[Mapping[str, str]], Sheet]
    header: bool = True  # the names are from the file
    assumed: Sequence[str] = ()  # about the text, with the option that changes it
    sample: Mapping[str, list[str]] = {}  # the first fields of each column


def note(name: str, assumed: Sequence[str]) -> str:
    """Return assumptions about a file as one line, or nothing."""
    return f"{Path(name).name}: {'; '.join(assumed)}" if assumed else ""


def open_table(
    path: Path,
    text_format: TextFormat = PLAIN,
    is_column: Callable[[str], bool] = lambda name: False,
) -> OpenedTable:
    """Open a table of text or a parquet file; ``is_column`` tells whether a text is a usual name of a column."""
    name, data = str(path), read_bytes(path)
    if path.suffix == ".parquet" or (data.startswith(MAGIC) and b"\0" in data[:4096]):
        return OpenedTable(name, _parquet_names(name, data), partial(_read_parquet, name, data))
    data, encoding = as_utf8(name, data, text_format.encoding)
    if (data[:4096].isspace() and data.isspace()) or not data:
        raise UserError(f"{path}: empty file")
    if data.startswith(WRONG) or b"\0" in data[:4096]:
        kinds = "csv, tsv or RecBole), nor a parquet file by its name"
        raise UserError(f"{path}: not a table of text ({kinds}; --encoding names an unusual encoding")
    bounded.require(path, READING * len(data), len(data), "its table", share=1.0)
    recbole = Path(path.name.removesuffix(".gz")).suffix in RECBOLE
    dialect = sniff(name, data, text_format, is_column, recbole)
    names = [heading or UNNAMED for heading in dialect.names]
    _require_distinct(f"{path}, line {max(1, dialect.line - 1)}", names)
    assumed = [] if encoding == "UTF-8" else [f"encoding {encoding} (--encoding)"]
    if not recbole:
        assumed += dialect.assumed
    text = DelimitedText(name, data, dialect._replace(names=names))
    return OpenedTable(name, names, text.read, dialect.header, assumed, text.sample)


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file, unpacked if they are gzipped."""
    if not os.path.exists(path):  # Path.exists raises for an impossible name
        raise UserError(f"{path}: no such file")
    return bounded.contents(path)


def _parquet_names(name: str, data: bytes) -> list[str]:
    file = parquet_files.opened(name, data)
    names, rows = file.schema_arrow.names, file.metadata.num_rows
    require_columns(name, len(names))
    _require_distinct(name, names)
    if not rows or not names:
        raise UserError(f"{name}: no rows")
    return names


def _require_distinct(place: str, names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise UserError(f"{place}: two columns of one name: {join_names(names)}")


def _read_parquet(name: str, data: bytes, kinds: Mapping[str, str]) -> Sheet:
    """Read columns: texts as one type, lists as lists or texts, numbers and times as they are."""
    table = parquet_files.table(name, data, lambda names: list(kinds))
    columns = {}
    for column, kind in kinds.items():
        try:
            columns[column] = _flatten(table[column].unify_dictionaries().combine_chunks(), kind)
        except (pa.ArrowException, TypeError):
            of_type = f"column {quote(column, 2)} is of type {quote(str(table[column].type), 2)}"
            raise UserError(f"{name}: {of_type}; expected texts or numbers") from None
    return Sheet(columns, name, unit="row")


def is_list(kind: pa.DataType) -> bool:
    """Tell whether a type is one of lists."""
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _flatten(column: pa.Array, kind: str) -> pa.Array:
    """Return a column without nesting; raise an error if its values cannot be written as texts."""
    types = pa.types
    if is_list(column.type):
        pa.nulls(0, column.type.value_type).cast(pa.string())
        if kind == LISTS:
            return column
        if kind == KEY:
            raise TypeError
        texts = (" ".join(map(str, numbers)) if numbers is not None else "" for numbers in column.to_pylist())
        return pa.array(texts, pa.string())
    if types.is_large_string(column.type) or types.is_binary(column.type) or types.is_large_binary(column.type):
        return column.cast(pa.string())
    values = column.dictionary if types.is_dictionary(column.type) else column.slice(0, 0)
    values.cast(pa.string())
    return column
