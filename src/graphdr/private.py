"""Temporary files: nobody else may read them before they are complete and in their place."""

import os
from pathlib import Path

OPEN_TO = 0o666  # less what the user's mask forbids


def create(path: str | Path) -> None:
    """Make an empty file that only this user may read, in place of whatever has that name."""
    Path(path).unlink(missing_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def publish(path: str | Path, place: str | Path) -> None:
    """Move a complete file to its place, to be read by whom the user's mask allows."""
    mask = os.umask(0o077)
    os.umask(mask)
    os.chmod(path, OPEN_TO & ~mask)
    os.replace(path, place)
