"""Tell from its bytes how a table of text is written: encoding, separator, quotes, decimal mark, comments, header."""

import codecs
import csv
import re
from collections.abc import Callable
from io import StringIO
from typing import NamedTuple

from graphdr.core.errors import UserError
from graphdr.raw.delimited import BLANKS, LONGEST, SEPARATORS, Dialect

TAB = "\t"
SEPARATOR_NAMES = {"tab": TAB, "\\t": TAB, "comma": ",", "semicolon": ";", "bar": "|", "blank": BLANKS, " ": BLANKS}
SAMPLE = 1 << 16  # bytes that are looked at
WIDEST = 100_000  # columns
COMMENTED_ROWS = 100  # at most; more lines that begin like comments are comments
MANY_COMMENTS = 100_000
END = r"\r\n|\n|\r"
LINE_END = re.compile(END.encode())
EXCEL = re.compile(rf'"?sep=([^\r\n])"?[ ,;\t]*(?:{END})'.encode(), re.IGNORECASE)  # a first line for Excel
COMMENTS = re.compile(rf"(?:[#%][^\r\n]*(?:{END}|$)){{0,{MANY_COMMENTS + 1}}}+".encode())
MATRIX_MARKET = b"%%MatrixMarket"  # below its comments, a line has the size of the matrix
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE | re.ASCII)
DECIMAL_COMMA = re.compile(r"[-+]?\d+(,\d+)?", re.ASCII)
TYPE_SUFFIX = re.compile(r":(token|token_seq|float|float_seq)$")  # RecBole's types
BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "UTF-8", codecs.BOM_UTF16_LE: "UTF-16-LE", codecs.BOM_UTF16_BE: "UTF-16-BE"}
PIECE = 1 << 24  # bytes decoded at a time, so that no second copy of a large file is made

IsColumn = Callable[[str], bool]  # tells whether a text is a usual name of a column


class TextFormat(NamedTuple):
    """How the user says that texts are written; None: told from the text."""

    encoding: str | None = None
    separator: str | None = None
    header: bool | None = None


PLAIN = TextFormat()


class Sniffed(NamedTuple):
    """The dialect of a table, whether it names its columns, its first rows, and what was assumed."""

    dialect: Dialect
    header: bool
    rows: list[list[str]]
    assumed: list[str]  # each with the option that changes it


def as_utf8(name: str, data: bytes, wanted: str | None = None) -> tuple[bytes, str]:
    """Return text as UTF-8 without a byte order mark, and its encoding: the wanted one, or what the bytes say."""
    if wanted:
        try:
            b"a".decode(wanted)
        except LookupError:
            there = "utf-8, latin-1, cp1252, utf-16 …"
            raise UserError(f"--encoding: no encoding {wanted!r}; there are {there}") from None
        except UnicodeError:
            pass  # an encoding of more than one byte per letter
    named = wanted or next((BYTE_ORDER_MARKS[mark] for mark in BYTE_ORDER_MARKS if data.startswith(mark)), None)
    if data.isascii() and named is None:
        return data, "UTF-8"
    # The same bytes are letters in Windows-1252 and control characters in Latin-1.
    windows = re.search(rb"[\x80-\x9f]", data) and not re.search(rb"[\x81\x8d\x8f\x90\x9d]", data)
    for encoding in [named] if named else ["UTF-8", "Windows-1252" if windows else "Latin-1"]:
        try:
            return _decode(data, encoding).removeprefix(codecs.BOM_UTF8), encoding
        except UnicodeError as error:
            reason = getattr(error, "reason", error)
    raise UserError(f"{name}: not {encoding} text ({reason}); --encoding names another")


def _decode(data: bytes, encoding: str) -> bytes:
    """Return text as UTF-8; what is UTF-8 already is only checked."""
    decoder = codecs.getincrementaldecoder(encoding)()
    pieces = []
    for start in range(0, len(data), PIECE):
        text = decoder.decode(data[start : start + PIECE], start + PIECE >= len(data))
        if encoding != "UTF-8":
            pieces.append(text.encode())
    return b"".join(pieces) if encoding != "UTF-8" else data


