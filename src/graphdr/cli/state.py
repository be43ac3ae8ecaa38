"""Whether a cached file is what the present code and configuration would make, judged by footers alone."""

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

from graphdr.cache import manifest, paths
from graphdr.cli import records
from graphdr.cli.records import Record
from graphdr.core.errors import UserError
from graphdr.raw.fetch import HASHES

# A basis reads of its data set what its content is about; all other stages read all that they are given.
READS_A_PART = {"compute_basis"}
FOREIGN = "foreign"


class Cached(NamedTuple):
    """A file: ``current``, ``outdated`` (by code, params or inputs), ``changed``, ``missing`` or ``foreign``."""

    record: Record
    state: str
    reasons: tuple[str, ...] = ()

    @property
    def stage(self) -> str:
        """Return the stage that built the file."""
        return self.record.stage or FOREIGN


def scan(job_of: Callable) -> tuple[list[Cached], int]:
    """Judge every file under data/ and results/; return them by path, and the number of unreadable manifest entries.

    ``job_of`` says what the job that writes a file would be today, or None.
    """
    every = manifest.entries()
    entries, archives = manifest.by_output(every), _archives()
    read = [records.record_or_flaw(path, entries.get(path)) for path in _walk() if path not in archives]
    read = [record for record in read if record.modified]  # the others went away meanwhile
    hashes = {record.path: record.hash for record in read}
    files = {record.path: judge(record, entries.get(record.path), job_of, hashes) for record in read}
    for path, receipt in archives.items():
        record = records.record_or_flaw(path, None)
        if receipt in files and record.modified:
            made = files[receipt].record
            files[path] = files[receipt]._replace(record=record._replace(stage=made.stage, code=made.code))
    for path in set(entries) - set(files):
        files[path] = Cached(Record(path, 0, 0.0, stage=entries[path]["stage"]), "missing")
    return [files[path] for path in sorted(files)], sum(entry is None for entry in every.values())


def judge(record: Record, entry: dict | None, job_of: Callable, hashes: dict[str, str | None]) -> Cached:
    """Compare what is recorded about a file with the present code, parameters and inputs.

    ``hashes`` are those of all files that are here. A file of another size than when it was built, or whose own
    account differs from the manifest's, has been changed.
    """
    if entry is not None:
        altered = record.bytes != entry["outputs"][record.path]["bytes"]
        if altered or record.broken or record.stage is None or record.code != entry["code"]:
            return Cached(record._replace(stage=entry["stage"]) if record.broken else record, "changed")
    if record.stage is None:
        return Cached(record, FOREIGN)
    reasons = tuple(_outdated(record, job_of(record.path, record.stage), hashes))
    return Cached(record, "outdated" if reasons else "current", reasons)


def _outdated(record: Record, job, hashes: dict[str, str | None]) -> Iterator[str]:
    if job is not None and record.code != job.code():
        yield "code"
    if job is None or json.loads(json.dumps(job.params._asdict())) != record.params:
        yield "params"  # among them, that the configuration has no such job any more
    declared = {path for path in job.files() if path.endswith(".parquet")} if job else set(record.inputs)
    read = set(record.inputs)
    same_files = read <= declared if record.stage in READS_A_PART else read == declared
    if not same_files or any(hashes.get(path) != digest for path, digest in record.inputs.items()):
        yield "inputs"


def _walk() -> Iterator[str]:
    """Yield all files that may be cached ones: no hidden or temporary ones, and nothing of the manifest."""
    for path in records.walk("data", "results"):
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
