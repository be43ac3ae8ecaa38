"""Records as JSON: dataclasses become mappings, named tuples lists, and annotations make records of both again."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Record = TypeVar("Record")
Json = dict[str, Any]  # a JSON object as parsed


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


def from_json(kind: type[Record], value: Any) -> Record:
    """Return a record of a kind from what ``to_json`` wrote; absent fields take their defaults."""
    record: Record = _decode(kind, value)
    return record


def _decode(kind: Any, value: Any) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if hasattr(kind, "from_json"):  # a class that chooses among its subclasses
        return kind.from_json(value)
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        hints = _hints(kind)
        parts = value if isinstance(value, Mapping) else dict(zip(hints, value, strict=False))
        return kind(**{name: _decode(hints[name], part) for name, part in parts.items()})
    if origin in (Union, UnionType):
        others = [part for part in arguments if part is not NoneType]
        return value if value is None or len(others) > 1 else _decode(others[0], value)
    if origin in (list, Sequence):
        return [_decode(arguments[0], part) for part in value]
    if origin is tuple:
        kinds = arguments[:1] * len(value) if arguments[1:] == (...,) else arguments
        return tuple(_decode(part, item) for part, item in zip(kinds, value, strict=True))
    if origin in (dict, Mapping):
        return {key: _decode(arguments[1], part) for key, part in value.items()}
    return value


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)
