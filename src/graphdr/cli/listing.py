"""``graphdr ls``: what is cached, and whether it is what the present code and configuration would make.

Files are judged by their footers and the manifest, without reading their data.
"""

import json
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from graphdr.cache import manifest, paths
from graphdr.cache.manifest import Entry
from graphdr.cli import project, records
from graphdr.cli.records import Record, Row
from graphdr.core import terminal
from graphdr.core.errors import UserError
from graphdr.core.terminal import Answer
from graphdr.plan import jobs
from graphdr.plan.job import Job
from graphdr.raw.fetch import HASHES

STATES = ("current", "outdated", "changed", "missing", "foreign")
READS_A_PART = {"compute_basis"}  # stages that read only some of their declared inputs
FOREIGN = "foreign"


class CachedFile(NamedTuple):
    """A file, and its state: ``current``, ``outdated`` (with reasons), ``changed``, ``missing`` or ``foreign``."""

    path: str
    stage: str
    kind: str | None
    rows: int | None
    bytes: int | None
    modified: str | None
    state: str
    reasons: tuple[str, ...] = ()


def run(options: Namespace, here: object) -> Answer:
    """List all stages, or the files that are asked for."""
    entries = manifest.entries()
    built, seen = manifest.by_output(entries), {}
    for path in records.walk("data", "results"):
        if not ("/." in path or path.endswith(".tmp") or path.startswith(f"{paths.MANIFEST}/")):
            seen[path] = records.record_or_flaw(path, built.get(path))
    every = _judged({path: record for path, record in seen.items() if record.modified}, built)
    files = _select(every, options.wanted) if options.wanted else every
    stages = _count_by_stage(files)
    stale = {file.path for file in every if file.state != "current"}
    current = [file for file in files if file.state == "current"]
    on_others = sum(not stale.isdisjoint(seen[file.path].inputs) for file in current)
    unreadable = sum(entry is None for entry in entries.values())

    def text() -> list[str]:
        if options.wanted or options.all:
            rows = [file._asdict() for file in files]
            lines = _table(rows, "path", "rows", "bytes", "modified", "state", "reasons")
        else:
            lines = _table(stages, "stage", "files", "rows", "bytes", "oldest", "newest", "not_current", "why")
        counts = Counter(file.state for file in files)
        size = terminal.size(sum(file.bytes or 0 for file in files))
        lines += ["", f"{terminal.plural(len(files), 'file')}, {size}: {records.counted(counts, STATES) or 'nothing'}"]
        if on_others:
            lines.append(f"{on_others:,} of the current ones built from files that are not")
        if unreadable:
            lines.append(f"{unreadable} manifest entries cannot be read; run graphdr verify")
        return lines

    answer = {"stages": stages, "files": files, "built_on_others": on_others}
    return 0, answer | {"unreadable_manifest_entries": unreadable}, text


def _judged(seen: Mapping[str, Record], built: Mapping[str, Entry]) -> list[CachedFile]:
    """Return every file with its state; raw files have that of the receipt that names them."""
    receipts: dict[str, str] = {}
    for receipt in records.RAW.glob("*/receipt.parquet"):
        with suppress(UserError):
            names = records.rows(str(receipt), ["archive"]).column(0).to_pylist()
            receipts |= dict.fromkeys([(receipt.parent / name).as_posix() for name in (*names, HASHES)], str(receipt))
    planned, files = project.planned_jobs(), {}
    for path, record in seen.items():
        judged = seen.get(receipts.get(path, path), record)
        stage, state, reasons = _judge(judged, built.get(judged.path), planned.get(judged.path), seen)
        counts = record.rows, record.bytes, record.modified_at
        files[path] = CachedFile(path, stage, record.kind, *counts, state, reasons)
    for path in built.keys() - files.keys():
        files[path] = CachedFile(path, built[path].stage, None, None, None, None, "missing")
    return [files[path] for path in sorted(files)]


