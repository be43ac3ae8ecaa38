"""A saved policy: one parquet file of named vectors, with a hash of its data that is checked when it is read.

It is no cached result of the workflow and is meant to travel: unlike theirs, its hash leaves the path out.
"""

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphdr import __version__
from graphdr.cache import io
from graphdr.core.atomic import replacing
from graphdr.core.errors import MissingFile, UserError
from graphdr.graphs.arm_features import IDENTITY
from graphdr.serve import tuning
from graphdr.serve.basis import Extender
from graphdr.serve.learned import Learned, Prior
from graphdr.serve.lookup import Lookup
from graphdr.serve.retired import Retired
from graphdr.serve.tuning import RIDGE

PLAIN, WITH_SEGMENTS, FOUND = 1, 2, 3  # formats: of version 0.4, the same with segments, and with settings found
KIND = "policy"
COLUMNS = [
    ("field", pa.string(), "what the row belongs to: settings, names, or an array of the policy"),
    ("name", pa.string(), "JSON of the settings or of an arm's name; the row's number in a matrix, empty for a vector"),
    ("values", pa.list_(pa.float64()), "the row of the matrix, or the vector"),
]
SCHEMA = pa.schema([pa.field(name, type_, metadata={"description": text}) for name, type_, text in COLUMNS])
SETTINGS, NAMES = "settings", "names"
ARRAYS = ("rows", "pulls", "sums", "precision", "inverse", "mean", "context_v", "context_right")
SCALARS = ("within", "residual", "noise", "boost")
File = str | PathLike | IO[bytes]


def save(policy, target: File) -> None:
    """Write a policy, unless it cannot estimate anything."""
    known, extender = policy._learned, policy._extender
    if not known.is_finite:
        raise ValueError(
            "this policy cannot be saved: its estimates are not finite; load an earlier file, or fit again"
        )
    arrays = {name: getattr(known, name) for name in ARRAYS} | {"roughness": policy._columns.roughness}
    if known.retired:
        products = known.retired.products
        arrays |= {"retired_arms": known.retired.arms, "retired_products": products.reshape(len(products), -1)}
    if extender is not None:
        arrays |= {"eigenvalues": extender.values, "degrees": extender.degrees, "mean_squares": extender.mean_squares}
    settings = {
        "parameters": _plain(policy.get_params(deep=False)),
        "learned": {name: getattr(known, name) for name in SCALARS},
        "segments": list(policy._arms.segment),
        "retired_centre": known.retired.centre,
        "fitted": 0 if extender is None else extender.fitted,
        "nodes": policy.n_features_in_,
        "generator": _plain(policy._rng.bit_generator.state),
        "play": {name: getattr(policy, name) for name in ("rounds", "_due", "_next", "_ready")},
    }
    write(target, {"format": FOUND, **settings}, policy._arms.names, arrays)


def load(kind: type, source: File):
    """Read a policy of a class."""
    settings, names, arrays = read(source)
    number = settings.pop("format")
    if number not in (PLAIN, WITH_SEGMENTS, FOUND):
        raise UserError(f"{source}: saved by another version of the package, in a format that this one does not know")
    numbers = [number for number in settings.get("learned", {}).values() if number is not None]
    if not all(np.isfinite(part).all() for part in (*arrays.values(), numbers)):
        raise UserError(f"{source}: has numbers that are not finite: no policy can be played with them")
    if number != FOUND:
        return _of_old(kind, settings, names, arrays)
    policy = kind(**_segmented(settings["parameters"]))
    known = _learned(settings, arrays)
    policy._rng = np.random.Generator(getattr(np.random, settings["generator"]["bit_generator"])())
    policy._rng.bit_generator.state = settings["generator"]
    extender = _extender(arrays, settings.get("fitted", settings["nodes"]))
    if removed := settings.get("removed"):  # saved when removed arms still had their rows
        rows = np.add.outer(len(names) * np.arange(max(len(settings["segments"]), 1)), removed).ravel()
        known.retire(rows)
        extender = None if extender is None else extender.without(rows)
        names = [name for place, name in enumerate(names) if place not in {*removed}]
    _enter(policy, Lookup(names, settings["segments"]), known, extender, arrays, settings["nodes"])
    vars(policy).update(settings["play"])
    return policy


def _learned(settings: Mapping, arrays: Mapping[str, np.ndarray]) -> Learned:
    """Return what a policy of the present format had learned."""
    nothing = np.empty((0, 0))  # has no rows that a file could hold
    shape = len(arrays.get("pulls", ())), len(arrays["context_right"])
    known = Learned(arrays.get("rows", np.empty(shape)), Prior(nothing))
    vars(known).update({name: arrays.get(name, getattr(known, name, nothing)) for name in ARRAYS} | settings["learned"])
    if "retired_arms" in arrays:
        width = shape[1] + 2
        products = arrays["retired_products"].reshape(-1, width, width)
        known.retired = Retired(arrays["retired_arms"], products, settings["retired_centre"])
    return known


def _extender(arrays: Mapping[str, np.ndarray], fitted: int) -> Extender | None:
    if "eigenvalues" not in arrays:
        return None
    values, degrees = arrays["eigenvalues"], arrays.get("degrees", np.empty(0))
    # Older files lack this: eigenvectors have length one.
    mean_squares = arrays["mean_squares"] if "mean_squares" in arrays else np.ones(len(values)) / degrees.sum()
    return Extender(values, degrees, fitted, mean_squares)


