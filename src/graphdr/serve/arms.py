"""The arms and segments of a policy: their names are turned into rows of its features."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphdr.core.compiled import kernel
from graphdr.graphs.contexts import context_rows
from graphdr.serve.sources import Name, check_names

Context = Mapping[Name, float]  # weights of arms
Vectors = Any  # rows over the arms, a sparse or dense matrix or contexts
Segment = Name | Sequence[Name | None] | None  # one for all, or one for each
MANY = 32  # names from which on a table of hashes is faster than a dictionary
EMPTY = -1
IGNORE_ADVICE = "unknown='ignore' skips the rewards of arms that are not there"


class UnknownArm(ValueError):
    """A name that no arm has."""


@dataclass(slots=True, eq=False)
class Candidates:
    """Arms or contexts of one policy, looked up once so that they can be offered many times.

    Arms have the places of their rows in the policy. Contexts have places 0, 1, … in ``rows``.
    """

    token: object
    places: np.ndarray
    rows: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.places)


class Arms:
    """The arms of a policy and its segments: arm i of segment s is row s * n + i of the features.

    Instances never change: adding or removing arms makes a new one, and copies of a policy share it.
    """

    def __init__(self, names: Iterable[Name], segments: Iterable[Name | None] = ()):
        self.names = check_names(names)
        self.place = {name: place for place, name in enumerate(self.names)}
        if len(self.place) < len(self.names):
            raise ValueError("two arms have the same name")
        self.segment: dict[Name | None, int] = {name: place for place, name in enumerate(segments)}
        self.token = object()  # marks candidates that were looked up here
        self.tokens = frozenset([self.token])  # of all candidates that are valid here
        self.numbered = self.names == list(range(len(self.names)))
        self._table: np.ndarray | None = None
        # Hashes of texts are 64 random bits; those of numbers are not, and -1 has that of -2.
        self._hashed = all(type(name) is str for name in self.place)

    def added(self, new: list[Name]) -> "Arms":
        """Return these arms followed by new ones: candidates that were looked up before stay valid."""
        arms = Arms(self.names + new, self.segment)
        arms.tokens |= self.tokens
        return arms

    def without(self, names: list[Name]) -> "Arms":
        """Return these arms without some."""
        removed = {*names}
        return Arms([name for name in self.names if name not in removed], self.segment)

    def known_only(self, items: object, segment: Segment, contexts: bool) -> tuple[Any, Segment, np.ndarray | None]:
        """Drop unknown arms, or contexts with such arms, and their segments.

        Return also which were kept, or None where there are no names to look at, as in a matrix.
        """
        if isinstance(items, Mapping):
            items = [items]
        if not isinstance(items, Iterable) or isinstance(items, str | bytes) or sp.issparse(items):
            return items, segment, None
        items = items.tolist() if isinstance(items, np.ndarray) else [*items]
        if contexts and not all(isinstance(item, Mapping) for item in items):
            return items, segment, None
        try:
            present = [all(name in self.place for name in (item if contexts else [item])) for item in items]
        except TypeError:  # refused where they are looked up
            return items, segment, None
        if not is_single(segment):
            segment = [*compress(for_each(segment, len(items)), present)]
        return [*compress(items, present)], segment, np.array(present, bool)

    def places(self, arms: Iterable[Name] | None, segment: Segment = None) -> np.ndarray:
        """Return the rows of arms, by default of all; refuse unknown ones."""
        places = np.arange(len(self.names), dtype=np.uint32) if arms is None else self._places(arms)
        shift = self._shift(segment, len(places))
        return places if shift is None else places + shift

    def context_rows(self, vectors: Vectors, segment: Segment = None) -> sp.csr_array:
        """Return contexts as vectors over the rows of the features."""
        rows = context_rows(self._weights(vectors), len(self.names))
        shift = self._shift(segment, rows.shape[0])
        if shift is None:
            return rows
        columns = rows.indices + np.repeat(np.broadcast_to(shift, rows.shape[0]), np.diff(rows.indptr))
        shape = rows.shape[0], len(self.segment) * len(self.names)
        return sp.csr_array((rows.data, columns, rows.indptr), shape=shape)

    def _places(self, arms: Iterable[Name]) -> np.ndarray:
        """Return the places of arms among their names."""
        if isinstance(arms, np.ndarray):
            if self.numbered and arms.dtype.kind in "iu" and arms.size and arms.ndim == 1:
                if arms.min() < 0 or arms.max() >= len(self.names):
                    raise UnknownArm(f"no arm {int(arms[(arms < 0) | (arms >= len(self.names))][0])}")
                return np.array(arms, np.uint32)  # a copy: the caller may change theirs after the check
            arms = arms.tolist()  # dictionaries find Python's types faster than NumPy's
        try:
            if isinstance(arms, str | bytes):
                raise TypeError
            if self._hashed and isinstance(arms, list | tuple) and len(arms) >= MANY and _are_texts(arms):
                places = _find(np.fromiter(map(hash, arms), np.int64, len(arms)), self._hashes())
                if len(places):
                    return places
            return np.array([*map(self.place.__getitem__, arms)], np.uint32)
        except KeyError as unknown:
            raise UnknownArm(f"no arm {unknown.args[0]!r}") from None
        except TypeError:
            raise ValueError(f"arms are given as a sequence of their names, not as {arms!r}") from None

    def _hashes(self) -> np.ndarray:
        """Return the table of hashes and places, built at its first use."""
        if self._table is None:
            hashes = np.fromiter(map(hash, self.place), np.int64, len(self.place))
            self._table = _tabulate(hashes, np.fromiter(self.place.values(), np.int64, len(self.place)))
        return self._table

    def __getstate__(self) -> dict[str, object]:
        return vars(self) | {"_table": None}  # another process has other hashes

    def _weights(self, vectors: Vectors) -> object:
        """Return vectors as a matrix with a column per arm, not yet checked."""
        if sp.issparse(vectors):
            return vectors
        if isinstance(vectors, Mapping):
            vectors = [vectors]
        try:
            vectors = vectors if hasattr(vectors, "shape") else [*vectors]
            if not all(isinstance(vector, Mapping) for vector in vectors):
                return np.asarray(vectors, float)
            weights = np.array([weight for vector in vectors for weight in vector.values()], float)
        except (TypeError, ValueError):
            raise ValueError("vectors are rows over the arms, sparse or dense, or mappings {name: weight}") from None
        columns = self._places([name for vector in vectors for name in vector]).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum([*map(len, vectors)], dtype=int)])
        return sp.csr_array((weights, columns, starts), shape=(len(vectors), len(self.names)))

    def _shift(self, segment: Segment, count: int) -> np.ndarray | None:
        """Return how many rows lie before those of a segment, or before those of each of ``count`` segments."""
        if not self.segment:
            if segment is not None:
                raise ValueError("this policy has no segments; fit one with segments")
            return None
        names, segments = list(self.segment), for_each(segment, 1 if is_single(segment) else count)
        for name in segments:
            if name not in names:
                shown = "given" if name is None else repr(name)
                raise ValueError(f"no segment {shown}; there are: {', '.join(map(repr, names))}")
        return len(self.names) * np.array([self.segment[name] for name in segments], np.uint32)


def for_each(segment: Any, count: int) -> list[Name | None]:
    """Return a list of ``count`` segments, from one for all or one for each."""
    if is_single(segment):
        return [segment] * count
    segments = segment.tolist() if isinstance(segment, np.ndarray) else list(segment)
    if len(segments) != count:
        raise ValueError(f"{len(segments)} segments for {count}: give one for all, or one for each")
    return segments


def is_single(segment: Segment) -> bool:
    """Return whether a segment is one for all."""
    return not isinstance(segment, Iterable) or isinstance(segment, str)


def _are_texts(names: Sequence[Name]) -> bool:
    """Return whether all names are texts, ten times faster than a look at each: bytes have the hashes of texts."""
    try:
        "".join(names)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


@kernel
def _tabulate(hashes, places):
    """Return a table with open addressing, a hash and its place in every row; without rows if two hashes are equal."""
    size = 8
    while size < 2 * len(hashes):
        size *= 2
    table = np.full((size, 2), EMPTY)
    for at in range(len(hashes)):
        slot = hashes[at] & (size - 1)
        while table[slot, 1] != EMPTY:
            if table[slot, 0] == hashes[at]:
                return np.empty((0, 2), np.int64)
            slot = (slot + 1) & (size - 1)
        table[slot, 0], table[slot, 1] = hashes[at], places[at]
    return table


@kernel
def _find(hashes, table):
    """Return the places of hashes; none at all if one of them is not in the table."""
    places = np.empty(len(hashes), np.uint32)
    last = len(table) - 1
    if last < 0:
        return places[:0]
    for at in range(len(hashes)):
        slot = hashes[at] & last
        while table[slot, 0] != hashes[at] or table[slot, 1] == EMPTY:
            if table[slot, 1] == EMPTY:
                return places[:0]
            slot = (slot + 1) & last
        places[at] = table[slot, 1]
    return places
