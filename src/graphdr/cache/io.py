"""Read and write cached tables: declared schemas, atomic writes, provenance, and a content hash checked on reading."""

import hashlib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from graphdr.cache.paths import PROJECT, data_file
from graphdr.core.atomic import replacing
from graphdr.core.errors import UserError
from graphdr.core.records import Json

if TYPE_CHECKING:
    import pandas as pd

HASH, KIND, PROVENANCE, MARKS = b"graphdr.hash", b"graphdr.kind", b"graphdr.provenance", b"graphdr.marks"
_REBUILD = "delete it and run snakemake again"

Marks = dict[str, dict[str, str]]  # by data set: what is special about its data, such as "unverified"


def _schema(columns: dict[str, tuple[str, str]]) -> pa.Schema:
    """Return the schema of columns that are declared by type and meaning."""
    declared = []
    for name, (kind, text) in columns.items():
        item = pa.type_for_alias(kind.removeprefix("list of "))
        type_ = pa.list_(item) if kind.startswith("list of ") else item
        declared.append(pa.field(name, type_, metadata={"description": text}))
    return pa.schema(declared)


_DECLARED = Path(__file__).with_name("schemas.toml").read_text(encoding="utf-8")
SCHEMAS = {kind: _schema(columns) for kind, columns in tomllib.loads(_DECLARED).items()}  # of every kind of table


@dataclass
class Provenance:
    """The job that runs in this process; inputs and marks are added as they are read."""

    job: Json  # its stage, params, code and version
    inputs: dict[str, str] = field(default_factory=dict)  # content hashes of the tables that were read
    files: dict[str, str] = field(default_factory=dict)  # digests of inputs that no stage has written
    marks: Marks = field(default_factory=dict)
    written: str = ""  # the first output


_job: Provenance | None = None


@contextmanager
def provenance(**job: Any) -> Iterator[Provenance]:
    """Attach the facts of a job, and all inputs read meanwhile, to every file written inside."""
    global _job
    _job = Provenance(job)
    try:
        yield _job
    finally:
        _job = None


def mark(dataset: str, **words: str) -> None:
    """Mark a data set as unverified, incomplete or of another release; everything built from it carries the mark."""
    if words and _job is not None:
        _job.marks[dataset] = _job.marks.get(dataset, {}) | words


def marks() -> Marks:
    """Return the marks of all data sets behind the inputs read so far."""
    return dict(sorted(_job.marks.items())) if _job is not None else {}


def nothing(kind: str) -> dict[str, pa.Array]:
    """Return the columns of a table without rows, which stands for missing data."""
    return {column.name: pa.nulls(0, column.type) for column in SCHEMAS[kind]}


def write(kind: str, columns: Mapping[str, object], path: str) -> None:
    """Write columns as the declared kind of table, atomically, with provenance and content hash."""
    schema = SCHEMAS[kind]
    if missing := set(schema.names) ^ set(columns):
        raise ValueError(f"{path}: a {kind} table has columns {schema.names}; check {sorted(missing)}")
    arrays = [_as_array(columns[column.name], column.type) for column in schema]
    table = pa.Table.from_arrays(arrays, schema=schema)
    facts: Json = {}
    if _job is not None:
        facts = _job.job | {"inputs": _job.inputs} | ({"files": _job.files} if _job.files else {})
        _job.written = _job.written or path
    footer = json.dumps(facts, sort_keys=True)
    metadata = {KIND: kind, HASH: content_hash(table, path), PROVENANCE: footer, MARKS: json.dumps(marks())}
    with replacing(path) as temporary:
        pq.write_table(table.replace_schema_metadata(metadata), temporary, compression="zstd")


def write_parts(kind: str, parts: Sequence[Mapping[str, Any]], path: str) -> None:
    """Write a table whose rows come in parts; a scalar stands for all rows of its part."""
    columns: Mapping[str, object] = nothing(kind)
    if parts:
        sizes = [max((len(column) for column in part.values() if np.ndim(column)), default=1) for part in parts]
        columns = {name: _concatenate([part[name] for part in parts], sizes) for name in parts[0]}
    write(kind, columns, path)


def _concatenate(values: list[Any], sizes: list[int]) -> np.ndarray | pa.Array | list[Any]:
    if isinstance(values[0], list):  # rows that are lists themselves
        return [row for rows in values for row in rows]
    if any(map(np.ndim, values)):
        return np.concatenate([np.broadcast_to(value, size) for value, size in zip(values, sizes, strict=True)])
    if isinstance(values[0], str):  # without a Python object for every row
        places = {text: place for place, text in enumerate(dict.fromkeys(values))}
        texts = [text.encode() for text in places]
        buffers = pa.py_buffer(np.cumsum([0, *map(len, texts)], dtype=np.int32)), pa.py_buffer(b"".join(texts))
        rows = np.repeat([places[text] for text in values], sizes)
        return pa.StringArray.from_buffers(len(texts), *buffers).take(_as_array(rows, pa.int32()))
    return np.repeat(np.array(values), sizes)


