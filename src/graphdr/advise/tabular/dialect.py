"""How a table of text is written, told from its first lines: separator, quotes, decimal mark, comments and header."""

import csv
import re
from collections.abc import Callable
from io import StringIO
from typing import NamedTuple

from graphdr.core.errors import UserError

BLANKS = "blanks"  # any run of blanks and tabs
MARKS = ("\t", ",", ";", "|", "::")
NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "blank": BLANKS, " ": BLANKS}
SAMPLE = 1 << 16  # bytes that are looked at
LONGEST = 1 << 22  # bytes of a line
WIDEST = 100_000  # columns
COMMENTS = 100  # more of them are no rows
MANY = 100_000  # comments
END = re.compile(rb"\r\n|\n|\r")
EXCEL = re.compile(rb'"?sep=([^\r\n])"?[ ,;\t]*(?:\r\n|\n|\r)', re.IGNORECASE)  # the first line that Excel understands
MATRIX = b"%%MatrixMarket"  # below its comments, a line has the size of the matrix
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE | re.ASCII)
DECIMAL_COMMA = re.compile(r"[-+]?\d+(,\d+)?", re.ASCII)
TYPED = re.compile(r":(token|token_seq|float|float_seq)$")  # RecBole's types


class Dialect(NamedTuple):
    """How a table is written, the names of its columns, and where its rows begin."""

    separator: str
    names: list[str]
    start: int  # byte of the first row
    line: int  # of the first row, counted from 1
    header: bool
    quotes: bool
    escape: bool  # a quote in a quoted field has a backslash before it
    decimal: str
    sample: list[list[str]]  # the first rows
    assumed: list[str]  # what a reader may want to know, with the option that changes it


def sniff(
    name: str,
    data: bytes,
    separator: str | None = None,
    header: bool | None = None,
    known: Callable[[str], bool] = lambda name: False,
    typed: bool = False,
) -> Dialect:
    """Tell the dialect of a table; ``known`` says of a name whether it is one that a column would have.

    Without ``header``, the first line is one if it holds no number, or a known name, unless what it says is said again
    below by rows that are texts alone.
    """
    separator = NAMED.get(separator, separator) if separator else "\t" if typed else None
    if separator and set(separator) & set('\r\n"'):
        raise UserError(f"--separator: {separator!r} is no mark between fields")
    start, line = 0, 1
    if excel := EXCEL.match(data):
        separator, start, line = separator or excel[1].decode(errors="replace"), excel.end(), 2
    above, comments = (start, line), []
    while data[start : start + 1] in (b"#", b"%"):
        end = _end(data, start)
        comments.append(data[start:end].strip().decode(errors="replace"))
        start, line = end, line + 1
        if len(comments) > MANY:
            raise UserError(f"{name}: more than {MANY:,} lines of comments; expected a table")
    if comments and data.startswith(MATRIX):
        start, line = _end(data, start), line + 1
    if comments and (start >= len(data) or _are_rows(comments, _text(data, start), separator)):
        (start, line), comments = above, []
    if _end(data, start) - start > LONGEST:
        raise UserError(f"{name}, line {line}: longer than {LONGEST >> 20} MB; expected a table")
    text = _text(data, start)
    separator = separator or _separator(text)
    quotes = _quoted(text, separator) if separator in ("\t", BLANKS) else _plain(separator) and data.find(b'"') >= 0
    escape = quotes and _escapes(data, separator)
    rows = [[field.strip() for field in row] for row in split(text, separator, quotes, escape) if row]
    if not rows:
        raise UserError(f"{name}: no rows, or a quoted field is too long")
    require_columns(name, len(rows[0]))
    heading, assumed = _commented(comments, separator, len(rows[0]), known), []
    if header is None and heading:
        assumed.append("columns named as in the last comment")
    elif header if header is not None else typed or _is_header(rows, separator, known):
        heading = rows.pop(0)
        start, line = _below(data, start, line, heading, quotes)
        quotes = quotes and data.find(b'"', start) >= 0
    else:
        heading = None
    width = len(heading or rows[0])
    names = heading or [str(number) for number in range(1, width + 1)]
    names = [(field.rpartition(":")[0] if typed else TYPED.sub("", field)) or field for field in names]
    if heading is None:
        assumed.append(f"has no header: its columns are 1 to {width}")
    if separator != ",":
        assumed.append(f"separated by {_shown(separator)} (--separator)")
    decimal = "," if separator != "," and _decimal_commas(rows) else "."
    assumed += ["decimal commas"] if decimal == "," else []
    return Dialect(separator, names, start, line, heading is not None, quotes, escape, decimal, rows, assumed)


def require_columns(name: str, count: int) -> None:
    """Refuse a table of too many columns, for each of them takes time."""
    if count > WIDEST:
        raise UserError(f"{name}: {count:,} columns; expected at most {WIDEST:,}")


def split(text: str, separator: str, quotes: bool, escape: bool) -> list[list[str]]:
    """Split lines into fields; what cannot be split gives no rows."""
    if not _plain(separator) or not quotes or '"' not in text:
        lines = re.split(r"\r\n|\n|\r", text)
        rows = [line.split() if separator == BLANKS else line.split(separator) if line else [] for line in lines]
        return [[field.strip('"') for field in row] for row in rows] if quotes else rows
    shape = {"delimiter": separator, "escapechar": "\\" if escape else None}
    try:
        return list(csv.reader(StringIO(text, newline=""), **shape))
    except (csv.Error, TypeError, ValueError):
        return []


