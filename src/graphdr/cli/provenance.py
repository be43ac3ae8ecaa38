"""``graphdr why``: the chain of inputs, parameters and code behind a file or a number, as a tree."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from graphdr.cache import manifest
from graphdr.cli import cell_lineage, lineage, names, records
from graphdr.cli.cell_lineage import Lookup
from graphdr.cli.lineage import Node
from graphdr.cli.records import Row
from graphdr.core import terminal
from graphdr.core.errors import UserError, elide
from graphdr.core.records import Json
from graphdr.core.terminal import Answer, number, paint, with_error

MOST = 8  # rows of measurements and of runs that are printed; --json has all
SHORT, LONG = 60, 150  # longest text of a parameter, and of one with several entries, in characters
MEASURED = ("problem", "instance", "draw", "method", "predictor", "quantity", "value", "sem", "n")


class Evidence(NamedTuple):
    """The rows of tables behind a number."""

    measurements: list[Row]
    pooled: list[Row]
    runs: list[Row]


def run(options: Namespace, here: Path) -> Answer:
    """Return everything behind a file, or behind one number of a table."""
    entries = manifest.by_output()
    if len(options.target) == 3:
        asked = cell_lineage.find(*options.target)
        measurements = cell_lineage.measured(asked)
        start = list(dict.fromkeys(row["path"] for row in measurements))
        nodes = lineage.trace(start, entries)
        pooled = cell_lineage.pooled(asked.cell, nodes)
        runs = cell_lineage.played(asked.cell, [*measurements, *pooled], nodes)
        evidence = Evidence(measurements, pooled, runs)
    else:
        asked, evidence = None, Evidence([], [], [])
        path, _ = names.resolve(options.target[0], here)
        if records.record(path, entries.get(path)).stage is None:
            raise UserError(f"{path}: its origin is not recorded, neither in the file nor in the manifest")
        start = [path]
        nodes = lineage.trace(start, entries)

    def text() -> list[str]:
        lines = list(_cell_lines(asked, evidence)) if asked else []
        tree = Tree(nodes)
        for path in start:
            lines += tree.lines(path, options.depth)
        ends = list(_ends(nodes))
        return [*lines, "", *ends] if ends else lines

    files = [_as_json(node) for node in nodes.values()]
    cell = asked.cell if asked else None
    return 0, {"cell": cell, **evidence._asdict(), "start": start, "files": files}, text


def _as_json(node: Node) -> Json:
    record = node.record
    fields = ("path", "stage", "version", "code", "hash", "params", "marks")
    return {name: getattr(record, name) for name in fields} | {
        "inputs": [{"path": path, "as_recorded": same} for path, same in node.inputs.items()],
        "streams": node.streams,
        "raw": node.raw,
        "sha256": node.sha256,
        "problem": record.broken,
    }


def _cell_lines(asked: Lookup, evidence: Evidence) -> Iterator[str]:
    """Yield a number, the paper's, and the rows that it was measured from."""
    cell, shown_in, count = asked.cell, asked.shown_in, len(asked.values)
    yield paint(f"{cell.table}, row {cell.row}, column {cell.column}", "bold")
    ours = with_error(cell.value, cell.sem, 8) if cell.value is not None else "no value"
    if len(cell.problems) > 1:
        ours = f"a number on each of {len(cell.problems)} problems"
    if cell.n is not None:
        ours += f", n = {cell.n}"
    if count > 1:
        over = "instances" if len({row["instance"] for row in evidence.measurements}) > 1 else "draws"
        ours += f"; median {number(cell.panel_median)} ({number(cell.panel_low)} … {number(cell.panel_high)})"
        ours += f" over {count} {over}"
    yield f"ours     {ours}"
    if cell.paper:
        paper = cell.paper
        facts = f"ratio {number(paper.ratio, 3)}, percentile {number(paper.percentile, 3)}"
        yield f"paper    {with_error(paper.paper, paper.paper_sem, 8)}, {facts}: {paper.verdict}"
    elif shown_in.kind == "table":
        yield "paper    does not print this number"
    key = f" of {cell.key}" if cell.key else ""
    yield f"cell     {cell.statistic} of {cell.quantity}{key} on problem {', '.join(cell.problems)}"
    yield f"{shown_in.kind:<8} {shown_in.path}, {shown_in.made_by()}"
    yield from _rows_lines("measured", MEASURED, evidence.measurements)
    if not evidence.measurements:
        yield "no measurement: the data are not here, or this method has no such quantity"
    yield from _rows_lines("pooled from (instance 0)", MEASURED, evidence.pooled)
    yield from _rows_lines("runs on instance 0, at the last round", cell_lineage.RUN_COLUMNS, evidence.runs)
    yield ""


