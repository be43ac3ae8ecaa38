"""No job loads more than its stage may: for short jobs, imports are most of the cost."""

import json
import subprocess
import sys
import tomllib

import pytest

from graphdr.cache import times
from graphdr.plan.jobs import JOBS
from tests.support.project import ROOT

TABLE = ROOT / "tests" / "stages" / "imports.toml"
BUDGET = tomllib.loads(TABLE.read_text(encoding="utf-8"))
IMPORT = "import json, sys, graphdr.__main__, graphdr.cache.times, graphdr.stages.{}; print(json.dumps([*sys.modules]))"


def check(stage: str, modules: int, loaded: list[str]) -> None:
    budget = BUDGET[stage]
    assert set(loaded) <= set(budget["loaded"]), f"{TABLE}: [{stage}] loads {loaded}; if that is meant, write it down"
    assert 0.8 * budget["modules"] <= modules <= budget["modules"], f"{TABLE}: [{stage}] loads {modules} modules"


def test_every_stage_has_a_budget():
    assert set(BUDGET) == set(JOBS)


def test_no_job_of_a_build_loads_more_than_it_may(built):
    costs = times.jobs(root=str(built))
    largest = {cost["stage"]: cost for cost in sorted(costs, key=lambda cost: cost["modules"])}
    for stage, cost in largest.items():
        check(stage, cost["modules"], cost["loaded"])
    assert all(set(cost["loaded"]) <= set(BUDGET[cost["stage"]]["loaded"]) for cost in costs)


@pytest.mark.parametrize("stage", ["fetch_raw", "tabulate_dataset"])  # of data sets, which that build has none of
def test_no_stage_of_raw_data_loads_more_than_it_may(stage):
    done = subprocess.run([sys.executable, "-c", IMPORT.format(stage)], capture_output=True, text=True, check=True)
    modules = json.loads(done.stdout)
    check(stage, len(modules), [name for name in times.HEAVY if name in modules])


def test_a_part_of_numpy_that_is_left_out_is_there_when_it_is_used():
    code = """
import sys
from graphdr.__main__ import leave_out
leave_out("f2py", "testing")
import numpy, scipy.sparse
print("unittest" in sys.modules)
numpy.testing.assert_allclose(1.0, 1.0)
from numpy.testing import assert_array_equal
print("unittest" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
