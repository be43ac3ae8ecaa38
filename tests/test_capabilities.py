"""Every capability that users can name has a system test: capabilities.toml says which, and misses none."""

import argparse
import inspect
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import graphdr
from graphdr.cli.main import parser
from tests.support.project import ROOT

CAPABILITIES = tomllib.loads((Path(__file__).parent / "capabilities.toml").read_text(encoding="utf-8"))
TESTS = [(f"{kind}: {name}", test) for kind, names in CAPABILITIES.items() for name, test in names.items()]


def commands() -> set[str]:
    """Return the commands that the README shows, without comments."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    return {line.partition("#")[0].strip() for block in blocks for line in block.splitlines() if line.strip()}


def targets() -> set[str]:
    """Return the targets that `make help` lists."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][a-z0-9-]*):[^#\n]*## ", text, re.M))


def options() -> set[str]:
    """Return the commands of `graphdr` with every option."""
    (choices,) = (action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    return {
        f"{name} {option}"
        for name, command in choices.choices.items()
        for action in command._actions
        for option in action.option_strings or [action.dest.upper()]
        if option not in ("-h", "--help")
    }


def parameters() -> set[str]:
    """Return the parameters of the served policy."""
    return set(inspect.signature(graphdr.GraphDRLinUCB.__init__).parameters) - {"self"}


CAPABILITY_KINDS = {
    "readme": commands,
    "make": targets,
    "names": lambda: set(graphdr.__all__),
    "options": options,
    "policy": parameters,
}


@pytest.mark.parametrize("kind", CAPABILITY_KINDS)
def test_every_capability_is_listed(kind):
    assert set(CAPABILITIES[kind]) == CAPABILITY_KINDS[kind]()


@pytest.mark.parametrize(("capability", "test"), TESTS, ids=[name for name, _ in TESTS])
def test_every_capability_has_a_test(capability, test):
    path, _, name = test.partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    assert not name or re.search(rf"^def {name}\(", text, re.M), f"{path} has no {name}"


def test_every_target_of_make_can_be_planned():
    done = subprocess.run(["make", "--dry-run", *targets()], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
