"""What an edit reruns, decided in this process: the jobs of a plan with their code, before and after the edit."""

import shutil
from pathlib import Path
from typing import NamedTuple

from graphdr.cache.fingerprint import PACKAGE, stage_code
from graphdr.plan import design, jobs
from graphdr.plan.config import read
from graphdr.raw import fetch

STAGES = list(jobs.JOBS)
RUNS_AND_BELOW = set(STAGES[STAGES.index("run_bandit") :])  # what the results of bandits go into


class Step(NamedTuple):
    """A job as Snakemake sees it: it runs again if anything here changes, or if a file that it reads is made again."""

    stage: str
    code: str
    inputs: frozenset[str]
    params: str


def copy_package(folder: Path) -> Path:
    """Copy the package into a folder, there to be edited."""
    return shutil.copytree(PACKAGE, folder / "graphdr", ignore=shutil.ignore_patterns("__pycache__"))


def edit(file: Path, old: str, new: str) -> None:
    """Replace a text that must be there."""
    text = file.read_text(encoding="utf-8")
    assert old in text, f"{file}: no {old!r}"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def codes(package: Path = PACKAGE) -> dict[str, str]:
    """Return the fingerprints of all stages."""
    return {stage: stage_code(stage, package=package) for stage in STAGES}


def steps(config: dict, package: Path = PACKAGE) -> dict[str, Step]:
    """Return the jobs of a configuration by the files that they write."""
    settings = read(config)
    plan, planned = design.expand(settings, fetch.missing_datasets(settings.plain())), {}
    for stage, job_of in jobs.JOBS.items():
        for job in (job_of(plan, **key) for key in jobs.keys(plan, stage)):
            code = stage_code(stage, job.modules, package)
            step = Step(stage, code, frozenset(job.files()), job.as_json())
            planned |= dict.fromkeys(job.output, step)
    return planned


def behind(planned: dict[str, Step], *targets: str) -> set[str]:
    """Return all files that must be made for the targets, these among them."""
    names, waiting = set(), list(targets)
    while waiting:
        name = waiting.pop()
        if name in planned and name not in names:
            names.add(name)
            waiting.extend(planned[name].inputs)
    return names


def rerun(before: dict[str, Step], after: dict[str, Step]) -> set[str]:
    """Return the files that are made again: those of changed or new jobs, and all that is made from them."""
    names = {name for name, step in after.items() if before.get(name) != step}
    while more := {name for name, step in after.items() if names & step.inputs} - names:
        names |= more
    return names


def stages_of(planned: dict[str, Step], names: set[str]) -> set[str]:
    """Return the stages that make the files."""
    return {planned[name].stage for name in names}
