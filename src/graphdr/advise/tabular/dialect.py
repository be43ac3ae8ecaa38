"""Tell from its first lines how a table of text is written: separator, quotes, decimal mark, comments, header."""

import csv
import re
from collections.abc import Callable
from io import StringIO
from typing import NamedTuple

from graphdr.core.errors import UserError

BLANKS, TAB = "blanks", "\t"  # BLANKS is any run of blanks and tabs
SEPARATORS = ("\t", ",", ";", "|", "::")
SEPARATOR_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "blank": BLANKS, " ": BLANKS}
SAMPLE = 1 << 16  # bytes that are looked at
LONGEST = 1 << 22  # bytes of a line
WIDEST = 100_000  # columns
COMMENTED_ROWS = 100  # at most; more lines that begin like comments are comments
MANY_COMMENTS = 100_000
LINE_END = re.compile(rb"\r\n|\n|\r")
EXCEL = re.compile(rb'"?sep=([^\r\n])"?[ ,;\t]*(?:\r\n|\n|\r)', re.IGNORECASE)  # a first line for Excel
MATRIX_MARKET = b"%%MatrixMarket"  # below its comments, a line has the size of the matrix
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE | re.ASCII)
DECIMAL_COMMA = re.compile(r"[-+]?\d+(,\d+)?", re.ASCII)
TYPE_SUFFIX = re.compile(r":(token|token_seq|float|float_seq)$")  # RecBole's types


class TextFormat(NamedTuple):
    """How the user says that texts are written; None: told from the text."""

    encoding: str | None = None
    separator: str | None = None
    header: bool | None = None


PLAIN = TextFormat()


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
    rows: list[list[str]]  # the first ones
    assumed: list[str]  # each with the option that changes it

    @property
    def sample(self) -> dict[str, list[str]]:
        """Return the first fields of every column."""
        return {name: [row[at] for row in self.rows if len(row) > at] for at, name in enumerate(self.names)}


class _Preamble(NamedTuple):
    """Lines above a table: comments and Excel's line with a separator, and where the table begins."""

    start: int
    line: int
    separator: str | None
    comments: list[str]


def sniff(
    name: str, data: bytes, text_format: TextFormat, is_column: Callable[[str], bool], recbole: bool = False
) -> Dialect:
    """Tell the dialect of a table; ``is_column`` tells whether a text is a usual name of a column.

    Unless the format says so, the first line is a header if it has no number, or a usual name, except where rows of
    texts alone repeat one of its fields.
    """
    start, line, separator, comments = _skip_preamble(name, data, text_format.separator, recbole)
    if _line_end(data, start) - start > LONGEST:
        raise UserError(f"{name}, line {line}: longer than {LONGEST >> 20} MB; expected a table")
    text = _text(data, start)
    separator = separator or _separator(text)
    if separator in ("\t", BLANKS):
        quotes = _has_quoted_column(text, separator)
    else:
        quotes = _is_letter(separator) and data.find(b'"') >= 0
    escape = quotes and _escapes(data, separator)
    rows = [[cell.strip() for cell in row] for row in split(text, separator, quotes, escape) if row]
    if not rows:
        raise UserError(f"{name}: no rows, or a quoted field is too long")
    require_columns(name, len(rows[0]))
    heading, assumed = _commented_names(comments, separator, len(rows[0]), is_column), []
    header = text_format.header
    if header is None and heading:
        assumed.append("columns named as in the last comment")
    elif header if header is not None else recbole or _is_header(rows, separator, is_column):
        heading = rows.pop(0)
        start, line = _below_header(data, start, line, heading if quotes else [])
        quotes = quotes and data.find(b'"', start) >= 0
    else:
        heading = None
    width = len(heading or rows[0])
    names = heading or [str(number) for number in range(1, width + 1)]
    names = [(text.rpartition(":")[0] if recbole else TYPE_SUFFIX.sub("", text)) or text for text in names]
    if heading is None:
        assumed.append(f"has no header: its columns are 1 to {width}")
    if separator != ",":
        assumed.append(f"separated by {'tabs' if separator == TAB else separator} (--separator)")
    decimal = "," if separator != "," and _has_decimal_commas(rows) else "."
    assumed += ["decimal commas"] if decimal == "," else []
    return Dialect(separator, names, start, line, heading is not None, quotes, escape, decimal, rows, assumed)


def _skip_preamble(name: str, data: bytes, separator: str | None, recbole: bool) -> _Preamble:
    """Skip comments and Excel's line; comments that look like rows belong to the table."""
    separator = SEPARATOR_NAMES.get(separator, separator) if separator else TAB if recbole else None
    if separator and set(separator) & set('\r\n"'):
        raise UserError(f"--separator: {separator!r} is no mark between fields")
    start, line = 0, 1
    if excel := EXCEL.match(data):
        separator, start, line = separator or excel[1].decode(errors="replace"), excel.end(), 2
    without = _Preamble(start, line, separator, [])
    comments: list[str] = []
    while data[start : start + 1] in (b"#", b"%"):
        end = _line_end(data, start)
        comments.append(data[start:end].strip().decode(errors="replace"))
        start, line = end, line + 1
        if len(comments) > MANY_COMMENTS:
            raise UserError(f"{name}: more than {MANY_COMMENTS:,} lines of comments; expected a table")
    if comments and data.startswith(MATRIX_MARKET):
        start, line = _line_end(data, start), line + 1
    if comments and (start >= len(data) or _are_rows(comments, _text(data, start), separator)):
        return without
    return _Preamble(start, line, separator, comments)