def read(kind: str, path: str) -> pa.Table:
    """Read a table; a missing, broken, foreign or changed file is one clear error.

    Parameters
    ----------
    kind : str
        The kind of table, as results/README.md names it.
    path : str
        The path that it was written with, relative to the project: the hash covers it.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    UserError
        In one line.

    Examples
    --------
    >>> graphdr.read_table("theta", "none.parquet")
    Traceback (most recent call last):
    graphdr.core.errors.UserError: none.parquet: no such file; run snakemake none.parquet
    """
    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
        metadata = table.schema.metadata or {}
        marked = json.loads(metadata.get(MARKS, b"{}"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run snakemake {path}") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        cause = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise UserError(f"{path}: not a readable parquet file ({cause}); {_REBUILD}") from None
    if not table.schema.equals(SCHEMAS[kind]):
        raise UserError(f"{path}: not a table of kind {kind!r} with columns {SCHEMAS[kind].names}; {_REBUILD}")
    expected = metadata.get(HASH, b"").decode(errors="replace")
    if content_hash(table, path) != expected:
        cause = "changed or moved after it was built"
        raise UserError(f"{path}: the content does not match its hash ({cause}); {_REBUILD}")
    if _job is not None:
        if _job.written and path not in _job.inputs:  # an output names all inputs, which are read before
            raise RuntimeError(
                f"{path}: read after {_job.written} was written, which then does not name it as an input"
            )
        _job.inputs[path] = expected
        for dataset, words in marked.items():
            mark(dataset, **words)
    return table


def read_frame(kind: str, paths: list[str]) -> "pd.DataFrame":
    """Read several tables of one kind as one pandas frame, with the same checks.

    Parameters
    ----------
    kind : str
        The kind of table, as results/README.md names it.
    paths : list of str
        As in ``read_table``.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> list(graphdr.read_frame("theta", []).columns)
    ['problem', 'instance', 'node', 'theta']
    """
    tables = [read(kind, path).replace_schema_metadata() for path in paths]
    return pa.concat_tables(tables or [SCHEMAS[kind].empty_table()]).to_pandas()


def groups(table: pa.Table, *keys: str) -> Iterator[tuple[Any, slice]]:
    """Yield the slices of consecutive rows that agree in the key columns, each with its key: a tuple if of several."""
    columns = arrays(table, *keys)
    if not len(table):
        return
    changed = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    for begin, end in pairwise([0, *(np.flatnonzero(changed) + 1), len(table)]):
        key = tuple(column[begin] for column in columns)
        yield key if len(keys) > 1 else key[0], slice(begin, end)


def read_parts(kind: str, path: str, keys: Sequence[str], *columns: str) -> dict[Any, list[np.ndarray]]:
    """Read columns of a table, by default all but the keys, one part for every run of rows with equal keys."""
    table = read(kind, path)
    whole = arrays(table, *(columns or [name for name in table.column_names if name not in keys]))
    return {key: [column[rows] for column in whole] for key, rows in groups(table, *keys)}


def arrays(table: pa.Table, *names: str) -> list[np.ndarray]:
    """Return some columns of a table as NumPy arrays."""
    return [values(table[name]) for name in names]


def content_hash(table: pa.Table, path: str) -> str:
    """Hash path and data, not provenance, so that a changed value and a swap of two files are detected."""
    digest = hashlib.sha256(Path(path).as_posix().encode())
    for name, column in zip(table.column_names, table.columns, strict=True):
        digest.update(f"\n{name}:{len(column)}\n".encode())
        _update(digest, column)
    return digest.hexdigest()


def values(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Return a column as a NumPy array: texts as objects, missing floats as nan; no other value may be missing.

    Arrow's own conversions import pandas, which takes longer than a short job.
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_string(array.type):
        encoded = array.dictionary_encode()
        texts: np.ndarray = np.array(encoded.dictionary.to_pylist(), object)[values(encoded.indices)]
        return texts
    return _numbers(array, float("nan") if pa.types.is_floating(array.type) else 0)


def _numbers(array: pa.Array, missing: float) -> np.ndarray:
    number, (present, data) = _number(array.type), array.buffers()
    numbers = np.frombuffer(data, number, len(array), array.offset * number.itemsize)
    if not array.null_count:
        return numbers
    bits = np.unpackbits(np.frombuffer(present, np.uint8), bitorder="little")
    return np.where(bits[array.offset : array.offset + len(array)], numbers, number.type(missing))


def _number(type_: pa.DataType) -> np.dtype:
    return np.dtype({"float": "float32", "double": "float64"}.get(str(type_), str(type_)))


def _update(digest: Any, column: pa.ChunkedArray | pa.Array) -> None:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if array.null_count:
        digest.update(pc.is_null(array).cast(pa.uint8()).buffers()[1])
    if pa.types.is_string(array.type):
        encoded = array.dictionary_encode()
        digest.update(json.dumps(encoded.dictionary.to_pylist()).encode())
        array = encoded.indices
    elif pa.types.is_list(array.type):
        _update(digest, pc.list_value_length(array))
        array = array.flatten()
    if len(array):
        digest.update(_numbers(array, 0))


def _as_array(column: Any, type_: pa.DataType) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.Array):
        return column.cast(type_)
    if pa.types.is_list(type_):
        flat = np.concatenate([np.empty(0), *(np.asarray(row, float) for row in column)])
        offsets = np.cumsum([0, *map(len, column)])
        return pa.ListArray.from_arrays(_as_array(offsets, pa.int32()), _as_array(flat, type_.value_type))
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf" and not pa.types.is_string(type_):
        numbers = np.ascontiguousarray(column, _number(type_))
        present = ~np.isnan(numbers)
        valid = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
        return pa.Array.from_buffers(type_, len(numbers), [valid, pa.py_buffer(numbers)])
    return pa.array(column, type_, from_pandas=True)  # which imports pandas


def record_input(path: str) -> str:
    """Add the digest of an input that no stage has written to the provenance; return where the file is."""
    place = data_file(path, os.environ.get(PROJECT, ""))
    if _job is not None:
        try:
            _job.files[path] = file_digest(place)
        except OSError as error:
            raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    return place


def recorded_inputs() -> dict[str, str]:
    """Return the digests of all inputs added by ``record_input``."""
    return dict(_job.files) if _job is not None else {}


def file_digest(path: str) -> str:
    """Return the sha256 of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
