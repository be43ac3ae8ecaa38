"""Draw docs/architecture.svg, the subpackages and their imports, and refresh the table in docs/architecture.md.

The layers come from the contracts in pyproject.toml, the arrows from the import graph, the words from the docstrings of
the subpackages. ``make docs`` runs it.
"""

import sys
import textwrap
import tomllib
from importlib import import_module
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import grimp

from docs.markers import between_markers
from graphdr.core import atomic
from graphdr.core.terminal import pipe_table

ROOT = Path(__file__).parents[1]
FIGURE, PAGE = "docs/architecture.svg", "docs/architecture.md"
TITLE = "The subpackages of graphdr"

# Lengths in pixels.
LEFT, TOP, WIDTH, HEIGHT, GAP, LANE, NAME = 24, 44, 600, 46, 10, 26, 92
LETTERS = 78  # per line of a description
COLOURS = "#2f7fc1", "#c2641f", "#2a9d6f", "#a04fb0", "#8a8420"  # of lanes, in turns; visible on white and black
STYLE = """
.figure { font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; font-size: 12px; fill: #24292f }
.name { font-weight: 600; font-size: 15px }
.quiet { fill: #57606a }
.layer { fill: #f3f4f6; stroke: #8c959f }
.layer.compute { fill: #e3efd9 }
.out { stroke: #8c959f; stroke-width: 1; fill: none }
.lane { stroke-width: 2; fill: none }
@media (prefers-color-scheme: dark) {
  .figure { fill: #e6edf3 }
  .quiet { fill: #9aa4b0 }
  .layer { fill: #21262d; stroke: #6e7681 }
  .layer.compute { fill: #24381f }
  .out { stroke: #6e7681 }
}
"""


class Architecture(NamedTuple):
    """Subpackages from the top layer down, those that touch no files, their descriptions, and counts of imports."""

    layers: list[str]
    compute: set[str]
    content: dict[str, str]
    may_import: dict[str, str]
    imports: dict[tuple[str, str], int]  # by importing and imported subpackage


