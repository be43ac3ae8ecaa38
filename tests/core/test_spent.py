"""CPU seconds are counted once each, for what they were spent on."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphdr.core import spent


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_part_within_another_counts_for_itself_alone():
    spent.account()
    with spent.on(spent.COMPUTE):
        burn(0.01)
        with spent.on(spent.FILES):
            burn(0.03)
            with spent.on(spent.FILES):
                burn(0.03)
    counted = spent.account()
    assert counted["compute"] == pytest.approx(0.01, abs=0.005)
    assert counted["files"] == pytest.approx(0.06, abs=0.005)
    assert sum(spent.account().values()) < 0.005  # since then, nothing was done


def test_a_function_that_fails_ends_its_part():
    @spent.on(spent.FILES)
    def fail():
        raise ValueError

    spent.account()
    with pytest.raises(ValueError, match=r"^$"):
        fail()
    burn(0.02)
    assert spent.account()["files"] < 0.01


IMPORTS = """
import json, time
from graphdr.core import spent
with spent.on(spent.COMPUTE), spent.imports_counted():
    import numpy
    begin = time.process_time()
    import pandas
    took = time.process_time() - begin
with spent.on(spent.COMPUTE):
    import xml.etree.ElementTree
print(json.dumps([took, time.process_time(), spent.account()]))
"""


def test_imports_within_a_job_count_for_the_start_and_all_of_a_process_is_counted():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    took, whole, counted = json.loads(done.stdout)
    assert counted["start"] > took > 0.05
    assert 0 < counted["compute"] < took / 2
    assert sum(counted.values()) == pytest.approx(whole, abs=0.002)


def test_processes_that_a_job_waits_for_count():
    spent.account()
    with spent.on(spent.FILES):
        subprocess.run([sys.executable, "-S", "-c", "sum(range(3_000_000))"], check=True)
    assert spent.account()["files"] > 0.02


def test_a_job_that_fails_leaves_no_cost(workdir):
    job = {"input": {"receipt": "none.parquet"}, "output": {"nodes": "a", "links": "b"}}
    job["params"] = {"dataset": "x", "lines": {}, "release": None, "options": {}}
    command = [sys.executable, "-m", "graphdr", "tabulate_dataset", "code", json.dumps(job)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    assert not Path("results/times").exists()
