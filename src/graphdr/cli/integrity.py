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
from graphdr.cache.manifest import BuiltFile, Entries, Entry
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
        plan = project.Plan()
        listed = [path for path in to_rebuild(problems) if plan.job(path)]
        return 0, {"build": listed}, lambda: listed
    altered = sum(finding.kind not in NOT_LISTED for finding in problems)
    others = f", {len(problems) - altered} files that are not in it" if len(problems) > altered else ""
    total = f"{count} files in the manifest, {altered} of them changed or missing{others}"
    return int(bool(problems)), {"files": count, "problems": problems}, lambda: [*map(str, problems), total]


def findings(root: str = ".") -> list[Finding]:
    """Compare every file with the record of its job; return the problems by path."""
    with contextlib.chdir(root):  # the hash of a file covers its path as the workflow sees it
        entries = manifest.entries()
        unreadable, listed = list(_unreadable(entries)), set(manifest.by_output(entries))
        problems = list(unreadable)
        for path, entry in entries.items():
            problems += _of_job(path, entry) if entry else []
        for folder in sorted(RAW.glob("*")):
            problems += _of_raw(folder, listed)
        unread = {_stem(finding.delete[-1]) for finding in unreadable}
        return sorted([*problems, *_unlisted(listed, unread)])


def to_delete(problems: list[Finding]) -> list[str]:
    """Return the files to delete, each once."""
    return sorted({path for finding in problems for path in finding.delete})


def to_rebuild(problems: list[Finding]) -> list[str]:
    """Return the files that are missing, also once the files to delete are gone.

    Snakemake does not rebuild an intermediate file by itself if the files made from it exist.
    """
    gone = {finding.path for finding in problems if finding.kind == "missing"} | set(to_delete(problems))
    return sorted(path for path in gone if not path.startswith(paths.MANIFEST) and not LEFTOVER.search(path))


def _unreadable(entries: Entries) -> Iterator[Finding]:
    for path, entry in entries.items():
        if entry is None:
            built = Path(path).name.removesuffix(".json").replace("~", "/")
            text = f"not a readable manifest entry; delete it and {built}, and run snakemake again"
            # An entry is named after an output; a name outside of our folders is not touched.
            ours = built.startswith((f"{RESULTS}/", f"{RAW}/", f"{TABLES}/")) and ".." not in built
            yield Finding(path, "manifest", text, (path, built) if ours else (path,))


def _of_job(entry_path: str, entry: Entry) -> list[Finding]:
    """Compare the outputs of a job with its entry or, if they are all intact, the files that it has read."""
    problems = []
    for name, built in entry.outputs.items():
        if not Path(name).is_file():
            problems.append(Finding(name, "missing", f"missing; rebuild it with snakemake {name}"))
        elif (flaw := _flaw(Path(name), built)) is not None:
            text = f"changed since {entry.stage} built it{flaw}; delete it and run snakemake again"
            problems.append(Finding(name, "changed", text, (name,)))
    if len(problems) == len(entry.outputs):  # nothing is left of the job, so its entry goes, too
        return [finding._replace(delete=(*finding.delete, entry_path)) for finding in problems]
    return problems or list(_other_inputs(entry))


def _flaw(path: Path, built: BuiltFile) -> str | None:
    """Return details about a changed file, None for an intact one."""
    try:
        size = path.stat().st_size
        if size != built.bytes:
            return f" ({size:,} bytes instead of {built.bytes:,})"
        return "" if io.file_digest(str(path)) != built.sha256 else None
    except OSError as error:
        return f" ({error.strerror})"


def _other_inputs(entry: Entry) -> Iterator[Finding]:
    """Find inputs that no stage has written and that have changed since a job has read them."""
    for source, digest in entry.files.items():
        place = paths.data_file(source)
        if not Path(place).is_file() or io.file_digest(place) != digest:
            for name in entry.outputs:
                text = f"{source} is not the one that {entry.stage} has read; delete it and run snakemake again"
                yield Finding(name, "inputs", text, (name,))


