"""Builds in this process, without Snakemake: the jobs as the rules run them."""

import contextlib
import shutil
import warnings
from collections.abc import Collection
from pathlib import Path

import numpy as np
import yaml

from graphdr.__main__ import run_stage
from graphdr.cache import paths
from graphdr.cache.fingerprint import stage_code
from graphdr.cli import project
from tests.support import films
from tests.support.project import ROOT
from tests.support.tiny_data import put

RUNS = "results/runs/main/graphdr.parquet"
NAMED = {  # outputs as the rules name them
    "fetch_raw": ["receipt"],
    "tabulate_dataset": ["nodes", "links"],
    "build_graph": ["nodes", "edges"],
    "compute_basis": ["basis"],
    "pose_problem": ["theta"],
    "describe_problem": ["facts", "pilots"],
    "run_bandit": ["runs"],
    "measure_batch": ["measurements", "curves"],
    "evaluate_predictors": ["evaluation"],
    "make_table": paths.TABLE_FORMATS,
    "make_figure": paths.FIGURE_FORMATS,
}


def build_in(folder: Path) -> Path:
    """Build all of the tiny configuration, and a data set besides, in a folder; return it."""
    config = yaml.safe_load((ROOT / "tests/support/tiny.yaml").read_text())
    config["quantities"]["gamma"] = {"label": "gamma", "digits": 2}
    films.add_to(config, facts=("zeta", "gamma"), columns=("regret", "regret_gap", "gamma"), verified=True, n=24)
    put(folder / "data/raw/films/films.inter", films.ratings())
    (folder / "Snakefile").touch()
    shutil.copytree(ROOT / "data/paper", folder / "data/paper")
    with contextlib.chdir(folder):
        plan = build_here(config)
        for stage, outputs in (("compare_paper", paths.COMPARISON), ("judge_claims", paths.CLAIMS)):
            run_stage(stage, stage_code(stage), plan.job(stage, "")._asdict(), outputs)
    return folder


def build_here(config: dict, wanted: Collection[str] | None = None) -> project.Plan:
    """Run the jobs of a configuration as the rules do, those that write one of the wanted files or all of them."""
    Path("config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    plan = project.Plan(project.load_config())
    with np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):
        for stage, names in NAMED.items():
            jobs = ([path(**key) for path in project.OUTPUTS[stage]] for key in plan.wildcards(stage))
            # What is made of others of its kind, such as a flipped graph, comes after them.
            waiting = [outputs for outputs in jobs if wanted is None or set(outputs) & set(wanted)]
            while waiting:
                outputs = waiting.pop(0)
                job = plan.job(stage, outputs[0])
                if all(Path(path).exists() for path in job.files()):
                    run_stage(stage, stage_code(stage), job._asdict(), dict(zip(names, outputs, strict=True)))
                else:
                    waiting.append(outputs)
    return plan
