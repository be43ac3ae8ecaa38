"""A folder in which the tiny configuration, and a data set besides, is built in this process."""

import contextlib
import shutil
import warnings
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
    """Build everything in a folder; return it."""
    with contextlib.chdir(folder), np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):
        _build_here()
    return folder


def _build_here() -> None:
    """Build all of the tiny configuration, and a data set besides, in this process: the jobs as the rules run them."""
    config = yaml.safe_load((ROOT / "tests/support/tiny.yaml").read_text())
    config["quantities"]["gamma"] = {"label": "gamma", "digits": 2}
    films.add_to(config, facts=("zeta", "gamma"), columns=("regret", "regret_gap", "gamma"), verified=True, n=24)
    Path("config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    Path("Snakefile").touch()
    shutil.copytree(ROOT / "data/paper", "data/paper")
    put(Path("data/raw/films/films.inter"), films.ratings())
    plan = project.Plan(project.load_config())
    for stage, names in NAMED.items():
        # What is made of others of its kind, such as a flipped graph, comes after them.
        waiting = [[path(**key) for path in project.OUTPUTS[stage]] for key in plan.wildcards(stage)]
        while waiting:
            outputs = waiting.pop(0)
            job = plan.job(stage, outputs[0])
            if all(Path(path).exists() for path in job.files()):
                run_stage(stage, stage_code(stage), job._asdict(), dict(zip(names, outputs, strict=True)))
            else:
                waiting.append(outputs)
    for stage, outputs in (("compare_paper", paths.COMPARISON), ("judge_claims", paths.CLAIMS)):
        run_stage(stage, stage_code(stage), plan.job(stage, "")._asdict(), outputs)
