"""``graphdr why``: the chain of inputs, parameters and code behind a file or a number, as a tree."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from graphdr.cache import manifest
from graphdr.cli import cell_lineage, lineage, names, records
from graphdr.cli.lineage import EVERYTHING, Node
from graphdr.cli.records import Focus
from graphdr.core import terminal
from graphdr.core.errors import UserError, elide
from graphdr.core.terminal import Answer, number, paint, with_error

MOST = 8  # rows of measurements and of runs that are printed; --json has all
SHORT, LONG = 60, 150  # characters of one parameter, and of one with entries of its own
MEASURED = ("problem", "instance", "draw", "method", "predictor", "quantity", "value", "sem", "n")


def run(options: Namespace, here: Path) -> Answer:
    """Return everything behind a file, or behind one number of a table."""
    entries, asked, cell, measurements = manifest.by_output(), None, None, []
    if len(options.target) == 3:
        asked = cell_lineage.find(*options.target)
        cell = asked.cell
        measurements = cell_lineage.measured(cell, asked.measurements)
        start = dict.fromkeys((row["path"] for row in measurements), cell_lineage.focus(cell))
    else:
        path, _ = names.resolve(options.target[0], here)
        if records.record(path, entries.get(path)).stage is None:
            unknown = "carries no provenance and is not in the manifest, so nothing is known of its making"
            raise UserError(f"{path}: {unknown}")
        start = {path: EVERYTHING}
    nodes = lineage.trace(start, entries)
    pooled, runs = (cell_lineage.pooled(nodes), cell_lineage.played(cell, nodes)) if cell else ([], [])
    evidence = {"measurements": measurements, "pooled": pooled, "runs": runs}
    files = [_as_json(node) for node in nodes.values()]

    def text() -> list[str]:
        seen: set[str] = set()
        lines = list(_cell_lines(asked, **evidence)) if asked else []
        lines += [line for path in start for line in _tree(path, nodes, seen, "", "", options.depth)]
        ends = list(_ends(nodes))
        return [*lines, "", *ends] if ends else lines

    return 0, {"cell": cell, **evidence, "start": list(start), "files": files}, text


def _as_json(node: Node) -> dict:
    record = node.record
    made = ("path", "stage", "version", "code", "hash", "params", "marks")
    return {name: getattr(record, name) for name in made} | {
        "inputs": [{"path": path, "as_recorded": same} for path, same in node.inputs.items()],
        "streams": node.streams,
        "raw": node.raw,
        "sha256": node.sha256,
        "problem": record.broken,
    }


def _cell_lines(
    asked: cell_lineage.Number, measurements: list[dict], pooled: list[dict], runs: list[dict]
) -> Iterator[str]:
    """Yield what a number is, and what it was measured from."""
    cell, made, count = asked.cell, asked.shown_in, len(asked.panel)
    paper, problems = cell["paper"], cell["problems"]
    yield paint("{table}, row {row}, column {column}".format(**cell), "bold")
    ours = with_error(cell["value"], cell["sem"], 8) if cell["value"] is not None else "no value"
    if len(problems) > 1:
        ours = f"a number on each of {len(problems)} problems"
    panel = f"; median {number(cell['panel_median'])} ({number(cell['panel_low'])} … {number(cell['panel_high'])})"
    behind = "" if cell["n"] is None else f", n = {cell['n']}"
    over = "instances" if len({row["instance"] for row in measurements}) > 1 else "draws"
    yield f"ours     {ours}{behind}" + (f"{panel} over {count} {over}" if count > 1 else "")
    if paper:
        facts = [f"ratio {number(paper['ratio'], 3)}", f"percentile {number(paper['percentile'], 3)}"]
        yield f"paper    {with_error(paper['paper'], paper['paper_sem'], 8)}, {', '.join(facts)}: {paper['verdict']}"
    elif made.kind == "table":
        yield "paper    does not print this number"
    key = f" of {cell['key']}" if cell["key"] else ""
    yield f"cell     {cell['field']} of {cell['quantity']}{key} on problem {', '.join(problems)}"
    yield f"{made.kind:<8} {made.path}, {_made_by(made)}"
    yield from _rows_lines("measured", MEASURED, measurements)
    if not measurements:
        yield "no measurement: the data are not here, or this method has no such quantity"
    yield from _rows_lines("pooled from (instance 0)", MEASURED, pooled)
    yield from _rows_lines("runs on instance 0, at the last round", cell_lineage.PLAYED, runs)
    yield ""


def _rows_lines(title: str, columns: Sequence[str], rows: list[dict]) -> Iterator[str]:
    if rows:
        used = [name for name in columns if any(row[name] is not None for row in rows)]
        body = [[number(row[name], 8) for name in used] for row in rows[:MOST]]
        right = [not isinstance(rows[0][name], str | None) for name in used]
        places = list(dict.fromkeys(row["path"] for row in rows))
        more = f" and {len(places) - 1} more files" if len(places) > 1 else ""
        yield ""
        yield f"{paint(title, 'bold')}: {terminal.plural(len(rows), 'row')} of {places[0]}{more}"
        yield from (f"  {line}" for line in terminal.table(used, body, right, terminal.width() - 2))
        if len(rows) > MOST:
            yield f"  … {len(rows) - MOST} more (--json has all)"


def _tree(path: str, nodes: dict[str, Node], seen: set[str], first: str, rest: str, depth: int | None) -> Iterator[str]:
    """Yield the lines of a file and of all behind it; a file that was shown above is only named."""
    node = nodes[path]
    if path in seen:
        yield f"{first}{path} {paint('(shown above)', 'dim')}"
        return
    seen.add(path)
    yield first + paint(path, "cyan")
    inside = rest + ("│ " if node.inputs and depth != 0 else "  ")
    for said, *styles in _sentences(node):
        lines = terminal.wrapped(said, terminal.width() - len(inside), rest="  ", most=3)
        yield from (inside + paint(line, *styles) for line in lines)
    if depth == 0:
        if node.inputs:
            yield f"{inside}… {terminal.plural(len(node.inputs), 'input')} (a larger --depth shows them)"
        return
    deeper = None if depth is None else depth - 1
    for at, (name, same) in enumerate(node.inputs.items()):
        last = at == len(node.inputs) - 1
        lines = _tree(name, nodes, seen, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "), deeper)
        if not same and nodes[name].record.broken is None:
            yield next(lines) + paint("  not the file that was read: rebuilt or changed since", "yellow")
        yield from lines


def _sentences(node: Node) -> Iterator[tuple[str, ...]]:
    """Yield what is known about a file, each sentence with its colour."""
    record = node.record
    if record.broken:
        yield record.broken, "red"
        return
    if node.sha256:
        yield (f"committed with the project, sha256 {node.sha256}",)
    if record.stage:
        yield (f"{_made_by(record)}, {terminal.plural(record.rows or 0, 'row')}",)
    elif not node.sha256:
        yield "no provenance", "yellow"
    if record.params:
        yield (parameters(record.params, node.focus),)
    for dataset, words in record.marks.items():
        yield f"mark: {dataset}: " + "; ".join(f"{kind}: {text}" for kind, text in words.items()), "yellow"
    for row in node.raw:
        name = f"{row['archive']} {row['member']}".strip()
        yield f"raw {row['role']}: {name}, {row['status']}, sha256 {row['sha256'] or '–'}", "green"
        yield (f"  from {row['source'] or 'nowhere'} {row['address']}",)
    for stream in node.streams:
        yield f"seed {stream.seed}, stream {stream.purpose!r}: {stream.key}", "green"


def _made_by(record: records.Record) -> str:
    version = f" {record.version}" if record.version else ""
    return f"{record.stage}{version}, code {record.code}"


def parameters(params: dict, focus: Focus = EVERYTHING) -> str:
    """Spell parameters in one line: of many problems those that matter, of anything long its size."""
    listed = params.get("problems")
    if isinstance(listed, list) and len(chosen := focus.among(listed)) == 1:
        problem = {f"problem {chosen[0]['name']}": {k: v for k, v in chosen[0].items() if k != "name"}}
        params = {name: value for name, value in params.items() if name != "problems"} | problem
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
    """Say where the chain ends: the raw files, the root seed, and what could not be followed."""
    raw = [row for node in nodes.values() for row in node.raw]
    seeds = sorted({stream.seed for node in nodes.values() for stream in node.streams})
    purposes = sorted({stream.purpose for node in nodes.values() for stream in node.streams})
    lost = [path for path, node in nodes.items() if node.record.broken]
    parts = [terminal.plural(len(nodes), "file")]
    if raw:
        parts.append(f"raw data of {terminal.plural(len({row['sha256'] for row in raw if row['sha256']}), 'checksum')}")
    if seeds:
        parts.append(f"root seed {', '.join(map(str, seeds))} (streams: {', '.join(purposes)})")
    if nodes:
        yield "ends at: " + "; ".join(parts)
    if lost:
        yield f"could not be followed: {', '.join(lost)}"
