"""Cost of a build: CPU time, wall time and memory of every job in a small file, and those of Snakemake's process."""

import json
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF
from typing import NamedTuple

from graphdr.cache import manifest, paths
from graphdr.core.atomic import write_text
from graphdr.core.cpu_time import JobCost, cpu_seconds, peak_memory
from graphdr.core.records import Json

BUILD = f"{paths.TIMES}/snakemake.json"
LIBRARIES = f"{paths.TIMES}/libraries.json"


class BuildCost(NamedTuple):
    """The cost of a build in seconds: wall time, and CPU time of Snakemake's process and of all its children."""

    began: float
    seconds: float
    cores: int | None
    cpu: float
    children: float


def record_job(stage: str, outputs: list[str], seconds: float) -> None:
    """Write the cost of the job that ends now; ``seconds`` is its wall time."""
    cost = JobCost(stage, seconds, cpu_seconds(), peak_memory() / 1e6)
    _write(cost._asdict(), f"{paths.TIMES}/{stage}/{manifest.job_name(outputs)}.json")


def record_libraries() -> None:
    """Write the CPU time that the server of forked jobs took to import the libraries."""
    _write({"cpu": cpu_seconds()}, LIBRARIES)


def record_build(began: float, cores: int | None) -> None:
    """Write the cost of the build that ends now, from Snakemake's process."""
    cpu = cpu_seconds(RUSAGE_SELF), cpu_seconds(RUSAGE_CHILDREN)
    _write(BuildCost(began, time.time() - began, cores, *cpu)._asdict(), BUILD)


def jobs(since: float = 0.0, root: str = ".") -> list[JobCost]:
    """Return the cost of every job that has ended since a time; skip files that are not readable."""
    files = sorted((Path(root) / paths.TIMES).glob("*/*.json"))
    return [JobCost(**cost) for file in files if (cost := _read(file, since))]


def build(root: str = ".") -> BuildCost | None:
    """Return the cost of the last build that ran a job, if there is one."""
    cost = _read(Path(root) / BUILD)
    return BuildCost(**cost) if cost else None


def libraries(since: float, root: str = ".") -> float:
    """Return the CPU time of importing the libraries in a build, 0 if no jobs were forked."""
    cost = _read(Path(root) / LIBRARIES, since)
    return float(cost["cpu"]) if cost else 0.0


def _write(cost: Json, path: str) -> None:
    write_text(json.dumps(cost) + "\n", path)


def _read(path: Path, since: float = 0.0) -> Json | None:
    try:
        cost: Json = json.loads(path.read_text(encoding="utf-8"))
        return cost if path.stat().st_mtime >= since else None
    except (OSError, ValueError):
        return None
