"""The profiles for queues: they group alike, no group joins batches, and a job is in the state that its queue says."""

import os
import subprocess

import pytest
import yaml

from graphdr.plan import config as configuration
from graphdr.plan import design, jobs
from tests.support.project import ROOT

PROFILES = {name: ROOT / "workflow/profiles" / name for name in ("slurm", "cluster-generic", "kubernetes")}
SETTINGS = {name: yaml.safe_load((folder / "config.yaml").read_text()) for name, folder in PROFILES.items()}


@pytest.mark.parametrize("name", ["groups", "group-components", "resources", "set-resource-scopes", "retries"])
def test_all_queues_are_given_the_same_jobs(name):
    first, *others = (settings[name] for settings in SETTINGS.values())
    assert others == [first, first]


@pytest.mark.parametrize("path", ["config.yaml", "tests/support/tiny.yaml"])
def test_no_group_joins_two_batches(path):
    """One stage that reads the files of two batches would make a single job of all that are linked by it."""
    plan = design.expand(configuration.load(ROOT / path), [])
    stages = [stage for stage, group in SETTINGS["slurm"]["groups"].items() if group == "batch"]
    keyed = [(key["batch"], jobs.JOBS[stage](plan, **key)) for stage in stages for key in jobs.keys(plan, stage)]
    writer = {file: batch for batch, job in keyed for file in job.output}
    joined = {(batch, writer[file]) for batch, job in keyed for file in job.files() if file in writer}
    assert joined == {(batch, batch) for batch in plan.batches}


SAID = [
    ("pbs", {"qstat": "    job_state = Q"}, "running"),
    ("pbs", {"qstat": "    job_state = F\n    Exit_status = 0"}, "success"),
    ("pbs", {"qstat": "    job_state = F\n    Exit_status = 271"}, "failed"),
    ("pbs", {"qstat": "    job_state = F"}, "failed"),  # deleted before it began
    ("pbs", {"qstat": "qstat: Unknown Job Id 7"}, "failed"),
    ("pbs", {"qstat": "Connection refused"}, "running"),  # nobody knows
    ("sge", {"qstat": "job_number: 7"}, "running"),
    ("sge", {"qacct": "failed       0\nexit_status  0"}, "success"),
    ("sge", {"qacct": "failed       100 : assumedly after job\nexit_status  137"}, "failed"),
    ("sge", {"qacct": "failed       0\nexit_status  1"}, "failed"),
    ("sge", {}, "running"),  # it has left the queue, and is not in the accounts yet
]


@pytest.mark.parametrize(("queue", "answers", "expected"), SAID)
def test_state_of_a_job_is_what_its_queue_says(tmp_path, queue, answers, expected):
    for command in ("qstat", "qacct"):
        answer = f"cat <<'END'\n{answers[command]}\nEND\n" if command in answers else "exit 1\n"
        (tmp_path / command).write_text(f"#!/bin/sh\n{answer}")
        (tmp_path / command).chmod(0o755)
    script = PROFILES["cluster-generic"] / f"status-{queue}"
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([script, "7"], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [expected]
