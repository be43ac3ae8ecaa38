"""``graphdr why``: the chain of inputs, parameters and code behind a file or a number, as a tree."""

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from graphdr.cache import manifest
from graphdr.cli import cell_lineage, project, records
from graphdr.cli.cell_lineage import Lookup
from graphdr.cli.records import Node, Record, Row
from graphdr.core import terminal
from graphdr.core.errors import UserError, elide
from graphdr.core.terminal import Answer, number, paint, with_error

MOST = 8  # rows of measurements and of runs that are printed; --json has all
BRIEF = 80  # characters of a parameter
MEASURED = ("problem", "instance", "draw", "method", "predictor", "quantity", "value", "sem", "n")

Evidence = Mapping[str, list[Row]]  # behind a number: measurements, the ones pooled for a score, and runs


def run(options: Namespace, here: Path) -> Answer:
    """Return everything behind a file, or behind one number of a table."""
    entries = manifest.by_output()
    asked = None
    evidence: Evidence = {"measurements": [], "pooled": [], "runs": []}
    if len(options.target) == 3:
        asked = cell_lineage.find(options.target, here)
        measurements = cell_lineage.measured(asked)
        start = list(dict.fromkeys(row["path"] for row in measurements))
        nodes = records.trace(start, entries)
        pooled = cell_lineage.pooled(asked.cell, nodes)
        runs = cell_lineage.played(asked.cell, [*measurements, *pooled], nodes)
        evidence = {"measurements": measurements, "pooled": pooled, "runs": runs}
    else:
        path, _ = project.resolve(options.target[0], here)
        if records.record(path, entries.get(path)).stage is None:
            raise UserError(f"{path}: its origin is not recorded, neither in the file nor in the manifest")
        start = [path]
        nodes = records.trace(start, entries)
    files = []
    for node in nodes.values():
        fields = ("path", "stage", "version", "code", "hash", "params", "marks")
        inputs = [{"path": path, "as_recorded": same} for path, same in node.inputs.items()]
        parts = {"inputs": inputs, "streams": node.streams, "raw": node.raw, "sha256": node.sha256}
        recorded = {name: getattr(node.record, name) for name in fields}
        files.append(recorded | parts | {"problem": node.record.broken})

    def text() -> list[str]:
        lines, shown = list(_cell_lines(asked, evidence)) if asked else [], set[str]()
        for path in start:
            lines += _tree(path, nodes, shown, options.depth)
        return [*lines, *_ends(nodes)]

    return 0, {"cell": asked and asked.cell, **evidence, "start": start, "files": files}, text


def _cell_lines(asked: Lookup, evidence: Evidence) -> Iterator[str]:
    """Yield a number, the paper's, and the rows that it was measured from."""
    cell, shown_in, measurements = asked.cell, asked.shown_in, evidence["measurements"]
    yield paint(f"{cell.table}, row {cell.row}, column {cell.column}", "bold")
    ours = with_error(cell.value, cell.sem, 8) if cell.value is not None else "no value"
    if cell.n is not None:
        ours += f", n = {cell.n}"
    if cell.panel_median is not None:
        median, low, high = (number(value) for value in (cell.panel_median, cell.panel_low, cell.panel_high))
        ours += f"; over instances or draws median {median} ({low} … {high})"
    yield f"ours     {ours}"
    if cell.paper:
        facts = f"ratio {number(cell.paper['ratio'], 3)}, percentile {number(cell.paper['percentile'], 3)}"
        paper = with_error(cell.paper["paper"], cell.paper["paper_sem"], 8)
        yield f"paper    {paper}, {facts}: {cell.paper['verdict']}"
    elif shown_in.kind == "table":
        yield "paper    does not print this number"
    key = f" of {cell.key}" if cell.key else ""
    yield f"cell     {cell.statistic} of {cell.quantity}{key} on problem {', '.join(cell.problems)}"
    yield f"{shown_in.kind:<8} {shown_in.path}, {shown_in.made_by}"
    yield from _rows_lines("measured", MEASURED, measurements)
    if not measurements:
        yield "no measurement: the data are not here, or this method has no such quantity"
    yield from _rows_lines("pooled from (instance 0)", MEASURED, evidence["pooled"])
    yield from _rows_lines("runs on instance 0, at the last round", cell_lineage.RUN_COLUMNS, evidence["runs"])
    yield ""


