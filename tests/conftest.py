"""Shared by all tests: one BLAS thread, a fixed Hypothesis profile, and the fixtures that several rooms use."""

import fcntl
import os
import shutil

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy, as every stage does
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from pathlib import Path

import pytest
import yaml
from hypothesis import settings

from graphdr.graphs.model import Graph
from tests.support.project import ROOT, draw_sbm, lay_out, snakemake

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("fixed")


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
