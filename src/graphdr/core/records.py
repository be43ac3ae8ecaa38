"""Records as JSON: dataclasses become mappings, named tuples lists, and annotations make records of both again.

``pack`` compresses a text for an argument of a command, whose length the operating system limits.
"""

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

Json = dict[str, Any]  # a JSON object as parsed
MARK = "packed:"


def to_json(value: Any) -> Any:
    """Return a value with all dataclasses in it as mappings, and all tuples as lists."""
    if value is None or isinstance(value, str | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: to_json(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {key: to_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(part) for part in value]
    return value


def from_json(kind: Any, value: Any) -> Any:
    """Return a record of a kind from what ``to_json`` wrote; absent fields take their defaults."""
    origin, arguments = get_origin(kind), get_args(kind)
    if hasattr(kind, "from_json"):  # a class that chooses among its subclasses
        return kind.from_json(value)
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        hints = _hints(kind)
        parts = value if isinstance(value, Mapping) else dict(zip(hints, value, strict=False))
        return kind(**{name: from_json(hints[name], part) for name, part in parts.items()})
    if origin in (Union, UnionType):
        others = [part for part in arguments if part is not NoneType]
        return value if value is None or len(others) > 1 else from_json(others[0], value)
    if origin in (list, Sequence):
        return [from_json(arguments[0], part) for part in value]
    if origin is tuple:
        kinds = arguments[:1] * len(value) if arguments[1:] == (...,) else arguments
        return tuple(from_json(part, item) for part, item in zip(kinds, value, strict=True))
    if origin in (dict, Mapping):
        return {key: from_json(arguments[1], part) for key, part in value.items()}
    return value


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def pack(text: str) -> str:
    """Compress a text to letters and digits, to about a fifth of its length."""
    return MARK + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(text: str) -> str:
    """Decompress a packed text; return any other text unchanged."""
    return zlib.decompress(base64.urlsafe_b64decode(text[len(MARK) :])).decode() if text.startswith(MARK) else text
