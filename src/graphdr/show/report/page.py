"""Further parts of the page: the numbers at its top, the looks of methods, and how it was built."""

import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from graphdr import __version__
from graphdr.core.cpu_time import JobCost
from graphdr.core.records import Json
from graphdr.show import palette
from graphdr.show.report.content import short

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "pandas", "pyarrow", "matplotlib", "snakemake")


def headline(spec: Json | None, shown: Mapping[str, Json], methods: Mapping[str, Json]) -> Json | None:
    """Compare a method with the next best on the problem of the headline: on every instance, and in the paper."""
    if spec is None:
        return None
    problems = shown.get(spec["experiment"], {}).get("problems") or ()
    panels = [problem["panel"] for problem in problems if problem["key"] == spec["problem"]["key"]]
    parts = {name: part for panel in panels for name, part in panel.items() if not methods[name].get("control")}
    ours = parts.pop(spec["against"], None)
    if ours is None or not parts:
        return None
    regrets = [part["values"] if part["of"] == "instances" else part["values"][:1] for part in parts.values()]
    own = np.asarray(ours["values"] if ours["of"] == "instances" else ours["values"][:1])
    ratios = np.min(regrets, axis=0) / own
    low, median, high = np.quantile(ratios, [0.05, 0.5, 0.95])
    printed = [part["paper"] for part in parts.values() if part.get("paper")]
    paper = min(printed) / ours["paper"] if printed and ours.get("paper") else None
    values = {"median": median, "low": low, "high": high, "first": ratios[0], "paper": paper}
    return spec | {"count": len(ratios)} | {name: short(value, 3) for name, value in values.items()}


def methods(
    experiments: Iterable[Json], settings: Mapping[str, Json], looks: Mapping[str, Mapping[str, str]]
) -> dict[str, Json]:
    """Return the JSON of the methods of experiments."""
    used = sorted({method for experiment in experiments for method in experiment["methods"]})
    shown = {}
    for name, style in palette.styles(used, looks).items():
        optional = {key: settings[name][key] for key in ("note", "control") if key in settings[name]}
        shown[name] = {"label": settings[name]["label"], "dash": style.dash} | optional
    return shown


def versions() -> dict[str, str]:
    """Return the versions of the software that made the page."""
    own = {"graphdr": __version__, "Python": platform.python_version()}
    return own | {name: version(name) for name in PACKAGES}


def machine() -> dict[str, str]:
    """Describe the machine that the page was made on."""
    processor = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        processor = names[0] if names else platform.machine()
    except OSError:  # another system than Linux
        pass
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return {"processor": processor, "cores": str(os.cpu_count()), "system": system}


def timings(jobs: Iterable[JobCost]) -> list[Json]:
    """Sum the costs of jobs by rule: jobs, seconds, the longest job, the largest memory (MB)."""
    lines = []
    for rule, costs in pd.DataFrame(jobs, columns=JobCost._fields).groupby("stage", sort=False):
        seconds, memory = costs["seconds"], costs["peak_mb"].max()
        line = {"rule": rule, "jobs": len(costs), "seconds": round(float(seconds.sum()), 1)}
        lines.append(line | {"longest": round(float(seconds.max()), 1), "memory": round(float(memory))})
    return sorted(lines, key=lambda line: -line["seconds"])
