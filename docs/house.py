"""Draw docs/house.svg, the rooms of the package and their imports, and refresh the table in docs/architecture.md.

Rooms and their order come from the contracts in pyproject.toml, arrows from the import graph, words from the docstrings
of the rooms. ``make docs`` runs it.
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
from graphdr.core.markdown import pipe_table

ROOT = Path(__file__).parents[1]
PICTURE, PAGE = "docs/house.svg", "docs/architecture.md"

# Lengths in pixels. Letters of 12 pixels are taken as 6.2 wide, which is more than most are.
LEFT, WIDTH, FLOOR, GAP, ROOF, LANE, NAME, LETTERS = 24, 600, 46, 10, 64, 26, 92, 78
COLOURS = (
    "#2f7fc1",
    "#c2641f",
    "#2a9d6f",
    "#a04fb0",
    "#8a8420",
)  # of lanes, in turns; all stand out on white and black
STYLE = """
.house { font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; font-size: 12px; fill: #24292f }
.name { font-weight: 600; font-size: 15px }
.quiet { fill: #57606a }
.room { fill: #f3f4f6; stroke: #8c959f }
.room.compute { fill: #e3efd9 }
.out { stroke: #8c959f; stroke-width: 1; fill: none }
.lane { stroke-width: 2; fill: none }
@media (prefers-color-scheme: dark) {
  .house { fill: #e6edf3 }
  .quiet { fill: #9aa4b0 }
  .room { fill: #21262d; stroke: #6e7681 }
  .room.compute { fill: #24381f }
  .out { stroke: #6e7681 }
}
"""


class House(NamedTuple):
    """Rooms from the top floor down, those that touch no files, words on each, and (room, room): number of imports."""

    rooms: list[str]
    compute: set[str]
    words: dict[str, tuple[str, str]]
    imports: dict[tuple[str, str], int]


def read() -> House:
    """Read contracts, docstrings and imports."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {contract["name"]: contract for contract in project["tool"]["importlinter"]["contracts"]}
    layers = " | ".join(contracts["Rooms import downward only"]["layers"]).replace(":", "|").split("|")
    rooms = [_room(layer.strip(" ()")) for layer in layers]
    compute = {_room(module) for module in contracts["Compute rooms touch no files"]["source_modules"]}
    return House(rooms, compute, {room: _words(room) for room in rooms}, _imports(rooms))


def _room(module: str) -> str:
    return f"{module}.".split(".")[1]


def _words(room: str) -> tuple[str, str]:
    """Return what a room's docstring says lives there, and what it says the room may import."""
    text = " ".join(import_module(f"graphdr.{room}").__doc__.replace("``", "`").split())
    for word in ("May import ", "Imports "):
        content, found, rule = text.partition(word)
        if found:
            return content.strip(), (rule if word == "May import " else found + rule).strip()
    raise ValueError(f"graphdr/{room}/__init__.py: the docstring does not say what the room may import")


def _imports(rooms: list[str]) -> dict[tuple[str, str], int]:
    graph = grimp.build_graph("graphdr", cache_dir=None)
    counts: dict[tuple[str, str], int] = {}
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            pair = _room(module), _room(imported)
            if pair[0] != pair[1] and set(pair) <= set(rooms):
                counts[pair] = counts.get(pair, 0) + 1
    return counts


def draw(house: House) -> str:
    """Return the picture: a floor a room, and for each imported room a lane that its importers' lines meet in dots."""
    targets = [room for room in house.rooms if any(room == imported for _, imported in house.imports)]
    tops = {room: ROOF + place * (FLOOR + GAP) for place, room in enumerate(house.rooms)}
    lanes = {room: LEFT + WIDTH + 34 + place * LANE for place, room in enumerate(targets)}
    width, bottom = max(lanes.values()) + LEFT, ROOF + len(house.rooms) * (FLOOR + GAP)
    right, parts = LEFT + WIDTH, []
    parts.append(
        f'<path class="room" d="M{LEFT - 12} {ROOF - GAP} L{LEFT + WIDTH / 2:g} 8 L{right + 12} {ROOF - GAP} Z"/>'
    )
    title = "The rooms of graphdr"
    parts.append(
        f'<text class="name" x="{LEFT + WIDTH / 2:g}" y="{ROOF - GAP - 10}" text-anchor="middle">{title}</text>'
    )
    for room in house.rooms:
        parts += _floor(room, house, tops[room])
        reached = [lanes[imported] for importer, imported in house.imports if importer == room]
        if reached:
            parts.append(f'<path class="out" d="M{right} {_leaving(tops[room])} H{max(reached)}"/>')
    for place, room in enumerate(targets):
        importers = [importer for importer in house.rooms if (importer, room) in house.imports]
        parts += _lane(room, importers, house, tops, lanes[room], COLOURS[place % len(COLOURS)])
    parts += _legend(bottom + 8)
    height = bottom + 74
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    described = f'{head} role="img" aria-label="{title}, top floor first: {", ".join(house.rooms)}">'
    return "\n".join([described, f"<style>{STYLE}</style>", '<g class="house">', *parts, "</g>", "</svg>"]) + "\n"


def _entering(top: int) -> int:
    return top + 13


def _leaving(top: int) -> int:
    return top + FLOOR - 13


def _floor(room: str, house: House, top: int) -> list[str]:
    kind = "room compute" if room in house.compute else "room"
    box = f'<rect class="{kind}" x="{LEFT}" y="{top}" width="{WIDTH}" height="{FLOOR}" rx="4"/>'
    name = f'<text class="name" x="{LEFT + 12}" y="{top + 28}">{room}</text>'
    words = house.words[room][0].replace("`", "")
    lines = textwrap.wrap(words, LETTERS)
    if len(lines) > 2:
        raise ValueError(f"graphdr/{room}/__init__.py: {words!r} does not fit into two lines of the picture")
    first = top + FLOOR / 2 + 4 - 8 * (len(lines) - 1)
    texts = [
        f'<text class="quiet" x="{LEFT + NAME}" y="{first + 16 * place:g}">{escape(line)}</text>'
        for place, line in enumerate(lines)
    ]
    return [box, name, *texts]


def _lane(room: str, importers: list[str], house: House, tops: dict, x: int, colour: str) -> list[str]:
    """Draw the way down to an imported room, from its highest importer, with a dot for each of them."""
    right, end = LEFT + WIDTH, _entering(tops[room])
    start = _leaving(tops[importers[0]])
    path = f"M{x} {start} V{end - 6} Q{x} {end} {x - 6} {end} H{right + 8}"
    parts = [
        f'<path class="lane" stroke="{colour}" d="{path}"/>',
        f'<path fill="{colour}" d="M{right + 1} {end} l10 -5 v10 Z"/>',
    ]
    for importer in importers:
        count = house.imports[importer, room]
        size = 3 + min(count, 16) / 8
        words = f"{importer} imports {room}: {count} import{'s' if count > 1 else ''}"
        y = _leaving(tops[importer])
        parts.append(f'<circle fill="{colour}" cx="{x}" cy="{y}" r="{size:g}"><title>{words}</title></circle>')
    return parts


def _legend(top: int) -> list[str]:
    lines = [
        "A dot: the room on that floor imports the room that the line leads down to; larger: in more places.",
        "Lines only go down: import-linter checks it in make lint.",
    ]
    swatch = f'<rect class="room compute" x="{LEFT}" y="{top + 2}" width="14" height="12" rx="2"/>'
    texts = ["computes with arrays and touches no files", *lines]
    places = [(LEFT + 22, top + 12), *((LEFT, top + 30 + 18 * place) for place in range(len(lines)))]
    return [
        swatch,
        *(f'<text class="quiet" x="{x}" y="{y}">{text}</text>' for text, (x, y) in zip(texts, places, strict=True)),
    ]


def table(house: House) -> str:
    """Return the rooms as a Markdown table, the lowest first."""
    rows = []
    for room in reversed(house.rooms):
        content, rule = house.words[room]
        modules = sorted(
            path.stem + ("/" if path.is_dir() else "")
            for path in (ROOT / "src/graphdr" / room).iterdir()
            if (path.suffix == ".py" and path.stem != "__init__") or (path / "__init__.py").exists()
        )
        imported = [other for other in house.rooms if (room, other) in house.imports]
        today = ", ".join(f"`{other}`" for other in imported) or "–"
        rows.append([f"`{room}`", content, rule[0].lower() + rule[1:].rstrip("."), today, ", ".join(modules)])
    lines = pipe_table(["room", "what lives there", "may import", "imports today", "modules"], rows)
    lines[1] = "|---|---|---|---|---|"
    return "\n".join(lines)


def refreshed(text: str, house: House) -> str:
    """Return the page with its table of rooms as the code is now."""
    return between_markers(text, "rooms", table(house), PAGE)


def main() -> int:
    """Write the picture and the table."""
    house, page = read(), ROOT / PAGE
    atomic.write_text(draw(house), str(ROOT / PICTURE))
    atomic.write_text(refreshed(page.read_text(encoding="utf-8"), house), str(page))
    print(f"Wrote {PICTURE} and the rooms of {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
