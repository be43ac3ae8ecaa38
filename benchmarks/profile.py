"""Report where the CPU time of the last build went: its jobs by stage, Snakemake, and the import of libraries."""

import argparse
import sys
from typing import NamedTuple

from graphdr.cache import times
from graphdr.cache.times import BuildCost
from graphdr.core.cpu_time import JobCost
from trust.checkout import environment, last_lines, lay_out, snakemake, workshop


class StageCost(NamedTuple):
    """The jobs of a stage: their number, CPU time and wall time in seconds, and their largest peak memory."""

    stage: str
    jobs: int
    cpu: float
    seconds: float
    peak_mb: float


def table(jobs: list[JobCost]) -> list[StageCost]:
    """Sum the costs of jobs by stage, the most expensive stage first."""
    stages: dict[str, list[JobCost]] = {}
    for job in jobs:
        stages.setdefault(job.stage, []).append(job)
    return sorted((_sum(stage, costs) for stage, costs in stages.items()), key=lambda row: -row.cpu)


def _sum(stage: str, jobs: list[JobCost]) -> StageCost:
    cpu, seconds = sum(job.cpu for job in jobs), sum(job.seconds for job in jobs)
    return StageCost(stage, len(jobs), cpu, seconds, max(job.peak_mb for job in jobs))


def report(build: BuildCost, jobs: list[JobCost], libraries: float) -> str:
    """Return the account of a build: the CPU time of Snakemake's process and of all processes that it started."""
    every = _sum("all jobs", jobs)
    total, rest = build.cpu + build.children, build.children - every.cpu - libraries
    lines = [f"{'stage':<20} {'jobs':>5} {'CPU s':>8} {'wall s':>8} {'peak MB':>8}"]
    for row in [*table(jobs), every]:
        lines.append(f"{row.stage:<20} {row.jobs:>5} {row.cpu:>8.1f} {row.seconds:>8.1f} {row.peak_mb:>8.0f}")
    per_job = f"{1000 * build.cpu / every.jobs:.0f} ms per job"
    lines += [
        "",
        f"{total:.1f} s of CPU in {build.seconds:.1f} s on {build.cores or 'other'} cores",
        f"Snakemake's own process: {build.cpu:.1f} s ({build.cpu / total:.0%}), {per_job}",
        f"libraries, imported once for all jobs: {libraries:.1f} s ({libraries / total:.0%})",
        f"the rest, {rest:.1f} s ({rest / total:.0%}): a shell, a client and a fork per job, and jobs that failed",
    ]
    return "\n".join(lines)


def show(folder: str) -> int:
    """Print the account of the last build in a folder; the exit code is 1 if there was none."""
    build = times.build(folder)
    jobs = times.jobs(build.began, folder) if build else []
    if not build or not jobs:
        print("error: nothing was built yet; run make clean synthetic first", file=sys.stderr)
        return 1
    print(report(build, jobs, times.libraries(build.began, folder)))
    return 0


def main() -> int:
    """Print the account of the last build here or, to try it, of one of the tiny configuration."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.profile", description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="first build the tiny configuration in a temporary folder")
    if not parser.parse_args().tiny:
        return show(".")
    with workshop() as shop:
        folder = lay_out(shop / "checkout")
        done = snakemake(folder, environment(shop))
        if done.returncode:
            sys.exit(f"error: the build failed\n{last_lines(done)}")
        return show(str(folder))


if __name__ == "__main__":
    sys.exit(main())
