"""Write docs/api.md, the reference of the public surface, from signatures and docstrings; ``make docs`` runs it."""

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
from pathlib import Path

import graphdr
from graphdr.core import atomic

PAGE = "docs/api.md"
CHAPTERS = {
    "graphs": "Graphs, eigenvectors and features",
    "bandit": "Rewards, rounds, LinUCB and the graph prior",
    "serve": "A policy to serve",
    "scores": "Estimates from logged rounds",
    "cache": "Cached tables",
    "core": "Randomness and errors",
}
FIELDS = ("Parameters", "Attributes", "Returns", "Raises", "See Also")  # sections of numpydoc that list things
SHOWN_WITH = {"theory": "bandit"}  # a record is explained beside the function that returns it
OPENING = """# The package

Written by `docs/api.py` from the code. These names are the public surface, `graphdr.__all__`: they stay as they are
within a minor version. Everything else may move. A name is imported when it is first used, so `import graphdr` itself
costs nothing. The examples are run by the tests, with

```python
import numpy as np

import graphdr
```
"""


def render() -> str:
    """Return the page: the surface by subpackage, each name with its signature, its docstring and where it lives."""
    by_subpackage: dict[str, list[str]] = {}
    for name, place in graphdr._PLACES.items():
        subpackage = place.split(".")[0]
        by_subpackage.setdefault(SHOWN_WITH.get(subpackage, subpackage), []).append(name)
    contents = [
        f"- {title}: " + ", ".join(f"[`{name}`](#{name.lower()})" for name in by_subpackage[subpackage])
        for subpackage, title in CHAPTERS.items()
    ]
    parts = [OPENING, "\n".join(contents)]
    for subpackage, title in CHAPTERS.items():
        parts += [f"## {title}", *(entry(name) for name in by_subpackage[subpackage])]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def entry(name: str) -> str:
    """Return the section of one name."""
    item = getattr(graphdr, name)
    source = f"graphdr.{graphdr._PLACES[name].replace(':', '.')}"
    parts = [f"### {name}", signature(item, name), markdown(item), f"<sub>`{source}`</sub>"]
    if inspect.isclass(item) and not dataclasses.is_dataclass(item):
        parts[-1:-1] = [method(item, own) for own in members(item)]
    return "\n\n".join(parts)


def members(owner: type) -> list[str]:
    """Return the documented methods and properties that a class has from this package, ``fit`` first, as it is read."""
    ours = [base for base in owner.__mro__ if base.__module__.startswith("graphdr.")]
    names = dict.fromkeys(name for base in reversed(ours) for name in vars(base) if not name.startswith("_"))
    documented = [name for name in names if inspect.getdoc(member(owner, name)) and _is_shown(member(owner, name))]
    return sorted(documented, key=lambda name: name != "fit")


def member(owner: type, name: str):
    """Return a property, or the function behind a method, also where a class has another one than its objects."""
    item = inspect.getattr_static(owner, name)
    if type(item).__module__.startswith("graphdr."):  # a descriptor of our own
        item = getattr(object.__new__(owner), name)
    return getattr(item, "__func__", item)


def _is_shown(item) -> bool:
    return isinstance(item, property) or inspect.isfunction(item)


def method(owner: type, name: str) -> str:
    """Return a paragraph on a method or property of a class."""
    item = member(owner, name)
    if isinstance(item, property):
        return f"**`{name}`** {markdown(item)}"
    full = f"{owner.__name__}.{name}"
    return "\n\n".join([f"#### {full}", signature(item, full), markdown(item)])


def signature(item, name: str) -> str:
    """Return the signature as it is written in the code, or the fields of a record."""
    if dataclasses.is_dataclass(item):
        optional = {field.name: field.default for field in dataclasses.fields(item)}
        missing = dataclasses.MISSING
        arguments = [key if value is missing else f"{key}={_default(value)}" for key, value in optional.items()]
        return _fenced(f"{name}(\n    " + ",\n    ".join(arguments) + ",\n)")
    node = ast.parse(textwrap.dedent(inspect.getsource(item))).body[0]
    if isinstance(node, ast.FunctionDef):
        arguments = [*_arguments(node.args)]
        head = f"{name}({', '.join(arguments)})"
        if len(head) > 100:
            head = f"{name}(\n    " + ",\n    ".join(arguments) + ",\n)"
        return _fenced(head + (f" -> {_text(node.returns)}" if node.returns else ""))
    if "Parameters\n---" in (inspect.getdoc(item) or ""):  # those of the constructor
        return signature(item.__init__, name)
    fields = [ast.unparse(line) for line in node.body if isinstance(line, ast.AnnAssign)]
    bases = ", ".join(map(ast.unparse, node.bases))
    return _fenced("\n".join([f"class {name}" + (f"({bases})" if bases else ""), *(f"    {line}" for line in fields)]))


def _default(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _arguments(arguments: ast.arguments):
    """Yield the arguments of a function as text, without self and cls."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
    yield from (_argument(*pair) for pair in zip(plain, defaults, strict=True) if pair[0].arg not in ("self", "cls"))
    if arguments.vararg:
        yield f"*{_argument(arguments.vararg, None)}"
    elif arguments.kwonlyargs:
        yield "*"
    yield from (_argument(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    if arguments.kwarg:
        yield f"**{_argument(arguments.kwarg, None)}"


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    name = argument.arg + (f": {_text(argument.annotation)}" if argument.annotation else "")
    equals = " = " if argument.annotation else "="
    return name + (f"{equals}{ast.unparse(default)}" if default is not None else "")


def _text(annotation: ast.expr) -> str:
    """Return an annotation; one that is quoted without its quotes."""
    return annotation.value if isinstance(annotation, ast.Constant) and annotation.value else ast.unparse(annotation)


def _fenced(code: str) -> str:
    return f"```python\n{code}\n```"


def markdown(item) -> str:
    """Return a docstring as Markdown: code in single backticks, examples fenced."""
    text = re.sub(r"``(.+?)``", r"`\1`", inspect.getdoc(item))
    return "\n\n".join(map(_part, text.split("\n\n")))


def _part(text: str) -> str:
    """Return a paragraph, an example, a formula or a section of numpydoc, whose fields become a list."""
    title, line, rest = ([*text.split("\n", 2), "", ""])[:3]
    if line and set(line) == {"-"}:
        return f"**{title}**\n\n{_fields(rest) if title in FIELDS else _part(rest)}"
    return _fenced(text) if text.startswith(">>>") else text if text.startswith("    ") else _escaped(text)


def _fields(text: str) -> str:
    """Return fields, each a line and what it says below, as a list."""
    fields = [field.split("\n", 1) for field in re.split(r"\n(?! )", text)]
    lines = [(head, " ".join(" ".join(rest).split())) for head, *rest in fields]
    return "\n".join(f"- {_head(head)}{': ' * bool(text)}{_escaped(text)}" for head, text in lines)


def _head(head: str) -> str:
    """Return the names of a field as code, and its type as text."""
    names, _, kind = head.partition(" : ")
    return f"`{names}`" + (f" ({_escaped(kind)})" if kind else "")


def _escaped(text: str) -> str:
    """Keep Markdown from reading products and comparisons as markup, outside of code."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([*<>])", r"\\\1", piece) for piece in pieces)


def main() -> int:
    """Write the page."""
    atomic.write_text(render(), str(Path(__file__).parents[1] / PAGE))
    print(f"Wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
