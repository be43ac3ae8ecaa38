"""Fetch the raw files of one data set and write down what came from where."""

from pathlib import Path

from graphdr.cache import io
from graphdr.raw import fetch


def main(input, output, params):
    rows = fetch.fetch(params.dataset, params.raw, Path(output.receipt).parent, fetch.mirror_folder())
    io.write("raw", {name: [row[name] for row in rows] for name in fetch.COLUMNS}, output.receipt)
    for row in rows:
        print(f"{row['archive']} {row['member']}: {row['status']}, from {row['source'] or 'nowhere'} {row['address']}")
