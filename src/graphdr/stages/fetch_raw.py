"""Fetch the raw files of one data set and write down what came from where."""

from pathlib import Path
from typing import NamedTuple

from graphdr.cache import io, paths
from graphdr.raw import fetch


class Input(NamedTuple):
    """Nothing: files at hand, a mirror or a network."""


class Output(NamedTuple):
    receipt: str = paths.receipt


class Params(NamedTuple):
    dataset: str
    raw: fetch.Block  # where its files are, and what they must be


def main(input: Input, output: Output, params: Params) -> None:
    rows = fetch.fetch(params.dataset, params.raw, Path(output.receipt).parent, fetch.mirror_folder())
    io.write("raw", {name: [row[name] for row in rows] for name in fetch.COLUMNS}, output.receipt)
    for row in rows:
        print(f"{row['archive']} {row['member']}: {row['status']}, from {row['source'] or 'nowhere'} {row['address']}")
