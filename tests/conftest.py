"""Shared by all tests: the arithmetic of the stages, a fixed Hypothesis profile, and common fixtures."""

# ruff: noqa: E402 - numpy comes after its settings

import shutil

from graphdr.__main__ import pin_arithmetic

pin_arithmetic()  # before numpy, as every stage does

from pathlib import Path

import pytest
import yaml
from hypothesis import settings

from graphdr.graphs.model import Graph
from graphdr.plan import design
from graphdr.plan.short_forms import full
from tests.support.project import ROOT, draw_sbm, lay_out, once, snakemake

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("fixed")


LONG = ("workflow", "trust", "advise", "stages", "cli")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the files that take longest, so that no worker is left with one of them at the end."""
    items.sort(key=lambda item: LONG.index(folder) if (folder := item.path.parent.name) in LONG else len(LONG))


@pytest.fixture(scope="session")
def small_graph() -> Graph:
    """A stochastic block model of 40 nodes in 4 blocks."""
    return draw_sbm(0)


@pytest.fixture(scope="session")
def config() -> dict:
    """The configuration of the repository, its short forms written out."""
    return full(yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")), ROOT)


@pytest.fixture(scope="session")
def whole_plan(config) -> design.Design:
    """The plan of the configuration of the repository, with all data sets."""
    return design.expand(config)


@pytest.fixture
def workdir(tmp_path, monkeypatch) -> Path:
    """Work in an empty directory: cached files are hashed together with their relative path."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Path:
    """A checkout in which everything is built, by the first worker that needs it; leave it as it is."""

    def build(folder: Path) -> None:
        done = snakemake(lay_out(folder), own_server=True)
        assert done.returncode == 0, done.stdout + done.stderr

    return once(tmp_path_factory, "built", build)


@pytest.fixture
def checkout(built, tmp_path) -> Path:
    """A copy of the built folder, modification times kept, free to be changed."""
    return shutil.copytree(built, tmp_path / "checkout", symlinks=True)
