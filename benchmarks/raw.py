"""Read raw files of full size, each step in a process of its own: seconds and peak memory."""

import contextlib
import gzip
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Row
from benchmarks.sections import TINY
from benchmarks.timing import seconds
from graphdr.core.cpu_time import peak_memory
from graphdr.core.forks import end_process
from graphdr.graphs.records import similarity_rows
from graphdr.store.datasets import read_records

SECTION = "Raw files of full size"
SHOWN, DEV_SHOWN, READ = 37.2, 37.5, 32.5  # impressions in a row of behaviors, length of a history, on average
FEATURES, LABELS = 128, 40


class Size(NamedTuple):
    """How many rows the files of the three data sets have: as many as the published ones, unless told otherwise."""

    behaviors: int = 156_965
    dev_behaviors: int = 73_152
    news: int = 51_282
    dev_news: int = 42_416
    users: int = 50_000
    papers: int = 169_343
    citations: int = 1_166_243
    raters: int = 6040
    movies: int = 3883
    rated: int = 3706
    ratings: int = 1_000_209


SIZES = {TINY: Size(2_000, 500, 2_000, 500, 300, 2_000, 12_000, 300, 2_000, 2_000, 40_000)}


# Random files with the names, the numbers of rows and about the sizes of the published ones


def behaviors(rows: int, shown: float, news: int, users: int, rng) -> Iterator[str]:
    """Yield lines of what users had read, the same in all lines of a user, and what they were shown and clicked."""

    def popular(count: int) -> list[int]:
        return (news * rng.random(count) ** 2).astype(int).tolist()

    ids = [f"N{i}" for i in range(news)]
    offered = [(f"{name}-0", f"{name}-1") for name in ids]
    read = [" ".join([ids[i] for i in popular(count)]) for count in rng.geometric(1 / (READ + 1), users) - 1]
    for row, (user, count) in enumerate(
        zip(rng.integers(users, size=rows), rng.geometric(1 / shown, rows), strict=True)
    ):
        clicks = (rng.random(count) < 0.04).tolist()
        impressions = " ".join([offered[i][click] for i, click in zip(popular(count), clicks, strict=True)])
        yield f"{row + 1}\tU{user}\t11/11/2019 9:05:58 AM\t{read[user]}\t{impressions}\n"


def articles(news: int, rng) -> Iterator[str]:
    """Yield lines of news with titles and abstracts of random words, and entities that nobody reads."""
    words = [f"word{i}" for i in range(20_000)]
    entity = json.dumps([{"Label": "Somebody", "Type": "P", "WikidataId": "Q1", "SurfaceForms": ["Somebody"]}] * 3)
    for at in range(news):
        text = [words[i] for i in (len(words) * rng.random(45) ** 3).astype(int)]
        title, abstract = " ".join(text[:10]), " ".join(text[10:])
        group = f"group{at % 17}\tsubgroup{at % 264}"
        yield f"N{at}\t{group}\t{title}\t{abstract}\thttps://example.org/N{at}.html\t{entity}\t{entity}\n"