def require_columns(name: str, count: int) -> None:
    """Refuse a table of too many columns, for each of them takes time."""
    if count > WIDEST:
        raise UserError(f"{name}: {count:,} columns; expected at most {WIDEST:,}")


def split(text: str, separator: str, quotes: bool, escape: bool) -> list[list[str]]:
    """Split lines into fields; what cannot be split gives no rows."""
    if not _is_letter(separator) or not quotes or '"' not in text:
        lines = re.split(r"\r\n|\n|\r", text)
        rows = [line.split() if separator == BLANKS else line.split(separator) if line else [] for line in lines]
        return [[cell.strip('"') for cell in row] for row in rows] if quotes else rows
    try:
        return list(csv.reader(StringIO(text, newline=""), delimiter=separator, escapechar="\\" if escape else None))
    except (csv.Error, TypeError, ValueError):
        return []


def _is_letter(separator: str) -> bool:
    return len(separator.encode()) == 1


def is_number(text: str, decimal: str = ".") -> bool:
    """Tell whether a text is a number."""
    return bool(NUMBER.fullmatch(text) or (decimal == "," and DECIMAL_COMMA.fullmatch(text)))


def _line_end(data: bytes, start: int) -> int:
    """Return where the next line begins."""
    end = LINE_END.search(data, start)
    return end.end() if end else len(data)


def _text(data: bytes, start: int) -> str:
    """Return the first whole lines of the rows, two at least."""
    stop = start + SAMPLE
    if stop < len(data):
        stop = max(data.rfind(b"\n", start, stop), data.rfind(b"\r", start, stop)) + 1
        stop = min(max(stop, _line_end(data, _line_end(data, start))), start + 2 * LONGEST)
    return data[start:stop].decode(errors="replace")


def _separator(text: str) -> str:
    """Choose the mark that is most often in the first line, among those that cut all lines into as many fields."""
    first = re.sub(r'"[^"]*"', "", re.split(r"[\r\n]", text, maxsplit=1)[0])  # a mark within quotes separates nothing
    marks = sorted((mark for mark in SEPARATORS if mark in first), key=first.count, reverse=True)
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
    """Tell whether blanks separate as well as tabs: fields have blanks around them, or the first is several numbers."""
    lines = [line for line in re.split(r"\r\n|\n|\r", text) if line]
    cut, fields = [line.split() for line in lines], [line.split("\t") for line in lines]
    if _width(cut) == _width(fields):
        return any(cell != cell.strip() for row in fields for cell in row)
    numbers = all(NUMBER.fullmatch(cell) for row in cut for cell in row)
    return numbers and _width(cut) > _width(fields) and " " in fields[0][0].strip()


def _width(rows: list[list[str]]) -> int:
    """Return the number of fields of all rows, or 0 if they differ."""
    widths = {len(row) for row in rows if row}
    return widths.pop() if len(widths) == 1 else 0


def _are_rows(comments: list[str], text: str, separator: str | None) -> bool:
    """Tell whether lines that begin like comments are rows of the table: as many fields, numbers among them."""
    if len(comments) > COMMENTED_ROWS:
        return False
    mark = separator or _separator(text)
    rows = split("\n".join([*comments, text]), mark, False, False)
    return _width(rows) > 1 and all(any(map(NUMBER.fullmatch, row)) for row in rows[: len(comments)])


def _commented_names(
    comments: list[str], separator: str, width: int, is_column: Callable[[str], bool]
) -> list[str] | None:
    """Return the names of columns in the last comment, if it has them."""
    line = comments[-1].lstrip("#% ") if comments else ""
    for mark in (separator, BLANKS):
        for row in split(line, mark, False, False):
            names = [name.strip() for name in row]
            if len(names) == width and any(map(is_column, names)) and not any(map(NUMBER.fullmatch, names)):
                return names
    return None


def _has_quoted_column(text: str, separator: str) -> bool:
    """Tell whether a column is quoted in all rows; otherwise a quote between tabs is a letter."""
    rows = [row for row in split(text, separator, False, False) if row]
    columns = zip(*rows, strict=False)
    return any(all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in column) for column in columns)


def _escapes(data: bytes, separator: str) -> bool:
    """Tell whether a backslash stands before quotes that do not end a field."""
    mark = b"\t" if separator == BLANKS else separator.encode()
    return b'\\"' in data and bool(re.search(rb'\\"(?!' + re.escape(mark) + rb"|[\r\n]|$)", data))


def _is_header(rows: list[list[str]], separator: str, is_column: Callable[[str], bool]) -> bool:
    first, decimal = rows[0], "." if separator == "," else ","
    if any(map(is_column, first)):
        return True
    if any(is_number(text, decimal) for text in first):
        return False
    if len(rows) == 1:
        return True
    columns = zip(*rows[1:], strict=False)
    if any(all(is_number(text, decimal) for text in column) for column in columns):
        return True
    below = {text for row in rows[1:] for text in row}
    return not any(text in below for text in first if text)


def _below_header(data: bytes, start: int, line: int, quoted_names: list[str]) -> tuple[int, int]:
    """Return where the row below the header begins, and its line; quoted names may have line breaks."""
    breaks = sum(len(re.findall(r"\r\n|\n|\r", name)) for name in quoted_names)
    for _ in range(breaks + 1):
        start, line = _line_end(data, start), line + 1
    return start, line


def _has_decimal_commas(rows: list[list[str]]) -> bool:
    columns = zip(*rows, strict=False)
    return any(all(map(DECIMAL_COMMA.fullmatch, column)) and any("," in text for text in column) for column in columns)
