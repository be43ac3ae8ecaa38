"""Named randomness: every generator is derived from a root seed, a purpose and a key."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

KeyValues = dict[str, set[int | str]]


class StreamRecord(NamedTuple):
    """The streams of one seed and purpose that a job has opened; ``key`` describes their keys in words."""

    seed: int
    purpose: str
    key: str


_opened: dict[tuple[int, str], KeyValues] | None = None  # None: nobody records


@contextmanager
def recorded_streams() -> Iterator[None]:
    """Record the streams that are opened inside, for ``opened_streams``."""
    global _opened
    _opened = {}
    try:
        yield
    finally:
        _opened = None


def opened_streams() -> list[StreamRecord]:
    """Return the streams recorded so far, by seed and purpose."""
    return [
        StreamRecord(seed, purpose, ", ".join(_describe(name, values[name]) for name in sorted(values)))
        for (seed, purpose), values in sorted((_opened or {}).items())
    ]


def _describe(name: str, values: set[int | str]) -> str:
    """Describe the values of a part of a key: one value, a range, or a number of values."""
    if len(values) == 1:
        return f"{name} {next(iter(values))}"
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) == len(values) == max(numbers) - min(numbers) + 1:
        return f"{name} {min(numbers)} to {max(numbers)}"
    return f"{len(values)} values of {name}"


def stream(seed: int, purpose: str, **key: int | str) -> np.random.Generator:
    """Return the generator of one purpose, e.g. ``stream(0, "arms", instance=3, n=200, m=10, run=1)``.

    Equal keys give equal streams in every experiment and for every method, so that runs are paired
    and adding a method changes no other number.

    Parameters
    ----------
    seed : int
        The root seed.
    purpose : str
        What is drawn.
    **key : int or str
        What else tells this stream from others.

    Returns
    -------
    Generator

    Examples
    --------
    >>> first, same, other = (graphdr.stream(0, name).random() for name in ("arms", "arms", "noise"))
    >>> first == same, first == other
    (True, False)
    """
    if _opened is not None:
        recorded = _opened.setdefault((seed, purpose), {})
        for name, value in key.items():
            recorded.setdefault(name, set()).add(value)
    text = json.dumps([seed, purpose, key], sort_keys=True)
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))