def sniff(name: str, data: bytes, text_format: TextFormat, is_column: IsColumn, recbole: bool = False) -> Sniffed:
    """Tell the dialect of a table.

    Unless the format says so, the first line is a header if it has no number, or a usual name, except where rows of
    texts alone repeat one of its fields.
    """
    separator = text_format.separator
    separator = SEPARATOR_NAMES.get(separator, separator) if separator else TAB if recbole else None
    if separator and set(separator) & set('\r\n"'):
        raise UserError(f"--separator: {separator!r} is no mark between fields")
    start, line = 0, 1
    if excel := EXCEL.match(data):
        separator, start, line = separator or excel[1].decode(errors="replace"), excel.end(), 2
    start, line, comments = _skip_comments(name, data, start, line, separator)
    if _line_end(data, start) - start > LONGEST:
        raise UserError(f"{name}, line {line}: longer than {LONGEST >> 20} MB; expected a table")
    text = _text(data, start)
    separator = separator or _separator(text)
    if separator in (TAB, BLANKS):
        quotes = _has_quoted_column(text, separator)
    else:
        quotes = len(separator.encode()) == 1 and data.find(b'"') >= 0
    mark = re.escape(TAB if separator == BLANKS else separator).encode()  # or a line end, after a field
    escape = quotes and b'\\"' in data and bool(re.search(rb'\\"(?!' + mark + rb"|[\r\n]|$)", data))
    rows = [[cell.strip() for cell in row] for row in _split(text, separator, quotes, escape) if row]
    if not rows:
        raise UserError(f"{name}: no rows, or a quoted field is too long")
    require_columns(name, len(rows[0]))
    names, assumed = _commented_names(comments, separator, len(rows[0]), is_column), []
    header = text_format.header
    if header is None and names:
        assumed.append("columns named as in the last comment")
    elif header if header is not None else recbole or _is_header(rows, separator, is_column):
        names = rows.pop(0)
        breaks = sum(len(re.findall(END, name)) for name in names) if quotes else 0  # within names
        for _ in range(breaks + 1):
            start, line = _line_end(data, start), line + 1
        quotes = quotes and data.find(b'"', start) >= 0
    else:
        names = []
    header, width = bool(names), len(names or rows[0])
    if not header:
        names = [str(number) for number in range(1, width + 1)]
        assumed.append(f"has no header: its columns are 1 to {width}")
    names = [(text.rpartition(":")[0] if recbole else TYPE_SUFFIX.sub("", text)) or text for text in names]
    if separator != ",":
        assumed.append(f"separated by {'tabs' if separator == TAB else separator} (--separator)")
    decimal = "."
    for column in zip(*rows, strict=False) if separator != "," else ():
        if any("," in text for text in column) and all(map(DECIMAL_COMMA.fullmatch, column)):
            decimal = ","
    assumed += ["decimal commas"] if decimal == "," else []
    return Sniffed(Dialect(names, separator, start, line, quotes, escape, decimal, True), header, rows, assumed)


def require_columns(name: str, count: int) -> None:
    """Refuse a table of too many columns, for each of them takes time."""
    if count > WIDEST:
        raise UserError(f"{name}: {count:,} columns; expected at most {WIDEST:,}")


def is_number(text: str, decimal: str = ".") -> bool:
    """Tell whether a text is a number."""
    return bool(NUMBER.fullmatch(text) or (decimal == "," and DECIMAL_COMMA.fullmatch(text)))