def _enter(policy, arms: Lookup, known: Learned, extender: Extender | None, arrays: Mapping, nodes: int) -> None:
    """Put what was read into a policy."""
    first = int(policy.intercept)
    k = known.rows.shape[1] - first
    policy._given = None if policy.ridge is None else Prior(known.precision, known.residual)
    policy._columns = tuning.columns(known.rows, first, arrays.get("roughness", np.zeros(k)))
    policy._arms, policy._learned, policy._extender, policy.n_features_in_ = arms, known, extender, nodes
    policy._stale, policy._frozen, policy._start = "", False, None


def _of_old(kind: type, settings: dict, names: list, arrays: dict[str, np.ndarray]):
    """Return a policy as version 0.4 saved it: LinUCB with a ridge and a radius, without an intercept."""
    rounds, segments, full = settings["rounds"], settings.get("segments", []), settings["basis"] == IDENTITY
    given = {name: settings[name] for name in ("basis", "laplacian", "radius", "ridge")}
    policy = kind(1 if full else settings["k"], prior=RIDGE, intercept=False, **given)
    rows = np.empty((len(arrays["weight"]), 0)) if full else arrays["features"]
    inverse = np.empty((0, 0)) if full else arrays["v_inverse"]
    # Only V^-1 was saved: what was learned before is in it, and counts as the prior.
    precision = np.linalg.inv(inverse)
    known = Learned(rows, Prior(precision, 1.0 / settings["ridge"] if full else 0.0), inverse)
    if full:
        known.pulls, known.sums = arrays["weight"] - settings["ridge"], arrays["total"]
    else:
        known.mean, known.context_right = arrays["estimate"], precision @ arrays["estimate"]
    policy._rng = np.random.default_rng()
    _enter(policy, Lookup(names, segments), known, _extender(arrays, len(names)), arrays, len(names))
    policy.rounds, policy._due, policy._next, policy._ready = rounds, 0, 0, True
    return policy


def _plain(value: object) -> object:
    """Return parameters as JSON has them; a generator is stored by its state alone, a graph of segments as a list."""
    if isinstance(value, Mapping):
        if "segments" in value and value["segments"] is not None:
            value = dict(value) | {"segments": _edges(value["segments"])}
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return value if value is None or isinstance(value, str | int | float | bool | list) else None


def _edges(segments) -> list:
    """Return segments and their edges as lists: JSON would turn names that are numbers into texts."""
    if isinstance(segments, Mapping):
        return [[name, [[other, float(weight)] for other, weight in edges.items()]] for name, edges in segments.items()]
    matrix = segments.toarray() if hasattr(segments, "toarray") else np.asarray(segments)
    return [[i, [[j, float(w)] for j, w in enumerate(row) if w]] for i, row in enumerate(matrix.tolist())]


def _segmented(parameters: dict) -> dict:
    if parameters["segments"] is None:
        return parameters
    return parameters | {"segments": {name: dict(map(tuple, edges)) for name, edges in parameters["segments"]}}


def write(target: File, settings: Mapping, names: Sequence[str | int], arrays: Mapping[str, np.ndarray]) -> None:
    """Write settings, names and arrays of one or two dimensions, to a path atomically."""
    parts = [(SETTINGS, [json.dumps(settings)], np.empty((1, 0)))]
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
    table = table.replace_schema_metadata(facts)
    if not isinstance(target, str | PathLike):
        pq.write_table(table, target, compression="zstd")
        return
    with replacing(target) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read(source: File) -> tuple[dict, list[str | int], dict[str, np.ndarray]]:
    """Return settings, names and arrays; a missing, foreign or changed file is one clear error."""
    try:
        with pq.ParquetFile(source) as file:
            table = file.read()
    except FileNotFoundError:
        raise MissingFile(f"{source}: no such file") from None
    except (OSError, ValueError, pa.ArrowException):
        raise UserError(f"{source}: not a readable parquet file") from None
    facts = table.schema.metadata or {}
    if not table.schema.equals(SCHEMA) or facts.get(io.KIND) != KIND.encode():
        raise UserError(f"{source}: not a saved policy")
    if io.content_hash(table, KIND) != facts.get(io.HASH, b"").decode(errors="replace"):
        raise UserError(f"{source}: the content does not match its hash; it was changed after it was saved")
    fields, labels = io.values(table["field"]), table["name"].to_pylist()
    lists = table["values"].combine_chunks()
    numbers, offsets = io.values(lists.values), io.values(lists.offsets)
    names = [json.loads(label) for label, field in zip(labels, fields, strict=True) if field == NAMES]
    arrays = {}
    for field in dict.fromkeys(fields):
        if field not in (SETTINGS, NAMES):
            rows = np.flatnonzero(fields == field)
            block = numbers[offsets[rows[0]] : offsets[rows[-1] + 1]].copy()  # the file's own memory is read-only
            arrays[field] = block.reshape(len(rows), -1) if labels[rows[0]] else block
    return json.loads(labels[0]), names, arrays
