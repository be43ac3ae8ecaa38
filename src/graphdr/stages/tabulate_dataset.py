"""Turn the raw files of one data set into its three tables, and mark what is not the published data."""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import IO, NamedTuple

from graphdr.cache import io, paths
from graphdr.core.errors import no_such
from graphdr.core.records import Json
from graphdr.raw.adapters import adapter as adapter_of
from graphdr.raw.archives import Raw

KINDS = ("dataset_nodes", "dataset_links", "dataset_users")  # in the order of tables and files


class Input(NamedTuple):
    receipt: str


class Output(NamedTuple):
    nodes: str = paths.dataset_nodes
    links: str = paths.dataset_links
    users: str = paths.dataset_users


class Params(NamedTuple):
    dataset: str
    lines: dict[str, dict[str, int]]  # of the published files, by archive and role
    release: str | None  # in what these are other data than the paper's
    options: Mapping[str, object]  # of the adapter


def main(input: Input, output: Output, params: Params) -> None:
    rows = io.read("raw", input.receipt).to_pylist()
    raw = Raw(Path(input.receipt).parent, rows)
    raw.check()
    io.mark(params.dataset, **_marks(raw, rows, params))
    adapter = adapter_of(raw.format)
    options = [p.name for p in inspect.signature(adapter).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in sorted(set(params.options) - set(options)):
        raise no_such(f"datasets.{params.dataset}.raw.options", f"option of {raw.format}", option, options)
    tables = adapter(raw, **params.options)
    for kind, table, path in zip(KINDS, tables, output, strict=True):
        io.write(kind, dict(zip(table.column_names, table.columns, strict=True)), path)
    print(f"{len(tables.nodes)} nodes, {len(tables.links)} links, {len(tables.users)} users")
    for kind, text in io.marks().get(params.dataset, {}).items():
        print(f"{kind}: {text}")


def _marks(raw: Raw, rows: list[Json], params: Params) -> dict[str, str]:
    """Say what everything built from this data set must carry: unverified bytes, missing lines, another release."""
    unverified, absent = (
        ", ".join(row["role"] for row in rows if row["status"] == status) for status in ("unverified", "absent")
    )
    short = []
    for row in rows:
        expected = params.lines.get(row["archive"], {}).get(row["role"])
        if row["status"] != "absent" and expected:
            with raw.open(row["role"]) as stream:
                lines = _lines(stream)
            if lines != expected:
                short.append(f"{row['role']} has {lines:,} of {expected:,} lines")
    marks = {
        "release": params.release,
        "unverified": unverified and f"not the official bytes: {unverified}",
        "incomplete": "; ".join(short),
        "absent": absent,
    }
    return {kind: text for kind, text in marks.items() if text}


def _lines(stream: IO[bytes]) -> int:
    """Count lines, the last one also without its end."""
    count, last = 0, b"\n"
    while block := stream.read(1 << 20):
        count += block.count(b"\n")
        last = block[-1:]
    return count + (last != b"\n")
