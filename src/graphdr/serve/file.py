"""A saved policy: one parquet file of named vectors, with a hash of its data that is checked when it is read.

Unlike the hash of a cached result, this one leaves the path out: the file may be moved.
"""

import json
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphdr import __version__
from graphdr.bandit.graph_prior.model import Groups
from graphdr.cache import io
from graphdr.core.atomic import replacing
from graphdr.core.errors import MissingFile, UserError
from graphdr.core.records import Json
from graphdr.serve.arms import Arms
from graphdr.serve.basis import Extender
from graphdr.serve.posterior import Posterior, Prior
from graphdr.serve.sources import Name
from graphdr.serve.state import State

FORMAT = 3
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

File = str | PathLike[str] | IO[bytes]
Arrays = dict[str, np.ndarray]


def save(parameters: Mapping[str, Any], state: State, ready: bool, target: File) -> None:
    """Write a policy, unless its estimates are not finite."""
    posterior, extender, retired = state.posterior, state.extender, state.posterior.retired
    if not posterior.is_finite:
        raise ValueError(
            "this policy cannot be saved: its estimates are not finite; load an earlier file, or fit again"
        )
    arrays: Arrays = {name: getattr(posterior, name) for name in ARRAYS} | {"roughness": state.roughness}
    if retired:
        arrays |= {"retired_arms": retired.arms, "retired_products": retired.products.reshape(len(retired.arms), -1)}
    if extender:
        arrays |= {"eigenvalues": extender.values, "degrees": extender.degrees, "mean_squares": extender.mean_squares}
    segments = parameters["segments"]
    edges = None if segments is None else _segment_edges(segments)
    settings = {
        "format": FORMAT,
        "parameters": {**parameters, "segments": edges},
        "learned": {name: getattr(posterior, name) for name in SCALARS},
        "segments": list(state.arms.segment),
        "retired_centre": retired.centre if retired else 0.0,
        "fitted": extender.fitted if extender else 0,
        "nodes": state.nodes,
        "generator": state.rng.bit_generator.state,
        "play": {"rounds": state.rounds, "_due": state.pending, "_next": state.next_tuning, "_ready": ready},
    }
    write(target, settings, state.arms.names, arrays)


def load(source: File) -> tuple[Json, State]:
    """Read the parameters and the state of a policy."""
    settings, names, arrays = read(source)
    if settings["format"] != FORMAT:
        raise UserError(f"{source}: saved by another version of the package, in a format that this one does not know")
    parameters, play, columns = settings["parameters"], settings["play"], len(arrays["context_right"])
    if parameters["segments"] is not None:
        parameters["segments"] = {name: dict(map(tuple, edges)) for name, edges in parameters["segments"]}
    # The file lacks arrays without rows.
    posterior = Posterior(np.empty((len(arrays.get("pulls", ())), columns)), Prior(np.empty((0, 0))))
    for name in ARRAYS:
        setattr(posterior, name, arrays.get(name, getattr(posterior, name)))
    for name in SCALARS:
        setattr(posterior, name, settings["learned"][name])
    if "retired_arms" in arrays:
        products = arrays["retired_products"].reshape(-1, columns + 2, columns + 2)
        posterior.retired = Groups(arrays["retired_arms"], products, settings["retired_centre"])
    if not (posterior.is_finite and all(np.isfinite(part).all() for part in arrays.values())):
        raise UserError(f"{source}: has numbers that are not finite: no policy can be played with them")
    extender = None
    if "eigenvalues" in arrays:
        degrees = arrays.get("degrees", np.empty(0))
        extender = Extender(arrays["eigenvalues"], degrees, settings["fitted"], arrays["mean_squares"])
    rng = np.random.Generator(getattr(np.random, settings["generator"]["bit_generator"])())
    rng.bit_generator.state = settings["generator"]
    state = State(
        Arms(names, settings["segments"]),
        posterior,
        arrays["roughness"],
        parameters["intercept"],
        None if parameters["ridge"] is None else Prior(posterior.precision, posterior.residual),
        extender,
        rng,
        settings["nodes"],
        play["rounds"],
        play["_due"],
        play["_next"],
    )
    return parameters, state


def _plain(value: object) -> object:
    """Return NumPy's numbers as JSON has them; None for an object such as a generator, whose state is stored apart."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else None


def _segment_edges(segments: Any) -> list[Any]:
    """Return segments and their edges as lists: JSON would turn names that are numbers into texts."""
    if isinstance(segments, Mapping):
        return [[name, [[other, float(weight)] for other, weight in edges.items()]] for name, edges in segments.items()]
    matrix = segments.toarray() if hasattr(segments, "toarray") else np.asarray(segments)
    return [[i, [[j, float(w)] for j, w in enumerate(row) if w]] for i, row in enumerate(matrix.tolist())]


def write(target: File, settings: Json, names: Sequence[Name], arrays: Arrays) -> None:
    """Write settings, names and arrays of one or two dimensions; a path atomically."""
    kinds = [SETTINGS] + [NAMES] * len(names)
    labels = [json.dumps(settings, default=_plain), *map(json.dumps, names)]
    values = [pa.array([[]] * len(labels), SCHEMA.field("values").type)]
    for name, array in arrays.items():
        rows = np.atleast_2d(array)
        kinds += [name] * len(rows)
        labels += [""] if array.ndim == 1 else map(str, range(len(rows)))
        starts = pa.array(rows.shape[1] * np.arange(len(rows) + 1), pa.int32())
        values.append(pa.ListArray.from_arrays(starts, pa.array(rows.ravel())))
    table = pa.table([kinds, labels, pa.concat_arrays(values)], schema=SCHEMA)
    facts = {io.KIND: KIND, io.HASH: io.content_hash(table, KIND), io.PROVENANCE: json.dumps({"version": __version__})}
    table = table.replace_schema_metadata(facts)
    if not isinstance(target, str | PathLike):
        pq.write_table(table, target, compression="zstd")
        return
    with replacing(fspath(target)) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read(source: File) -> tuple[Json, list[Name], Arrays]:
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
    kinds, labels, lists = io.values(table["field"]), table["name"].to_pylist(), table["values"].combine_chunks()
    names = [json.loads(label) for label, kind in zip(labels, kinds, strict=True) if kind == NAMES]
    arrays = {}
    for kind in dict.fromkeys(kinds):
        if kind not in (SETTINGS, NAMES):
            rows = np.flatnonzero(kinds == kind)
            block = io.values(lists.take(rows).flatten()).copy()  # the memory of the file is read-only
            arrays[kind] = block.reshape(len(rows), -1) if labels[rows[0]] else block
    return json.loads(labels[0]), names, arrays