def _of_raw(folder: Path, listed: set[str]) -> Iterator[Finding]:
    """Compare the raw files of a data set with its receipt; without a receipt they are not fetched yet."""
    receipt = paths.receipt(folder.name)
    if not Path(receipt).is_file():
        return
    try:
        rows = io.read("raw", receipt).to_pylist()
    except UserError as error:
        if receipt not in listed:  # otherwise _of_job reports it
            yield Finding(receipt, "changed", str(error).partition(": ")[2], (receipt,))
        return
    notes, agree = folder / HASHES, True
    for name in dict.fromkeys(row["archive"] for row in rows if row["status"] != "absent"):
        members = [row for row in rows if row["archive"] == name]
        path, fetched = f"{folder}/{name}", members[0]["source"] != "file"
        problem = None
        try:
            Raw(folder, members).check()
        except UserError as error:
            problem = str(error).removeprefix(path).lstrip(": ").partition(";")[0]
        if problem is None and fetched and _origin_differs(folder, name):
            agree = False
            # A single file was compared with its receipt; in a zip, members without a receipt may have changed.
            problem = "changed since it was fetched" if members[0]["member"] else None
        if problem:
            advice = "delete it and fetch it again" if fetched else "put the former file back, or take this one"
            text = f"{problem}; {advice}: snakemake --forcerun fetch_raw -- {folder.name}"
            yield Finding(path, "changed", text, (path, receipt) if fetched else ())
    if notes.is_file() and not (agree and _notes_agree(notes, rows)):
        text = f"does not agree with {receipt} or the files beside it; delete it, and hashes are recorded anew"
        yield Finding(str(notes), "changed", text, (str(notes),))


def _origin_differs(folder: Path, name: str) -> bool:
    """Return whether an archive as a whole differs from the one that was fetched."""
    try:
        origin = json.loads((folder / HASHES).read_text(encoding="utf-8"))["origin"][name]["sha256"]
    except manifest.UNREADABLE:
        return False  # _notes_agree reports broken hashes
    return bool(origin != io.file_digest(str(folder / name)))


def _notes_agree(path: Path, rows: list[Row]) -> bool:
    """Return whether the hashes that fetch_raw keeps are well-formed and agree with the receipt."""
    try:
        text = path.read_text(encoding="utf-8")
        notes = json.loads(text)
        if text != json.dumps(notes, indent=1, sort_keys=True) + "\n" or set(notes) != {"origin", "downloaded"}:
            return False
        for row in rows:
            kept = notes["downloaded"].get(f"{row['archive']}: {row['member']}", row["sha256"])
            origin = notes["origin"].get(row["archive"], {})
            changed = row["source"] in ("url", "wheel") and kept != row["sha256"]
            asked = row["source"] not in ("", "file")
            if changed or (asked and any(origin[name] != row[name] for name in ("source", "address"))):
                return False
        return True
    except manifest.UNREADABLE:
        return False


def _stem(path: str) -> str:
    return Path(path).with_suffix("").as_posix()


def _unlisted(listed: set[str], unread: set[str]) -> Iterator[Finding]:
    """Find files that are in no entry of the manifest: leftovers of killed jobs, cached tables, and foreign files.

    ``unread`` are the outputs, without suffix, of unreadable entries, which are not foreign.
    """
    for path in _walk():
        if path in listed:
            continue
        if writer := LEFTOVER.search(path):
            if not _alive(int(writer[1])):
                yield Finding(path, "leftover", f"left behind by the killed process {writer[1]}; delete it", (path,))
        elif path.endswith(".parquet") and _has_our_footer(path):
            text = "not in the manifest, so its content cannot be checked; delete it and run snakemake again"
            yield Finding(path, "unlisted", text, (path,))
        elif _stem(path) not in unread:
            yield Finding(path, "foreign", "foreign, no stage built it; move it away")


def _walk() -> Iterator[str]:
    """Yield all files that the manifest should list."""
    expected: dict[Path, set[str]] = {}
    for path in records.walk(RAW, TABLES, RESULTS):
        folder, name = Path(path).parent, Path(path).name
        if folder.parent == RAW and folder not in expected:
            expected[folder] = _expected_raw(folder)
        entry = folder.as_posix() == paths.MANIFEST and name.endswith(".json")
        if name not in expected.get(folder, ()) and not entry:
            yield path


def _expected_raw(folder: Path) -> set[str]:
    """Return the files of a raw folder that are checked elsewhere, and unfinished downloads."""
    names = {path.name for path in folder.iterdir()}
    receipt = paths.receipt(folder.name)
    unfinished = {name for name in names if name.endswith(".part")} | {HASHES}
    if Path(receipt).name not in names:
        return names - {name for name in names if LEFTOVER.search(name)}
    try:
        return unfinished | {row["archive"] for row in io.read("raw", receipt).to_pylist()}
    except UserError:
        return names  # the broken receipt itself is reported


def _has_our_footer(path: str) -> bool:
    try:
        return io.KIND in (records.schema(path).metadata or {})
    except UserError:
        return False


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
        return True
    except OSError as error:  # the process of another user is alive
        return not isinstance(error, ProcessLookupError)