def _plain(separator: str) -> bool:
    return len(separator.encode()) == 1


def is_number(field: str, decimal: str = ".") -> bool:
    """Say whether a text is a number."""
    return bool(NUMBER.fullmatch(field) or (decimal == "," and DECIMAL_COMMA.fullmatch(field)))


def _end(data: bytes, start: int) -> int:
    """Return where the line after the one that begins here does."""
    found = END.search(data, start)
    return found.end() if found else len(data)


def _text(data: bytes, start: int) -> str:
    """Return the first whole lines of the rows, two at least."""
    stop = start + SAMPLE
    if stop < len(data):
        stop = max(data.rfind(b"\n", start, stop), data.rfind(b"\r", start, stop)) + 1
        stop = min(max(stop, _end(data, _end(data, start))), start + 2 * LONGEST)
    return data[start:stop].decode(errors="replace")


def _separator(text: str) -> str:
    """Choose the mark that is most often in the first line, among those that cut all lines into as many fields."""
    first = re.sub(r'"[^"]*"', "", re.match(r"[^\r\n]*", text)[0])  # a mark within quotes separates nothing
    marks = sorted((mark for mark in MARKS if mark in first), key=first.count, reverse=True)
    fitting = [mark for mark in marks if _width(split(text, mark, mark != "\t", False)) > 1]
    if not marks:
        return BLANKS if len(first.split()) > 1 else ","
    if not fitting:
        return marks[0]
    best = fitting[0]
    if best == "," and len(fitting) > 1 and text.count(",") == len(re.findall(r"(?<=\d),(?=\d)", text)):
        return fitting[1]  # the commas are decimal ones
    if best == "\t" and _are_blanks(text):
        return BLANKS
    return best


def _are_blanks(text: str) -> bool:
    """Say whether blanks separate as well as tabs: fields have blanks around them, or the first is several numbers."""
    lines = [line for line in re.split(r"\r\n|\n|\r", text) if line]
    cut, fields = [line.split() for line in lines], [line.split("\t") for line in lines]
    if _width(cut) == _width(fields):
        return any(field != field.strip() for row in fields for field in row)
    numbers = all(NUMBER.fullmatch(field) for row in cut for field in row)
    return numbers and _width(cut) > _width(fields) and " " in fields[0][0].strip()


def _width(rows: list[list[str]]) -> int:
    """Return the number of fields of all rows, or 0 if they differ."""
    widths = {len(row) for row in rows if row}
    return widths.pop() if len(widths) == 1 else 0


def _are_rows(comments: list[str], text: str, separator: str | None) -> bool:
    """Say whether lines that begin like comments are rows of the table: as many fields, numbers among them."""
    if len(comments) > COMMENTS:
        return False
    mark = separator or _separator(text)
    rows = split("\n".join([*comments, text]), mark, False, False)
    return _width(rows) > 1 and all(any(map(NUMBER.fullmatch, row)) for row in rows[: len(comments)])


def _commented(comments: list[str], separator: str, width: int, known: Callable[[str], bool]) -> list[str] | None:
    """Return the names of columns that the last comment has, if it does."""
    line = comments[-1].lstrip("#% ") if comments else ""
    for names in ([name.strip() for name in row] for mark in (separator, BLANKS) for row in split(line, mark, 0, 0)):
        if len(names) == width and any(map(known, names)) and not any(map(NUMBER.fullmatch, names)):
            return names
    return None


def _quoted(text: str, separator: str) -> bool:
    """Say whether a column is quoted in all rows: else a quote between tabs is a letter."""
    rows = [row for row in split(text, separator, False, False) if row]
    columns = zip(*rows, strict=False)
    return any(all(len(field) > 1 and field[0] == field[-1] == '"' for field in column) for column in columns)


def _escapes(data: bytes, separator: str) -> bool:
    """Say whether a backslash stands before quotes that do not end a field."""
    mark = b"\t" if separator == BLANKS else separator.encode()
    return b'\\"' in data and bool(re.search(rb'\\"(?!' + re.escape(mark) + rb"|[\r\n]|$)", data))


def _is_header(rows: list[list[str]], separator: str, known: Callable[[str], bool]) -> bool:
    first, decimal = rows[0], "." if separator == "," else ","
    if any(map(known, first)) or len(rows) == 1:
        return any(map(known, first)) or not any(is_number(field, decimal) for field in first)
    if any(is_number(field, decimal) for field in first):
        return False
    if any(all(is_number(field, decimal) for field in column) for column in zip(*rows[1:], strict=False)):
        return True
    below = {field for row in rows[1:] for field in row}
    return not any(field in below for field in first if field)


def _below(data: bytes, start: int, line: int, names: list[str], quotes: bool) -> tuple[int, int]:
    """Return where the row below the header begins, and its line; names that are quoted may hold line breaks."""
    breaks = sum(len(re.findall(r"\r\n|\n|\r", name)) for name in names) if quotes else 0
    for _ in range(breaks + 1):
        start, line = _end(data, start), line + 1
    return start, line


def _decimal_commas(rows: list[list[str]]) -> bool:
    columns = zip(*rows, strict=False)
    return any(
        all(map(DECIMAL_COMMA.fullmatch, column)) and any("," in field for field in column) for column in columns
    )


def _shown(separator: str) -> str:
    return {"\t": "tabs"}.get(separator, separator)
