"""What is written down about a file: in its own footer, or in the manifest entry of the job that built it."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from graphdr.cache import io, paths
from graphdr.core.errors import UserError

RAW = Path(paths.receipt("x")).parent.parent
# What is beside the cached files: what changes from run to run, advice with its own manifests, and what is in git.
NOT_CACHED = {
    *("results/logs", paths.TIMES, paths.OVERRIDES, "results/bench", "results/README.md", "data/README.md"),
    *("data/sources.yaml", paths.ADVICE, Path(paths.PAPER).parent.as_posix()),
}
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

    @property
    def moment(self) -> str:
        """Return when the file was last modified."""
        return datetime.fromtimestamp(self.modified, UTC).isoformat(timespec="seconds")


class Focus(NamedTuple):
    """The problems, methods and quantities of a file that matter; None stands for all."""

    problems: frozenset[str] | None = None
    methods: frozenset[str] | None = None
    quantities: frozenset[str] | None = None

    def __or__(self, other: "Focus") -> "Focus":
        return Focus(*(None if a is None or b is None else a | b for a, b in zip(self, other, strict=True)))

    def among(self, problems: list[dict]) -> list[dict]:
        """Return the problems that matter."""
        return [problem for problem in problems if self.problems is None or problem["name"] in self.problems]

    def of(self, methods: dict[str, dict]) -> dict[str, dict]:
        """Return the methods that matter."""
        return {name: knobs for name, knobs in methods.items() if self.methods is None or name in self.methods}


def walk(*folders: str | Path) -> Iterator[str]:
    """Yield the files of some folders, without what is beside the cached ones."""
    for folder, inner, files in (step for start in folders for step in os.walk(start)):
        here = Path(folder)
        inner[:] = [name for name in inner if (here / name).as_posix() not in NOT_CACHED]
        yield from (path for name in sorted(files) if (path := (here / name).as_posix()) not in NOT_CACHED)


@contextmanager
def _reading(path: str, what: str = "not a readable parquet file", advice: str = "") -> Iterator[None]:
    """Make a file that is not there or broken one clear error."""
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{path}: no such file{advice}") from None
    except IsADirectoryError:
        raise UserError(f"{path}: a folder; graphdr ls {path} lists it") from None
    except UNREADABLE as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise UserError(f"{path}: {what} ({reason})") from None


def schema(path: str) -> pa.Schema:
    """Read the schema of a parquet file."""
    with _reading(path, "its schema cannot be read"):
        return pq.read_schema(path)


def rows(path: str, columns: list[str] | None = None) -> pa.Table:
    """Read a parquet file, or some of its columns."""
    with _reading(path, advice=f"; run snakemake {path}"), pq.ParquetFile(path) as file:
        return file.read(columns)


def head(path: str, count: int) -> list[dict]:
    """Read the first rows of a parquet file."""
    with _reading(path), pq.ParquetFile(path) as file:
        batches = file.iter_batches(max(min(count, 10_000), 1))
        return list(islice((row for batch in batches for row in batch.to_pylist()), count))


def record(path: str, entry: dict | None = None) -> Record:
    """Return all that is known about a file: from its own footer or, if it cannot have one, its manifest entry."""
    with _reading(path, "cannot be read"):
        status = Path(paths.committed(path)).stat()
    if path.endswith(".parquet"):
        return Record(path, status.st_size, status.st_mtime, **_footer(path))
    made = {name: entry[name] for name in ("stage", "code", "params", "inputs", "marks")} if entry else {}
    return Record(path, status.st_size, status.st_mtime, **made)


def record_or_flaw(path: str, entry: dict | None) -> Record:
    """Return all that is known about a file; of one that is gone or broken, this alone."""
    try:
        return record(path, entry)
    except UserError as error:
        flaw = Record(path, 0, 0.0, broken=str(error).removeprefix(f"{path}: "))
    with suppress(OSError):
        status = Path(path).stat()
        flaw = flaw._replace(bytes=status.st_size, modified=status.st_mtime)
    return flaw


def _footer(path: str) -> dict:
    """Return what a parquet file says about itself; a foreign one says nothing about its making."""
    with _reading(path):
        footer = pq.read_metadata(path)
    facts = footer.metadata or {}
    if io.KIND not in facts:
        return {"rows": footer.num_rows}
    with _reading(path, "its provenance cannot be read"):
        provenance = json.loads(facts[io.PROVENANCE])
        made = {name: provenance.get(name) for name in ("stage", "version", "code")}
        made |= {name: dict(provenance.get(name) or {}) for name in ("params", "inputs")}
        made |= {"kind": facts[io.KIND].decode(), "hash": facts[io.HASH].decode(), "rows": footer.num_rows}
        return made | {"marks": json.loads(facts[io.MARKS])}
