"""Cost of a build: CPU time, wall time and memory of every job in a small file, and those of Snakemake's process."""

import json
import time
from pathlib import Path
from typing import NamedTuple

from graphdr.cache import manifest, paths
from graphdr.core import cpu_time
from graphdr.core.atomic import write_text
from graphdr.core.cpu_time import JobCost
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
    cost = JobCost(stage, seconds, cpu_time.total_seconds(), cpu_time.peak_memory() / 1e6)
    _write(cost._asdict(), f"{paths.TIMES}/{stage}/{manifest.job_name(outputs)}.json")


def record_libraries() -> None:
    """Write the CPU time that the server of forked jobs took to import the libraries."""
    _write({"cpu": cpu_time.total_seconds()}, LIBRARIES)


def record_build(began: float, cores: int | None) -> None:
    """Write the cost of the build that ends now, from Snakemake's process."""
    seconds = time.time() - began
    cost = BuildCost(began, seconds, cores, cpu_time.own_seconds(), cpu_time.children_seconds())
    _write(cost._asdict(), BUILD)


def jobs(since: float = 0.0, root: str = ".") -> list[JobCost]:
    """Return the cost of every job that has ended since a time; skip files that are not readable."""
    files = sorted((Path(root) / paths.TIMES).glob("*/*.json"))
    recent = [file for file in files if file.stat().st_mtime >= since]
    return [JobCost(**cost) for file in recent if (cost := _read(file))]


def build(root: str = ".") -> BuildCost | None:
    """Return the cost of the last build that ran a job, if there is one."""
    cost = _read(Path(root) / BUILD)
    return BuildCost(**cost) if cost else None


def libraries(since: float, root: str = ".") -> float:
    """Return the CPU time of importing the libraries in a build, 0 if no jobs were forked."""
    file = Path(root) / LIBRARIES
    cost = _read(file) if file.exists() and file.stat().st_mtime >= since else None
    return float(cost["cpu"]) if cost else 0.0


def _write(cost: Json, path: str) -> None:
    write_text(json.dumps(cost) + "\n", path)


def _read(path: Path) -> Json | None:
    try:
        cost: Json = json.loads(path.read_text(encoding="utf-8"))
        return cost
    except (OSError, ValueError):
        return None
