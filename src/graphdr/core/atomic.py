"""Atomic writes: a file is replaced as a whole or stays as it was, and errors are reported in one line."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graphdr.core.errors import UserError, reason


def create(path: Path) -> None:
    """Create an empty file that only this user may read, in place of any file of that name."""
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def publish(path: Path, place: Path) -> None:
    """Move a complete file to its place, with the permissions of the user's umask."""
    mask = os.umask(0o077)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
    path.replace(place)


@contextmanager
def writing(place: Path | str) -> Iterator[None]:
    """Turn an error of the operating system, such as a full disk, into one line."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{place}: cannot be written ({reason(error)})") from None


@contextmanager
def temporary(folder: Path, name: str) -> Iterator[Path]:
    """Create an empty file named after this process, and remove it afterwards unless it was moved."""
    path = folder / f"{name}.{os.getpid()}.tmp"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        create(path)
    try:
        yield path
    finally:
        with suppress(OSError):  # an earlier error has reported a read-only folder
            path.unlink(missing_ok=True)


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Yield a temporary file beside ``path``; move it to ``path`` if no error occurs."""
    path = Path(path)
    with temporary(path.parent, path.name) as temporary_path, writing(path):
        yield temporary_path
        publish(temporary_path, path)


def write_text(text: str, path: Path | str) -> None:
    """Write a text file atomically, in UTF-8."""
    with replacing(path) as temporary_path:
        temporary_path.write_text(text, encoding="utf-8")


def save(blocks: Iterable[bytes], path: Path) -> None:
    """Write blocks of bytes to a temporary file as they arrive."""
    with writing(path.parent), path.open("wb") as stream:
        stream.writelines(blocks)
