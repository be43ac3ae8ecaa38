"""Open a user's table in any usual format, find the column of each role, and read those that are needed."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import UserError, join_names, quote
from graphdr.raw import bounded, parquet_files
from graphdr.raw.delimited import DelimitedText
from graphdr.raw.dialect import PLAIN, IsColumn, TextFormat, as_utf8, is_number, require_columns, sniff
from graphdr.raw.sheets import Sheet

KEY, NUMBER, TIME, TEXT, LISTS = "key", "number", "time", "text", "lists"  # kinds of columns
READING = 6  # times the size of a text that reading it takes; more for very short rows (SECURITY.md)
RECBOLE = (".inter", ".item", ".net")  # files whose header has a type for every column
WRONG = (b"\x1f\x8b", b"PK\x03\x04", b"<!DOCTYPE", b"<html")
UNNAMED = "(unnamed)"  # the heading of an index that a program wrote
USUAL = tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))
NAMES = {role: names.split() for role, names in USUAL["tables"].items()}  # best first
FILLER_WORDS = set(USUAL["words"]["filling"].split())
DATE = re.compile(r"\d{4}-\d\d-\d\d([ T].*)?")
CLOCKS = ((3e8, 5e9), (3e11, 5e12))  # seconds and milliseconds since 1970, from 1979 on


class OpenedTable(NamedTuple):
    """A table whose columns can be read: ``read`` takes the kind of each column that is needed."""

    name: str
    names: list[str]  # of the columns
    read: Callable[[Mapping[str, str]], Sheet]
    header: bool = True  # the names are from the file
    assumed: Sequence[str] = ()  # about the text, with the option that changes it
    sample: Mapping[str, list[str]] = {}  # the first fields of each column


def note(name: str, assumed: Sequence[str]) -> list[str]:
    """Return assumptions about a file as one line, or nothing."""
    return [f"{Path(name).name}: {'; '.join(assumed)}"] if assumed else []


def open_table(path: Path, text_format: TextFormat = PLAIN, is_column: IsColumn = lambda name: False) -> OpenedTable:
    """Open a table of text or a parquet file; ``is_column`` tells whether a text is a usual name of a column."""
    data = bounded.contents(path)
    if path.suffix == ".parquet" or (data.startswith(parquet_files.MAGIC) and b"\0" in data[:4096]):
        return _open_parquet(str(path), data)
    return _open_text(path, data, text_format, is_column)


def _open_text(path: Path, data: bytes, text_format: TextFormat, is_column: IsColumn) -> OpenedTable:
    name = str(path)
    data, encoding = as_utf8(name, data, text_format.encoding)
    if not data or (data[:4096].isspace() and data.isspace()):
        raise UserError(f"{path}: empty file")
    if data.startswith(WRONG) or b"\0" in data[:4096]:
        kinds = "csv, tsv or RecBole), nor a parquet file by its name"
        raise UserError(f"{path}: not a table of text ({kinds}; --encoding names an unusual encoding")
    bounded.require(path, READING * len(data), len(data), "its table", share=1.0)
    recbole = Path(path.name.removesuffix(".gz")).suffix in RECBOLE
    dialect, header, rows, assumed = sniff(name, data, text_format, is_column, recbole)
    dialect = dialect._replace(names=[heading or UNNAMED for heading in dialect.names])
    _require_distinct(f"{path}, line {max(1, dialect.line - 1)}", dialect.names)
    assumed = [] if recbole else assumed
    if encoding != "UTF-8":
        assumed.insert(0, f"encoding {encoding} (--encoding)")
    sample = {column: [row[at] for row in rows if len(row) > at] for at, column in enumerate(dialect.names)}

    def type_of(column: str, kind: str) -> pa.DataType:
        """Return the type to try first, by the first fields of a column."""
        if kind == KEY:
            return pa.dictionary(pa.int32(), pa.string())
        if kind in (NUMBER, TIME) and all(is_number(text, dialect.decimal) for text in sample[column]):
            return pa.float64()
        return pa.timestamp("us") if kind == TIME else pa.string()

    def read(kinds: Mapping[str, str]) -> Sheet:
        types = {column: type_of(column, kind) for column, kind in kinds.items()}
        sheet = DelimitedText(name, data, dialect).read(types)
        table = sheet.columns.unify_dictionaries()
        columns = {column: table[column].combine_chunks() for column in kinds}
        for column, kind in kinds.items():
            if dialect.decimal == "," and kind in (NUMBER, TIME) and pa.types.is_string(columns[column].type):
                pattern, replacement = r"^([-+]?[0-9]+),([0-9]+)$", r"\1.\2"
                columns[column] = pc.replace_substring_regex(columns[column], pattern, replacement)
        return sheet._replace(columns=columns)

    return OpenedTable(name, dialect.names, read, header, assumed, sample)


def _require_distinct(place: str, names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise UserError(f"{place}: two columns of one name: {join_names(names)}")


def _open_parquet(name: str, data: bytes) -> OpenedTable:
    file = parquet_files.opened(name, data)
    names = file.schema_arrow.names
    require_columns(name, len(names))
    _require_distinct(name, names)
    if not file.metadata.num_rows or not names:
        raise UserError(f"{name}: no rows")

    def read(kinds: Mapping[str, str]) -> Sheet:
        """Read columns: texts as one type, lists as lists or texts, numbers and times as they are."""
        table = parquet_files.table(name, data, list(kinds))
        columns = {}
        for column, kind in kinds.items():
            try:
                columns[column] = _flatten(table[column].unify_dictionaries().combine_chunks(), kind)
            except (pa.ArrowException, TypeError):
                of_type = f"column {quote(column, 2)} is of type {quote(str(table[column].type), 2)}"
                raise UserError(f"{name}: {of_type}; expected texts or numbers") from None
        return Sheet(columns, name, unit="row")

    return OpenedTable(name, names, read)


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


# Roles: as the user says, by the usual name of a column, by the words of its name, or by order


def normalize(name: str) -> str:
    """Return a name as it is compared: lower case, letters and digits alone."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _matches_word(name: str, role: str) -> bool:
    """Tell whether the word that matters in a name says the role, as ``rating`` in ``Book-Rating``."""
    words = [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+", name)]
    significant = [word for word in words if word not in FILLER_WORDS]
    word = (significant or words or [""])[-1]
    return word in NAMES[role] or word.removesuffix("s") in NAMES[role]


def is_usual(name: str, roles: Sequence[str]) -> bool:
    """Tell whether a column of this name would have one of these roles."""
    by_word = not any(map(str.isdigit, name))  # "user 1" is a user
    return any(normalize(name) in NAMES[role] or (by_word and _matches_word(name, role)) for role in roles)


def find_roles(
    table: OpenedTable, named: Mapping[str, str], required: Sequence[str], optional: Sequence[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Return the column of each role and what was assumed; refuse a table without one that is required or ``named``."""
    roles = (*required, *optional)
    columns, assumed = {role: named[role] for role in roles if role in named}, []
    wrong = [role for role, name in columns.items() if name not in table.names]

    def free() -> list[str]:
        return [name for name in table.names if name not in columns.values()]

    for certain in (True, False):
        for role in roles:
            if role in columns:
                continue
            if certain:
                names = [name for usual in NAMES[role] for name in free() if normalize(name) == usual]
            else:
                names = [name for name in free() if _matches_word(name, role)]
            if names:
                columns[role] = names[0]
                if len(names) > 1 or not certain:
                    assumed.append(_assumption(role, names))
    if "node" in required and "node" not in columns and UNNAMED in free():  # an index that holds the keys
        columns["node"] = UNNAMED
        assumed.append("node: the column without a name (--node)")
    missing = [role for role in required if role not in columns]
    if not table.header:
        by_order = [role for role in roles if role not in columns]
        for name in free():
            while by_order and by_order[0] in ("value", "weight") and _is_time(table.sample.get(name, [])):
                by_order.pop(0)
            if by_order:
                columns[by_order.pop(0)] = name
    elif len(table.names) == len(missing) + len(columns) == 2:  # two columns, in the usual order
        columns |= dict(zip(missing, free(), strict=True))
        assumed += [_assumption(role, [columns[role]]) for role in missing]
    for role in (*wrong, *(role for role in required if role not in columns)):
        column, there = repr(named[role]) if role in named else f"of {role}s", join_names(table.names)
        raise UserError(f"{table.name}: no column {column}; there are: {there}; name it by --{role} COLUMN")
    return columns, assumed


def _assumption(role: str, names: list[str]) -> str:
    others = f", not {' or '.join(quote(name, 3) for name in names[1:3])}" if names[1:] else ""
    return f"{role}: column {quote(names[0], 3)}{others} (--{role})"


def _is_time(texts: list[str]) -> bool:
    """Tell whether fields look like a time, which is no value and no weight."""
    if texts and all(map(DATE.fullmatch, texts)):
        return True
    if not texts or not all(map(is_number, texts)):
        return False
    return any(low <= min(map(float, texts)) and max(map(float, texts)) <= high for low, high in CLOCKS)
