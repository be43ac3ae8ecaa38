"""What a build costs: CPU seconds and memory of every job in a small file, and those of Snakemake's own process."""

import json
import resource
import time
from pathlib import Path

from graphdr.cache import manifest, paths
from graphdr.core import spent
from graphdr.core.atomic import write_text

BUILD = f"{paths.TIMES}/snakemake.json"
LIBRARIES = f"{paths.TIMES}/libraries.json"


def record_job(stage: str, outputs: list[str], seconds: float) -> None:
    """Write down what a job cost: elapsed seconds, CPU seconds of its process by part, and peak memory."""
    cost = {"stage": stage, "seconds": seconds, "cpu": spent.account(), "peak_mb": spent.peak_memory() / 1e6}
    _write(cost, f"{paths.TIMES}/{stage}/{manifest.job_name(outputs)}.json")


def record_libraries() -> None:
    """Write down what the process cost that jobs are forks of, before the first of them."""
    _write({"cpu": spent.clock()}, LIBRARIES)


def record_build(began: float, cores: int | None) -> None:
    """Write down what the build that ends now cost: CPU seconds of Snakemake's process, and of all that it started."""
    used = {"cpu": resource.RUSAGE_SELF, "children": resource.RUSAGE_CHILDREN}
    seconds = {name: sum(resource.getrusage(who)[:2]) for name, who in used.items()}
    _write({"began": began, "seconds": time.time() - began, "cores": cores} | seconds, BUILD)


def jobs(since: float = 0.0, root: str = ".") -> list[dict]:
    """Return what every job cost, or every one that ended since; a file that is not (yet) readable is left out."""
    files = sorted((Path(root) / paths.TIMES).glob("*/*.json"))
    return [cost for file in files if file.stat().st_mtime >= since and (cost := _read(file))]


def build(root: str = ".") -> dict | None:
    """Return what the last build that ran a job cost, if there was one."""
    return _read(Path(root) / BUILD)


def libraries(since: float, root: str = ".") -> float:
    """Return the CPU seconds that a build spent on the process that its jobs were forks of, 0 if there was none."""
    file = Path(root) / LIBRARIES
    return _read(file)["cpu"] if file.exists() and file.stat().st_mtime >= since else 0.0


def _write(cost: dict, path: str) -> None:
    write_text(json.dumps(cost) + "\n", path)


def _read(path: Path) -> dict | None:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
