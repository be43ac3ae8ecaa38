"""Builds in this process, without Snakemake: the jobs as the rules run them."""

import contextlib
import shutil
import warnings
from collections.abc import Collection
from pathlib import Path
from unittest import mock

import numpy as np
import yaml

from graphdr.cache import paths
from graphdr.cli import project
from graphdr.plan import design
from graphdr.plan.jobs import JOBS
from graphdr.raw import fetch
from graphdr.show import style
from tests.support import films
from tests.support.project import ROOT, tiny
from tests.support.stages import blank_picture, run_all, run_as_rule
from tests.support.tiny_data import put

RUNS = "results/runs/main/plain.parquet"
STAGES = [stage for stage in JOBS if stage not in ("compare_paper", "judge_claims", "make_report")]


def build_in(folder: Path) -> Path:
    """Build all of the tiny configuration, and a data set besides, in a folder, without its pictures; return it."""
    config = tiny()
    config["quantities"]["gamma"] = {"label": "gamma", "digits": 2}
    columns = ("regret", "regret_gap", "gamma")
    films.add_to(config, facts=("zeta", "gamma"), columns=columns, verified=True, n=24, noise="resampled")
    put(folder / "data/raw/films/films.inter", films.ratings())
    (folder / "Snakefile").touch()
    shutil.copytree(ROOT / "data/paper", folder / "data/paper")
    with contextlib.chdir(folder), mock.patch.object(style, "save", blank_picture):
        build_here(config)
        planned = project.planned_jobs()
        for path in (paths.comparison("parquet"), paths.claims("parquet")):
            run_as_rule(planned[path]())
    return folder


def build_here(config: dict, wanted: Collection[str] | None = None) -> None:
    """Run the jobs of a configuration as the rules do, those that write one of the wanted files or all of them."""
    Path("config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    config = project.load_config()
    with np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):
        run_all(design.expand(config, fetch.missing_datasets(config.plain())), STAGES, wanted)