def mind_small(folder: Path, size: Size, rng) -> str:
    """Write both archives of MIND-small."""
    parts = (("train", size.behaviors, SHOWN, size.news), ("dev", size.dev_behaviors, DEV_SHOWN, size.dev_news))
    for part, rows, shown, news in parts:
        with zipfile.ZipFile(folder / f"MINDsmall_{part}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("behaviors.tsv", "".join(behaviors(rows, shown, news, size.users, rng)))
            archive.writestr("news.tsv", "".join(articles(news, rng)))
    return f"{size.behaviors + size.dev_behaviors:,} behaviours, {size.news:,} news"


def ogbn_arxiv(folder: Path, size: Size, rng) -> str:
    """Write the archive of ogbn-arxiv, with features of six decimals."""
    import pyarrow as pa
    from pyarrow import csv

    def sheet(columns, header: str = "") -> bytes:
        buffer = pa.BufferOutputStream()
        table = pa.table({str(at): column for at, column in enumerate(columns)})
        csv.write_csv(table, buffer, csv.WriteOptions(include_header=False))
        return header.encode() + buffer.getvalue().to_pybytes()

    papers = size.papers
    files = {
        "raw/edge": sheet((papers * rng.random((2, size.citations)) ** 3).astype(int)),  # the first are linked most
        "raw/node-label": sheet([rng.integers(LABELS, size=papers)]),
        "raw/node-feat": sheet(0.2 * rng.standard_normal((FEATURES, papers)).round(6)),
        "mapping/labelidx2arxivcategeory": sheet([range(LABELS), range(LABELS)], "label idx,arxiv category\n"),
        "mapping/nodeidx2paperid": sheet([range(papers), range(10**9, 10**9 + papers)], "node idx,paper id\n"),
    }
    with zipfile.ZipFile(folder / "arxiv.zip", "w") as archive:
        for name, data in files.items():
            archive.writestr(f"arxiv/{name}.csv.gz", gzip.compress(data, 1))
    return f"{papers:,} papers, {size.citations:,} citations, {FEATURES} features"


def ml_1m(folder: Path, size: Size, rng) -> str:
    """Write the archive of MovieLens-1M."""
    from benchmarks import sparse

    drawn = sparse.ratings(size.rated, size.raters, size.ratings, rng).tocoo()
    rows = rng.permutation(drawn.nnz)
    columns = (part[rows].tolist() for part in (*drawn.coords[::-1], drawn.data.astype(int)))
    ratings = [f"{user + 1}::{item + 1}::{value}::978300760\n" for user, item, value in zip(*columns, strict=True)]
    movies = [f"{item + 1}::Movie No. {item} (1999)::Drama|Comedy\n" for item in range(size.movies)]
    with zipfile.ZipFile(folder / "ml-1m.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("ml-1m/ratings.dat", "".join(ratings))
        archive.writestr("ml-1m/movies.dat", "".join(movies))
    return f"{len(ratings):,} ratings of {size.rated:,} items by {size.raters:,} users"


WRITERS: dict[str, Callable] = {writer.__name__: writer for writer in (mind_small, ogbn_arxiv, ml_1m)}


# Steps, each for a process of its own


def stage(name: str, job: dict) -> Callable:
    """Return a whole stage as the workflow runs it."""
    from graphdr.__main__ import run_stage

    return lambda: run_stage(name, "", job)


def adapter(receipt: str) -> Callable:
    """Return the adapter alone, from the archives to tables in memory."""
    from graphdr.cache import io
    from graphdr.raw.adapters import adapter
    from graphdr.raw.archives import Raw

    raw = Raw(Path(receipt).parent, io.read("raw", receipt).to_pylist())
    return lambda: adapter(raw.format)(raw)


def all_neighbours(nodes: str, links: str, neighbours: int) -> Callable:
    """Return the search for the nearest neighbours of all items, the compiled code loaded."""
    import numpy as np

    from graphdr.graphs import from_data

    records = read_records(nodes, links)
    selected = from_data.select_top(records.popularity, len(records.popularity))
    rows = similarity_rows(records.source, records.node, records.weight, selected)
    from_data.cosine_knn(rows[:2], neighbours)
    return lambda: np.size(from_data.cosine_knn(rows, neighbours)[0])


STEPS = {step.__name__: step for step in (stage, adapter, all_neighbours)}


def fresh(folder: Path, step: str, *arguments) -> dict:
    """Run one step in a fresh process; return its seconds and the peak memory of the process in bytes."""
    command = [sys.executable, "-m", "benchmarks.raw", str(folder), step, json.dumps(arguments)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def steps_of(design, dataset: str) -> dict[str, tuple]:
    """Return the steps from raw files to a graph, by what they are called."""
    from graphdr.plan import jobs

    def whole(job) -> tuple:
        return "stage", job.stage, json.loads(job.as_json())

    fetched, tables = jobs.fetch_raw(design, dataset), jobs.tabulate_dataset(design, dataset)
    spec = design.graphs[dataset]
    steps = {
        "check and hash": whole(fetched),
        "adapter": ("adapter", fetched.output.receipt),
        "adapter and tables": whole(tables),
        f"graph of the top {spec.n:,}": whole(jobs.build_graph(design, dataset)),
    }
    if dataset == "ml_1m":
        neighbours = spec.parameters["neighbours"]
        steps["neighbours of all items"] = ("all_neighbours", tables.output.nodes, tables.output.links, neighbours)
    return steps


def rows_of(design, dataset: str, size: Size) -> Iterator[Row]:
    """Write the files of a data set and yield a row for each step."""
    import numpy as np

    from graphdr.cache import paths

    with tempfile.TemporaryDirectory() as name:
        raw = Path(name, paths.receipt(dataset)).parent
        raw.mkdir(parents=True)
        setting = WRITERS[dataset](raw, size, np.random.default_rng(8))
        packed = sum(path.stat().st_size for path in raw.iterdir())
        for called, step in steps_of(design, dataset).items():
            found = fresh(Path(name), *step)
            note = f"peak memory {found['peak'] / 1e9:.2f} GB"
            if called == "check and hash":
                note += f", {packed / 1e6:.0f} MB of archives"
            yield Row(SECTION, called, f"{dataset}: {setting}", found["seconds"], note=note)


def measure(size: str) -> list[Row]:
    """Return the rows of all data sets."""
    from graphdr.plan import config, design

    planned = design.expand(config.load(Path("config.yaml")))
    return [row for dataset in WRITERS for row in rows_of(planned, dataset, SIZES.get(size, Size()))]


def main(folder: str, step: str, arguments: str) -> None:
    """Run one step in a folder and print what it took."""
    os.chdir(folder)
    os.environ.pop("GRAPHDR_MIRROR", None)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        run = STEPS[step](*json.loads(arguments))
        took = seconds(run)
    json.dump({"seconds": took, "peak": peak_memory()}, sys.stdout)
    end_process(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
