"""Flip, cut and swap cached files, in this process: none may reach a result, and verify names every one."""

import contextlib
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from graphdr.cache import io, paths
from graphdr.cli import integrity
from graphdr.core.errors import UserError
from trust.checkout import content, files

KINDS = ("flip", "cut", "swap", "zeros", "longer")


def targets(folder: Path) -> list[str]:
    """Return all that is checked: cached files, raw files with their hashes, and the manifest itself."""
    entries = [path.relative_to(folder).as_posix() for path in (folder / paths.MANIFEST).glob("*.json")]
    return [*files(folder), *sorted(entries)]


def torture(folder: Path, count: int, until: float, rng: random.Random) -> tuple[dict[str, int], list[str]]:
    """Damage so many files, one at a time; return how many by kind, and what went unseen."""
    if found := integrity.findings(str(folder)):
        return {}, [f"not sound before any damage: {found[0].path}: {found[0].problem}"]
    names = targets(folder)
    digest = io.file_digest
    io.file_digest = _remembering(digest)
    try:
        return _damage(folder, names, count, until, rng)
    finally:
        io.file_digest = digest


def _remembering(digest: Callable[[str], str]) -> Callable[[str], str]:
    """Hash a file again only if it was written since: all but one are as they were."""
    known: dict[tuple, str] = {}

    def remembered(path: str) -> str:
        status = os.stat(path)
        key = path, status.st_mtime_ns, status.st_size
        if key not in known:
            known[key] = digest(path)
        return known[key]

    return remembered


def _damage(folder: Path, names: list[str], count: int, until: float, rng: random.Random) -> tuple[dict, list[str]]:
    tally, unseen = {}, []
    kept = {name: (folder / name).read_bytes() for name in names}
    while sum(tally.values()) < count and time.monotonic() < until:
        name, kind = rng.choice(names), rng.choice(KINDS)
        changed = _damaged(name, kind, kept, rng)
        if not any(kept[other] != data for other, data in changed.items()):
            continue  # a swap of equal files, or zeros in place of zeros
        for other, data in changed.items():
            (folder / other).write_bytes(data)
        unseen += [f"{kind} of {other}: {text}" for other in changed for text in _unseen(folder, other, kept)]
        for other in changed:
            (folder / other).write_bytes(kept[other])
        tally[kind] = tally.get(kind, 0) + 1
    return tally, unseen


def _damaged(name: str, kind: str, kept: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    data = bytearray(kept[name])
    at = rng.randrange(len(data))
    if kind == "swap":
        alike = [other for other in kept if Path(other).suffix == Path(name).suffix and other != name]
        other = rng.choice(alike) if alike else name
        return {name: kept[other], other: kept[name]}
    if kind == "flip":
        data[at] ^= 1 << rng.randrange(8)
    elif kind == "zeros":
        data[at : at + 64] = bytes(len(data[at : at + 64]))
    return {name: bytes({"cut": data[:at], "longer": data + b"\0"}.get(kind, data))}


def _unseen(folder: Path, name: str, kept: dict[str, bytes]) -> list[str]:
    """Return what is wrong: verify does not name the file, or a stage would take other content than was written."""
    wrong = []
    named = [finding.path for finding in integrity.findings(str(folder))]
    if name not in named:
        wrong.append("verify does not name it")
    if name.endswith(".parquet"):
        kind = pq.read_schema(_as_file(folder, name, kept[name])).metadata[io.KIND].decode()
        with contextlib.chdir(folder):
            try:
                table = io.read(kind, name)
            except UserError:
                return wrong
        if io.content_hash(table, name) != _hash_of(folder, name, kept[name]):
            wrong.append("a stage would read other content")
    return wrong


def _as_file(folder: Path, name: str, data: bytes) -> Path:
    path = folder / ".kept.parquet"
    path.write_bytes(data)
    return path


def _hash_of(folder: Path, name: str, data: bytes) -> str:
    (folder / ".kept" / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / ".kept" / name).write_bytes(data)
    return content(folder / ".kept", name)
