"""With what and on what the results were computed, and how long each rule took."""

import os
import platform
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "pandas", "pyarrow", "matplotlib", "snakemake")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute."""
    return {"Python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def machine() -> dict[str, str]:
    """Describe the machine that the page was made on."""
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return {"processor": _processor(), "cores": str(os.cpu_count()), "system": system}


def timings(folder: str) -> list[dict]:
    """Sum the benchmark files that Snakemake left, by rule: jobs, seconds, the longest job, the largest memory.

    They are no inputs of the page: time differs in every build, and must rebuild nothing.
    """
    lines = []
    for rule in sorted(Path(str(file)).stem for file in files("graphdr.stages").iterdir() if file.name.endswith(".py")):
        paths = [*Path(folder).glob(f"{rule}.tsv"), *Path(folder).glob(f"{rule}/**/*.tsv")]
        jobs = [job for job in map(_benchmark, paths) if job]
        if jobs:
            seconds, memory = zip(*jobs, strict=True)
            lines.append({"rule": rule, "jobs": len(jobs), "seconds": round(sum(seconds), 1)}
                         | {"longest": round(max(seconds), 1), "memory": round(max(memory))})  # fmt: skip
    return sorted(lines, key=lambda line: -line["seconds"])


def _benchmark(path: Path) -> tuple[float, float] | None:
    """Return seconds and megabytes of a job; None where the file is not (yet) readable."""
    try:
        head, line, *_ = path.read_text(encoding="utf-8").splitlines()
        values = dict(zip(head.split("\t"), line.split("\t"), strict=True))
        return float(values["s"]), float(values["max_rss"])
    except (OSError, ValueError, KeyError):
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # another system than Linux
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
