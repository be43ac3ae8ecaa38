"""A saved policy: one parquet file of named vectors, with a hash of its data that is checked when it is read.

It is no cached result of the workflow and is meant to travel: unlike theirs, its hash leaves the path out.
"""

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphdr import __version__
from graphdr.cache import io
from graphdr.core.atomic import replacing
from graphdr.core.errors import UserError

FORMAT, WITH_SEGMENTS = 1, 2  # who knows no segments must not take the features of pairs for those of arms
KIND = "policy"
COLUMNS = [
    ("field", pa.string(), "what the row belongs to: settings, names, or an array of the policy"),
    ("name", pa.string(), "JSON of the settings or of an arm's name; the row's number in a matrix, empty for a vector"),
    ("values", pa.list_(pa.float64()), "the row of the matrix, or the vector"),
]
SCHEMA = pa.schema([pa.field(name, type_, metadata={"description": text}) for name, type_, text in COLUMNS])
SETTINGS, NAMES = "settings", "names"


def write(path: str, settings: Mapping, names: Sequence[str | int], arrays: Mapping[str, np.ndarray]) -> None:
    """Write settings, names and arrays of one or two dimensions, atomically."""
    number = WITH_SEGMENTS if "segments" in settings else FORMAT
    parts = [(SETTINGS, [json.dumps({"format": number, **settings})], np.empty((1, 0)))]
    parts += [(NAMES, [json.dumps(name) for name in names], np.empty((len(names), 0)))]
    matrices = {field: (np.atleast_2d(array), array.ndim == 1) for field, array in arrays.items()}
    parts += [(field, [""] if one else [*map(str, range(len(rows)))], rows) for field, (rows, one) in matrices.items()]
    lengths = np.concatenate([np.full(len(rows), rows.shape[1]) for _, _, rows in parts])
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    numbers = np.concatenate([rows.ravel() for _, _, rows in parts])
    texts = zip(*((field, label) for field, labels, _ in parts for label in labels), strict=True)
    columns = [*map(pa.array, texts), pa.ListArray.from_arrays(offsets, pa.array(numbers))]
    table = pa.Table.from_arrays(columns, schema=SCHEMA)
    facts = {io.KIND: KIND, io.HASH: io.content_hash(table, KIND), io.PROVENANCE: json.dumps({"version": __version__})}
    with replacing(path) as temporary:
        pq.write_table(table.replace_schema_metadata(facts), temporary, compression="zstd")


def read(path: str) -> tuple[dict, list[str | int], dict[str, np.ndarray]]:
    """Return settings, names and arrays; a missing, foreign or changed file is one clear error."""
    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (OSError, ValueError, pa.ArrowException):
        raise UserError(f"{path}: not a readable parquet file") from None
    facts = table.schema.metadata or {}
    if not table.schema.equals(SCHEMA) or facts.get(io.KIND) != KIND.encode():
        raise UserError(f"{path}: not a saved policy")
    if io.content_hash(table, KIND) != facts.get(io.HASH, b"").decode(errors="replace"):
        raise UserError(f"{path}: the content does not match its hash; it was changed after it was saved")
    fields, labels = io.values(table["field"]), table["name"].to_pylist()
    lists = table["values"].combine_chunks()
    numbers, offsets = io.values(lists.values), io.values(lists.offsets)
    settings = json.loads(labels[0])
    if settings.pop("format") not in (FORMAT, WITH_SEGMENTS):
        raise UserError(f"{path}: saved by another version of the package, in a format that this one does not know")
    names = [json.loads(label) for label, field in zip(labels, fields, strict=True) if field == NAMES]
    arrays = {}
    for field in dict.fromkeys(fields):
        if field not in (SETTINGS, NAMES):
            rows = np.flatnonzero(fields == field)
            block = numbers[offsets[rows[0]] : offsets[rows[-1] + 1]].copy()  # the file's own memory is read-only
            arrays[field] = block.reshape(len(rows), -1) if labels[rows[0]] else block
    return settings, names, arrays
