"""A hash of the code behind a stage: its module and all it imports from the package, comments left out."""

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


@cache
def stage_code(stage: str, package: Path = PACKAGE) -> str:
    """Return the fingerprint of a stage's code; only a change of its syntax trees changes it."""
    digest = hashlib.sha256()
    for name in sorted(_closure(f"stages.{stage}", package)):
        digest.update(f"{name}\n{_module(name, package)[0]}\n".encode())
    return digest.hexdigest()[:16]


def _closure(start: str, package: Path) -> set[str]:
    found, waiting = set(), [start]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_module(name, package)[1])
    return found


@cache
def _module(name: str, package: Path) -> tuple[str, tuple[str, ...]]:
    """Return the normalised source of a module and the modules of the package that it imports."""
    tree = ast.parse(_file(name, package).read_text(encoding="utf-8"))
    imports = {found for node in ast.walk(tree) for found in _imported(node) if _file(found, package).exists()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.unparse(tree), tuple(sorted(imports))


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    else:
        return []
    return [name.removeprefix("graphdr.") for name in names if name.startswith("graphdr.")]


def _file(name: str, package: Path) -> Path:
    path = package.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
