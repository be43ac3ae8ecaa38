"""``graphdr verify``: which files under data/ and results/ are not as they were built, and which of them to delete.

Only files that a stage built may be deleted, neither foreign files nor raw files that were placed by hand.
"""

import contextlib
import json
import os
import re
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from graphdr.cache import io, manifest, paths
from graphdr.cache.manifest import Entry
from graphdr.cli import project, records
from graphdr.cli.records import RAW, Row
from graphdr.core.errors import UserError
from graphdr.core.terminal import Answer
from graphdr.raw.archives import Raw
from graphdr.raw.fetch import HASHES

TABLES = Path(paths.dataset_nodes("x")).parent.parent
RESULTS = Path(paths.page).parent
LEFTOVER = re.compile(r"\.(\d+)\.tmp$")  # named after the process that writes it, by core.atomic
NOT_LISTED = {"leftover", "unlisted", "foreign"}  # kinds of findings about files that are not in the manifest


class Finding(NamedTuple):
    """A file, the kind of its problem, the problem, and the files to delete so that it is built again."""

    path: str
    kind: str
    problem: str
    delete: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


def run(options: Namespace, here: Path) -> Answer:
    """Name every file that is not as it was built, or list the files to delete or to build."""
    problems, count = findings(), len(manifest.digests())
    if options.repair_list:
        listed = to_delete(problems)
        return 0, {"delete": listed}, lambda: listed
    if options.rebuild_list:
        planned = project.planned_jobs()
        listed = [path for path in to_rebuild(problems) if path in planned]
        return 0, {"build": listed}, lambda: listed
    altered = sum(finding.kind not in NOT_LISTED for finding in problems)
    others = f", {len(problems) - altered} files that are not in it" if len(problems) > altered else ""
    total = f"{count} files in the manifest, {altered} of them changed or missing{others}"
    return int(bool(problems)), {"files": count, "problems": problems}, lambda: [*map(str, problems), total]


def findings(root: str = ".") -> list[Finding]:
    """Compare every file with the record of its job; return the problems by path."""
    problems: list[Finding] = []
    with contextlib.chdir(root):  # the hash of a file covers its path as the workflow sees it
        entries = manifest.entries()
        checked = set(manifest.by_output(entries))
        stems = set()  # of the outputs of unreadable entries: these may be ours, so they are not foreign
        for path, entry in entries.items():
            checked.add(path)
            if entry:
                problems += _of_job(path, entry)
            else:
                problems.append(finding := _of_unreadable(path))
                stems.add(Path(finding.delete[-1]).with_suffix(""))
        for receipt in sorted(RAW.glob("*/receipt.parquet")):
            problems += _of_raw(receipt.parent, receipt.as_posix())
        raw = [path for path in records.walk(RAW) if LEFTOVER.search(path) or path.endswith("/receipt.parquet")]
        for path in (*raw, *records.walk(TABLES, RESULTS)):
            if path not in checked:
                problems += _of_unlisted(path, Path(path).with_suffix("") in stems)
    return sorted(problems)


def to_delete(problems: list[Finding]) -> list[str]:
    """Return the files to delete, each once."""
    return sorted({path for finding in problems for path in finding.delete})


def to_rebuild(problems: list[Finding]) -> list[str]:
    """Return the files that are missing, also once the files to delete are gone.

    Snakemake does not rebuild an intermediate file by itself if the files made from it exist.
    """
    gone = {finding.path for finding in problems if finding.kind == "missing"} | set(to_delete(problems))
    return sorted(path for path in gone if not path.startswith(paths.MANIFEST) and not LEFTOVER.search(path))


def _of_unreadable(path: str) -> Finding:
    built = Path(path).name.removesuffix(".json").replace("~", "/")
    text = f"not a readable manifest entry; delete it and {built}, and run snakemake again"
    # An entry is named after an output; a name outside of our folders is not touched.
    is_ours = built.startswith((f"{RESULTS}/", f"{RAW}/", f"{TABLES}/")) and ".." not in built
    return Finding(path, "manifest", text, (path, built) if is_ours else (path,))


