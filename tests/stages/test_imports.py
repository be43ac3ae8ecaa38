"""No job loads more than its stage may: where a job is a process of its own, imports are most of its cost."""

import json
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
RUN = "import json, sys, graphdr.__main__ as m; m.main(sys.argv[1:]); print(json.dumps([*sys.modules]))"
IMPORT = "import json, sys, graphdr.__main__, graphdr.cache.times, graphdr.stages.{}; print(json.dumps([*sys.modules]))"
RAW = ("fetch_raw", "tabulate_dataset")  # of data sets, which the build has none of


def test_every_stage_has_a_budget():
    assert set(BUDGET) == set(JOBS)


@pytest.mark.parametrize("stage", JOBS)
def test_no_job_loads_more_than_its_stage_may(checkout, stage):
    with chdir(checkout):
        plan = design.expand(project.load_config())
        keys = [] if stage in RAW else sorted(jobs.keys(plan, stage), key=str)
        words = [RUN, stage, "code", JOBS[stage](plan, **keys[-1]).as_json()] if keys else [IMPORT.format(stage)]
        done = subprocess.run([sys.executable, "-c", *words], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout.splitlines()[-1])
    heavy, count, budget = {name for name in HEAVY if name in loaded}, len(loaded), BUDGET[stage]
    assert heavy <= set(budget["loaded"]), f"{TABLE}: [{stage}] loads {heavy}; if that is meant, write it down"
    assert 0.8 * budget["modules"] <= count <= budget["modules"], f"{TABLE}: [{stage}] loads {count} modules"
