"""Shared by all tests: one BLAS thread, a fixed Hypothesis profile, small graphs and a directory of one's own."""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy, as every stage does
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import settings

from graphdr.graphs import Graph, largest_component, sbm

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("fixed")


def draw_sbm(seed: int, n: int = 40, blocks: int = 4, p_in: float = 0.6, p_out: float = 0.05) -> Graph:
    """Draw the largest component of a small stochastic block model."""
    return largest_component(sbm(n, np.random.default_rng(seed), blocks=blocks, p_in=p_in, p_out=p_out))


@pytest.fixture(scope="session")
def small_graph() -> Graph:
    """A stochastic block model of 40 nodes in 4 blocks."""
    return draw_sbm(0)


@pytest.fixture(scope="session")
def config() -> dict:
    """The configuration of the repository."""
    return yaml.safe_load((Path(__file__).parents[1] / "config.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def workdir(tmp_path, monkeypatch) -> Path:
    """Work in an empty directory: cached files are hashed together with their relative path."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
