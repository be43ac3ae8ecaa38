"""Tables of a user in any usual format, as sheets of text columns: mistakes name the file and the line."""

import os
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import UserError
from graphdr.raw import parquet_files, text
from graphdr.raw.tables import encode
from graphdr.raw.text import KINDS, Sheet, refuse, short

USUAL = tomllib.loads((Path(__file__).parent / "columns.toml").read_text(encoding="utf-8"))  # names of columns
DELIMITERS = ("\t", ",", ";", "|")
TYPED = (".inter", ".item", ".net")  # RecBole's atomic files, whose header names a type besides
WRONG = (b"\x1f\x8b", b"PK\x03\x04", b"<!DOCTYPE", b"<html")


def read(path: Path, header: bool | None = None, usual: Iterable[str] = ()) -> Sheet:
    """Read a table; unless ``header`` says, the first line is one if it holds no number, or one of the usual names."""
    data = content(path)
    return _parquet(path, data) if path.suffix == ".parquet" else _text(path, data, header, set(usual))


def content(path: Path) -> bytes:
    """Return the bytes of a file, unpacked if they are gzipped."""
    if not os.path.exists(path):  # also for a name that is none, of which Path.exists makes an error
        raise UserError(f"{path}: no such file")
    return text.contents(path)


def parquet(name: str, data: bytes, choose: Callable[[list[str]], list[str]] | None = None) -> pa.Table:
    """Read a parquet file, or those of its columns that are chosen by their names."""
    try:
        return parquet_files.table(name, data, choose)
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{name}: not a readable parquet file ({short(reason)})") from None


def _parquet(path: Path, data: bytes) -> Sheet:
    table = parquet(str(path), data)
    if len(set(table.column_names)) < len(table.column_names):
        raise UserError(f"{path}: two columns of one name: {', '.join(table.column_names)}")
    if not len(table) or not table.column_names:
        raise UserError(f"{path}: no rows")
    try:
        columns = {name: _as_text(table[name].combine_chunks()) for name in table.column_names}
    except pa.ArrowException as error:
        raise UserError(f"{path}: a column that is neither text nor numbers ({short(str(error))})") from None
    return Sheet(columns, str(path), unit="row")


def _as_text(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type) or pa.types.is_fixed_size_list(column.type):
        texts = (" ".join(map(str, numbers)) if numbers is not None else "" for numbers in column.to_pylist())
        return pa.array(texts, pa.string())
    column = column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column
    return pc.fill_null(column.cast(pa.string()), "")


def _text(path: Path, data: bytes, header: bool | None, usual: set[str]) -> Sheet:
    file = text.user_text(str(path), data)
    if file.data.startswith(WRONG) or b"\0" in file.data[:4096]:
        raise UserError(f"{path}: not a table of text (csv, tsv or RecBole), nor a parquet file by its name")
    typed = Path(path.name.removesuffix(".gz")).suffix in TYPED
    delimiter = "\t" if typed else delimiter_of(file)
    names = [field.strip() for field in text.heading(file, delimiter)]
    if typed:
        names = [field.rpartition(":")[0] or field for field in names]
    if header is None:  # data hold some number, and no name that a column would have
        header = typed or not any(map(_is_number, names)) or any(plain(field) in usual for field in names)
    if not header:
        names = [str(number) for number in range(1, 1 + len(names))]
    if len(set(names)) < len(names):
        raise UserError(f"{path}, line 1: two columns of one name: {', '.join(names)}")
    kinds = dict.fromkeys(names, "text")
    sheet = text.parse(file, kinds, delimiter, text.first_line(file) if header else None, quoted=True)
    note = "" if header else f"{path.name} has no header: its columns are 1 to {len(names)}"
    return sheet._replace(columns={name: sheet.columns[name].combine_chunks() for name in names}, note=note)


def delimiter_of(file: text.File) -> str:
    """Return the mark that separates the fields: the one that is most often in the first line."""
    return max(DELIMITERS, key=text.first_line(file).count)


def plain(name: str) -> str:
    """Return a name as it is compared: lower case, letters and digits alone."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _is_number(field: str) -> bool:
    try:
        return "_" not in field and bool(np.isfinite(float(field)))
    except ValueError:
        return False


def numbers(sheet: Sheet, name: str, rows: np.ndarray | None = None) -> np.ndarray:
    """Return a column as finite numbers; ``rows`` are their rows in the file, if others."""
    column, complaint = sheet.columns[name], KINDS["float"].complaint
    try:
        values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        values = np.array([float(field) if _is_number(field) else np.nan for field in column.to_pylist()])
    refuse(sheet, KINDS["float"].bad(pa.array(values)), lambda at: f"{name} {quoted(column, at)} {complaint}", rows)
    return values


def keys(sheet: Sheet, name: str) -> pa.Array:
    """Return a column of names of users, items or nodes: not empty, and without a tab or a line break."""
    column = sheet.columns[name]
    refuse(sheet, pc.equal(column, ""), lambda row: f"{name} is empty")
    broken = pc.match_substring_regex(column, "[\t\r\n]")
    refuse(sheet, broken, lambda row: f"{name} {quoted(column, row)} holds a tab or a line break")
    return column


def quoted(column: pa.Array | pa.ChunkedArray, at: int) -> str:
    """Return a value of a column as it is shown in a message."""
    return short(column[int(at)].as_py())


def repeated(values: np.ndarray | pa.Array) -> np.ndarray:
    """Say of each value whether it was there before."""
    places = encode(values)[1] if isinstance(values, pa.Array) else values
    return ~np.isin(np.arange(len(places)), np.unique(places, return_index=True)[1])


def refuse_equal(values: np.ndarray, what: str) -> None:
    """Refuse values that are all the same."""
    if len(values) > 1 and np.ptp(values) == 0:
        raise UserError(f"{what} {values[0]:g}, so that there is nothing to learn")
