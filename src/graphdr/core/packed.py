"""Compressed texts for arguments of commands, whose length the operating system limits."""

import base64
import zlib

MARK = "packed:"


def pack(text: str) -> str:
    """Compress a text to letters and digits, to about a fifth of its length."""
    return MARK + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(text: str) -> str:
    """Decompress a packed text; return any other text unchanged."""
    return zlib.decompress(base64.urlsafe_b64decode(text[len(MARK) :])).decode() if text.startswith(MARK) else text
