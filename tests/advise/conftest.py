"""Files of a user, for all tests of advice."""

from pathlib import Path

import pytest


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Write files into an empty folder, which is the current one; return the names as paths."""
    monkeypatch.chdir(tmp_path)

    def write(**contents) -> dict[str, Path]:
        for name, text in contents.items():
            Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return {name: Path(name) for name in contents}

    return write
