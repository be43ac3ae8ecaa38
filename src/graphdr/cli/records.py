"""What is recorded about a file and all files behind it: in its own footer, or in the manifest entry of its job."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from graphdr.cache import io, paths
from graphdr.cache.manifest import Entry
from graphdr.core import terminal
from graphdr.core.errors import UserError, elide, reason
from graphdr.core.records import Json
from graphdr.core.rng import StreamRecord
from graphdr.core.terminal import number

RAW = Path(paths.receipt("x")).parent.parent
# Beside the cached files: logs and times, advice with its own manifests, and files in git.
NOT_CACHED = {
    *("results/logs", paths.TIMES, paths.OVERRIDES, "results/bench", "results/README.md", "data/README.md"),
    *("data/sources.yaml", paths.ADVICE, Path(paths.PAPER).parent.as_posix()),
}
UNREADABLE = (OSError, ValueError, TypeError, AttributeError, KeyError, pa.ArrowException)
LONGEST = 150  # characters of a value that are shown
COLOURS = {  # of verdicts on numbers and on claims, and of states of files
    "match": "green", "close": "green", "not contradicted": "cyan", "differs": "red",
    "holds": "green", "mixed": "cyan", "fails": "red",
    "current": "green", "outdated": "yellow", "changed": "red", "missing": "red", "foreign": "dim",
}  # fmt: skip

Row = Json  # of a table: its values by column


class Record(NamedTuple):
    """A file as it is here, and how it was made; ``stage`` is None where that is not recorded."""

    path: str
    bytes: int = 0
    modified: float = 0.0  # zero where there is no such file
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

    @property
    def made_by(self) -> str:
        """Name the stage that made the file, its version and code."""
        version = f", version {self.version}" if self.version else ""
        return f"{self.stage}{version}, code {self.code}"


class Node(NamedTuple):
    """A file, its inputs and whether each is still the one that was read, its random streams and raw files."""

    record: Record
    inputs: dict[str, bool]
    streams: list[StreamRecord]
    raw: list[Row]
    sha256: str | None  # of a file that no stage has written


def walk(*folders: str | Path) -> Iterator[str]:
    """Yield all cached files of some folders."""
    for start in folders:
        for folder, inner, files in os.walk(start):
            here = Path(folder)
            inner[:] = [name for name in inner if (here / name).as_posix() not in NOT_CACHED]
            every = [(here / name).as_posix() for name in sorted(files)]
            yield from (path for path in every if path not in NOT_CACHED)


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Turn a missing or broken file into a message of one line."""
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run snakemake {path}") from None
    except UNREADABLE as error:
        raise UserError(f"{path}: cannot be read ({reason(error)})") from None


def rows(path: str, columns: list[str] | None = None) -> pa.Table:
    """Read a parquet file, or some of its columns."""
    with _reading(path), pq.ParquetFile(path) as file:
        return file.read(columns)


def head(path: str, count: int) -> tuple[pa.Schema, list[Row]]:
    """Read the schema and the first rows of a parquet file."""
    from pyarrow.dataset import dataset

    with _reading(path):
        table = dataset(path).head(count)
        return table.schema, table.to_pylist()


def table(head: Sequence[str], body: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """Lay out a table for the terminal, columns of numbers aligned to the right and words of a verdict in colour."""
    right = [all(row[at][:1] in "0123456789+-−–" for row in body) for at in range(len(head))]
    lines = terminal.table(head, body, right, width or terminal.width()) if head else []
    for word, colour in COLOURS.items():
        apart, painted = f"{terminal.GAP}{word}", f"{terminal.GAP}{terminal.paint(word, colour)}"
        lines = [line.replace(apart, painted, 1) for line in lines]
    return lines


def listed(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """Lay out some columns of rows, without those that have no value."""
    used = [name for name in names if any(row[name] is not None for row in rows)]
    return table(used, [[elide(number(row[name], 8), LONGEST) for name in used] for row in rows])


def counted(counts: Mapping[str, int], words: Iterable[str]) -> str:
    """Name how often each of some words is counted."""
    return ", ".join(f"{counts[word]:,} {word}" for word in words if counts[word])


def record(path: str, entry: Entry | None = None) -> Record:
    """Return the record of a file, from its footer or, if it is not parquet, from its manifest entry."""
    here = record_or_flaw(path, entry)
    if here.broken:
        raise UserError(f"{path}: {here.broken}")
    return here


def record_or_flaw(path: str, entry: Entry | None = None) -> Record:
    """Return the record of a file; for one that is missing or broken, the reason in ``broken``."""
    here = Record(path)
    try:
        with _reading(path):
            status = os.stat(paths.data_file(path))
            here = here._replace(bytes=status.st_size, modified=status.st_mtime)
            if path.endswith(".parquet"):
                return _with_footer(here)
    except UserError as error:
        return here._replace(broken=str(error).removeprefix(f"{path}: "))
    names = ("stage", "code", "params", "inputs", "marks")
    return here._replace(**{name: getattr(entry, name) for name in names}) if entry else here


def _with_footer(here: Record) -> Record:
    """Add the footer of a parquet file to its record; a foreign file has no provenance."""
    footer = pq.read_metadata(here.path)
    facts = footer.metadata or {}
    if io.KIND not in facts:
        return here._replace(rows=footer.num_rows)
    provenance = json.loads(facts[io.PROVENANCE])
    return here._replace(
        rows=footer.num_rows,
        kind=facts[io.KIND].decode(),
        hash=facts[io.HASH].decode(),
        marks=json.loads(facts[io.MARKS]),
        params=dict(provenance.get("params") or {}),
        inputs=dict(provenance.get("inputs") or {}),
        **{name: provenance.get(name) for name in ("stage", "version", "code")},
    )


def trace(start: Iterable[str], entries: Mapping[str, Entry]) -> dict[str, Node]:
    """Return all files behind some files, including these; ``entries`` is the manifest."""
    nodes: dict[str, Node] = {}
    read: dict[str, dict[str, str]] = {}  # by file, its inputs with their digests when they were read
    waiting = list(start)[::-1]
    while waiting:
        path = waiting.pop()
        if path in nodes:
            continue
        entry = entries.get(path)
        here = record_or_flaw(path, entry)
        is_source = here.stage is None and not here.broken
        raw = rows(path).to_pylist() if here.kind == "raw" else []
        sha256 = io.file_digest(paths.data_file(path)) if is_source else None
        nodes[path] = Node(here, {}, entry.streams if entry else [], raw, sha256)
        read[path] = here.inputs | (entry.files if entry else {})
        waiting += [*read[path]][::-1]
    for path, inputs in read.items():
        for name, digest in inputs.items():
            nodes[path].inputs[name] = digest == (nodes[name].record.hash or nodes[name].sha256)
    return nodes
