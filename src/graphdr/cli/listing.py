"""``graphdr ls``: what is cached, and whether it is current."""

import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

from graphdr.cli import names, project, state
from graphdr.cli.state import Cached
from graphdr.core import terminal
from graphdr.core.errors import UserError
from graphdr.plan import jobs

FOREIGN = "foreign"
COLOURS = {"current": "green", "outdated": "yellow", "changed": "red", "missing": "red", "foreign": "dim"}


def run(wanted: str | None, everything: bool) -> tuple[dict, Callable[[], list[str]]]:
    """Return all stages and files that are asked for: the JSON of this command, and its text."""
    plan = project.Plan(project.load_config())
    every, unreadable = state.scan(plan.job)
    files = _select(every, wanted) if wanted else every
    stale = {cached.record.path for cached in every if cached.state != state.CURRENT}
    answer = {
        "stages": _stages(files),
        "files": [_file(cached) for cached in files],
        "built_on_others": sum(  # current by its own inputs, which are not
            cached.state == state.CURRENT and not stale.isdisjoint(cached.record.inputs) for cached in files
        ),
        "unreadable_manifest_entries": unreadable,
    }
    return answer, lambda: _text(**answer, detailed=bool(wanted or everything))


def _text(
    stages: list[dict], files: list[dict], built_on_others: int, unreadable_manifest_entries: int, detailed: bool
) -> list[str]:
    """Lay out the answer: one line per stage, or one per file."""
    lines = _file_lines(files) if detailed else _stage_lines(stages)
    counts = Counter(file["state"] for file in files)
    said = ", ".join(f"{counts[word]:,} {word}" for word in COLOURS if counts[word])
    size = terminal.size(sum(file["bytes"] or 0 for file in files))
    lines += ["", f"{terminal.plural(len(files), 'file')}, {size}: {said or 'nothing'}"]
    if built_on_others:
        were = "was" if built_on_others == 1 else "were"
        lines.append(f"{built_on_others:,} of the current ones {were} built from files that are not")
    if unreadable_manifest_entries:
        lines.append(f"{unreadable_manifest_entries} manifest entries cannot be read; run graphdr verify")
    return lines


def _select(every: list[Cached], wanted: str) -> list[Cached]:
    """Return the files of a stage, or those whose path begins as given."""
    prefix = wanted.removeprefix("./")
    stages, starts = {_stage(cached) for cached in every}, (prefix, f"results/{prefix}", f"data/{prefix}")
    if wanted in stages:
        return [cached for cached in every if _stage(cached) == wanted]
    chosen = [cached for cached in every if cached.record.path.startswith(starts)]
    if not chosen:
        order = [stage for stage in (*jobs.JOBS, FOREIGN) if stage in stages]
        folders = {cached.record.path.rsplit("/", 1)[0] for cached in every}
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


def _reasons(judged: state.State) -> tuple[str, ...]:
    return () if judged == state.CURRENT else judged.reasons or (judged.word,)


def _file(cached: Cached) -> dict:
    record, judged = cached
    gone = judged == state.MISSING
    return {
        "path": record.path,
        "stage": _stage(cached),
        "kind": record.kind,
        "rows": record.rows,
        "bytes": None if gone else record.bytes,
        "modified": None if gone else _moment(record.modified),
        "state": judged.word,
        "reasons": list(judged.reasons),
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
    """Lay out one line per file; paths are never cut, since they are there to be copied."""
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
        numbers = (text.rjust(room) for text, room in zip(row[1:4], widths[1:], strict=True))
        return terminal.GAP.join([row[0].ljust(widths[0]), *numbers, ""])

    lines = [terminal.paint(line(head) + head[4], "bold")]
    return lines + [
        line(row) + terminal.paint(row[4], COLOURS[file["state"]]) for file, row in zip(files, cells, strict=True)
    ]
