"""What callers name, turned into rows of a policy's features: arms, contexts over them, and segments."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import scipy.sparse as sp

from graphdr.core.compiled import kernel
from graphdr.graphs.contexts import context_rows
from graphdr.serve.sources import Name, checked_names

Vectors = sp.sparray | sp.spmatrix | np.ndarray | Sequence[Mapping[Name, float]]
Segment = Name | Sequence[Name] | None  # one for all, or one for each
MANY = 32  # names from which on a table of hashes is faster than a dictionary
EMPTY = -1
SKIPS = "unknown='ignore' skips the rewards of arms that are not there"


class UnknownArm(ValueError):
    """An arm that is not there."""


class Lookup:
    """The arms of a policy and its segments: arm i of segment s is row s * n + i of the features.

    It never changes: arms are added or removed in a new one, and copies of a policy share it.
    """

    def __init__(self, names: Iterable[Name], segments: Iterable[Name] = ()):
        self.names = checked_names(names)
        self.place = {name: place for place, name in enumerate(self.names)}
        if len(self.place) < len(self.names):
            raise ValueError("two arms have the same name")
        self.segment = {name: at for at, name in enumerate(segments)}
        self.token = object()  # of what is looked up here
        self.tokens = frozenset([self.token])  # of all places that are valid here
        self.numbered = self.names == list(range(len(self.names)))
        self._table: np.ndarray | None = None
        # Hashes of texts are 64 random bits; those of numbers are not, and -1 has that of -2.
        self._hashed = all(type(name) is str for name in self.place)

    def added(self, new: list[Name]) -> "Lookup":
        """Return this with more arms after the others: places that were looked up before stay valid."""
        other = Lookup(self.names + new, self.segment)
        other.tokens |= self.tokens
        return other

    def without(self, names: list[Name]) -> "Lookup":
        """Return this without some arms, whose rows are freed."""
        gone = {*names}
        return Lookup([name for name in self.names if name not in gone], self.segment)

    def rows_of(self, names: list[Name]) -> np.ndarray:
        """Return the rows of arms in all segments."""
        places = np.array([self.place[name] for name in names], int)
        starts = len(self.names) * np.arange(max(len(self.segment), 1))
        return np.add.outer(starts, places).ravel()

    def known(self, arms: Sequence[Name] | Sequence[Mapping[Name, float]]) -> np.ndarray:
        """Tell which of several arms are there; of contexts, those all of whose arms are."""
        try:
            there = [all(name in self.place for name in (arm if isinstance(arm, Mapping) else (arm,))) for arm in arms]
        except TypeError:
            raise ValueError(f"arms are given as a sequence of their names, not as {arms!r}") from None
        return np.array(there, bool)

    def places(self, arms: Iterable[Name] | None, segment: Segment = None) -> np.ndarray:
        """Return the rows of arms, or of all of them; refuse unknown ones."""
        places = np.arange(len(self.names), dtype=np.uint32) if arms is None else self._arms(arms)
        return places + self._shift(segment, len(places)) if self._segmented(segment) else places

    def rows(self, vectors: Vectors, segment: Segment = None) -> sp.csr_array:
        """Return contexts as vectors over the rows of the features."""
        rows = context_rows(self._weights(vectors), len(self.names))
        if not self._segmented(segment):
            return rows
        shift = np.broadcast_to(self._shift(segment, rows.shape[0]), rows.shape[0])
        columns = rows.indices + np.repeat(shift, np.diff(rows.indptr))
        shape = rows.shape[0], len(self.segment) * len(self.names)
        return sp.csr_array((rows.data, columns, rows.indptr), shape=shape)

    def _arms(self, arms: Iterable[Name]) -> np.ndarray:
        """Return the places of arms among their names."""
        if isinstance(arms, np.ndarray):
            if self.numbered and arms.dtype.kind in "iu" and arms.size and arms.ndim == 1:
                if arms.min() < 0 or arms.max() >= len(self.names):
                    raise UnknownArm(f"no arm {int(arms[(arms < 0) | (arms >= len(self.names))][0])}")
                return np.array(arms, np.uint32)  # a copy: nobody may change it after the check
            arms = arms.tolist()  # names of Python's own types are found faster
        try:
            if isinstance(arms, str | bytes):
                raise TypeError
            if self._hashed and isinstance(arms, list | tuple) and len(arms) >= MANY and _are_texts(arms):
                found = _find(np.fromiter(map(hash, arms), np.int64, len(arms)), self._hashes())
                if len(found):
                    return found
            return np.array([*map(self.place.__getitem__, arms)], np.uint32)
        except KeyError as unknown:
            raise UnknownArm(f"no arm {unknown.args[0]!r}") from None
        except TypeError:
            raise ValueError(f"arms are given as a sequence of their names, not as {arms!r}") from None

    def _hashes(self) -> np.ndarray:
        """Return the table of hashes and places, made at its first use: others would wait for each other's memory."""
        if self._table is None:
            hashes = np.fromiter(map(hash, self.place), np.int64, len(self.place))
            self._table = _tabulate(hashes, np.fromiter(self.place.values(), np.int64, len(self.place)))
        return self._table

    def __getstate__(self) -> dict:
        return vars(self) | {"_table": None}  # another process has other hashes

    def _weights(self, vectors: Vectors) -> object:
        """Return vectors as a matrix with a column per arm, whose shape and numbers nobody has checked yet."""
        if sp.issparse(vectors):
            return vectors
        try:
            vectors = (
                [vectors] if isinstance(vectors, Mapping) else vectors if hasattr(vectors, "shape") else [*vectors]
            )
            if not all(isinstance(vector, Mapping) for vector in vectors):
                return np.asarray(vectors, float)
            weights = np.array([weight for vector in vectors for weight in vector.values()], float)
        except (TypeError, ValueError):
            raise ValueError("vectors are rows over the arms, sparse or dense, or mappings {name: weight}") from None
        columns = self._arms([name for vector in vectors for name in vector]).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum([*map(len, vectors)], dtype=int)])
        return sp.csr_array((weights, columns, starts), shape=(len(vectors), len(self.names)))

    def _segmented(self, segment: Segment) -> bool:
        """Say whether there are segments; refuse one where there are none."""
        if segment is not None and not self.segment:
            raise ValueError("this policy has no segments; fit one with segments")
        return bool(self.segment)

    def _shift(self, segment: Segment, count: int) -> np.ndarray:
        """Return how many rows lie before those of a segment, or before those of each of ``count`` segments."""
        segments = [segment] if is_one(segment) else for_each(segment, count)
        try:
            return len(self.names) * np.array([self.segment[name] for name in segments], np.uint32)
        except (KeyError, TypeError):
            known = list(self.segment)
            wrong = next(name for name in segments if name not in known)
        name = "given" if wrong is None else repr(wrong)
        raise ValueError(f"no segment {name}; there are: {', '.join(map(repr, known))}")


def _are_texts(names: Sequence[Name]) -> bool:
    """Tell whether all names are texts, in a tenth of the time of looking at each: bytes have hashes of texts."""
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


def for_each(segment: Segment, count: int) -> list[Name | None]:
    """Return a segment for each of ``count``: the same one, or their own."""
    if is_one(segment):
        return [segment] * count
    segments = segment.tolist() if isinstance(segment, np.ndarray) else list(segment)
    if len(segments) != count:
        raise ValueError(f"{len(segments)} segments for {count}: give one for all, or one for each")
    return segments


def is_one(segment: Segment) -> bool:
    """Tell whether a segment is one for all."""
    return segment is None or not isinstance(segment, Iterable) or isinstance(segment, str)


def listed(things: object) -> list | None:
    """Return several arms or contexts as a list; None for what was looked up before, or is no collection of them."""
    if isinstance(things, np.ndarray):
        return things.tolist()
    if not isinstance(things, Iterable) or isinstance(things, str | bytes) or sp.issparse(things):
        return None
    return [*things]