def _skip_comments(name: str, data: bytes, start: int, line: int, separator: str | None) -> tuple[int, int, list[str]]:
    """Return where a table begins below its comments, and these; comments that look like rows belong to the table."""
    block = COMMENTS.match(data, start)
    if not block or not block[0]:
        return start, line, []
    comments = [comment.strip().decode(errors="replace") for comment in block[0].splitlines()]
    if len(comments) > MANY_COMMENTS:
        raise UserError(f"{name}: more than {MANY_COMMENTS:,} lines of comments; expected a table")
    end, below = block.end(), line + len(comments)
    if data.startswith(MATRIX_MARKET, start):
        end, below = _line_end(data, end), below + 1
    if end >= len(data):
        return start, line, []
    if len(comments) <= COMMENTED_ROWS:
        text = _text(data, end)
        rows = _split("\n".join([*comments, text]), separator or _separator(text), False, False)
        if _width(rows) > 1 and all(any(map(NUMBER.fullmatch, row)) for row in rows[: len(comments)]):
            return start, line, []
    return end, below, comments


def _split(text: str, separator: str, quotes: bool, escape: bool) -> list[list[str]]:
    """Split lines into fields; what cannot be split gives no rows."""
    if len(separator.encode()) > 1 or not quotes or '"' not in text:
        lines = re.split(END, text)
        rows = [line.split() if separator == BLANKS else line.split(separator) if line else [] for line in lines]
        return [[cell.strip('"') for cell in row] for row in rows] if quotes else rows
    try:
        return list(csv.reader(StringIO(text, newline=""), delimiter=separator, escapechar="\\" if escape else None))
    except (csv.Error, TypeError, ValueError):
        return []


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
    first = re.sub(r'"[^"]*"', "", re.split(END, text, maxsplit=1)[0])  # a mark within quotes separates nothing
    marks = sorted((mark for mark in SEPARATORS if mark in first), key=first.count, reverse=True)
    if not marks:
        return BLANKS if len(first.split()) > 1 else ","
    fitting = [mark for mark in marks if _width(_split(text, mark, mark != TAB, False)) > 1]
    best = (fitting or marks)[0]
    if best == "," and len(fitting) > 1 and text.count(",") == len(re.findall(r"(?<=\d),(?=\d)", text)):
        return fitting[1]  # the commas are decimal ones
    return BLANKS if best == TAB and fitting and _are_blanks(text) else best


def _are_blanks(text: str) -> bool:
    """Tell whether blanks separate as well as tabs: fields have blanks around them, or the first is several numbers."""
    fields, cut = (_split(text, mark, False, False) for mark in (TAB, BLANKS))
    if _width(cut) == _width(fields):
        return any(cell != cell.strip() for row in fields for cell in row)
    numbers = all(NUMBER.fullmatch(cell) for row in cut for cell in row)
    return numbers and _width(cut) > _width(fields) and " " in fields[0][0].strip()


def _width(rows: list[list[str]]) -> int:
    """Return the number of fields of all rows, or 0 if they differ."""
    widths = {len(row) for row in rows if row}
    return widths.pop() if len(widths) == 1 else 0


def _commented_names(comments: list[str], separator: str, width: int, is_column: IsColumn) -> list[str]:
    """Return the names of columns in the last comment, if it has them."""
    line = comments[-1].lstrip("#% ") if comments else ""
    for mark in (separator, BLANKS):
        for row in _split(line, mark, False, False):
            names = [name.strip() for name in row]
            if len(names) == width and any(map(is_column, names)) and not any(map(NUMBER.fullmatch, names)):
                return names
    return []


def _has_quoted_column(text: str, separator: str) -> bool:
    """Tell whether a column is quoted in all rows; otherwise a quote between tabs is a letter."""
    rows = [row for row in _split(text, separator, False, False) if row]
    columns = zip(*rows, strict=False)
    return any(all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in column) for column in columns)


def _is_header(rows: list[list[str]], separator: str, is_column: IsColumn) -> bool:
    first, decimal = rows[0], "." if separator == "," else ","
    if any(map(is_column, first)):
        return True
    if any(is_number(text, decimal) for text in first):
        return False
    columns = zip(*rows[1:], strict=False)
    if any(all(is_number(text, decimal) for text in column) for column in columns):
        return True
    below = {text for row in rows[1:] for text in row}
    return not any(text in below for text in first if text)
