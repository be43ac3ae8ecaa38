"""A built folder, and calls of the command line in it."""

import json
import re
import shutil
from pathlib import Path

import pytest

from graphdr.__main__ import main
from tests.support.in_process import build_in
from tests.support.project import once


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """A folder in which everything is built; leave it as it is."""
    return once(tmp_path_factory, "made", build_in)


@pytest.fixture
def inside(made, monkeypatch) -> Path:
    """Work in the built folder, which is only read, on a terminal of a known width."""
    monkeypatch.chdir(made)
    monkeypatch.setenv("COLUMNS", "120")
    return made


@pytest.fixture
def copied(made, tmp_path, monkeypatch) -> Path:
    """Work in a copy of the built folder, which may be changed."""
    monkeypatch.chdir(folder := shutil.copytree(made, tmp_path / "copied"))
    return folder


@pytest.fixture
def call(capsys):
    """Call the command line; return its exit code and what it printed."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def ask(call):
    """Call the command line for JSON."""

    def run(*arguments: str) -> dict:
        code, out, err = call(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return run


@pytest.fixture
def mistake(call):
    """Call the command line wrongly; return its one line."""

    def run(*arguments: str, code: int = 1) -> str:
        actual, out, err = call(*arguments)
        assert (actual, out) == (code, "")
        assert re.fullmatch(r"error: [^\n]+\n", err), err
        return err

    return run
