"""Turn the raw files of one data set into its two tables, and mark what is not the published data."""

import inspect
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from graphdr.cache import io, paths
from graphdr.core.errors import no_such
from graphdr.raw.archives import Raw
from graphdr.raw.formats import adapter as adapter_of


class Input(NamedTuple):
    receipt: str


class Output(NamedTuple):
    nodes: str = paths.dataset_nodes
    links: str = paths.dataset_links


class Params(NamedTuple):
    dataset: str
    lines: dict[str, dict[str, int]]  # of the published files, by archive and role
    release: str | None  # in what these are other data than the paper's
    options: dict[str, Any]  # of the adapter


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
    io.write("dataset_nodes", dict(zip(tables.nodes.column_names, tables.nodes.columns, strict=True)), output.nodes)
    io.write("dataset_links", dict(zip(tables.links.column_names, tables.links.columns, strict=True)), output.links)
    print(f"{len(tables.nodes)} nodes, {len(tables.links)} links")
    for kind, text in io.marks().get(params.dataset, {}).items():
        print(f"{kind}: {text}")


def _marks(raw: Raw, rows: list[dict[str, Any]], params: Params) -> dict[str, str]:
    """Say what everything built from this data set must carry: unverified bytes, missing lines, another release."""
    marks = {"release": params.release} if params.release else {}
    unverified = [row["role"] for row in rows if row["status"] == "unverified"]
    if unverified:
        marks["unverified"] = f"not the official bytes: {', '.join(unverified)}"
    short = []
    for row in rows:
        expected = params.lines.get(row["archive"], {}).get(row["role"])
        if row["status"] != "absent" and expected:
            with raw.open(row["role"]) as stream:
                lines = _lines(stream)
            if lines != expected:
                short.append(f"{row['role']} has {lines:,} of {expected:,} lines")
    absent = [row["role"] for row in rows if row["status"] == "absent"]
    if short:
        marks["incomplete"] = "; ".join(short)
    if absent:
        marks["absent"] = ", ".join(absent)
    return marks


def _lines(stream: BinaryIO) -> int:
    """Count lines, the last one also without its end."""
    count, last = 0, b"\n"
    while block := stream.read(1 << 20):
        count += block.count(b"\n")
        last = block[-1:]
    return count + (last != b"\n")
