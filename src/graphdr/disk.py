"""Writes of raw files: a full disk or a closed folder is one clear line, and nothing half-written stays behind."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graphdr.errors import UserError
from graphdr.network import reason
from graphdr.private import create


def save(blocks: Iterable[bytes], path: Path, mode: str) -> None:
    """Write blocks of bytes to a file."""
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode) as stream:
            for block in blocks:
                stream.write(block)


@contextmanager
def temporary(folder: Path, name: str) -> Iterator[Path]:
    """Hand out an empty file in the folder, and remove what is left of it afterwards."""
    path = folder / f"{name}.{os.getpid()}.tmp"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        create(path)
    try:
        yield path
    finally:
        discard(path)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Make a full disk or a closed folder one line; no other source would help."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{folder}: cannot be written ({reason(error)})") from None


def discard(path: Path) -> None:
    """Remove a file, if that can be done."""
    with suppress(OSError):  # a folder that cannot be written was reported already
        path.unlink(missing_ok=True)
