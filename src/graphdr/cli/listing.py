"""``graphdr ls``: what is cached, and whether it is what the present code and configuration would make.

Files are judged by their footers and the manifest, without reading their data.
"""

import json
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from graphdr.cache import manifest, paths
from graphdr.cache.manifest import Entry
from graphdr.cli import names, records
from graphdr.cli.project import Plan
from graphdr.cli.records import Record
from graphdr.core import terminal
from graphdr.core.errors import UserError
from graphdr.core.terminal import Answer
from graphdr.plan import jobs
from graphdr.plan.job import Job
from graphdr.raw.fetch import HASHES

COLOURS = {"current": "green", "outdated": "yellow", "changed": "red", "missing": "red", "foreign": "dim"}
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


class StageFiles(NamedTuple):
    """The files of a stage, counted."""

    stage: str
    files: int
    rows: int
    bytes: int
    oldest: str | None
    newest: str | None
    not_current: int
    states: dict[str, int]
    why: dict[str, int]


def run(options: Namespace, here: Path) -> Answer:
    """List all stages, or the files that are asked for."""
    scan = Scan(Plan())
    every = [scan.files[path] for path in sorted(scan.files)]
    files = _select(every, options.wanted) if options.wanted else every
    stale = {file.path for file in every if file.state != "current"}
    built_on_others = 0  # files that are current, but have an input that is not
    for file in files:
        inputs = scan.records[file.path].inputs if file.path in scan.records else {}
        built_on_others += file.state == "current" and not stale.isdisjoint(inputs)
    stages = _stages(files)

    def text() -> list[str]:
        lines = _file_lines(files) if options.wanted or options.all else _stage_lines(stages)
        counts = Counter(file.state for file in files)
        states = ", ".join(f"{counts[state]:,} {state}" for state in COLOURS if counts[state])
        size = terminal.size(sum(file.bytes or 0 for file in files))
        lines += ["", f"{terminal.plural(len(files), 'file')}, {size}: {states or 'nothing'}"]
        if built_on_others:
            were = "was" if built_on_others == 1 else "were"
            lines.append(f"{built_on_others:,} of the current ones {were} built from files that are not")
        if scan.unreadable:
            lines.append(f"{scan.unreadable} manifest entries cannot be read; run graphdr verify")
        return lines

    answer = {"stages": stages, "files": files, "built_on_others": built_on_others}
    return 0, answer | {"unreadable_manifest_entries": scan.unreadable}, text


class Scan:
    """All files under data/ and results/ with their states."""

    def __init__(self, plan: Plan) -> None:
        entries = manifest.entries()
        self.unreadable = sum(entry is None for entry in entries.values())
        self.plan, self.entries = plan, manifest.by_output(entries)
        archives = _archives()
        every = [path for path in _walk() if path not in archives]
        self.records = {path: records.record_or_flaw(path, self.entries.get(path)) for path in every}
        self.records = {path: record for path, record in self.records.items() if record.modified}  # still there
        self.files = {path: self._judge(record, self.entries.get(path)) for path, record in self.records.items()}
        for path, receipt in archives.items():
            record = records.record_or_flaw(path, None)
            if receipt in self.files and record.modified:
                state = self.files[receipt]
                self.files[path] = _file(record._replace(stage=state.stage), state.state, state.reasons)
        for path in self.entries.keys() - self.files.keys():
            self.files[path] = CachedFile(path, self.entries[path].stage, None, None, None, None, "missing")

    def _judge(self, record: Record, entry: Entry | None) -> CachedFile:
        """Compare a file with its manifest entry, and its provenance with the present code and configuration."""
        if entry is not None:
            resized = record.bytes != entry.outputs[record.path].bytes
            if resized or record.broken or record.stage is None or record.code != entry.code:
                return _file(record._replace(stage=entry.stage) if record.broken else record, "changed")
        if record.stage is None:
            return _file(record, FOREIGN)
        reasons = tuple(self._reasons(record, self.plan.job(record.path, record.stage)))
        return _file(record, "outdated" if reasons else "current", reasons)

    def _reasons(self, record: Record, job: Job | None) -> Iterator[str]:
        """Yield why a file is outdated."""
        if job is not None and record.code != job.code():
            yield "code"
        if job is None or json.loads(job.as_json())["params"] != record.params:
            yield "params"  # also if the configuration has no such job any more
        inputs = set(record.inputs)
        declared = {path for path in job.files() if path.endswith(".parquet")} if job else inputs
        same_files = inputs <= declared if record.stage in READS_A_PART else inputs == declared
        if not same_files or any(self._hash(path) != digest for path, digest in record.inputs.items()):
            yield "inputs"

    def _hash(self, path: str) -> str | None:
        return self.records[path].hash if path in self.records else None


