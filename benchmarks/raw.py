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

from benchmarks.report import Row
from benchmarks.timing import seconds
from graphdr.core import spent
from graphdr.graphs.records import similarity_rows
from graphdr.panels.graphs import read_records

SECTION = "Raw files of full size"
TRAIN, DEV = (156_965, 37.2), (73_152, 37.5)  # rows of behaviors, impressions in each on average
NEWS, DEV_NEWS, USERS, READ = 51_282, 42_416, 50_000, 32.5  # READ: length of a history on average
PAPERS, CITATIONS, FEATURES, LABELS = 169_343, 1_166_243, 128, 40
RATERS, MOVIES, RATED, RATINGS = 6040, 3883, 3706, 1_000_209


# Random files with the names, the numbers of rows and about the sizes of the published ones


def behaviors(rows: int, shown: float, news: int, rng) -> Iterator[str]:
    """Yield lines of what users had read, the same in all lines of a user, and what they were shown and clicked."""

    def popular(count: int) -> list[int]:
        return (news * rng.random(count) ** 2).astype(int).tolist()

    ids = [f"N{i}" for i in range(news)]
    offered = [(f"{name}-0", f"{name}-1") for name in ids]
    read = [" ".join([ids[i] for i in popular(count)]) for count in rng.geometric(1 / (READ + 1), USERS) - 1]
    for row, (user, count) in enumerate(
        zip(rng.integers(USERS, size=rows), rng.geometric(1 / shown, rows), strict=True)
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


def mind_small(folder: Path, rng) -> str:
    """Write both archives of MIND-small."""
    for part, (rows, shown), news in (("train", TRAIN, NEWS), ("dev", DEV, DEV_NEWS)):
        with zipfile.ZipFile(folder / f"MINDsmall_{part}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("behaviors.tsv", "".join(behaviors(rows, shown, news, rng)))
            archive.writestr("news.tsv", "".join(articles(news, rng)))
    return f"{TRAIN[0] + DEV[0]:,} behaviours, {NEWS:,} news"


def ogbn_arxiv(folder: Path, rng) -> str:
    """Write the archive of ogbn-arxiv, with features of six decimals."""
    import pyarrow as pa
    from pyarrow import csv

    def sheet(columns, header: str = "") -> bytes:
        buffer = pa.BufferOutputStream()
        table = pa.table({str(at): column for at, column in enumerate(columns)})
        csv.write_csv(table, buffer, csv.WriteOptions(include_header=False))
        return header.encode() + buffer.getvalue().to_pybytes()

    files = {
        "raw/edge": sheet((PAPERS * rng.random((2, CITATIONS)) ** 3).astype(int)),  # the first are linked most
        "raw/node-label": sheet([rng.integers(LABELS, size=PAPERS)]),
        "raw/node-feat": sheet(0.2 * rng.standard_normal((FEATURES, PAPERS)).round(6)),
        "mapping/labelidx2arxivcategeory": sheet([range(LABELS), range(LABELS)], "label idx,arxiv category\n"),
        "mapping/nodeidx2paperid": sheet([range(PAPERS), range(10**9, 10**9 + PAPERS)], "node idx,paper id\n"),
    }
    with zipfile.ZipFile(folder / "arxiv.zip", "w") as archive:
        for name, data in files.items():
            archive.writestr(f"arxiv/{name}.csv.gz", gzip.compress(data, 1))
    return f"{PAPERS:,} papers, {CITATIONS:,} citations, {FEATURES} features"


def ml_1m(folder: Path, rng) -> str:
    """Write the archive of MovieLens-1M."""
    from benchmarks import sparse

    drawn = sparse.ratings(RATED, RATERS, RATINGS, rng).tocoo()
    rows = rng.permutation(drawn.nnz)
    columns = (part[rows].tolist() for part in (*drawn.coords[::-1], drawn.data.astype(int)))
    ratings = [f"{user + 1}::{item + 1}::{value}::978300760\n" for user, item, value in zip(*columns, strict=True)]
    movies = [f"{item + 1}::Movie No. {item} (1999)::Drama|Comedy\n" for item in range(MOVIES)]
    with zipfile.ZipFile(folder / "ml-1m.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("ml-1m/ratings.dat", "".join(ratings))
        archive.writestr("ml-1m/movies.dat", "".join(movies))
    return f"{len(ratings):,} ratings of {RATED:,} items by {RATERS:,} users"


WRITERS: dict[str, Callable] = {writer.__name__: writer for writer in (mind_small, ogbn_arxiv, ml_1m)}


# Steps, each for a process of its own


def stage(name: str, job: dict) -> Callable:
    """Return a whole stage as the workflow runs it."""
    from graphdr.__main__ import run_stage

    return lambda: run_stage(name, "", job)


def adapter(receipt: str) -> Callable:
    """Return the adapter alone, from the archives to tables in memory."""
    from graphdr.cache import io
    from graphdr.raw.archives import Raw
    from graphdr.raw.formats import adapter

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


def rows_of(design, dataset: str) -> Iterator[Row]:
    """Write the files of a data set and yield a row for each step."""
    import numpy as np

    from graphdr.cache import paths

    with tempfile.TemporaryDirectory() as name:
        raw = Path(name, paths.receipt(dataset)).parent
        raw.mkdir(parents=True)
        setting = WRITERS[dataset](raw, np.random.default_rng(8))
        size = sum(path.stat().st_size for path in raw.iterdir())
        for called, step in steps_of(design, dataset).items():
            found = fresh(Path(name), *step)
            note = f"peak memory {found['peak'] / 1e9:.2f} GB"
            if called == "check and hash":
                note += f", {size / 1e6:.0f} MB of archives"
            yield Row(SECTION, called, f"{dataset}: {setting}", found["seconds"], note=note)


def measure() -> list[Row]:
    """Return the rows of all data sets."""
    from graphdr.plan import config, design

    planned = design.expand(config.load(Path("config.yaml")))
    return [row for dataset in WRITERS for row in rows_of(planned, dataset)]


def main(folder: str, step: str, arguments: str) -> None:
    """Run one step in a folder and print what it took."""
    os.chdir(folder)
    os.environ.pop("GRAPHDR_MIRROR", None)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        run = STEPS[step](*json.loads(arguments))
        took = seconds(run)
    json.dump({"seconds": took, "peak": spent.peak_memory()}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
