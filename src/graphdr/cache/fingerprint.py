"""Fingerprints of code: a hash of a stage and of all modules of the package that it imports, without comments.

Data files that a module reads (words, templates) count as its code, with two exceptions: ``cache.paths`` is left out,
since the inputs and outputs of a job cover it, and of ``schemas.toml`` only the tables that the code reads or writes
count.
"""

import ast
import hashlib
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1]
NAME = re.compile(r"\w[\w.-]*")  # that may be a file or a folder
FOR_TYPES = "TYPE_CHECKING"  # imports under it are never run


class Source(NamedTuple):
    """The text of a module without comments and docstrings, and the modules, tables and data files that it uses."""

    text: str
    imports: tuple[str, ...]
    kinds: frozenset[str]  # of table
    data_files: tuple[str, ...] = ()  # paths below the package


@cache
def stage_code(stage: str, modules: tuple[str, ...] = (), package: Path = PACKAGE) -> str:
    """Return the fingerprint of a stage and of modules that its job imports by name."""
    sources = closure(stage, modules, package)
    kinds = {kind for source in sources.values() for kind in source.kinds}
    texts = [f"{name}\n{source.text}" for name, source in sorted(sources.items())]
    texts += [f"{kind}\n{columns}" for kind, columns in schemas(package).items() if kind in kinds]
    data_files = sorted({path for source in sources.values() for path in source.data_files})
    texts += [f"{path}\n{(package / path).read_text(encoding='utf-8')}" for path in data_files]
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
    parsed, strings = _parse(file.read_text(encoding="utf-8"))
    imports = tuple(module for module in parsed.imports if _file(module, package).exists())
    data_files = sorted({path for text in strings for path in _data_files(file.parent, text)})
    return parsed._replace(
        imports=imports, data_files=tuple(path.relative_to(package).as_posix() for path in data_files)
    )


def _data_files(folder: Path, name: str) -> list[Path]:
    """Return the data files behind a name in a module: the file beside it, or all files of a data folder beside it."""
    path = folder / name
    if path.is_file():
        return [] if path.suffix == ".py" or path.name == "schemas.toml" else [path]
    if path.is_dir() and not (path / "__init__.py").exists():
        return [file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return []


@cache  # tests compare copies of the package, which share most texts
def _parse(text: str) -> tuple[Source, frozenset[str]]:
    """Parse a module; return it, with imports that may be no modules, and the strings that may name files."""
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) == FOR_TYPES)]
    nodes = list(ast.walk(tree))
    imports = {module for node in nodes for module in _imported(node)}
    kinds = frozenset(kind for node in nodes for kind in _kinds(node))
    for node in nodes:
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    strings = frozenset(value for value in constants if isinstance(value, str) and NAME.fullmatch(value))
    return Source(ast.unparse(tree), tuple(sorted(imports)), kinds), strings


@cache
def schemas(package: Path = PACKAGE) -> dict[str, object]:
    """Return the declaration of every kind of table."""
    return tomllib.loads((package / "cache" / "schemas.toml").read_text(encoding="utf-8"))


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    else:
        return []
    return [name.removeprefix("graphdr.") for name in names if name.startswith("graphdr.")]


def _kinds(node: ast.AST) -> list[str]:
    """Return the kind of table that a call of ``io`` or an item of ``SCHEMAS`` names."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="io")), args=[ast.Constant(value=str(kind)), *_]):
            return [kind]
        case ast.Subscript(value=ast.Name(id="SCHEMAS"), slice=ast.Constant(value=str(kind))):
            return [kind]
    return []


def _file(name: str, package: Path) -> Path:
    path = package.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
