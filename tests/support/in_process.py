"""A folder in which the tiny configuration, and a data set besides, is built in this process."""

import contextlib
import hashlib
import shutil
import warnings
from pathlib import Path

import numpy as np
import yaml

from graphdr.cli import project
from graphdr.plan import design
from graphdr.plan.jobs import JOBS
from graphdr.raw import fetch
from tests.support.project import ROOT
from tests.support.stages import run_all
from tests.support.tiny_data import inter, put

RUNS = "results/runs/main/graphdr.parquet"
FILMS = f"""
datasets:
  films:
    label: Films
    family: knn
    raw:
      licence: none
      citation: nobody
      sources:
        - format: recbole
          archive: films.inter
          members: {{inter: {{sha256: {hashlib.sha256(inter()).hexdigest()}}}}}
problems:
  films: {{dataset: films, n: 24}}
methods:
  pca_content: {{label: content, basis: content_pca}}
experiments:
  films: {{problems: {{of: [films]}}, methods: [pca_content, graphdr, graphdr_shuffled], facts: [zeta, gamma]}}
tables:
  films: {{caption: Films, experiment: films, rows: method, columns: [regret: regret, gap: regret_gap, gamma: gamma]}}
quantities:
  gamma: {{label: gamma, digits: 2}}
"""


def build_in(folder: Path) -> Path:
    """Build everything in a folder; return it."""
    with contextlib.chdir(folder), np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):
        _build_here()
    return folder


def _build_here() -> None:
    """Build all of the tiny configuration, and a data set besides, in this process: the jobs as the rules run them."""
    config = yaml.safe_load((ROOT / "tests/support/tiny.yaml").read_text())
    for block, entries in yaml.safe_load(FILMS).items():
        config[block] |= entries
    Path("config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    Path("Snakefile").touch()
    shutil.copytree(ROOT / "data/paper", "data/paper")
    put(Path("data/raw/films/films.inter"), inter())
    config = project.load_config()
    run_all(design.expand(config, fetch.missing_datasets(config)), [stage for stage in JOBS if stage != "make_report"])
