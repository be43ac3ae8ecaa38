"""Say what Snakemake itself costs: its CPU seconds per job in runs of more and more jobs that do nothing.

python -m benchmarks.many_jobs [1000 4000 …]
"""

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.large_design import ROOT, STUDY, cost, lay_out
from graphdr.cache import times
from graphdr.plan import config as configuration

SIZES, TINY = (1000, 4000), (40, 80)
GROWTH = 1.5  # times that the CPU per job may grow from the first size to the last
STAGES = ("pose_problem", "describe_problem", "run_bandit", "measure_batch")  # of a batch of one problem


def study(config: dict, problems: int) -> dict:
    """Return a configuration with one more experiment: problems that differ in their noise, each a batch."""
    noises = [round(0.1 + step / 10_000, 4) for step in range(problems)]
    experiment = {
        "problems": {"of": ["sbm"], "set": {"instances": 1, "draws": 0}, "vary": {"noise": noises}},
        "methods": ["graphdr"],
        "facts": ["zeta"],
        "target": STUDY,
        "opt_in": True,
    }
    return config | {"batch": 1, "experiments": config["experiments"] | {STUDY: experiment}}


def idle(folder: Path) -> None:
    """Let every job of a checkout touch what it should write, and do no more."""
    rules = folder / "workflow/rules/common.smk"
    lines = rules.read_text(encoding="utf-8").splitlines()
    (place,) = [number for number, line in enumerate(lines) if line.startswith("STAGE = ")]
    lines[place] = 'STAGE = "touch {output} {log}"'
    rules.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(folder: Path, size: int) -> float:
    """Run a study of about so many jobs; return the CPU seconds of Snakemake's own process per job."""
    config = configuration.load(ROOT / "config.yaml").plain()
    lay_out(folder, study(config, size // len(STAGES)))
    idle(folder)
    used = cost(folder, "snakemake", "--cores", "2", "--quiet", "all", "--", STUDY)
    count = sum(1 for log in (folder / "results/logs").rglob("*.log"))
    own = times.build(str(folder)).cpu
    print(f"{count} jobs: {own:.1f} s of CPU, {1000 * own / count:.1f} ms per job, {used.memory:.0f} MB", flush=True)
    return own / count


def main() -> int:
    """Measure, print and compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_jobs", description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", type=int, help=f"jobs of every run; {SIZES} if none")
    parser.add_argument("--tiny", action="store_true", help=f"runs of {TINY} jobs")
    asked = parser.parse_args()
    sizes = asked.sizes or (TINY if asked.tiny else SIZES)
    with tempfile.TemporaryDirectory() as name:
        costs = [run(Path(name) / str(size), size) for size in sizes]
    growth = costs[-1] / costs[0]
    print(f"from the first size to the last, the CPU per job grows {growth:.2f} times")
    if growth > GROWTH:
        print(f"error: more than {GROWTH} times", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