def read() -> Architecture:
    """Read contracts, docstrings and imports."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {contract["name"]: contract for contract in project["tool"]["importlinter"]["contracts"]}
    layers = [_subpackage(module) for module in contracts["Layers import downward only"]["layers"]]
    compute = {_subpackage(module) for module in contracts["Compute subpackages touch no files"]["source_modules"]}
    described = {name: _describe(name) for name in layers}
    content = {name: text for name, (text, _) in described.items()}
    may_import = {name: rule for name, (_, rule) in described.items()}
    return Architecture(layers, compute, content, may_import, _imports(layers))


def _subpackage(module: str) -> str:
    return f"{module}.".split(".")[1]


def _describe(name: str) -> tuple[str, str]:
    """Return the content of a subpackage and what it may import, from its docstring."""
    text = " ".join(import_module(f"graphdr.{name}").__doc__.replace("``", "`").split())
    for word in ("May import ", "Imports "):
        content, separator, rule = text.partition(word)
        if separator:
            return content.strip(), (rule if word == "May import " else word + rule).strip()
    raise ValueError(f"graphdr/{name}/__init__.py: the docstring does not say what the subpackage may import")


def _imports(layers: list[str]) -> dict[tuple[str, str], int]:
    graph = grimp.build_graph("graphdr", cache_dir=None)
    counts: dict[tuple[str, str], int] = {}
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            pair = _subpackage(module), _subpackage(imported)
            if pair[0] != pair[1] and set(pair) <= set(layers):
                counts[pair] = counts.get(pair, 0) + 1
    return counts


def draw(architecture: Architecture) -> str:
    """Return the figure: a box per subpackage, and a lane to each imported one with a dot for every importer."""
    layers, right = architecture.layers, LEFT + WIDTH
    targets = [name for name in layers if any(name == imported for _, imported in architecture.imports)]
    tops = {name: TOP + place * (HEIGHT + GAP) for place, name in enumerate(layers)}
    lanes = {name: right + 34 + place * LANE for place, name in enumerate(targets)}
    parts = [f'<text class="name" x="{LEFT}" y="{TOP - 16}">{TITLE}</text>']
    for name in layers:
        parts += _box(name, architecture, tops[name])
        if reached := [lanes[imported] for importer, imported in architecture.imports if importer == name]:
            parts.append(f'<path class="out" d="M{right} {_exit(tops[name])} H{max(reached)}"/>')
    for place, name in enumerate(targets):
        parts += _lane(name, architecture, tops, lanes[name], COLOURS[place % len(COLOURS)])
    bottom = TOP + len(layers) * (HEIGHT + GAP)
    parts += _legend(bottom + 8)
    width, height = max(lanes.values()) + LEFT, bottom + 74
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    described = f'{head} role="img" aria-label="{TITLE}, top layer first: {", ".join(layers)}">'
    return "\n".join([described, f"<style>{STYLE}</style>", '<g class="figure">', *parts, "</g>", "</svg>"]) + "\n"


def _exit(top: int) -> int:
    """Return where the imports of a box leave it."""
    return top + HEIGHT - 13


def _box(name: str, architecture: Architecture, top: int) -> list[str]:
    kind = "layer compute" if name in architecture.compute else "layer"
    content = architecture.content[name].replace("`", "")
    lines = textwrap.wrap(content, LETTERS)
    if len(lines) > 2:
        raise ValueError(f"graphdr/{name}/__init__.py: {content!r} does not fit into two lines of the figure")
    parts = [
        f'<rect class="{kind}" x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" rx="4"/>',
        f'<text class="name" x="{LEFT + 12}" y="{top + 28}">{name}</text>',
    ]
    first = top + HEIGHT / 2 + 4 - 8 * (len(lines) - 1)
    for place, line in enumerate(lines):
        parts.append(f'<text class="quiet" x="{LEFT + NAME}" y="{first + 16 * place:g}">{escape(line)}</text>')
    return parts


def _lane(name: str, architecture: Architecture, tops: dict[str, int], x: int, colour: str) -> list[str]:
    """Draw the line from the highest importer of a subpackage down to it, with a dot for each importer."""
    importers = [importer for importer in architecture.layers if (importer, name) in architecture.imports]
    right, start, end = LEFT + WIDTH, _exit(tops[importers[0]]), tops[name] + 13
    path = f"M{x} {start} V{end - 6} Q{x} {end} {x - 6} {end} H{right + 8}"
    parts = [
        f'<path class="lane" stroke="{colour}" d="{path}"/>',
        f'<path fill="{colour}" d="M{right + 1} {end} l10 -5 v10 Z"/>',
    ]
    for importer in importers:
        count = architecture.imports[importer, name]
        words = f"{importer} imports {name}: {count} import{'s' if count > 1 else ''}"
        dot = f'<circle fill="{colour}" cx="{x}" cy="{_exit(tops[importer])}" r="{3 + min(count, 16) / 8:g}">'
        parts.append(f"{dot}<title>{words}</title></circle>")
    return parts


def _legend(top: int) -> list[str]:
    lines = [
        "A dot: this subpackage imports the one that the line leads down to; larger: in more places.",
        "Lines only go down: import-linter checks it in make lint.",
    ]
    parts = [
        f'<rect class="layer compute" x="{LEFT}" y="{top + 2}" width="14" height="12" rx="2"/>',
        f'<text class="quiet" x="{LEFT + 22}" y="{top + 12}">computes with arrays and touches no files</text>',
    ]
    for place, line in enumerate(lines):
        parts.append(f'<text class="quiet" x="{LEFT}" y="{top + 30 + 18 * place}">{line}</text>')
    return parts


def table(architecture: Architecture) -> str:
    """Return the subpackages as a Markdown table, the lowest first."""
    rows = []
    for name in reversed(architecture.layers):
        rule = architecture.may_import[name]
        modules = []
        for path in sorted((ROOT / "src/graphdr" / name).iterdir()):
            if (path / "__init__.py").exists():
                modules.append(f"{path.name}/")
            elif path.suffix == ".py" and path.stem != "__init__":
                modules.append(path.stem)
        imported = [f"`{other}`" for other in architecture.layers if (name, other) in architecture.imports]
        rule = rule[0].lower() + rule[1:].rstrip(".")
        rows.append([f"`{name}`", architecture.content[name], rule, ", ".join(imported) or "–", ", ".join(modules)])
    lines = pipe_table(["subpackage", "content", "may import", "imports today", "modules"], rows)
    lines[1] = "|---|---|---|---|---|"
    return "\n".join(lines)


def refreshed(text: str, architecture: Architecture) -> str:
    """Return the page with an up-to-date table of subpackages."""
    return between_markers(text, "subpackages", table(architecture), PAGE)


def main() -> int:
    """Write the figure and the table."""
    architecture, page = read(), ROOT / PAGE
    atomic.write_text(draw(architecture), str(ROOT / FIGURE))
    atomic.write_text(refreshed(page.read_text(encoding="utf-8"), architecture), str(page))
    print(f"Wrote {FIGURE} and the table of {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
