"""What a command answers: an exit code, JSON for scripts, and what makes its text."""

import json
import math
from collections.abc import Callable

Answer = tuple[int, object, Callable[[], list[str]]]


def as_json(answer: object) -> str:
    """Return an answer as JSON, records as objects; numbers that JSON does not know are null."""
    return json.dumps(_plain(answer), indent=1, default=str)


def _plain(value):
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
