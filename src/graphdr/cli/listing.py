"""``graphdr ls``: what is cached, and whether it is current."""

import sys
import time
from argparse import Namespace
from collections import Counter
from datetime import datetime
from pathlib import Path

from graphdr.cli import names, project, state
from graphdr.cli.state import FOREIGN, Cached
from graphdr.core import terminal
from graphdr.core.errors import UserError
from graphdr.core.terminal import Answer
from graphdr.plan import jobs

COLOURS = {"current": "green", "outdated": "yellow", "changed": "red", "missing": "red", "foreign": "dim"}


def run(options: Namespace, here: Path) -> Answer:
    """Return all stages and files that are asked for."""
    every, unreadable = state.scan(project.Plan().job)
    chosen = _select(every, options.wanted) if options.wanted else every
    stale = {cached.record.path for cached in every if cached.state != "current"}
    built_on_others = sum(  # current by its own inputs, which are not
        cached.state == "current" and not stale.isdisjoint(cached.record.inputs) for cached in chosen
    )
    stages, files = _stages(chosen), [_file(cached) for cached in chosen]

    def text() -> list[str]:
        lines = _file_lines(files) if options.wanted or options.all else _stage_lines(stages)
        counts = Counter(file["state"] for file in files)
        said = ", ".join(f"{counts[word]:,} {word}" for word in COLOURS if counts[word])
        size = terminal.size(sum(file["bytes"] or 0 for file in files))
        lines += ["", f"{terminal.plural(len(files), 'file')}, {size}: {said or 'nothing'}"]
        if built_on_others:
            were = "was" if built_on_others == 1 else "were"
            lines.append(f"{built_on_others:,} of the current ones {were} built from files that are not")
        if unreadable:
            lines.append(f"{unreadable} manifest entries cannot be read; run graphdr verify")
        return lines

    answer = {"stages": stages, "files": files, "built_on_others": built_on_others}
    return 0, answer | {"unreadable_manifest_entries": unreadable}, text


def _select(every: list[Cached], wanted: str) -> list[Cached]:
    """Return the files of a stage, or those whose path begins as given."""
    prefix = wanted.removeprefix("./")
    stages, starts = {cached.stage for cached in every}, (prefix, f"results/{prefix}", f"data/{prefix}")
    if wanted in stages:
        return [cached for cached in every if cached.stage == wanted]
    chosen = [cached for cached in every if cached.record.path.startswith(starts)]
    if not chosen:
        order = [stage for stage in (*jobs.JOBS, FOREIGN) if stage in stages]
        folders = {cached.record.path.rsplit("/", 1)[0] for cached in every}
        hint = names.nearest(wanted, [*stages, *folders]) or f"; stages: {', '.join(order) or 'none is built'}"
        raise UserError(f"no stage {wanted!r} and no file whose path begins so{hint}")
    return chosen


def _stages(files: list[Cached]) -> list[dict]:
    order = [*jobs.JOBS, *sorted({cached.stage for cached in files} - {*jobs.JOBS, FOREIGN}), FOREIGN]
    alike = {stage: [cached for cached in files if cached.stage == stage] for stage in order}
    return [_summary(stage, part) for stage, part in alike.items() if part]


def _summary(stage: str, files: list[Cached]) -> dict:
    wrong = [cached for cached in files if cached.state != "current"]
    times = [cached.record.moment for cached in files if cached.state != "missing"]
    return {
        "stage": stage,
        "files": len(files),
        "rows": sum(cached.record.rows or 0 for cached in files),
        "bytes": sum(cached.record.bytes for cached in files),
        "oldest": min(times, default=None),
        "newest": max(times, default=None),
        "not_current": len(wrong),
        "states": dict(sorted(Counter(cached.state for cached in files).items())),
        "why": dict(Counter(why for cached in wrong for why in cached.reasons or (cached.state,))),
    }


def _file(cached: Cached) -> dict:
    record, gone = cached.record, cached.state == "missing"
    return {
        "path": record.path,
        "stage": cached.stage,
        "kind": record.kind,
        "rows": record.rows,
        "bytes": None if gone else record.bytes,
        "modified": None if gone else record.moment,
        "state": cached.state,
        "reasons": list(cached.reasons),
    }


def _age(moment: str | None) -> str:
    return terminal.age(time.time() - datetime.fromisoformat(moment).timestamp()) if moment else "–"


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
    states = [": ".join(filter(None, (file["state"], ", ".join(file["reasons"])))) for file in files]
    cells = [
        (
            file["path"],
            "–" if file["rows"] is None else f"{file['rows']:,}",
            "–" if file["bytes"] is None else terminal.size(file["bytes"]),
            _age(file["modified"]),
            terminal.paint(state, COLOURS[file["state"]]),
        )
        for file, state in zip(files, states, strict=True)
    ]
    return terminal.table(
        ["path", "rows", "size", "age", "state"], cells, [False, True, True, True, False], sys.maxsize
    )
