"""What callers name, turned into rows of a policy's features: arms, contexts over them, and segments."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import scipy.sparse as sp

from graphdr.graphs.contexts import context_rows
from graphdr.serve.sources import Name, checked_names

Vectors = sp.sparray | sp.spmatrix | np.ndarray | Sequence[Mapping[Name, float]]
Segment = Name | Sequence[Name] | None  # one for all, or one for each


class Lookup:
    """The arms of a policy and its segments: arm i of segment s is row s * n + i of the features."""

    def __init__(self, names: Iterable[Name], segments: Iterable[Name] = ()):
        self.names = checked_names(names)
        self.place = {name: place for place, name in enumerate(self.names)}
        if len(self.place) < len(self.names):
            raise ValueError("two arms have the same name")
        self.numbered = self.names == list(range(len(self.names)))
        self.segment = {name: at for at, name in enumerate(segments)}

    def add(self, new: list[Name]) -> None:
        """Append arms."""
        numbers = range(len(self.names), len(self.names) + len(new))
        self.names += new
        self.place.update(zip(new, numbers, strict=True))
        self.numbered = self.numbered and new == list(numbers)

    def places(self, arms: Iterable[Name], segment: Segment = None) -> np.ndarray:
        """Return the rows of arms; refuse unknown ones."""
        places = self._arms(arms)
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
                    raise ValueError(f"no arm {int(arms[(arms < 0) | (arms >= len(self.names))][0])}")
                return np.array(arms, np.uint32)  # a copy: nobody may change it after the check
            arms = arms.tolist()  # names of Python's own types are found faster
        try:
            return np.array([*map(self.place.__getitem__, arms)], np.uint32)
        except KeyError as unknown:
            raise ValueError(f"no arm {unknown.args[0]!r}") from None
        except TypeError:
            raise ValueError(f"arms are given as a sequence of their names, not as {arms!r}") from None

    def _weights(self, vectors: Vectors) -> object:
        """Return vectors as a matrix, whose shape and numbers nobody has checked yet."""
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
        places = self._arms([name for vector in vectors for name in vector])
        starts = np.concatenate([[0], np.cumsum([*map(len, vectors)], dtype=int)])
        return sp.csr_array((weights, places.astype(np.int64), starts), shape=(len(vectors), len(self.names)))

    def _segmented(self, segment: Segment) -> bool:
        """Say whether there are segments; refuse one where there are none."""
        if segment is not None and not self.segment:
            raise ValueError("this policy has no segments; fit one with segments")
        return bool(self.segment)

    def _shift(self, segment: Segment, count: int) -> np.ndarray:
        """Return how many rows lie before those of a segment, or before those of each of ``count`` segments."""
        segments = [segment] if _is_one(segment) else for_each(segment, count)
        try:
            return len(self.names) * np.array([self.segment[name] for name in segments], np.uint32)
        except (KeyError, TypeError):
            known = list(self.segment)
            wrong = next(name for name in segments if name not in known)
        name = "given" if wrong is None else repr(wrong)
        raise ValueError(f"no segment {name}; there are: {', '.join(map(repr, known))}")


def for_each(segment: Segment, count: int) -> list[Name | None]:
    """Return a segment for each of ``count``: the same one, or their own."""
    if _is_one(segment):
        return [segment] * count
    segments = segment.tolist() if isinstance(segment, np.ndarray) else list(segment)
    if len(segments) != count:
        raise ValueError(f"{len(segments)} segments for {count}: give one for all, or one for each")
    return segments


def _is_one(segment: Segment) -> bool:
    return segment is None or not isinstance(segment, Iterable) or isinstance(segment, str)
