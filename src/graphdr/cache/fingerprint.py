"""A hash of the code behind a job: its stage and all modules that it imports from the package, without comments.

Data files of the package that a module reads (words, templates) count as its code. There are two exceptions.
``cache.paths`` is left out: the inputs and outputs of a job already cover it. Of ``schemas.toml`` only the kinds of
table count that the code reads or writes.
"""

import ast
import hashlib
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1]
FOR_TYPES = "TYPE_CHECKING"  # what is imported under it is never run


class Source(NamedTuple):
    """A module without comments and docstrings, and what it needs: modules of the package, kinds of table, data files.

    ``data_files`` are paths below the package.
    """

    text: str
    imports: tuple[str, ...]
    kinds: frozenset[str]
    data_files: tuple[str, ...] = ()


@cache
def stage_code(stage: str, modules: tuple[str, ...] = (), package: Path = PACKAGE) -> str:
    """Return the fingerprint of a stage, and of modules that its job imports by name."""
    sources = closure(stage, modules, package)
    kinds = frozenset().union(*(source.kinds for source in sources.values()))
    texts = [f"{name}\n{source.text}" for name, source in sorted(sources.items())]
    texts += [f"{kind}\n{columns}" for kind, columns in schemas(package).items() if kind in kinds]
    data_files = sorted({path for source in sources.values() for path in source.data_files})
    texts += [f"{path}\n{(package / path).read_text(encoding='utf-8')}" for path in data_files]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def closure(stage: str, modules: tuple[str, ...] = (), package: Path = PACKAGE) -> dict[str, Source]:
    """Return the modules behind a stage, by their names inside of the package."""
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
    """Return the data files that a module in a folder means by a name: the file beside it, or all in a data folder."""
    path = folder / name
    if path.is_file():
        return [] if path.suffix == ".py" or path.name == "schemas.toml" else [path]
    if path.is_dir() and not (path / "__init__.py").exists():
        return [file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return []


@cache  # another copy of the package has most of its texts in common with this one
def _parse(text: str) -> tuple[Source, frozenset[str]]:
    """Parse a module; ``imports`` may include names that are no modules. Also return strings that can name files."""
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) == FOR_TYPES)]
    nodes = list(ast.walk(tree))
    imports = {module for node in nodes for module in _imported(node)}
    kinds = frozenset(kind for node in nodes for kind in _kinds(node))
    for node in nodes:
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    strings = frozenset(
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and _is_name(node.value)
    )
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
    """Return the kind of table that a call of ``io`` names, or that is taken from ``SCHEMAS``."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="io")), args=[ast.Constant(value=str(kind)), *_]):
            return [kind]
        case ast.Subscript(value=ast.Name(id="SCHEMAS"), slice=ast.Constant(value=str(kind))):
            return [kind]
    return []


def _is_name(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"\w[\w.-]*", value) is not None


def _file(name: str, package: Path) -> Path:
    path = package.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
