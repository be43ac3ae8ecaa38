"""CPU time of a process and of the processes that it waits for."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF

from graphdr.core.cpu_time import cpu_seconds


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_process_counts_itself_and_its_children_and_a_fork_counts_itself_alone():
    begin, children = cpu_seconds(RUSAGE_SELF), cpu_seconds(RUSAGE_CHILDREN)
    burn(0.05)
    if not os.fork():
        burn(0.03)
        os._exit(not 0.02 < cpu_seconds() < 0.05)
    assert os.wait()[1] == 0
    assert cpu_seconds(RUSAGE_SELF) - begin > 0.04
    assert cpu_seconds(RUSAGE_CHILDREN) - children > 0.02


def test_a_job_that_fails_leaves_no_cost(workdir):
    job = {"input": {"receipt": "none.parquet"}, "output": {"nodes": "a", "links": "b"}}
    job["params"] = {"dataset": "x", "lines": {}, "release": None, "options": {}}
    command = [sys.executable, "-m", "graphdr", "tabulate_dataset", "code", json.dumps(job)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    assert not Path("results/times").exists()
