"""The tests mirror the rooms of the package, and share helpers through tests/support alone."""

import ast
from pathlib import Path

from tests.support.project import ROOT

TESTS = ROOT / "tests"
ROOMS = sorted(path.parent.name for path in (ROOT / "src/graphdr").glob("*/__init__.py"))
BESIDE = {"docs", "trust", "workflow"}  # about what is no room of the package
# Started by hand, with their needs.
APART = {"adapters", "container", "elsewhere", "page", "places", "queue", "slurm", "wheel"}
FILES = [path for path in sorted(TESTS.rglob("*.py")) if path.relative_to(TESTS).parts[0] not in APART]


def imports(path: Path) -> set[str]:
    """Return the modules of the tests that a file imports, at its top or anywhere else."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in modules if name.split(".")[0] == "tests"}


def test_no_test_module_is_imported_by_another():
    wrong = {path: {name for name in imports(path) if not name.startswith("tests.support.")} for path in FILES}
    assert {path: names for path, names in wrong.items() if names} == {}


def test_every_room_has_tests_in_a_folder_of_its_name():
    folders = {path.parent.name for path in TESTS.glob("*/test_*.py")}
    assert ROOMS
    assert folders - (APART - {*ROOMS}) == {*ROOMS, *BESIDE}


def test_helpers_are_in_one_folder():
    helpers = {path for path in FILES if not path.name.startswith("test_") and path.name != "conftest.py"}
    assert {path.parent for path in helpers} == {TESTS / "support"}


def test_every_helper_is_used():
    users = [*TESTS.rglob("*.py"), *(ROOT / "trust").glob("*.py")]
    used = {name.split(".")[2] for path in users for name in imports(path)}
    helpers = {path.stem for path in (TESTS / "support").glob("*.py")}
    assert helpers - used == set()


def test_names_of_tests_are_their_own():
    """Two tests of one name in one file: the first would never run."""
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        assert len(names) == len(set(names)), path


def test_inits_of_rooms_hold_a_docstring_alone():
    package = ROOT / "src/graphdr"
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir() and path.name != "__pycache__")]:
        init = folder / "__init__.py"
        if folder != package and init.exists():
            assert len(ast.parse(init.read_text(encoding="utf-8")).body) == 1, init
