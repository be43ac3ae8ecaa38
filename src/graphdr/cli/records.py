"""What is written down about a file: in its own footer, or in the manifest entry of the job that built it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from graphdr.cache import io, paths
from graphdr.core.errors import UserError

UNREADABLE = (OSError, ValueError, TypeError, AttributeError, KeyError, pa.ArrowException)


class Record(NamedTuple):
    """A file as it is here, and how it was made; ``stage`` is None where nobody wrote that down."""

    path: str
    bytes: int
    modified: float
    rows: int | None = None
    kind: str | None = None
    hash: str | None = None
    stage: str | None = None
    version: str | None = None
    code: str | None = None
    params: dict = {}  # noqa: RUF012 - never changed
    inputs: dict[str, str] = {}  # noqa: RUF012
    marks: dict[str, dict[str, str]] = {}  # noqa: RUF012
    broken: str | None = None  # why the file cannot be read


def is_parquet(path: str) -> bool:
    """Tell whether a file should be parquet, by its name."""
    return path.endswith(".parquet")


def metadata(path: str) -> pq.FileMetaData:
    """Read the footer of a parquet file; one that is not there or broken is one clear error."""
    try:
        return pq.read_metadata(path)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UserError(f"{path}: a folder; graphdr ls {path} lists it") from None
    except UNREADABLE as error:
        raise UserError(f"{path}: not a readable parquet file ({first_line(error)})") from None


def rows(path: str, columns: list[str] | None = None) -> pa.Table:
    """Read a parquet file, or some of its columns."""
    try:
        with pq.ParquetFile(path) as file:
            return file.read(columns)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run snakemake {path}") from None
    except UNREADABLE as error:
        raise UserError(f"{path}: not a readable parquet file ({first_line(error)})") from None


def head(path: str, count: int) -> list[dict]:
    """Read the first rows of a parquet file."""
    try:
        with pq.ParquetFile(path) as file:
            found: list[dict] = []
            for batch in file.iter_batches(max(min(count, 10_000), 1)):
                found += batch.slice(0, count - len(found)).to_pylist()
                if len(found) >= count:
                    break
            return found
    except UNREADABLE as error:
        raise UserError(f"{path}: not a readable parquet file ({first_line(error)})") from None


def from_footer(path: str) -> Record:
    """Return what a parquet file says about itself; a foreign one says nothing about its making."""
    footer = metadata(path)
    facts = footer.metadata or {}
    status = Path(path).stat()
    record = Record(path, status.st_size, status.st_mtime, footer.num_rows)
    if io.KIND not in facts:
        return record
    try:
        about = json.loads(facts[io.PROVENANCE])
        made = {name: about.get(name) for name in ("stage", "version", "code")}
        made |= {name: dict(about.get(name) or {}) for name in ("params", "inputs")}
        return record._replace(
            kind=facts[io.KIND].decode(), hash=facts[io.HASH].decode(), marks=json.loads(facts[io.MARKS]), **made
        )
    except UNREADABLE as error:
        raise UserError(f"{path}: its provenance cannot be read ({first_line(error)})") from None


def entries() -> Iterator[tuple[str, dict | None]]:
    """Yield every entry of the manifest with its own path, None for one that cannot be read."""
    for path in sorted(Path(paths.MANIFEST).glob("*.json")):
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            wanted = ("stage", "code", "params", "inputs", "outputs")
            yield path.as_posix(), entry if all(name in entry for name in wanted) else None
        except UNREADABLE:
            yield path.as_posix(), None


def from_manifest(path: str, entry: dict) -> Record:
    """Return what the manifest says about a file that cannot carry it itself."""
    status = Path(path).stat()
    made = {name: entry[name] for name in ("stage", "code", "params", "inputs")}
    return Record(path, status.st_size, status.st_mtime, marks=entry.get("marks", {}), **made)


def manifest() -> dict[str, dict]:
    """Return the manifest entry of every file that some job built."""
    return {path: entry for _, entry in entries() if entry is not None for path in entry["outputs"]}


def record(path: str, entry: dict | None = None) -> Record:
    """Return all that is known about a file, its own footer first."""
    if is_parquet(path):
        return from_footer(path)
    try:
        if entry:
            return from_manifest(path, entry)
        status = Path(path).stat()
        return Record(path, status.st_size, status.st_mtime)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None


def first_line(error: Exception) -> str:
    """Return the first line of an error's message."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
