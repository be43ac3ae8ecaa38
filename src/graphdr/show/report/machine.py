"""With what and on what the results were computed, and how long each rule took."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "pandas", "pyarrow", "matplotlib", "snakemake")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute."""
    return {"Python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def machine() -> dict[str, str]:
    """Describe the machine that the page was made on."""
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return {"processor": _processor(), "cores": str(os.cpu_count()), "system": system}


def timings(jobs: list[dict]) -> list[dict]:
    """Sum what jobs cost, by rule: jobs, seconds, the longest job, the largest memory."""
    rules: dict[str, list[tuple[float, float]]] = {}
    for job in jobs:
        rules.setdefault(job["stage"], []).append((job["seconds"], job["peak_mb"]))
    lines = []
    for rule, costs in rules.items():
        seconds, memory = zip(*costs, strict=True)
        lines.append({"rule": rule, "jobs": len(costs), "seconds": round(sum(seconds), 1)}
                     | {"longest": round(max(seconds), 1), "memory": round(max(memory))})  # fmt: skip
    return sorted(lines, key=lambda line: -line["seconds"])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # another system than Linux
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
