"""A checkout of its own with the configuration ``tiny_data.yaml``, raw files for it, and calls of Snakemake in it."""

import gzip
import io
import re
import zipfile
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from graphdr.cache.paths import MANIFEST
from tests.support import films, project
from tests.support.project import ROOT, snakemake

CONFIG = ROOT / "tests" / "support" / "tiny_data.yaml"
USERS, NODES = 30, 30
PRINTED = (
    "artifact,row,column,value,sem",
    "others,papers,graphdr,1.0,",
    "others,papers,content,1.0,",
    "others,news,graphdr,1.0,",
    "films,graphdr,regret,1.0,",
)


class Built(NamedTuple):
    """A folder as one call of Snakemake left it, and what the call said."""

    folder: Path
    done: CompletedProcess

    @property
    def said(self) -> str:
        return self.done.stdout + self.done.stderr

    def outputs(self) -> set[str]:
        """Return all files that the call said it would write, but for entries of the manifest."""
        lines = re.findall(r"^ +output: (.*)$", self.said, re.M)
        return {name for line in lines for name in line.split(", ") if not name.startswith(f"{MANIFEST}/")}

    def errors(self) -> list[str]:
        """Return the one-line errors in the logs of failed jobs, which the call shows."""
        lines = map(str.strip, self.done.stderr.splitlines())
        return list(dict.fromkeys(line for line in lines if line.startswith("error: ")))

    def text(self, path: str) -> str:
        return (self.folder / path).read_text()

    def table(self, name: str) -> pd.DataFrame:
        return pd.read_csv(self.folder / f"results/tables/{name}.csv").set_index(["row", "column"])

    def verdicts(self) -> dict[tuple[str, str, str], str]:
        frame = pq.read_table(self.folder / "results/comparison.parquet").to_pandas()
        return frame.set_index(["artifact", "row", "column"])["verdict"].to_dict()


def run(folder: Path, *arguments: str, mirror: Path | None = None) -> Built:
    """Call Snakemake in a folder, with this mirror or without any; it says all, job by job."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GRAPHDR_MIRROR", raising=False)
        if mirror:
            patch.setenv("GRAPHDR_MIRROR", str(mirror))
        return Built(folder, snakemake(folder, "--printshellcmds", *arguments))


def lay_out(folder: Path, datasets: dict | None = None) -> Path:
    """Lay out a checkout without raw files, with numbers of a paper, and more data sets in its configuration."""
    project.lay_out(folder)
    config = yaml.safe_load(CONFIG.read_text())
    config["datasets"] |= datasets or {}
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    put(folder / "data/paper/reference.csv", "\n".join(PRINTED).encode())
    return folder


def add_films(folder: Path, with_titles: bool = True) -> Path:
    """Add the films to the configuration of a checkout, and place their raw files by hand."""
    config = yaml.safe_load((folder / "config.yaml").read_text())
    columns = ("regret", "regret_redrawn", "regret_gap")
    films.add_to(config, list(config["methods"]), columns=columns, verified=True, titled=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    put(folder / "data/raw/films/films.inter", films.ratings())
    if with_titles:
        put(folder / "data/raw/films/films.item", films.titles())
    return folder


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return buffer.getvalue()


def papers() -> bytes:
    """Return citations among papers of three labels, without features."""
    rng = np.random.default_rng(1)
    pairs = [(i, j) for i in range(NODES) for j in range(i) if rng.random() < (0.5 if i % 3 == j % 3 else 0.05)]
    edges = "".join(f"{i},{j}\n" for i, j in pairs)
    labels = "".join(f"{node % 3}\n" for node in range(NODES))
    files = {"edge": edges, "node-label": labels}
    return zipped({f"papers/raw/{name}.csv.gz": gzip.compress(text.encode()) for name, text in files.items()})


def news() -> bytes:
    """Return what users were shown and clicked, without titles."""
    rng = np.random.default_rng(2)
    lines = []
    for row in range(2 * USERS):
        own = " ".join(f"N{n}" for n in row % 3 + 3 * rng.permutation(NODES // 3)[:4])
        shown = " ".join(f"N{n}-{int(rng.random() < (n % 5 + 1) / 7)}" for n in rng.permutation(NODES)[:12])
        lines.append(f"{row}\tU{row % USERS}\t11/10/2019 9:00:58 AM\t{own}\t{shown}")
    return zipped({"behaviors.tsv": "\n".join([*lines, ""]).encode()})
