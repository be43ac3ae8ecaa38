"""The one way to write a file: whole or not at all, and nobody else may read it before it is complete and in its place.

A full disk or a closed folder is one clear line, and nothing half-written stays behind.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graphdr.core import spent
from graphdr.core.errors import UserError, reason


def create(path: Path) -> None:
    """Make an empty file that only this user may read, in place of whatever has that name."""
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def publish(path: Path, place: Path) -> None:
    """Move a complete file to its place, to be read by whom the user's mask allows."""
    mask = os.umask(0o077)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
    path.replace(place)


@contextmanager
def writing(place: Path | str) -> Iterator[None]:
    """Make a full disk or a closed folder one line."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{place}: cannot be written ({reason(error)})") from None


@contextmanager
def temporary(folder: Path, name: str) -> Iterator[Path]:
    """Hand out an empty file in the folder, named after this process, and remove what is left of it afterwards."""
    path = folder / f"{name}.{os.getpid()}.tmp"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        create(path)
    try:
        yield path
    finally:
        discard(path)


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Hand out a temporary file beside ``path`` and move it into place only if all went well."""
    path = Path(path)
    with temporary(path.parent, path.name) as beside, writing(path):
        yield beside
        publish(beside, path)


@spent.on(spent.FILES)
def write_text(text: str, path: Path | str) -> None:
    """Write a text file as a whole, in UTF-8."""
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")


def update(data: bytes, path: Path) -> None:
    """Write a file as a whole, unless it is as it should be: what is the same keeps its time."""
    with writing(path.parent):
        if path.is_file() and path.read_bytes() == data:
            return
    with replacing(path) as beside:
        beside.write_bytes(data)


def save(blocks: Iterable[bytes], path: Path, mode: str) -> None:
    """Write blocks of bytes to a file that is temporary, as they come."""
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode) as stream:
            for block in blocks:
                stream.write(block)


def discard(path: Path) -> None:
    """Remove a file, if that can be done."""
    with suppress(OSError):  # a folder that cannot be written was reported already
        path.unlink(missing_ok=True)
