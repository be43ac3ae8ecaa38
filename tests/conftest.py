"""Shared by all tests: one BLAS thread, a fixed Hypothesis profile, small graphs and data, checkouts to build in."""

import fcntl
import os
import re
import shutil
import subprocess
import sys

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy, as every stage does
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml
from hypothesis import settings

from graphdr import io, manifest, paths
from graphdr.graphs import Graph, largest_component, sbm

ROOT = Path(__file__).parent.parent
TARGETS = {"all", "synthetic", "paper", "fetch"}

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("fixed")


def draw_sbm(seed: int, n: int = 40, blocks: int = 4, p_in: float = 0.6, p_out: float = 0.05) -> Graph:
    """Draw the largest component of a small stochastic block model."""
    return largest_component(sbm(n, np.random.default_rng(seed), blocks=blocks, p_in=p_in, p_out=p_out))


RAW = {
    "licence": "none",
    "citation": "Nobody.",
    "sources": [{"archive": "toy.zip", "format": "movielens_100k", "members": {"ratings": {"path": "u.data"}}}],
}
TOY = {"label": "Toy", "family": "knn", "raw": RAW}  # a data set of config.yaml


def draw_ratings(users: int = 30, items: int = 36) -> np.ndarray:
    """Draw ratings from 1 to 5 (item by user, nan where there is none) by users who like one kind of item in three."""
    rng = np.random.default_rng(0)
    liked = np.arange(items)[:, None] % 3 == np.arange(users) % 3
    ratings = np.where(liked, rng.integers(3, 6, (items, users)), rng.integers(1, 4, (items, users))).astype(float)
    ratings[rng.random(ratings.shape) > np.where(liked, 0.6, 0.4)] = np.nan
    return ratings


def write_toy(ratings: np.ndarray, **known) -> None:
    """Write the two tables of a data set in which items have ratings and whatever else is known of them."""
    node, source = np.nonzero(~np.isnan(ratings))
    keys = [f"item {number}" for number in range(len(ratings))]
    nodes = {name: pa.nulls(len(keys)) for name in ("group", "subgroup", "text", "features")}
    nodes |= {"node": np.arange(len(keys)), "key": keys, "title": keys}
    nodes |= {"popularity": np.sum(~np.isnan(ratings), axis=1), "reward": np.nanmean(ratings, axis=1)} | known
    io.write("dataset_nodes", nodes, paths.dataset_nodes("toy"))
    links = {"source": source, "node": node, "weight": ratings[node, source]}
    io.write("dataset_links", links, paths.dataset_links("toy"))


@pytest.fixture(scope="session")
def small_graph() -> Graph:
    """A stochastic block model of 40 nodes in 4 blocks."""
    return draw_sbm(0)


@pytest.fixture(scope="session")
def config() -> dict:
    """The configuration of the repository."""
    return yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def workdir(tmp_path, monkeypatch) -> Path:
    """Work in an empty directory: cached files are hashed together with their relative path."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


# Checkouts with the tiny configuration


def lay_out(folder: Path) -> Path:
    """Lay out a checkout whose configuration is the tiny one; the package stays the installed one."""
    for name in ("workflow", "profiles", "data/paper"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "Snakefile", folder)
    shutil.copy(ROOT / "tests" / "tiny.yaml", folder / "config.yaml")
    return folder


def snakemake(folder: Path, *arguments: str, package: Path | None = None) -> subprocess.CompletedProcess:
    environment = os.environ | ({"PYTHONPATH": str(package)} if package else {})
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def would_run(folder: Path, *arguments: str, package: Path | None = None) -> set[str]:
    """Return the rules that a dry run lists, targets left out."""
    done = snakemake(folder, "--dry-run", *arguments, package=package)
    assert done.returncode == 0, done.stderr
    return set(re.findall(r"^(?:local)?rule (\w+):", done.stdout + done.stderr, re.M)) - TARGETS


def hashes(folder: Path) -> dict[str, str]:
    """Return the hashes of all that was built in a checkout, by file."""
    return {name: facts["sha256"] for name, facts in manifest.load(str(folder)).items()}


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Path:
    """A checkout in which everything is built, by the first worker that needs it; leave it as it is."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = shared / "built"
    with open(shared / "built.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            done = snakemake(lay_out(under_way := shared / "under_way"))
            assert done.returncode == 0, done.stdout + done.stderr
            under_way.rename(folder)
    return folder


@pytest.fixture
def checkout(built, tmp_path) -> Path:
    """A copy of the built folder, modification times kept, free to be changed."""
    return shutil.copytree(built, tmp_path / "checkout", symlinks=True)