def _of_job(entry_path: str, entry: Entry) -> list[Finding]:
    """Compare the outputs of a job with its entry or, if they are all intact, the files that it has read."""
    problems = []
    for name, built in entry.outputs.items():
        if not os.path.isfile(name):
            problems.append(Finding(name, "missing", f"missing; rebuild it with snakemake {name}"))
            continue
        try:
            size = os.path.getsize(name)
            flaw = f" ({size:,} bytes instead of {built.bytes:,})" if size != built.bytes else ""
            if not flaw and io.file_digest(name) == built.sha256:
                continue
        except OSError as error:
            flaw = f" ({error.strerror})"
        text = f"changed since {entry.stage} built it{flaw}; delete it and run snakemake again"
        problems.append(Finding(name, "changed", text, (name,)))
    if len(problems) == len(entry.outputs):  # nothing is left of the job, so its entry goes, too
        return [finding._replace(delete=(*finding.delete, entry_path)) for finding in problems]
    for source, digest in {} if problems else entry.files.items():
        place = paths.data_file(source)
        if not os.path.isfile(place) or io.file_digest(place) != digest:
            text = f"{source} is not the one that {entry.stage} has read; delete it and run snakemake again"
            problems += [Finding(name, "inputs", text, (name,)) for name in entry.outputs]
    return problems


def _of_raw(folder: Path, receipt: str) -> Iterator[Finding]:
    """Compare the raw files of a data set with its receipt; whether that is intact, its own entry tells."""
    try:
        rows = io.read("raw", receipt).to_pylist()
    except UserError:
        return
    notes = f"{folder}/{HASHES}"
    origins = _origins(notes, rows)
    for name in dict.fromkeys(row["archive"] for row in rows if row["status"] != "absent"):
        members = [row for row in rows if row["archive"] == name]
        path, fetched, problem = f"{folder}/{name}", members[0]["source"] != "file", ""
        try:
            Raw(folder, members).check()
        except UserError as error:
            problem = str(error).removeprefix(path).lstrip(": ").partition(";")[0]
        if not problem and fetched and origins and origins.get(name) != io.file_digest(path):
            origins = None
            # A single file was compared with its receipt; in a zip, members without a receipt may have changed.
            problem = "changed since it was fetched" if members[0]["member"] else ""
        if problem:
            advice = "delete it and fetch it again" if fetched else "put the former file back, or take this one"
            text = f"{problem}; {advice}: snakemake --forcerun fetch_raw -- {folder.name}"
            yield Finding(path, "changed", text, (path, receipt) if fetched else ())
    if origins is None:
        text = f"does not agree with {receipt} or the files beside it; delete it, and hashes are recorded anew"
        yield Finding(notes, "changed", text, (notes,))


def _origins(notes: str, rows: list[Row]) -> dict[str, str] | None:
    """Return the hashes of archives that fetch_raw keeps; None if these notes disagree with the receipt."""
    try:
        text = Path(notes).read_text(encoding="utf-8")
        content = json.loads(text)
        origins, downloaded = content["origin"], content["downloaded"]
        intact = text == json.dumps({"origin": origins, "downloaded": downloaded}, indent=1, sort_keys=True) + "\n"
        for row in rows:
            kept = downloaded.get(f"{row['archive']}: {row['member']}", row["sha256"])
            intact &= row["source"] not in ("url", "wheel") or kept == row["sha256"]
            if row["source"] not in ("", "file"):
                origin = origins[row["archive"]]
                intact &= (origin["source"], origin["address"]) == (row["source"], row["address"])
        return {name: origin["sha256"] for name, origin in origins.items()} if intact else None
    except FileNotFoundError:
        return {}
    except manifest.UNREADABLE:
        return None


def _of_unlisted(path: str, may_be_ours: bool) -> Iterator[Finding]:
    """Judge a file in no entry of the manifest: left by a killed job, a cached table, or foreign."""
    if writer := LEFTOVER.search(path):
        if not _is_alive(int(writer[1])):
            yield Finding(path, "leftover", f"left behind by the killed process {writer[1]}; delete it", (path,))
    elif records.record_or_flaw(path).kind:
        text = "not in the manifest, so its content cannot be checked; delete it and run snakemake again"
        yield Finding(path, "unlisted", text, (path,))
    elif not may_be_ours:
        yield Finding(path, "foreign", "foreign, no stage built it; move it away")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError as error:  # the process of another user is alive
        return not isinstance(error, ProcessLookupError)
    return True
