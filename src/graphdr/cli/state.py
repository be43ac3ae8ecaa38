"""Whether a cached file is what the present code and configuration would make, judged by footers alone."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from graphdr.cache import manifest, paths
from graphdr.cli import records
from graphdr.cli.records import Record
from graphdr.core.errors import UserError
from graphdr.raw.fetch import HASHES

FOLDERS = ("data", "results")
# A basis reads of its data set what its content is about; all other stages read all that they are given.
READS_A_PART = {"compute_basis"}


class State(NamedTuple):
    """``current``, ``outdated`` (by code, params or inputs), ``changed``, ``missing`` or ``foreign``."""

    word: str
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.word}: {', '.join(self.reasons)}" if self.reasons else self.word


CURRENT, CHANGED, MISSING, FOREIGN = map(State, ("current", "changed", "missing", "foreign"))


class Cached(NamedTuple):
    """A file and its state."""

    record: Record
    state: State


def scan(job_of: Callable) -> tuple[list[Cached], int]:
    """Judge every file under data/ and results/; return them by path, and the number of unreadable manifest entries.

    ``job_of`` says what the job that writes a file would be today, or None.
    """
    every = manifest.entries()
    entries, archives = manifest.by_output(every), _archives()
    files: dict[str, Cached] = {}
    read = {path: _record(path, entries.get(path)) for path in _walk() if path not in archives}
    hashes = {path: record.hash for path, record in read.items() if record is not None}
    for path, record in read.items():
        if record is not None:
            files[path] = Cached(record, judge(record, entries.get(path), job_of, hashes))
    for path, receipt in archives.items():
        if receipt in files and (record := _record(path, None)):
            made = files[receipt].record
            files[path] = Cached(record._replace(stage=made.stage, code=made.code), files[receipt].state)
    for path in set(entries) - set(files):
        files[path] = Cached(Record(path, 0, 0.0, stage=entries[path]["stage"]), MISSING)
    return [files[path] for path in sorted(files)], sum(entry is None for entry in every.values())


def judge(record: Record, entry: dict | None, job_of: Callable, hashes: dict[str, str | None]) -> State:
    """Compare what is recorded about a file with the present code, parameters and inputs.

    ``hashes`` are those of all files that are here. A file of another size than when it was built, or whose own
    account differs from the manifest's, has been changed.
    """
    if entry is not None:
        altered = record.bytes != entry["outputs"][record.path]["bytes"]
        if altered or record.broken or record.stage is None or record.code != entry["code"]:
            return CHANGED
    elif record.broken:
        return CHANGED if record.stage else FOREIGN
    if record.stage is None:
        return FOREIGN
    reasons = tuple(_outdated(record, job_of(record.path, record.stage), hashes))
    return State("outdated", reasons) if reasons else CURRENT


def _outdated(record: Record, job, hashes: dict[str, str | None]) -> Iterator[str]:
    if job is not None and record.code != job.code():
        yield "code"
    if job is None or json.loads(json.dumps(job.params._asdict())) != record.params:
        yield "params"  # among them, that the configuration has no such job any more
    declared = {path for path in job.files() if records.is_parquet(path)} if job else set(record.inputs)
    read = set(record.inputs)
    same_files = read <= declared if record.stage in READS_A_PART else read == declared
    if not same_files or any(hashes.get(path) != digest for path, digest in record.inputs.items()):
        yield "inputs"


def _record(path: str, entry: dict | None) -> Record | None:
    """Return what is known about a file, None if it went away meanwhile."""
    try:
        return records.record(path, entry)
    except UserError as error:
        try:
            status = Path(path).stat()
        except FileNotFoundError:
            return None
        stage = entry["stage"] if entry else None
        return Record(path, status.st_size, status.st_mtime, stage=stage, broken=str(error))


def _walk() -> Iterator[str]:
    """Yield all files that may be cached ones: no hidden or temporary ones, and nothing of the manifest."""
    for path in records.walk(Path(), *FOLDERS):
        hidden = any(part.startswith(".") for part in path.split("/"))
        if not (hidden or path.endswith(".tmp") or path.startswith(f"{paths.MANIFEST}/")):
            yield path


def _archives() -> dict[str, str]:
    """Return the raw files that receipts speak of, each with its receipt."""
    files = {}
    for path in sorted(records.RAW.glob("*/receipt.parquet")):
        try:
            names = records.rows(str(path), ["archive"]).column(0).to_pylist()
        except UserError:
            continue
        files |= {(path.parent / name).as_posix(): path.as_posix() for name in [*dict.fromkeys(names), HASHES] if name}
    return files
