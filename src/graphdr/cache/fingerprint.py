"""Fingerprints of code: a hash of a stage and of all modules of the package that it imports, without comments.

Data files that a module names (words, templates) count as its code, with two exceptions: ``cache.paths`` is left out,
since the inputs and outputs of a job cover it, and of ``schemas.toml`` only the tables that the code names count.
"""

import ast
import hashlib
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1]
SCHEMAS = Path("cache", "schemas.toml")
NAME = re.compile(r"\w[\w.-]*")  # that may be a file, a folder or a kind of table
FOR_TYPES = "TYPE_CHECKING"  # imports under it are never run


class Source(NamedTuple):
    """The text of a module without comments and docstrings, its imports, and the names and data files in it."""

    text: str
    imports: frozenset[str]  # of modules of the package
    names: frozenset[str]  # strings
    data_files: frozenset[str] = frozenset()  # paths below the package


@cache
def stage_code(stage: str, modules: tuple[str, ...] = (), package: Path = PACKAGE) -> str:
    """Return the fingerprint of a stage and of modules that its job imports by name."""
    sources = closure(stage, modules, package)
    texts = [f"{name}\n{source.text}" for name, source in sorted(sources.items())]
    names = frozenset().union(*(source.names for source in sources.values()))
    schemas = tomllib.loads((package / SCHEMAS).read_text(encoding="utf-8"))
    texts += [f"{kind}\n{columns}" for kind, columns in schemas.items() if kind in names]
    for path in sorted(frozenset().union(*(source.data_files for source in sources.values()))):
        texts.append(f"{path}\n{(package / path).read_text(encoding='utf-8')}")
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def closure(stage: str, modules: tuple[str, ...] = (), package: Path = PACKAGE) -> dict[str, Source]:
    """Return all modules that a stage imports, directly or not, by their names inside the package."""
    sources: dict[str, Source] = {}
    waiting = [f"stages.{stage}", *(name.removeprefix("graphdr.") for name in modules)]
    while waiting:
        name = waiting.pop()
        if name not in sources and name != "cache.paths":
            sources[name] = source(name, package)
            waiting.extend(sources[name].imports)
    return sources


@cache
def source(name: str, package: Path = PACKAGE) -> Source:
    """Read a module."""
    file = _file(name, package)
    parsed = _parse(file.read_text(encoding="utf-8"))
    imports = frozenset(module for module in parsed.imports if _file(module, package).exists())
    data_files = set()
    for text in parsed.names:  # of a file beside the module, or of a folder of data beside it
        path = file.parent / text
        is_data = path.is_dir() and not (path / "__init__.py").exists()
        for part in path.rglob("*") if is_data else [path]:
            if part.is_file() and part.suffix not in (".py", ".pyc") and part != package / SCHEMAS:
                data_files.add(part.relative_to(package).as_posix())
    return parsed._replace(imports=imports, data_files=frozenset(data_files))


def _file(name: str, package: Path) -> Path:
    path = package.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache  # tests compare copies of the package, which share most texts
def _parse(text: str) -> Source:
    """Parse a module; what it imports may be no modules."""
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) == FOR_TYPES)]
    imports: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    ours = frozenset(name.removeprefix("graphdr.") for name in imports if name.startswith("graphdr."))
    return Source(ast.unparse(tree), ours, frozenset(filter(NAME.fullmatch, strings)))
