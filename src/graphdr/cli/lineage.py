"""What a file was made of, down to raw data and seeds, as recorded when it was built."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from graphdr.cache import io, paths
from graphdr.cache.manifest import Entry
from graphdr.cli import records
from graphdr.cli.records import Record, Row
from graphdr.core.rng import StreamRecord


class Node(NamedTuple):
    """A file, its inputs and whether each is still the one that was read, its random streams and raw files."""

    record: Record
    inputs: dict[str, bool]
    streams: list[StreamRecord]
    raw: list[Row]
    sha256: str | None  # of a file that no stage has written


def trace(start: Iterable[str], entries: Mapping[str, Entry]) -> dict[str, Node]:
    """Return all files behind some files, including these; ``entries`` is the manifest."""
    files: dict[str, Record] = {}
    nodes: dict[str, Node] = {}
    waiting = list(start)[::-1]
    while waiting:
        path = waiting.pop()
        if path not in files:
            files[path] = records.record_or_flaw(path, entries.get(path))
            waiting += [*_other_files(path, entries), *files[path].inputs][::-1]
    for path, record in files.items():
        entry, others = entries.get(path), _other_files(path, entries)
        inputs = {name: files[name].hash == digest for name, digest in record.inputs.items()}
        inputs |= {name: _digest(files[name]) == digest for name, digest in others.items()}
        raw = records.rows(path).to_pylist() if record.kind == "raw" else []
        is_source = record.stage is None and record.broken is None
        nodes[path] = Node(record, inputs, entry.streams if entry else [], raw, _digest(record) if is_source else None)
    return nodes


def _other_files(path: str, entries: Mapping[str, Entry]) -> dict[str, str]:
    """Return the inputs of a file that no stage has written, such as the paper's numbers, with their digests."""
    return entries[path].files if path in entries else {}


def _digest(record: Record) -> str | None:
    return None if record.broken else io.file_digest(paths.data_file(record.path))