def _judge(
    record: Record, entry: Entry | None, make: Callable[[], Job] | None, seen: Mapping[str, Record]
) -> tuple[str, str, tuple[str, ...]]:
    """Compare a file with its manifest entry, and its provenance with the present code and configuration."""
    if entry is not None:
        resized = record.bytes != entry.outputs[record.path].bytes
        if resized or record.broken or record.stage is None or record.code != entry.code:
            return entry.stage, "changed", ()
    if record.stage is None:
        return FOREIGN, FOREIGN, ()
    if make is None or (job := make()).stage != record.stage:  # the configuration has no such job any more
        return record.stage, "outdated", ("params",)
    inputs, declared = set(record.inputs), {path for path in job.files() if path.endswith(".parquet")}
    same_files = inputs <= declared if record.stage in READS_A_PART else inputs == declared
    present = {path: seen[path].hash for path in inputs & seen.keys()}
    is_same = {
        "code": record.code == job.code(),
        "params": record.params == json.loads(job.as_json())["params"],
        "inputs": same_files and present == record.inputs,
    }
    reasons = tuple(name for name, same in is_same.items() if not same)
    return record.stage, "outdated" if reasons else "current", reasons


def _select(every: list[CachedFile], wanted: str) -> list[CachedFile]:
    """Return the files of a stage, or those whose path has a prefix."""
    prefix = wanted.removeprefix("./")
    prefixes = (prefix, f"results/{prefix}", f"data/{prefix}")
    stages = [stage for stage in (*jobs.JOBS, FOREIGN) if any(file.stage == stage for file in every)]
    if wanted in stages:
        return [file for file in every if file.stage == wanted]
    chosen = [file for file in every if file.path.startswith(prefixes)]
    if not chosen:
        folders = {file.path.rsplit("/", 1)[0] for file in every}
        hint = project.nearest(wanted, [*stages, *folders]) or f"; stages: {', '.join(stages) or 'none is built'}"
        raise UserError(f"no stage {wanted!r} and no file whose path begins so{hint}")
    return chosen


def _count_by_stage(files: list[CachedFile]) -> list[Row]:
    """Return the files of each stage, counted."""
    counted = []
    for stage in dict.fromkeys([*jobs.JOBS, *sorted(file.stage for file in files if file.stage != FOREIGN), FOREIGN]):
        part = [file for file in files if file.stage == stage]
        stale = [file for file in part if file.state != "current"]
        times = [file.modified for file in part if file.modified]
        counts = {
            "stage": stage,
            "files": len(part),
            "rows": sum(file.rows or 0 for file in part),
            "bytes": sum(file.bytes or 0 for file in part),
            "oldest": min(times, default=None),
            "newest": max(times, default=None),
            "not_current": len(stale),
            "states": dict(sorted(Counter(file.state for file in part).items())),
            "why": dict(Counter(reason for file in stale for reason in file.reasons or (file.state,))),
        }
        counted += [counts] if part else []
    return counted


def _age(modified: str) -> str:
    return terminal.age(time.time() - datetime.fromisoformat(modified).timestamp())


FORMATS: dict[str, Callable[[Any], str]] = {  # by column; of all others numbers
    "bytes": terminal.size,
    "modified": _age,
    "oldest": _age,
    "newest": _age,
    "why": lambda why: ", ".join(f"{reason} {count:,}" for reason, count in why.items()),
    "state": str,
    "reasons": ", ".join,
}


def _table(rows: Sequence[Row], *names: str) -> list[str]:
    """Lay out some columns, the first a name; lines are not cut, so that paths can be copied."""
    body = []
    for row in rows:
        cells = ["–" if row[name] is None else FORMATS.get(name, "{:,}".format)(row[name]) for name in names[1:]]
        body.append([row[names[0]], *cells])
    return records.table([name.replace("_", " ") for name in names], body, sys.maxsize)
