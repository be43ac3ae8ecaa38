"""A protocol that is small enough for every method, and stages run in this process."""

import importlib
import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from graphdr.__main__ import run_stage
from graphdr.bandit.environment import Rounds, RoundsSpec, draw_rounds
from graphdr.core.records import from_json
from graphdr.plan.design import Design
from graphdr.plan.job import Job
from graphdr.plan.jobs import JOBS, keys
from tests.support.project import TOY

NOTHING_SHOWN = {block: {} for block in ("evaluations", "tables", "figures", "claims", "simulated_papers")}
PROTOCOL = {
    "instances": 2, "draws": 2, "horizon": 80, "seeds": 2, "checkpoint": 1, "arms": 5,
    "ridge": 0.7, "alpha": 0.8, "k": 3, "k_star": 2, "tail": 0.2, "components": 12, "k_max": 6, "resamples": 3,
    "k_grid": [1, 3, 6],
}  # fmt: skip
# With five neighbours no two nodes of the data set are alike: their tie would be broken by a twin's rounding.
OBSERVED = {"instances": 1, "seeds": 2, "k": 4, "k_min": 2, "n": 30, "neighbours": 5}


def small(config: dict, protocol: dict | None = None, toy: dict | None = None, **blocks: dict) -> dict:
    """Return the configuration of small experiments, also on the toy data set, with these blocks in place of others."""
    shrunk = {
        "protocol": config["protocol"] | PROTOCOL | (protocol or {}),
        "observed": config["observed"] | OBSERVED,
        "datasets": config["datasets"] | {"toy": TOY | (toy or {})},
        "problems": {"toy": {"dataset": "toy"}},
    }
    return config | NOTHING_SHOWN | shrunk | blocks


def rounds_of(root: int, problem: dict, n: int, instance: int, seed: int) -> Rounds:
    """Draw the rounds of a problem, uniform candidates with normal noise."""
    spec = RoundsSpec(problem["horizon"], problem["arms"], problem["candidates"], problem["noise"])
    return draw_rounds(root, spec, n, instance, seed)


def run(job: Job, **output: str) -> None:
    """Run a job as the workflow does, having gone through JSON; ``output`` names other places for what it writes."""
    job = replace(job, output=job.output._replace(**output))
    stage, parts = importlib.import_module(f"graphdr.stages.{job.stage}"), json.loads(job.as_json())
    roles = {"input": stage.Input, "output": stage.Output, "params": stage.Params}
    stage.main(*(from_json(kind, parts[role]) for role, kind in roles.items()))


def kept(read: Callable, *files: str):
    """Read files of the working directory once for all tests: none that tests read so is written twice."""
    return _read_in(Path.cwd(), read, *files)


@cache
def _read_in(folder: Path, read: Callable, *files: str):
    return read(*files)


def blank_picture(figure, path: str | Path, suffix: str) -> None:
    """Write a word in place of a picture, which takes most of the time of a figure: for tests that look at none."""
    Path(path).write_text(suffix)


def run_as_rule(job: Job) -> list[str]:
    """Run a job with its entry in the manifest; return what it wrote."""
    run_stage(job.stage, job.code(), json.loads(job.as_json()))
    return list(job.output)


def run_all(plan: Design, stages: Iterable[str] = JOBS, wanted: Collection[str] | None = None) -> None:
    """Run the jobs of stages, in their order: those that write one of the wanted files, or all of them."""
    for stage in stages:
        jobs = [JOBS[stage](plan, **key) for key in keys(plan, stage)]
        waiting = [job for job in jobs if wanted is None or set(job.output) & set(wanted)]
        while waiting:  # what is made of others of its kind, such as a flipped graph, comes after them
            job = waiting.pop(0)
            if all(Path(path).exists() for path in job.files()):
                run_as_rule(job)
            else:
                waiting.append(job)
