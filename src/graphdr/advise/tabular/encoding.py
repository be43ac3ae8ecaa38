"""Decode text in any usual encoding."""

import codecs
import re
from collections.abc import Iterator

from graphdr.core.errors import UserError

MARKS = {b"\xef\xbb\xbf": "UTF-8", b"\xff\xfe": "UTF-16-LE", b"\xfe\xff": "UTF-16-BE"}  # byte order marks
PIECE = 1 << 24  # bytes decoded at a time, so that no second copy of a large file is made


def as_utf8(name: str, data: bytes, wanted: str | None = None) -> tuple[bytes, str]:
    """Return text as UTF-8 without a byte order mark, and its encoding: the wanted one, or what the bytes say."""
    mark = next((mark for mark in MARKS if data.startswith(mark)), b"")
    if wanted:
        _check(wanted)
    encoding = wanted or MARKS.get(mark) or ("UTF-8" if _is_utf8(data) else _western(data))
    if data.isascii() and encoding in ("UTF-8", wanted) and _keeps_ascii(encoding):
        return data, encoding
    try:
        if encoding == "UTF-8":
            for _ in _pieces(data, encoding):
                pass
            return data[len(mark) :] if mark else data, encoding
        text = b"".join(piece.encode() for piece in _pieces(data, encoding))
    except UnicodeError as error:
        raise UserError(
            f"{name}: not {encoding} text ({getattr(error, 'reason', error)}); --encoding names another"
        ) from None
    return text.removeprefix("\ufeff".encode()), encoding


def _check(encoding: str) -> None:
    try:
        b"a".decode(encoding)
    except LookupError:
        raise UserError(f"--encoding: no encoding {encoding!r}; there are utf-8, latin-1, cp1252, utf-16 …") from None
    except UnicodeError:
        return  # a text encoding of more than one byte per letter


def _keeps_ascii(encoding: str) -> bool:
    letters = bytes(range(128))
    try:
        return letters.decode(encoding).encode() == letters
    except UnicodeError:
        return False


def _pieces(data: bytes, encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)()
    for start in range(0, len(data), PIECE):
        yield decoder.decode(data[start : start + PIECE], start + PIECE >= len(data))


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or all(True for _ in _pieces(data, "UTF-8"))
    except UnicodeDecodeError:
        return False


def _western(data: bytes) -> str:
    """Tell Windows-1252 from Latin-1, where the same bytes are control characters."""
    windows = re.search(rb"[\x80-\x9f]", data) and not re.search(rb"[\x81\x8d\x8f\x90\x9d]", data)
    return "Windows-1252" if windows else "Latin-1"
