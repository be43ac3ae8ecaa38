"""Long texts as short ones: for arguments of commands, which a system limits."""

import base64
import zlib

MARK = "packed:"


def pack(text: str) -> str:
    """Return a text as letters and digits, about a fifth of what it was."""
    return MARK + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(text: str) -> str:
    """Return the text behind a packed one; any other is itself."""
    return zlib.decompress(base64.urlsafe_b64decode(text[len(MARK) :])).decode() if text.startswith(MARK) else text
