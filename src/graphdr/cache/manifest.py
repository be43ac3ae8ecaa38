"""The manifest: one small file per job with a digest of everything it built, whatever its type."""

import hashlib
import json
from pathlib import Path

from graphdr import __version__
from graphdr.cache import io, paths
from graphdr.core import spent
from graphdr.core.atomic import write_text
from graphdr.core.errors import UserError

UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError)
OLD = "results/manifest"  # where versions up to 0.4.0 wrote entries, which were no outputs of rules
SEAL = "sealed"  # the digest of an entry itself: a changed entry would vouch for a changed file
UNSEALED = {"stage", "code", "params", "inputs", "marks", "outputs"}  # what an entry of an older version has


@spent.on(spent.FILES)
def record(stage: str, params: dict, code: str, inputs: dict[str, str], outputs: list[str]) -> None:
    """Write down what a job built, from what, with which code."""
    digests = {path: {"bytes": Path(path).stat().st_size, "sha256": io.file_digest(path)} for path in outputs}
    entry = {"stage": stage, "code": code, "params": params, "inputs": inputs, "outputs": digests}
    entry |= {"files": io.noted_files(), "marks": io.marks()}
    write_text(_text(entry | {SEAL: seal(entry)}), entry_path(outputs))


def entry_path(outputs: list[str]) -> str:
    """Return where the entry of a job is."""
    return f"{paths.MANIFEST}/{job_name(outputs)}.json"


def job_name(outputs: list[str]) -> str:
    """Name a job after the first of its outputs, for files about it."""
    return min(outputs).replace("/", "~")


def _text(entry: dict) -> str:
    return json.dumps(entry, indent=1, sort_keys=True) + "\n"


def seal(entry: dict) -> str:
    """Return the digest of an entry, its own left out."""
    kept = {name: part for name, part in entry.items() if name != SEAL}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def check_version(root: str = "") -> None:
    """Refuse what an older version built: Snakemake follows no parameter of a job that has one output more since."""
    if Path(root, OLD).is_dir():
        advice = "delete this folder and run `make repair`, which builds everything once more"
        raise UserError(f"{Path(root, OLD)}: version 0.4.0 or older built this, and this is {__version__}; {advice}")


def entries(root: str = ".") -> dict[str, dict | None]:
    """Return every entry by its path; None for one that cannot be read or was changed."""
    places = sorted((Path(root) / paths.MANIFEST).glob("*.json"))
    return {name: _entry(name, root) for name in (path.relative_to(root).as_posix() for path in places)}


def by_output(listed: dict[str, dict | None] | None = None) -> dict[str, dict]:
    """Return the sound entry of every file that some job built, from entries that were read already or anew."""
    listed = entries() if listed is None else listed
    return {path: entry for entry in listed.values() if entry for path in entry["outputs"]}


def _entry(name: str, root: str = ".") -> dict | None:
    """Read an entry; None if it cannot be read, or is not as it was written and where it was written."""
    try:
        text = (Path(root) / name).read_text(encoding="utf-8")
        entry = json.loads(text)
        sealed = entry[SEAL] == seal(entry) if SEAL in entry else set(entry) == UNSEALED
        whole = all(facts["sha256"] and facts["bytes"] >= 0 for facts in entry["outputs"].values())
        in_place = text == _text(entry) and name == entry_path(list(entry["outputs"]))
        return entry if sealed and whole and in_place else None
    except UNREADABLE:
        return None


def of_drawing(path: str) -> str:
    """Return where the entry of a figure is, which is named after its points."""
    return entry_path([Path(path).with_suffix(".parquet").as_posix()])


def drawing(path: str) -> str:
    """Return a figure as text; refuse one that is not as it was built."""
    try:
        entry, data = _entry(of_drawing(path)), Path(path).read_bytes()
        if entry and hashlib.sha256(data).hexdigest() == entry["outputs"][path]["sha256"]:
            return data.decode()
    except UNREADABLE:
        pass
    raise UserError(f"{path}: changed since it was built; delete it and run snakemake again")


def load(root: str = ".") -> dict[str, dict]:
    """Return every file in the manifest with its digest, size and the stage that built it."""
    files = {}
    for path, entry in entries(root).items():
        if entry is None:
            files[path] = {"stage": "manifest", "bytes": -1, "sha256": "unreadable"}
        else:
            files |= {name: facts | {"stage": entry["stage"]} for name, facts in entry["outputs"].items()}
    return files
