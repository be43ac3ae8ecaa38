"""Run the workflow through a queue of two workers, one of them killed: the files of a local run, and the cost."""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from benchmarks import large_design
from graphdr.plan import config as configuration
from tests.queue import spool
from tests.support.background import Run, fail, no_run_left, same_files, succeed
from tests.support.project import ROOT, lay_out

PYTHON = [sys.executable, "-I", spool.__file__]
PROFILE = "workflow/profiles/cluster-generic"
WORKERS = 2
AMID = 2  # jobs that have ended when a worker is killed


@contextmanager
def worker(folder: Path) -> Iterator[subprocess.Popen]:
    """Start a worker; it ends with all that it runs."""
    process = subprocess.Popen([*PYTHON, "work", str(folder)], start_new_session=True)
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen) -> None:
    """Kill a worker with its job, as a node that fails does."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def options(folder: Path) -> list[str]:
    """Return the options for a queue in place of PBS: the three commands of the profile, and nothing to wait for."""
    commands = {
        "submit": [*PYTHON, "submit", str(folder), "{resources.mem_mb}", "{resources.runtime}"],
        "status": [*PYTHON, "status", str(folder)],
    }
    given = [word for name, words in commands.items() for word in (f"--cluster-generic-{name}-cmd", shlex.join(words))]
    cancel = folder / "cancel"  # the plugin runs it without a shell: a program, without words of its own
    cancel.write_text(f'#!/bin/sh\nexec {shlex.join([*PYTHON, "cancel", str(folder)])} "$@"\n')
    cancel.chmod(0o755)
    fast = ["--seconds-between-status-checks", "2", "--latency-wait", "5"]
    return ["--profile", PROFILE, *given, "--cluster-generic-cancel-cmd", str(cancel), *fast]


def through_queue(checkout: Path, folder: Path, target: str, longest: int) -> Run:
    """Build with two workers, of which one is killed amid a job and another one takes its place."""
    (folder / spool.RUNNING).mkdir(parents=True)
    with ExitStack() as stack:
        workers = [stack.enter_context(worker(folder)) for _ in range(WORKERS)]
        run = Run(checkout, *options(folder), "--", target, environment=os.environ, longest=longest)
        run.watch(lambda: len(spool.records(folder)) >= AMID and kill_at_work(folder, workers[0]), "a kill")
        stack.enter_context(worker(folder))
        succeed(run)
    return run


def kill_at_work(folder: Path, process: subprocess.Popen) -> bool:
    """Kill a worker if it runs a job; return whether it did. Stop it first, so that the job cannot end meanwhile."""
    os.killpg(process.pid, signal.SIGSTOP)
    jobs = [path.stem for path in (folder / spool.RUNNING).glob(f"*.{process.pid}")]
    if any(not (folder / spool.DONE / job).exists() for job in jobs):
        kill(process)
        return True
    os.killpg(process.pid, signal.SIGCONT)
    return False


def cost(jobs: list[dict], elapsed: float, others: float) -> str:
    """Say what the jobs took, how long they waited, and what all else took: Snakemake, submissions and questions."""
    cpu = sorted(job["cpu"] for job in jobs)
    took = [job["ended"] - job["started"] for job in jobs]
    waited = [job["started"] - job["submitted"] for job in jobs]
    minutes = sorted(job["minutes"] for job in jobs)
    lines = (
        f"through the queue: {len(jobs)} jobs, {elapsed:.0f} s elapsed",
        f"CPU of a job {median(cpu):.1f} s (median), at most {cpu[-1]:.1f}, of all {sum(cpu):.0f}, else {others:.0f}",
        f"a job waited {median(waited):.1f} s and ran for {median(took):.1f} s (medians), at most {max(took):.1f} s",
        f"asked for {minutes[0]} to {minutes[-1]} minutes; took at most {max(job['peak_mb'] for job in jobs):.0f} MB",
    )
    return "\n  ".join(lines)


def children() -> float:
    """Return the CPU seconds of all processes that have ended below this one."""
    times = os.times()
    return times.children_user + times.children_system


def check(folder: Path, config: dict | None, target: str, longest: int) -> str:
    """Build through the queue and locally; return what was compared, and print what it took."""
    local, remote = folder / "local", folder / "queue"
    for checkout in (local, remote):
        large_design.lay_out(checkout, config) if config else lay_out(checkout)
    begin, before = time.monotonic(), children()
    run = through_queue(remote, folder / "spool", target, longest)
    jobs, used = spool.records(folder / "spool"), children() - before
    print(cost(jobs, time.monotonic() - begin, used - sum(job["cpu"] for job in jobs)), flush=True)
    if not run.retried:
        fail("a worker was killed, but no job tried again", run)
    again = [job for job in jobs if "--attempt 2" in job["script"]]
    if not again or min(job["mem_mb"] for job in again) < 4000:
        fail("the job that was tried again did not ask for more", run)
    begin, before = time.monotonic(), children()
    succeed(Run(local, "--cores", "2", "--", target, environment=os.environ, longest=longest))
    print(f"locally, on two cores: {time.monotonic() - begin:.0f} s, {children() - before:.0f} s of CPU", flush=True)
    return f"{same_files(local, remote)}, {run.retried} jobs tried again"


def main() -> None:
    """Run the tiny configuration, or a study of some size."""
    parser = argparse.ArgumentParser(prog="python -m tests.queue.checks", description=__doc__)
    parser.add_argument("--problems", type=int, help="a study of so many problems in place of the tiny configuration")
    parser.add_argument("--batch", type=int, default=64, help="problems of the study that one stage computes")
    parser.add_argument("--longest", type=int, default=7200, help="seconds that a build may take")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("error: stopped by a signal"))
    config = None
    if given.problems:
        plain = configuration.load(ROOT / "config.yaml").plain()
        config = large_design.large_config(plain, given.problems, given.batch)
    with tempfile.TemporaryDirectory(prefix="graphdr-queue-") as name, no_run_left():
        target = large_design.STUDY if config else "all"
        print(f"ok: {check(Path(name), config, target, given.longest)}")


if __name__ == "__main__":
    main()
