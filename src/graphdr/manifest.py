"""The manifest: one small file per job with a digest of everything it built, whatever its type."""

import json
from pathlib import Path

from graphdr import io, paths


def record(stage: str, params: dict, code: str, inputs: dict[str, str], outputs: list[str]) -> None:
    """Write down what a job built, from what, with which code."""
    entry = {
        "stage": stage,
        "code": code,
        "params": params,
        "inputs": inputs,
        "marks": io.marks(),
        "outputs": {path: {"bytes": Path(path).stat().st_size, "sha256": io.file_digest(path)} for path in outputs},
    }
    name = min(outputs).replace("/", "~")
    io.write_text(json.dumps(entry, indent=1, sort_keys=True) + "\n", f"{paths.MANIFEST}/{name}.json")


def load(root: str = ".") -> dict[str, dict]:
    """Return every file in the manifest with its digest, size and the stage that built it."""
    files = {}
    for path in sorted((Path(root) / paths.MANIFEST).glob("*.json")):
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            files |= {name: facts | {"stage": entry["stage"]} for name, facts in entry["outputs"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            files[path.as_posix()] = {"stage": "manifest", "bytes": -1, "sha256": "unreadable"}
    return files


def problems(root: str = ".") -> list[str]:
    """Compare every built file with the manifest; return one line for each that is missing or changed."""
    found = []
    for name, facts in load(root).items():
        path = Path(root) / name
        if facts["stage"] == "manifest":
            found.append(f"{name}: not a readable manifest entry; delete it and rebuild")
        elif not path.exists():
            found.append(f"{name}: missing; rebuild it with snakemake {name}")
        elif io.file_digest(str(path)) != facts["sha256"]:
            found.append(f"{name}: changed since {facts['stage']} built it; delete it and run snakemake again")
    return found
