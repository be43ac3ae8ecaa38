"""Say where the CPU seconds of the last build went: those of its jobs by stage and part, and Snakemake's own."""

import argparse
import sys

from graphdr.cache import times
from trust.checkout import environment, last_lines, lay_out, snakemake, workshop

PARTS = {"start": "start-up", "kernels": "kernels", "files": "files", "compute": "compute"}


def table(jobs: list[dict]) -> list[tuple]:
    """Return (stage, jobs, CPU seconds, those of every part), the most expensive stage first."""
    stages: dict[str, list[dict]] = {}
    for job in jobs:
        stages.setdefault(job["stage"], []).append(job["cpu"])
    rows = []
    for stage, costs in stages.items():
        parts = [sum(cost[part] for cost in costs) for part in PARTS]
        rows.append((stage, len(costs), sum(parts), *parts))
    return sorted(rows, key=lambda row: -row[2])


def report(build: dict, jobs: list[dict], libraries: float) -> str:
    """Write the account of a build: every CPU second of Snakemake's process and of all that it started."""
    rows = table(jobs)
    sums = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
    total, rest = build["cpu"] + build["children"], build["children"] - sums[1] - libraries
    lines = [f"{'stage':<20} {'jobs':>5} {'CPU s':>8} " + " ".join(f"{name:>8}" for name in PARTS.values())]
    for stage, count, *seconds in [*rows, ("all jobs", *sums)]:
        lines.append(f"{stage:<20} {count:>5} " + " ".join(f"{value:>8.1f}" for value in seconds))
    own = f"{build['cpu']:.1f} s ({build['cpu'] / total:.0%}), {1000 * build['cpu'] / sums[0]:.0f} ms per job"
    lines += [
        "",
        f"{total:.1f} s of CPU in {build['seconds']:.1f} s on {build['cores'] or 'other'} cores",
        f"Snakemake's own process: {own}",
        f"libraries, imported once for all jobs: {libraries:.1f} s ({libraries / total:.0%})",
        f"the rest, {rest:.1f} s ({rest / total:.0%}): a shell, a client and a fork per job, and jobs that failed",
        "start-up: what a job imports besides; kernels: compiled code, loaded or made; files: read, written, hashed",
    ]
    return "\n".join(lines)


def show(folder: str) -> int:
    """Print the account of the last build in a folder; the exit code is 1 if there was none."""
    build = times.build(folder)
    jobs = times.jobs(build["began"], folder) if build else []
    if not jobs:
        print("error: nothing was built yet; run make clean synthetic first", file=sys.stderr)
        return 1
    print(report(build, jobs, times.libraries(build["began"], folder)))
    return 0


def main() -> int:
    """Print the account of the last build here or, to try it, of one of the tiny configuration."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.profile", description=__doc__)
    parser.add_argument(
        "--tiny", action="store_true", help="build the tiny configuration first, in a folder of its own"
    )
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