def _rows_lines(title: str, columns: Sequence[str], rows: list[Row]) -> Iterator[str]:
    if not rows:
        return
    files = dict.fromkeys(row["path"] for row in rows)
    yield ""
    yield f"{paint(title, 'bold')}: {terminal.plural(len(rows), 'row')} of {' and '.join(files)}"
    yield from records.listed(rows[:MOST], columns)
    if len(rows) > MOST:
        yield f"… {len(rows) - MOST} more (--json has all)"


def _tree(path: str, nodes: Mapping[str, Node], shown: set[str], depth: int | None, indent: str = "") -> Iterator[str]:
    """Yield the lines of a file and, further in, of its inputs; a file that was shown before is only named."""
    node = nodes[path]
    if path in shown:
        yield f"{indent}{path} {paint('(shown above)', 'dim')}"
        return
    shown.add(path)
    yield indent + paint(path, "cyan")
    for text, *styles in _sentences(node):
        wrapped = terminal.wrapped(text, terminal.width(), f"{indent}  ", f"{indent}    ", most=3)
        yield from (paint(line, *styles) for line in wrapped)
    if node.inputs and depth == 0:
        yield f"{indent}  … {terminal.plural(len(node.inputs), 'input')} (a larger --depth shows them)"
        return
    for name, same in node.inputs.items():
        lines = _tree(name, nodes, shown, None if depth is None else depth - 1, f"{indent}│ ")
        if not same and nodes[name].record.broken is None:
            yield next(lines) + paint("  not the file that was read: rebuilt or changed since", "yellow")
        yield from lines


def _sentences(node: Node) -> Iterator[tuple[str, ...]]:
    """Yield sentences about a file, each with its colours."""
    if node.sha256:
        yield (f"part of the project, sha256 {node.sha256}",)
    else:
        yield from how_made(node.record)
    for row in node.raw:
        name = f"{row['archive']} {row['member']}".strip()
        yield f"raw {row['role']}: {name}, {row['status']}, sha256 {row['sha256'] or '–'}", "green"
        yield (f"  from {row['source'] or 'nowhere'} {row['address']}",)
    for stream in node.streams:
        yield f"seed {stream.seed}, stream {stream.purpose!r}: {stream.key}", "green"


def how_made(record: Record) -> Iterator[tuple[str, ...]]:
    """Yield sentences about how a file was made, each with its colours: stage, parameters and marks."""
    if record.broken:
        yield record.broken, "red"
    elif record.stage is None:
        yield "carries no provenance: no stage of this project built it, or it was rewritten", "yellow"
    else:
        yield (record.made_by + ("" if record.rows is None else f", {terminal.plural(record.rows, 'row')}"),)
    if record.params:
        yield (", ".join(f"{name} {elide(str(value), BRIEF)}" for name, value in sorted(record.params.items())),)
    for dataset, words in record.marks.items():
        yield f"mark: {dataset}: " + "; ".join(f"{kind}: {text}" for kind, text in words.items()), "yellow"


def _ends(nodes: Mapping[str, Node]) -> Iterator[str]:
    """Yield where the chain ends: the raw files, the root seed, and the files that could not be read."""
    digests = {row["sha256"] for node in nodes.values() for row in node.raw} - {"", None}
    streams = [stream for node in nodes.values() for stream in node.streams]
    parts = [terminal.plural(len(nodes), "file")]
    if digests:
        parts.append(f"raw data of {terminal.plural(len(digests), 'checksum')}")
    if streams:
        seeds = ", ".join(str(seed) for seed in sorted({stream.seed for stream in streams}))
        purposes = ", ".join(sorted({stream.purpose for stream in streams}))
        parts.append(f"root seed {seeds} (streams: {purposes})")
    if nodes:
        yield from ("", "ends at: " + "; ".join(parts))
    if lost := [path for path, node in nodes.items() if node.record.broken]:
        yield f"could not be followed: {', '.join(lost)}"
