"""What is recorded about a file: in its own footer, or in the manifest entry of the job that built it."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from graphdr.cache import io, paths
from graphdr.cache.manifest import Entry
from graphdr.core.errors import UserError
from graphdr.core.records import Json

RAW = Path(paths.receipt("x")).parent.parent
# Beside the cached files: logs and times, advice with its own manifests, and files in git.
NOT_CACHED = {
    *("results/logs", paths.TIMES, paths.OVERRIDES, "results/bench", "results/README.md", "data/README.md"),
    *("data/sources.yaml", paths.ADVICE, Path(paths.PAPER).parent.as_posix()),
}
UNREADABLE = (OSError, ValueError, TypeError, AttributeError, KeyError, pa.ArrowException)

Row = dict[str, Any]  # of a table: its values by column


class Record(NamedTuple):
    """A file as it is here, and how it was made; ``stage`` is None where that is not recorded."""

    path: str
    bytes: int
    modified: float
    rows: int | None = None
    kind: str | None = None
    hash: str | None = None
    stage: str | None = None
    version: str | None = None
    code: str | None = None
    params: Json = {}  # noqa: RUF012 - never changed
    inputs: dict[str, str] = {}  # noqa: RUF012
    marks: io.Marks = {}  # noqa: RUF012
    broken: str | None = None  # why the file cannot be read

    @property
    def modified_at(self) -> str:
        """Return the time of the last modification in ISO format."""
        return datetime.fromtimestamp(self.modified, UTC).isoformat(timespec="seconds")

    def made_by(self) -> str:
        """Return the stage that made the file, its version and code."""
        version = f", version {self.version}" if self.version else ""
        return f"{self.stage}{version}, code {self.code}"


def walk(*folders: str | Path) -> Iterator[str]:
    """Yield all cached files of some folders."""
    for start in folders:
        for folder, inner, files in os.walk(start):
            here = Path(folder)
            inner[:] = [name for name in inner if (here / name).as_posix() not in NOT_CACHED]
            every = [(here / name).as_posix() for name in sorted(files)]
            yield from (path for path in every if path not in NOT_CACHED)


@contextmanager
def _reading(path: str, mistake: str = "not a readable parquet file", advice: str = "") -> Iterator[None]:
    """Turn a missing or broken file into a message of one line."""
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{path}: no such file{advice}") from None
    except IsADirectoryError:
        raise UserError(f"{path}: a folder; graphdr ls {path} lists it") from None
    except UNREADABLE as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise UserError(f"{path}: {mistake} ({reason})") from None


def schema(path: str) -> pa.Schema:
    """Read the schema of a parquet file."""
    with _reading(path, "its schema cannot be read"):
        return pq.read_schema(path)


def rows(path: str, columns: list[str] | None = None) -> pa.Table:
    """Read a parquet file, or some of its columns."""
    with _reading(path, advice=f"; run snakemake {path}"), pq.ParquetFile(path) as file:
        return file.read(columns)


def head(path: str, count: int) -> list[Row]:
    """Read the first rows of a parquet file."""
    with _reading(path), pq.ParquetFile(path) as file:
        batches = file.iter_batches(max(min(count, 10_000), 1))
        return list(islice((row for batch in batches for row in batch.to_pylist()), count))


def record(path: str, entry: Entry | None = None) -> Record:
    """Return the record of a file, from its footer or, if it is not parquet, from its manifest entry."""
    with _reading(path, "cannot be read"):
        status = Path(paths.data_file(path)).stat()
    here = Record(path, status.st_size, status.st_mtime)
    if path.endswith(".parquet"):
        return _with_footer(here)
    if entry is None:
        return here
    return here._replace(
        stage=entry.stage, code=entry.code, params=entry.params, inputs=entry.inputs, marks=entry.marks
    )


def record_or_flaw(path: str, entry: Entry | None) -> Record:
    """Return the record of a file; for one that is missing or broken, the reason in ``broken``."""
    try:
        return record(path, entry)
    except UserError as error:
        flaw = Record(path, 0, 0.0, broken=str(error).removeprefix(f"{path}: "))
    with suppress(OSError):
        status = Path(path).stat()
        flaw = flaw._replace(bytes=status.st_size, modified=status.st_mtime)
    return flaw


def _with_footer(here: Record) -> Record:
    """Add the footer of a parquet file to its record; a foreign file has no provenance."""
    with _reading(here.path):
        footer = pq.read_metadata(here.path)
    here, facts = here._replace(rows=footer.num_rows), footer.metadata or {}
    if io.KIND not in facts:
        return here
    with _reading(here.path, "its provenance cannot be read"):
        provenance = json.loads(facts[io.PROVENANCE])
        return here._replace(
            kind=facts[io.KIND].decode(),
            hash=facts[io.HASH].decode(),
            marks=json.loads(facts[io.MARKS]),
            params=dict(provenance.get("params") or {}),
            inputs=dict(provenance.get("inputs") or {}),
            **{name: provenance.get(name) for name in ("stage", "version", "code")},
        )
