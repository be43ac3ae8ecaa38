"""No job loads more than its stage may: where a job is a process of its own, imports are most of its cost."""

import json
import shutil
import subprocess
import sys
import tomllib
from contextlib import chdir

import pytest

from graphdr.cli import project
from graphdr.plan import design, jobs
from graphdr.plan.jobs import JOBS
from tests.support.project import ROOT

TABLE = ROOT / "tests" / "stages" / "imports.toml"
BUDGET = tomllib.loads(TABLE.read_text(encoding="utf-8"))
# Libraries whose import takes longer than the work of many a job.
HEAVY = ("matplotlib", "numba", "pandas", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.stats", "sklearn")
RAW = ("fetch_raw", "tabulate_dataset")  # of data sets, which the build has none of: they are imported, not run
# Every job is a fork of a process that has imported just what the runner of all stages does: it loads what a process of
# its own would load. It goes to a file since a job prints.
RUN = """
import importlib, json, os, sys
import graphdr.__main__ as runner
runner.pin_arithmetic()
from graphdr.cache import io, manifest, times
for stage, words in json.load(sys.stdin).items():
    if not os.fork():
        runner.main(words) if words else importlib.import_module(f"graphdr.stages.{stage}")
        with open(f"{stage}.json", "w") as file:
            json.dump([*sys.modules], file)
        sys.stdout.flush()
        os._exit(0)
    assert os.wait()[1] == 0, stage
"""


@pytest.fixture(scope="module")
def loaded(built, tmp_path_factory) -> dict[str, list[str]]:
    """What a job of every stage has loaded at its end."""
    folder = shutil.copytree(built, tmp_path_factory.mktemp("imports") / "checkout", symlinks=True)
    with chdir(folder):
        plan, commands = design.expand(project.load_config()), {}
        for stage, job in JOBS.items():
            keys = [] if stage in RAW else sorted(jobs.keys(plan, stage), key=str)
            commands[stage] = [stage, "code", job(plan, **keys[-1]).as_json()] if keys else []
        subprocess.run([sys.executable, "-c", RUN], input=json.dumps(commands), text=True, check=True)
    return {stage: json.loads((folder / f"{stage}.json").read_text()) for stage in JOBS}


@pytest.mark.parametrize("stage", JOBS)
def test_no_job_loads_more_than_its_stage_may(loaded, stage):
    heavy, count, budget = {name for name in HEAVY if name in loaded[stage]}, len(loaded[stage]), BUDGET[stage]
    assert heavy <= set(budget["loaded"]), f"{TABLE}: {stage} loads {heavy}; if that is meant, write it down"
    assert 0.8 * budget["modules"] <= count <= budget["modules"], f"{TABLE}: {stage} loads {count} modules"
