"""No job loads more than its stage may: where a job is a process of its own, imports are most of its cost."""

import json
import subprocess
import sys
import tomllib
from contextlib import chdir

import pytest

from graphdr.cli import project
from graphdr.plan import jobs
from graphdr.plan.jobs import JOBS
from tests.support.project import ROOT

TABLE = ROOT / "tests" / "stages" / "imports.toml"
BUDGET = tomllib.loads(TABLE.read_text(encoding="utf-8"))
# Libraries whose import takes longer than the work of many a job.
HEAVY = ("matplotlib", "numba", "pandas", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.stats", "sklearn")
RUN = "import json, sys, graphdr.__main__ as m; m.main(sys.argv[1:]); print(json.dumps([*sys.modules]))"
IMPORT = "import json, sys, graphdr.__main__, graphdr.cache.times, graphdr.stages.{}; print(json.dumps([*sys.modules]))"
RAW = ("fetch_raw", "tabulate_dataset")  # of data sets, which the build has none of


def modules(folder, code: str, *arguments: str) -> list[str]:
    command = [sys.executable, "-c", code, *arguments]
    return json.loads(
        subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    )


def test_every_stage_has_a_budget():
    assert set(BUDGET) == set(JOBS)


@pytest.mark.parametrize("stage", JOBS)
def test_no_job_loads_more_than_its_stage_may(checkout, stage):
    with chdir(checkout):
        design = project.Plan().design
        key = max(jobs.keys(design, stage), key=str, default=None)
        job = JOBS[stage](design, **key).as_json() if key is not None else ""
    loaded = modules(checkout, IMPORT.format(stage)) if stage in RAW else modules(checkout, RUN, stage, "code", job)
    heavy, budget = {name for name in HEAVY if name in loaded}, BUDGET[stage]
    assert heavy <= set(budget["loaded"]), f"{TABLE}: [{stage}] loads {heavy}; if that is meant, write it down"
    assert 0.8 * budget["modules"] <= len(loaded) <= budget["modules"], (
        f"{TABLE}: [{stage}] loads {len(loaded)} modules"
    )
