"""Say where the wall time of the last cold build went, from Snakemake's own benchmark files and log."""

import re
import subprocess
import sys
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

BENCHMARKS = Path("results/benchmarks")
LOGS = Path(".snakemake/log")
KERNEL = (  # seconds of the first call of a compiled kernel, which loads it from the cache, less those of the second
    "import time, numpy as np; from graphdr.bandit import linucb; x = np.ones((2, 1)); "
    "call = lambda: linucb.projected(x, np.eye(1), x[:, 0], np.zeros((2, 1), np.uint32), "
    "x[:, 0], x[:, 0]); "
    "t = [time.perf_counter()]; [(call(), t.append(time.perf_counter())) for _ in range(2)]; "
    "print(2 * t[1] - t[0] - t[2])"
)
PLAYS = {"run_bandit"}  # rules whose jobs load compiled kernels


class Build(NamedTuple):
    """A run of Snakemake: when it began and ended, its cores and its jobs by rule."""

    began: float
    ended: float
    cores: int
    jobs: Counter

    @property
    def elapsed(self) -> float:
        return self.ended - self.began


def build(log: Path) -> Build:
    """Read one log of Snakemake: its name says when it began, its last change when it ended."""
    text = log.read_text()
    began = datetime.strptime(log.name.split(".")[0], "%Y-%m-%dT%H%M%S").timestamp()
    cores = re.search(r"^Provided cores: (\d+)", text, re.MULTILINE)
    jobs = Counter(re.findall(r"^Finished jobid: \d+ \(Rule: (\w+)\)", text, re.MULTILINE))
    return Build(began, log.stat().st_mtime, int(cores[1]) if cores else 1, jobs)


def largest(logs: list[Path]) -> Build | None:
    """Return the build with the most jobs, the latest of equals: the cold one."""
    builds = [build(log) for log in sorted(logs)]
    return max(builds, key=lambda b: (b.jobs.total(), b.began), default=None)


def seconds_by_rule(folder: Path, since: float) -> dict[str, list[float]]:
    """Return the seconds of every job of every rule, from the benchmark files written since the build began."""
    found: dict[str, list[float]] = {}
    for path in sorted(folder.rglob("*.tsv")):
        if path.stat().st_mtime >= since - 1:
            rule = path.relative_to(folder).with_suffix("").parts[0]
            found.setdefault(rule, []).append(float(path.read_text().splitlines()[1].split("\t")[0]))
    return found


def start_up(rule: str) -> float:
    """Return the seconds of a Python that imports a stage and ends."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import graphdr.__main__, graphdr.stages.{rule}"], check=True)
    return time.perf_counter() - begin


def first_kernel() -> float:
    """Return the seconds that the first call of a compiled kernel spends on loading it."""
    subprocess.run([sys.executable, "-c", KERNEL], check=True, capture_output=True)  # compiles it if the cache is cold
    return float(subprocess.run([sys.executable, "-c", KERNEL], check=True, capture_output=True, text=True).stdout)


def table(jobs: dict[str, list[float]], starts: dict[str, float], kernel: float) -> list[tuple]:
    """Return (rule, jobs, seconds, start-up, kernel load, compute), the slowest rule first, and the sum."""
    rows = []
    for rule, times in sorted(jobs.items(), key=lambda item: -sum(item[1])):
        total, begun = sum(times), len(times) * starts[rule]
        loaded = len(times) * kernel if rule in PLAYS else 0.0
        rows.append((rule, len(times), total, begun, loaded, max(total - begun - loaded, 0.0)))
    return [*rows, ("all", *(sum(column) for column in zip(*(row[1:] for row in rows), strict=True)))]


def main() -> int:
    """Print where the time went."""
    last = largest(list(LOGS.glob("*.log")))
    jobs = seconds_by_rule(BENCHMARKS, last.began) if last else {}
    if not jobs:
        print("error: nothing was built yet; run make clean synthetic first", file=sys.stderr)
        return 1
    rows = table(jobs, {rule: start_up(rule) for rule in jobs}, first_kernel())
    print(f"{'rule':<20} {'jobs':>5} {'seconds':>9} {'start-up':>9} {'kernels':>9} {'compute':>9}")
    for rule, count, *times in rows:
        print(f"{rule:<20} {count:>5} " + " ".join(f"{value:>9.1f}" for value in times))
    busy = rows[-1][2] / last.cores
    own = last.elapsed - busy
    print(f"\nelapsed {last.elapsed:.1f} s on {last.cores} cores, {busy:.1f} s of it with all cores busy with jobs")
    print(f"the rest, {own:.1f} s ({own / last.elapsed:.0%}), is Snakemake's own and cores that waited")
    print(
        "start-up: Python and the imports of the stage; kernels: loading compiled code; both measured now, once a rule"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
