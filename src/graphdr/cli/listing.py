"""``graphdr ls``: what is cached, and whether it is current."""

import time
from collections import Counter
from datetime import UTC, datetime

from graphdr.cli import names, project, state
from graphdr.cli.state import Cached
from graphdr.core import terminal
from graphdr.core.errors import UserError
from graphdr.plan import jobs

FOREIGN = "foreign"
COLOURS = {"current": "green", "outdated": "yellow", "changed": "red", "missing": "red", "foreign": "dim"}


def run(wanted: str | None, everything: bool) -> dict:
    """Return all stages and files that are asked for, as the JSON of this command."""
    plan = project.Plan(project.load_config())
    found, unreadable = state.scan(plan.job)
    files = _select(found, wanted) if wanted else found
    stale = {cached.record.path for cached in found if cached.state != state.CURRENT}
    above = sum(
        cached.state == state.CURRENT and not stale.isdisjoint(cached.record.inputs) for cached in files
    )  # current by its own inputs, which are not
    return {
        "stages": _stages(files),
        "files": [_file(cached) for cached in files],
        "built_on_others": above,
        "unreadable_manifest_entries": unreadable,
        "_detailed": bool(wanted or everything),
    }


def text(found: dict) -> list[str]:
    """Lay out the answer: a line a stage, or a line a file."""
    files = found["files"]
    lines = _file_lines(files) if found["_detailed"] else _stage_lines(found["stages"])
    counts = Counter(file["state"] for file in files)
    said = ", ".join(f"{counts[word]:,} {word}" for word in COLOURS if counts[word])
    lines += ["", f"{terminal.plural(len(files), 'file')}, {_size(files)}: {said or 'nothing'}"]
    if found["built_on_others"]:
        count = found["built_on_others"]
        lines.append(f"{count:,} of the current ones {'was' if count == 1 else 'were'} built from files that are not")
    if found["unreadable_manifest_entries"]:
        lines.append(f"{found['unreadable_manifest_entries']} manifest entries cannot be read; run graphdr verify")
    return lines


def _select(found: list[Cached], wanted: str) -> list[Cached]:
    """Return the files of a stage, or those whose path begins as given."""
    stages = {_stage(cached) for cached in found}
    if wanted in stages:
        return [cached for cached in found if _stage(cached) == wanted]
    prefix = wanted.removeprefix("./")
    chosen = [
        cached for cached in found if cached.record.path.startswith((prefix, f"results/{prefix}", f"data/{prefix}"))
    ]
    if not chosen:
        order = [stage for stage in (*jobs.JOBS, FOREIGN) if stage in stages]
        folders = {cached.record.path.rsplit("/", 1)[0] for cached in found}
        hint = names.nearest(wanted, [*stages, *folders]) or f"; stages: {', '.join(order) or 'none is built'}"
        raise UserError(f"no stage {wanted!r} and no file whose path begins so{hint}")
    return chosen


def _stage(cached: Cached) -> str:
    return cached.record.stage or FOREIGN


def _stages(files: list[Cached]) -> list[dict]:
    order = {stage: at for at, stage in enumerate(jobs.JOBS)}
    alike: dict[str, list[Cached]] = {}
    for cached in files:
        alike.setdefault(_stage(cached), []).append(cached)
    rank = sorted(alike, key=lambda stage: (stage == FOREIGN, order.get(stage, len(order)), stage))
    return [_summary(stage, alike[stage]) for stage in rank]


def _summary(stage: str, files: list[Cached]) -> dict:
    times = [cached.record.modified for cached in files if cached.state != state.MISSING]
    return {
        "stage": stage,
        "files": len(files),
        "rows": sum(cached.record.rows or 0 for cached in files),
        "bytes": sum(cached.record.bytes for cached in files),
        "oldest": _moment(min(times)) if times else None,
        "newest": _moment(max(times)) if times else None,
        "not_current": sum(cached.state != state.CURRENT for cached in files),
        "states": dict(sorted(Counter(cached.state.word for cached in files).items())),
        "why": dict(Counter(why for cached in files for why in _reasons(cached.state))),
    }


def _reasons(found: state.State) -> tuple[str, ...]:
    return () if found == state.CURRENT else found.reasons or (found.word,)


def _file(cached: Cached) -> dict:
    record, found = cached
    gone = found == state.MISSING
    return {
        "path": record.path,
        "stage": _stage(cached),
        "kind": record.kind,
        "rows": record.rows,
        "bytes": None if gone else record.bytes,
        "modified": None if gone else _moment(record.modified),
        "state": found.word,
        "reasons": list(found.reasons),
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _age(moment: str | None) -> str:
    if moment is None:
        return "–"
    return terminal.age(time.time() - datetime.fromisoformat(moment).timestamp())


def _stage_lines(stages: list[dict]) -> list[str]:
    head = ["stage", "files", "rows", "size", "oldest", "newest", "not current", "because of"]
    body = [
        [
            stage["stage"],
            f"{stage['files']:,}",
            f"{stage['rows']:,}",
            terminal.size(stage["bytes"]),
            _age(stage["oldest"]),
            _age(stage["newest"]),
            f"{stage['not_current']:,}" if stage["not_current"] else "–",
            ", ".join(f"{word} {count:,}" for word, count in stage["why"].items()),
        ]
        for stage in stages
    ]
    return terminal.table(head, body, [False, *[True] * 6, False], terminal.width()) if body else ["nothing is built"]


def _file_lines(files: list[dict]) -> list[str]:
    """Lay out a line a file; paths are never cut, since they are there to be copied."""
    cells = [
        (
            file["path"],
            "–" if file["rows"] is None else f"{file['rows']:,}",
            "–" if file["bytes"] is None else terminal.size(file["bytes"]),
            _age(file["modified"]),
            f"{file['state']}: {', '.join(file['reasons'])}" if file["reasons"] else file["state"],
        )
        for file in files
    ]
    head = ("path", "rows", "size", "age", "state")
    widths = [max(len(row[at]) for row in [head, *cells]) for at in range(4)]

    def line(row):
        path, *numbers = (
            text.rjust(room) if at else text.ljust(room)
            for at, (text, room) in enumerate(zip(row[:4], widths, strict=True))
        )
        return terminal.GAP.join([path, *numbers])

    lines = [terminal.paint(line(head) + terminal.GAP + head[4], "bold")]
    for file, row in zip(files, cells, strict=True):
        lines.append(line(row) + terminal.GAP + terminal.paint(row[4], COLOURS[file["state"]]))
    return lines


def _size(files: list[dict]) -> str:
    return terminal.size(sum(file["bytes"] or 0 for file in files))
