"""The manifest: one small JSON file per job with the digests of everything that it built."""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from graphdr.cache import io, paths
from graphdr.core.atomic import write_text
from graphdr.core.errors import UserError
from graphdr.core.records import Json, from_json
from graphdr.core.rng import StreamRecord, opened_streams

UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError)
SEAL = "sealed"  # digest of the entry itself, so that a changed entry cannot vouch for a changed file


class BuiltFile(NamedTuple):
    """Size and digest of a file when it was built."""

    bytes: int
    sha256: str


class Entry(NamedTuple):
    """What a job has built, from which inputs, with which code and random streams."""

    stage: str
    code: str
    params: Json
    inputs: dict[str, str]
    outputs: dict[str, BuiltFile]
    files: dict[str, str]  # digests of inputs that no stage has written
    marks: io.Marks
    streams: list[StreamRecord]


Entries = dict[str, Entry | None]  # by path; None: unreadable


def record(stage: str, params: Json, code: str, inputs: dict[str, str], outputs: list[str]) -> None:
    """Write the entry of the job that ends now."""
    built = {path: {"bytes": Path(path).stat().st_size, "sha256": io.file_digest(path)} for path in outputs}
    streams = [stream._asdict() for stream in opened_streams()]
    entry: Json = {"stage": stage, "code": code, "params": params, "inputs": inputs, "outputs": built}
    entry |= {"files": io.recorded_inputs(), "marks": io.marks(), "streams": streams}
    write_text(_sealed(entry), entry_path(outputs))


def _sealed(entry: Json) -> str:
    """Return the text of an entry, with the digest of its content."""
    digest = hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()
    return json.dumps(entry | {SEAL: digest}, indent=1, sort_keys=True) + "\n"


def entry_path(outputs: list[str]) -> str:
    """Return the path of the entry of a job."""
    return f"{paths.MANIFEST}/{job_name(outputs)}.json"


def job_name(outputs: list[str]) -> str:
    """Return the name of a job for files about it, derived from the first of its outputs."""
    return min(outputs).replace("/", "~")


def entries(root: str = ".") -> Entries:
    """Return every entry by its path; None for one that is unreadable or was changed."""
    files = sorted((Path(root) / paths.MANIFEST).glob("*.json"))
    names = [path.relative_to(root).as_posix() for path in files]
    return {name: _entry(name, root) for name in names}


def by_output(listed: Entries | None = None) -> dict[str, Entry]:
    """Return the valid entry of every file that some job built; ``listed`` are entries that were read before."""
    listed = entries() if listed is None else listed
    return {path: entry for entry in listed.values() if entry for path in entry.outputs}


def _entry(name: str, root: str = ".") -> Entry | None:
    """Read an entry; return None if it is unreadable, changed or moved."""
    try:
        text = (Path(root) / name).read_text(encoding="utf-8")
        content = json.loads(text)
        del content[SEAL]
        in_place = name == entry_path(list(content["outputs"]))
        return from_json(Entry, content) if in_place and text == _sealed(content) else None
    except UNREADABLE:
        return None


def of_drawing(path: str) -> str:
    """Return the path of the entry of a figure, which is named after its points."""
    return entry_path([Path(path).with_suffix(".parquet").as_posix()])


def drawing(path: str) -> str:
    """Read an SVG figure; refuse one that was changed since it was built."""
    try:
        entry, data = _entry(of_drawing(path)), Path(path).read_bytes()
        if entry and hashlib.sha256(data).hexdigest() == entry.outputs[path].sha256:
            return data.decode()
    except UNREADABLE:
        pass
    raise UserError(f"{path}: changed since it was built; delete it and run snakemake again")


def digests(root: str = ".") -> dict[str, str]:
    """Return the sha256 of every file in the manifest; an unreadable entry is listed as such."""
    listed: dict[str, str] = {}
    for path, entry in entries(root).items():
        listed |= {name: file.sha256 for name, file in entry.outputs.items()} if entry else {path: "unreadable"}
    return listed