def _rows_lines(title: str, columns: Sequence[str], rows: list[Row]) -> Iterator[str]:
    if not rows:
        return
    used = [name for name in columns if any(row[name] is not None for row in rows)]
    body = [[number(row[name], 8) for name in used] for row in rows[:MOST]]
    right = [not isinstance(rows[0][name], str | None) for name in used]
    files = list(dict.fromkeys(row["path"] for row in rows))
    more = f" and {len(files) - 1} more files" if len(files) > 1 else ""
    yield ""
    yield f"{paint(title, 'bold')}: {terminal.plural(len(rows), 'row')} of {files[0]}{more}"
    yield from (f"  {line}" for line in terminal.table(used, body, right, terminal.width() - 2))
    if len(rows) > MOST:
        yield f"  … {len(rows) - MOST} more (--json has all)"


class Tree:
    """The files behind others as a tree; a file that was shown before is only named."""

    def __init__(self, nodes: dict[str, Node]) -> None:
        self.nodes = nodes
        self.shown: set[str] = set()

    def lines(self, path: str, depth: int | None, first: str = "", rest: str = "") -> Iterator[str]:
        """Yield the lines of a file and of its inputs; ``first`` and ``rest`` are the prefixes of the lines."""
        node = self.nodes[path]
        if path in self.shown:
            yield f"{first}{path} {paint('(shown above)', 'dim')}"
            return
        self.shown.add(path)
        yield first + paint(path, "cyan")
        indent = rest + ("│ " if node.inputs and depth != 0 else "  ")
        for text, *styles in _sentences(node):
            lines = terminal.wrapped(text, terminal.width() - len(indent), rest="  ", most=3)
            yield from (indent + paint(line, *styles) for line in lines)
        if depth != 0:
            yield from self._inputs(node, None if depth is None else depth - 1, rest)
        elif node.inputs:
            yield f"{indent}… {terminal.plural(len(node.inputs), 'input')} (a larger --depth shows them)"

    def _inputs(self, node: Node, depth: int | None, rest: str) -> Iterator[str]:
        for place, (name, same) in enumerate(node.inputs.items(), 1):
            branch, below = ("└─ ", "   ") if place == len(node.inputs) else ("├─ ", "│  ")
            lines = self.lines(name, depth, rest + branch, rest + below)
            if not same and self.nodes[name].record.broken is None:
                yield next(lines) + paint("  not the file that was read: rebuilt or changed since", "yellow")
            yield from lines


def _sentences(node: Node) -> Iterator[tuple[str, ...]]:
    """Yield sentences about a file, each with its colours."""
    record = node.record
    if record.broken:
        yield record.broken, "red"
        return
    if node.sha256:
        yield (f"part of the project, sha256 {node.sha256}",)
    if record.stage:
        yield (f"{record.made_by()}, {terminal.plural(record.rows or 0, 'row')}",)
    elif not node.sha256:
        yield "no provenance", "yellow"
    if record.params:
        yield (parameters(record.params),)
    for dataset, words in record.marks.items():
        yield f"mark: {dataset}: " + "; ".join(f"{kind}: {text}" for kind, text in words.items()), "yellow"
    for row in node.raw:
        name = f"{row['archive']} {row['member']}".strip()
        yield f"raw {row['role']}: {name}, {row['status']}, sha256 {row['sha256'] or '–'}", "green"
        yield (f"  from {row['source'] or 'nowhere'} {row['address']}",)
    for stream in node.streams:
        yield f"seed {stream.seed}, stream {stream.purpose!r}: {stream.key}", "green"


def parameters(params: Json) -> str:
    """Format parameters in one line; of a long list, only the number of entries."""
    return ", ".join(f"{name} {_brief(value)}" for name, value in sorted(params.items()))


def _brief(value: object) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{name} {_brief(part)}" for name, part in value.items())
        flat = not any(isinstance(part, dict | list) for part in value.values())
        return f"({inner})" if flat or len(inner) <= LONG else f"({len(value)} entries)"
    if isinstance(value, list):
        inner = ", ".join(_brief(part) for part in value)
        return f"[{inner}]" if len(inner) <= SHORT else f"[{len(value)} entries]"
    return "none" if value is None else elide(number(value), SHORT)


def _ends(nodes: dict[str, Node]) -> Iterator[str]:
    """Yield where the chain ends: the raw files, the root seed, and the files that could not be read."""
    digests = {row["sha256"] for node in nodes.values() for row in node.raw}
    streams = [stream for node in nodes.values() for stream in node.streams]
    parts = [terminal.plural(len(nodes), "file")]
    if digests:
        parts.append(f"raw data of {terminal.plural(len(digests - {'', None}), 'checksum')}")
    if streams:
        seeds = ", ".join(str(seed) for seed in sorted({stream.seed for stream in streams}))
        purposes = ", ".join(sorted({stream.purpose for stream in streams}))
        parts.append(f"root seed {seeds} (streams: {purposes})")
    if nodes:
        yield "ends at: " + "; ".join(parts)
    if lost := [path for path, node in nodes.items() if node.record.broken]:
        yield f"could not be followed: {', '.join(lost)}"
