"""Tables of a user in any usual format: open one, see its columns, and read those that are needed."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from graphdr.advise.tabular.delimited import KEY, LISTS, Delimited
from graphdr.advise.tabular.dialect import require_columns, sniff
from graphdr.advise.tabular.encoding import as_utf8
from graphdr.advise.tabular.roles import UNNAMED, USUAL, plain
from graphdr.core.errors import UserError, join_names, quote
from graphdr.raw import bounded, parquet_files
from graphdr.raw.parquet_footer import MAGIC
from graphdr.raw.tables import encode
from graphdr.raw.text import Sheet

__all__ = ["USUAL", "plain"]  # names that belong here, wherever they are made
READING = 6  # times the size of a text that reading it takes; more for very short rows (SECURITY.md)
TYPED = (".inter", ".item", ".net")  # RecBole's atomic files, whose header names a type besides
WRONG = (b"\x1f\x8b", b"PK\x03\x04", b"<!DOCTYPE", b"<html")


class Written(NamedTuple):
    """How the files of a user are written, where they do not show it: an encoding, a separator, a header or none."""

    encoding: str | None = None
    separator: str | None = None
    header: bool | None = None


class Table(Protocol):
    """A table that was opened: its columns, whether their names are its own, its first fields, and columns by kind."""

    name: str

    @property
    def names(self) -> list[str]: ...
    @property
    def header(self) -> bool: ...
    @property
    def assumed(self) -> list[str]: ...
    def sample(self, name: str) -> list[str]: ...
    def sheet(self, kinds: Mapping[str, str]) -> Sheet: ...


def opened(path: Path, written: Written = Written(), known: Callable[[str], bool] = lambda name: False) -> Table:  # noqa: B008
    """Open a table of text or a parquet file; ``known`` says of a name whether a column would have it."""
    data = content(path)
    if path.suffix == ".parquet" or (data.startswith(MAGIC) and b"\0" in data[:4096]):
        return Parquet(str(path), data, _names(str(path), data))
    data, encoding = as_utf8(str(path), data, written.encoding)
    if (data[:4096].isspace() and data.isspace()) or not data:
        raise UserError(f"{path}: empty file")
    if data.startswith(WRONG) or b"\0" in data[:4096]:
        kinds = "csv, tsv or RecBole), nor a parquet file by its name"
        raise UserError(f"{path}: not a table of text ({kinds}; --encoding names an unusual encoding")
    bounded.require(path, READING * len(data), len(data), "its table", share=1.0)
    typed = Path(path.name.removesuffix(".gz")).suffix in TYPED
    dialect = sniff(str(path), data, written.separator, written.header, known, typed)
    names = [name or UNNAMED for name in dialect.names]
    _require_distinct(f"{path}, line {max(1, dialect.line - 1)}", names)
    said = [] if typed else dialect.assumed
    said = ([] if encoding == "UTF-8" else [f"encoding {encoding} (--encoding)"]) + said
    return Delimited(str(path), data, dialect._replace(names=names, assumed=said))


def noted(path: Path, assumed: list[str]) -> str:
    """Return what was assumed about a file as one line, or nothing."""
    return f"{path.name}: {'; '.join(assumed)}" if assumed else ""


def content(path: Path) -> bytes:
    """Return the bytes of a file, unpacked if they are gzipped."""
    if not os.path.exists(path):  # also for a name that is none, of which Path.exists makes an error
        raise UserError(f"{path}: no such file")
    return bounded.contents(path)


def _names(name: str, data: bytes) -> list[str]:
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


class Parquet(NamedTuple):
    """A parquet file and the names of its columns."""

    name: str
    data: bytes
    names: list[str]
    header: bool = True
    assumed: tuple[str, ...] = ()

    def sample(self, name: str) -> list[str]:
        """Return nothing: the types of the columns say what they hold."""
        return []

    def sheet(self, kinds: Mapping[str, str]) -> Sheet:
        """Read columns; those of texts become texts, others stay numbers and times, and lists become what is asked."""
        table = parquet_files.table(self.name, self.data, lambda names: list(kinds))
        columns = {}
        for name, kind in kinds.items():
            try:
                columns[name] = _flat(table[name].unify_dictionaries().combine_chunks(), kind)
            except (pa.ArrowException, TypeError):
                of_type = f"column {quote(name, 2)} is of type {quote(str(table[name].type), 2)}"
                raise UserError(f"{self.name}: {of_type}; expected texts or numbers") from None
        return Sheet(columns, self.name, unit="row")


def _flat(column: pa.Array, kind: str) -> pa.Array:
    """Return texts as one type of them, lists as they are or as texts, and the rest if texts can be made of it."""
    types = pa.types
    if types.is_list(column.type) or types.is_large_list(column.type) or types.is_fixed_size_list(column.type):
        pa.nulls(0, column.type.value_type).cast(pa.string())
        if kind == LISTS:
            return column
        if kind == KEY:
            raise TypeError
        texts = (" ".join(map(str, numbers)) if numbers is not None else "" for numbers in column.to_pylist())
        return pa.array(texts, pa.string())
    if types.is_large_string(column.type) or types.is_binary(column.type) or types.is_large_binary(column.type):
        return column.cast(pa.string())
    column.slice(0, 0).cast(pa.string()) if not types.is_dictionary(column.type) else column.dictionary.cast(
        pa.string()
    )
    return column


def quoted(column: pa.Array | pa.ChunkedArray, at: int) -> str:
    """Return a value of a column as it is shown in a message."""
    return quote(column[int(at)].as_py())


def repeated(values: np.ndarray | pa.Array) -> np.ndarray:
    """Say of each value whether it was there before."""
    places = encode(values if isinstance(values, pa.Array) else pa.array(values))[1]
    return np.diff(np.maximum.accumulate(places), prepend=-1) == 0


def refuse_equal(values: np.ndarray, what: str) -> None:
    """Refuse values that are all the same."""
    if len(values) > 1 and np.ptp(values) == 0:
        raise UserError(f"{what} {values[0]:g}, so that there is nothing to learn")