def _file(record: Record, state: str, reasons: tuple[str, ...] = ()) -> CachedFile:
    stage = record.stage or FOREIGN
    size, modified = record.bytes, record.modified_at
    return CachedFile(record.path, stage, record.kind, record.rows, size, modified, state, reasons)


def _walk() -> Iterator[str]:
    """Yield all files that may be cached: no hidden or temporary ones, and nothing of the manifest."""
    for path in records.walk("data", "results"):
        hidden = any(part.startswith(".") for part in path.split("/"))
        if not (hidden or path.endswith(".tmp") or path.startswith(f"{paths.MANIFEST}/")):
            yield path


def _archives() -> dict[str, str]:
    """Return the raw files that receipts name, each with its receipt."""
    files = {}
    for path in sorted(records.RAW.glob("*/receipt.parquet")):
        try:
            archives = records.rows(str(path), ["archive"]).column(0).to_pylist()
        except UserError:
            continue
        for name in (*archives, HASHES):
            if name:
                files[(path.parent / name).as_posix()] = path.as_posix()
    return files


def _select(every: list[CachedFile], wanted: str) -> list[CachedFile]:
    """Return the files of a stage, or those whose path has a prefix."""
    stages = {file.stage for file in every}
    if wanted in stages:
        return [file for file in every if file.stage == wanted]
    prefix = wanted.removeprefix("./")
    chosen = [file for file in every if file.path.startswith((prefix, f"results/{prefix}", f"data/{prefix}"))]
    if not chosen:
        order = [stage for stage in (*jobs.JOBS, FOREIGN) if stage in stages]
        folders = {file.path.rsplit("/", 1)[0] for file in every}
        hint = names.nearest(wanted, [*stages, *folders]) or f"; stages: {', '.join(order) or 'none is built'}"
        raise UserError(f"no stage {wanted!r} and no file whose path begins so{hint}")
    return chosen


def _stages(files: list[CachedFile]) -> list[StageFiles]:
    order = [*jobs.JOBS, *sorted({file.stage for file in files} - {*jobs.JOBS, FOREIGN}), FOREIGN]
    by_stage = {stage: [file for file in files if file.stage == stage] for stage in order}
    return [_count(stage, part) for stage, part in by_stage.items() if part]


def _count(stage: str, files: list[CachedFile]) -> StageFiles:
    stale = [file for file in files if file.state != "current"]
    times = [file.modified for file in files if file.modified]
    return StageFiles(
        stage,
        files=len(files),
        rows=sum(file.rows or 0 for file in files),
        bytes=sum(file.bytes or 0 for file in files),
        oldest=min(times, default=None),
        newest=max(times, default=None),
        not_current=len(stale),
        states=dict(sorted(Counter(file.state for file in files).items())),
        why=dict(Counter(reason for file in stale for reason in file.reasons or (file.state,))),
    )


def _age(modified: str | None) -> str:
    return terminal.age(time.time() - datetime.fromisoformat(modified).timestamp()) if modified else "–"


def _stage_lines(stages: list[StageFiles]) -> list[str]:
    head = ["stage", "files", "rows", "size", "oldest", "newest", "not current", "because of"]
    body = []
    for stage in stages:
        why = ", ".join(f"{reason} {count:,}" for reason, count in stage.why.items())
        numbers = [f"{stage.files:,}", f"{stage.rows:,}", terminal.size(stage.bytes)]
        stale = f"{stage.not_current:,}" if stage.not_current else "–"
        body.append([stage.stage, *numbers, _age(stage.oldest), _age(stage.newest), stale, why])
    return terminal.table(head, body, [False, *[True] * 6, False], terminal.width()) if body else ["nothing is built"]


def _file_lines(files: list[CachedFile]) -> list[str]:
    """Lay out one line per file; paths are not cut, so that they can be copied."""
    body = []
    for file in files:
        state = ": ".join(filter(None, (file.state, ", ".join(file.reasons))))
        rows = "–" if file.rows is None else f"{file.rows:,}"
        size = "–" if file.bytes is None else terminal.size(file.bytes)
        body.append([file.path, rows, size, _age(file.modified), terminal.paint(state, COLOURS[file.state])])
    return terminal.table(["path", "rows", "size", "age", "state"], body, [False, True, True, True, False], sys.maxsize)
