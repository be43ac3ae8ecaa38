"""The one way in and out: declared schemas, atomic writes, provenance, and a content hash checked on every read."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from graphdr.cache.paths import PROJECT, committed
from graphdr.cache.schemas import SCHEMAS
from graphdr.core import spent
from graphdr.core.atomic import replacing
from graphdr.core.errors import UserError

HASH, KIND, PROVENANCE, MARKS = b"graphdr.hash", b"graphdr.kind", b"graphdr.provenance", b"graphdr.marks"
_REBUILD = "delete it and run snakemake again"

_provenance: dict = {}  # of the job that runs in this process; its inputs are added as they are read
_written: list[str] = []  # files that this job has written so far


@contextmanager
def provenance(**facts) -> Iterator[dict]:
    """Attach these facts, and hashes and marks of all inputs read meanwhile, to every file written inside.

    A job reads all of its inputs before it writes its first output, so that every output names all inputs.
    """
    _written.clear()
    _provenance.update(facts, inputs={}, marks={})
    try:
        yield _provenance
    finally:
        _provenance.clear()
        _written.clear()


def mark(dataset: str, **words: str) -> None:
    """Say what everything built from a data set must carry: that it is unverified, incomplete or of another release."""
    if words:
        _provenance["marks"][dataset] = _provenance["marks"].get(dataset, {}) | words


def marks() -> dict[str, dict[str, str]]:
    """Return the marks of all data sets behind the inputs read so far."""
    return dict(sorted(_provenance.get("marks", {}).items()))


def nothing(kind: str) -> dict[str, pa.Array]:
    """Return the columns of a table without rows, which stands for data that are not there."""
    return {field.name: pa.nulls(0, field.type) for field in SCHEMAS[kind]}


@spent.on(spent.FILES)
def write(kind: str, columns: Mapping[str, object], path: str) -> None:
    """Write columns as the declared kind of table, atomically, with provenance and content hash."""
    schema = SCHEMAS[kind]
    if missing := set(schema.names) ^ set(columns):
        raise ValueError(f"{path}: a {kind} table has columns {schema.names}; check {sorted(missing)}")
    arrays = [_as_array(columns[field.name], field.type) for field in schema]
    table = pa.Table.from_arrays(arrays, schema=schema)
    facts = json.dumps({name: fact for name, fact in _provenance.items() if name != "marks"}, sort_keys=True)
    metadata = {KIND: kind, HASH: content_hash(table, path), PROVENANCE: facts, MARKS: json.dumps(marks())}
    with replacing(path) as temporary:
        pq.write_table(table.replace_schema_metadata(metadata), temporary, compression="zstd")
    if _provenance:
        _written.append(path)


@spent.on(spent.FILES)
def read(kind: str, path: str) -> pa.Table:
    """Read a table; a missing, broken, foreign or changed file is one clear error.

    Parameters
    ----------
    kind : str
        The kind of table, as results/README.md names it.
    path : str
        The path that it was written with, from the project's folder: the hash covers it.

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
    if _provenance:
        if _written and path not in _provenance["inputs"]:
            raise RuntimeError(f"{path}: read after {_written[0]} was written, which then does not name it as an input")
        _provenance["inputs"][path] = expected
        for dataset, words in marked.items():
            mark(dataset, **words)
    return table


@spent.on(spent.FILES)
def read_frame(kind: str, paths: list[str]):
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


def content_hash(table: pa.Table, path: str) -> str:
    """Hash path and data (not provenance): any changed value and any swap of two files shows."""
    digest = hashlib.sha256(Path(path).as_posix().encode())
    for name, column in zip(table.column_names, table.columns, strict=True):
        digest.update(f"\n{name}:{len(column)}\n".encode())
        _update(digest, column)
    return digest.hexdigest()


def values(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Return a column as a NumPy array: texts as objects, a missing number as nan; others must not be missing.

    Arrow's own conversions import pandas, which costs a short job more than its work.
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_string(array.type):
        encoded = array.dictionary_encode()
        return np.array(encoded.dictionary.to_pylist(), object)[values(encoded.indices)]
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


def _update(digest, column) -> None:
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


def _as_array(given, type_: pa.DataType) -> pa.Array:
    if isinstance(given, pa.ChunkedArray):
        given = given.combine_chunks()
    if isinstance(given, pa.Array):
        return given.cast(type_)
    if pa.types.is_list(type_):
        flat = np.concatenate([np.empty(0), *(np.asarray(row, float) for row in given)])
        offsets = np.cumsum([0, *map(len, given)])
        return pa.ListArray.from_arrays(_as_array(offsets, pa.int32()), _as_array(flat, type_.value_type))
    if pa.types.is_string(type_) and isinstance(given, np.ndarray) and given.dtype.kind == "U":
        return _texts(*np.unique(given, return_inverse=True))
    if isinstance(given, np.ndarray) and given.dtype.kind in "iuf" and not pa.types.is_string(type_):
        if pa.types.is_integer(type_) and np.isnan(given).any():
            return _as_array(given, pa.float64()).cast(type_)
        numbers = np.ascontiguousarray(given, _number(type_))
        known = ~np.isnan(numbers)
        valid = None if known.all() else pa.py_buffer(np.packbits(known, bitorder="little"))
        return pa.Array.from_buffers(type_, len(numbers), [valid, pa.py_buffer(numbers)])
    return pa.array(given, type_, from_pandas=True)


def repeated(texts: list[str], times: list[int]) -> pa.Array:
    """Return a column of texts, each as many times in a row: spelling all of them out takes longer than a short job."""
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return _texts(list(places), np.repeat([places[text] for text in texts], times))


def _texts(distinct: Sequence[str], places: np.ndarray) -> pa.Array:
    encoded = [str(text).encode() for text in distinct]
    buffers = pa.py_buffer(np.cumsum([0, *map(len, encoded)], dtype=np.int32)), pa.py_buffer(b"".join(encoded))
    return pa.StringArray.from_buffers(len(distinct), *buffers).take(_as_array(places, pa.int32()))


def noted(path: str) -> str:
    """Return where an input is that no stage has written, its digest being noted beside the hashes of the others."""
    place = committed(path, os.environ.get(PROJECT, ""))
    if _provenance:
        try:
            _provenance.setdefault("files", {})[path] = file_digest(place)
        except OSError as error:
            raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    return place


def noted_files() -> dict[str, str]:
    """Return the digests of all inputs noted so far."""
    return dict(_provenance.get("files", {}))


@spent.on(spent.FILES)
def file_digest(path: str) -> str:
    """Return the sha256 of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
