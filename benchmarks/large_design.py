"""Say what a large study costs: the seconds to plan its jobs, and those of every stage as its factors grow.

python -m benchmarks.large_design [--problems 10000] [--batch 8] [--keep FOLDER]
python -m benchmarks.large_design --costs
python -m benchmarks.large_design --tiny
"""

import argparse
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import yaml

from graphdr.cache import paths
from graphdr.plan import config as configuration
from graphdr.plan import design, jobs

ROOT = Path(__file__).parent.parent
STUDY = "large"
PROBLEMS = 10_000
LIMIT = 60  # CPU seconds that the plan of so many problems may take

# Every value of one factor with every value of the others: 200 graphs with 50 problems on each; for smaller studies, as
# many values of p_in as are needed.
FACTORS = {
    "n": [100, 200, 300, 400, 500],
    "p_in": [0.2, 0.225, 0.25, 0.275, 0.3, 0.325, 0.35, 0.375, 0.4, 0.425],
    "flip": [0, 0.01, 0.02, 0.05],
    "k": [1, 2, 3, 4, 5, 6, 8, 10, 15, 20],
    "tail": [0, 0.1, 0.2, 0.3, 0.4],
}


def large_config(config: dict, problems: int, batch: int) -> dict:
    """Return a configuration with one more experiment, of at least as many problems, by a target of its own."""
    base = {"dataset": "sbm", "n": 200, "instances": 1, "draws": 0}
    size = math.prod(map(len, FACTORS.values()))
    noises = [round(0.1 + 0.01 * step, 2) for step in range(-(-problems // size))]  # more problems on the same graphs
    graphs = -(-problems * len(FACTORS["p_in"]) // size)  # or fewer of them
    vary = FACTORS | {"p_in": FACTORS["p_in"][:graphs]} | ({"noise": noises} if len(noises) > 1 else {})
    experiment = {
        "problems": {"of": ["sbm_large"], "vary": vary},
        "methods": ["linucb_full", "onehot_pca", "graphdr"],
        "facts": ["zeta", "eigengap"],
        "target": STUDY,
        "opt_in": True,
    }
    return config | {
        "batch": batch,
        "problems": config["problems"] | {"sbm_large": base},
        "experiments": config["experiments"] | {STUDY: experiment},
    }


def lay_out(folder: Path, config: dict) -> None:
    """Lay out a checkout in which nothing is built yet."""
    for name in ("workflow", "profiles", "data/paper"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "Snakefile", folder)
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")


class Cost(NamedTuple):
    """Elapsed and CPU seconds of a process with all that it started, its peak memory in MB, and what it printed."""

    elapsed: float
    cpu: float
    memory: float
    printed: str


def cost(folder: Path, *command: str) -> Cost:
    """Run a module in a folder and measure it; CPU seconds hardly depend on what else the machine does."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen([sys.executable, "-m", *command], cwd=folder, stdout=printed, stderr=printed)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        text = printed.read()
    if process.returncode:
        raise SystemExit(f"error: {' '.join(command)[:200]} failed\n{text}")
    return Cost(time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, text)


def show_plan(folder: Path, problems: int, batch: int) -> bool:
    """Dry-run the study, print what that took, and tell whether it is fast enough."""
    # What each Snakemake does before it looks for jobs; one is started for every job on a cluster.
    before = cost(folder, "snakemake", "--list-rules")
    planned = cost(folder, "snakemake", "--dry-run", "--quiet", "rules", "reason", "--", STUDY)
    count = re.search(r"^total +(\d+)$", planned.printed, re.MULTILINE)[1]
    print(f"{problems} problems, {batch} in a batch: {count} jobs, {planned.memory:.0f} MB")
    print(f"planned in {planned.elapsed:.1f} s ({planned.cpu:.1f} s of CPU)")
    print(f"of these, before the first job is looked for: {before.elapsed:.1f} s ({before.cpu:.1f} s of CPU)")
    return problems > PROBLEMS or planned.cpu <= LIMIT


# Seconds of every stage: one factor at a time grows from a usual setting.
USUAL = {"n": 200, "k": 5, "horizon": 20000, "seeds": 8, "instances": 5, "components": 24, "draws": 0}
GROWN = [{}, {"n": 800}, {"n": 1500}, {"k": 10}, {"k": 20}, {"horizon": 100000}, {"seeds": 32}, {"instances": 30}]
METHODS = ["random", "linucb_full", "graphdr", "laplacian_linucb"]
TINY = USUAL | {"n": 60, "horizon": 400, "seeds": 2, "instances": 1, "checkpoint": 200}
LARGEST_DENSE = 800  # nodes; beyond, the method that updates an n by n matrix takes minutes


def _plan(config: dict, setting: dict, method: str) -> design.Design:
    """Return the plan of one problem and method."""
    spec = {"problems": {"of": ["sbm"], "set": setting}, "methods": [method], "facts": ["zeta", "k_hat_bootstrap"]}
    shown = {block: {} for block in ("tables", "figures", "claims", "evaluations", "simulated_papers")}
    return design.expand(config | shown | {"experiments": {STUDY: spec}})


def show_costs(folder: Path, config: dict, usual: dict = USUAL, changes: list[dict] = GROWN) -> None:
    """Run every stage at every setting by itself, and print CPU seconds and peak memory."""
    print("| setting | stage | edges | CPU s | MB |\n|---|---|---:|---:|---:|")
    for number, grown in enumerate(changes):
        setting = usual | grown
        played = [method for method in METHODS if method != "laplacian_linucb" or setting["n"] <= LARGEST_DENSE]
        plans = {method: _plan(config, setting, method) for method in played}
        planned = plans[played[0]]
        (graph,) = planned.graphs
        work = folder / str(number)
        work.mkdir(parents=True)
        steps = [("build_graph", planned, {"graph": graph})]
        steps += [("compute_basis", planned, {"graph": graph, "basis": "laplacian_low"})]
        steps += [(stage, planned, {"batch": STUDY}) for stage in ("pose_problem", "describe_problem")]
        steps += [("run_bandit", plans[method], {"batch": STUDY, "kind": "plain"}) for method in played]
        for stage, plan, keys in steps:
            used = cost(work, "graphdr", stage, "none", jobs.JOBS[stage](plan, **keys).as_json())
            edges = pq.read_metadata(work / paths.edges(graph)).num_rows // setting["instances"]
            name = " ".join([stage, *(plan.config.experiments[STUDY].methods if stage == "run_bandit" else ())])
            said = ", ".join(f"{factor} {value}" for factor, value in grown.items()) or "usual"
            print(f"| {said} | {name} | {edges} | {used.cpu:.2f} | {used.memory:.0f} |", flush=True)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_design", description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=PROBLEMS, help="at least as many problems")
    parser.add_argument("--batch", type=int, default=8, help="problems that one job computes")
    parser.add_argument("--keep", type=Path, help="lay out the study in this folder and leave it there")
    parser.add_argument("--costs", action="store_true", help="measure the stages instead")
    parser.add_argument("--tiny", action="store_true", help="plan 50 problems, and measure the stages on a small one")
    arguments = parser.parse_args()
    config = configuration.load(ROOT / "config.yaml").plain()
    problems = 50 if arguments.tiny else arguments.problems
    with tempfile.TemporaryDirectory() as name:
        folder = arguments.keep or Path(name) / "study"
        if arguments.costs:
            show_costs(folder, config)
            return 0
        lay_out(folder, large_config(config, problems, arguments.batch))
        if not show_plan(folder, problems, arguments.batch):
            print(f"error: more than {LIMIT} s of CPU", file=sys.stderr)
            return 1
        if arguments.tiny:
            show_costs(Path(name) / "stages", config, TINY, [{}])
    return 0


if __name__ == "__main__":
    sys.exit(main())
