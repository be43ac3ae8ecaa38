"""Run the workflow on SLURM: the files of a local run, even if jobs or Snakemake are killed, and clear errors."""

import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.slurm import cluster
from tests.support.background import Run, fail, kill_stage, no_run_left, same_files, succeed
from tests.support.project import ROOT, lay_out

PROFILE = ("--printshellcmds", "--profile", "workflow/profiles/slurm")  # Snakemake says all, job by job
SLURM_COMMANDS = ("sbatch", "squeue", "scancel", "sinfo", "scontrol", "sacct", "sacctmgr", "srun")


def main(long: bool = True) -> None:
    """Start a cluster, run all checks (without the longest one, if so asked), stop it whatever happens."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit("error: stopped by a signal"))
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="graphdr-slurm-") as place:
        folder = Path(place)
        folder.chmod(0o755)  # munge refuses folders that others cannot enter
        with cluster.running(folder / "cluster") as environment, no_run_left():
            check("tiny configuration, one job cancelled and one killed", killed_jobs, folder / "tiny", environment)
            if long:
                name = "synthetic half, Snakemake killed and resumed"
                check(name, killed_snakemake, folder / "synthetic", environment)
            check("unknown partition", unknown_partition, folder / "partition", environment)
            check("no SLURM", no_slurm, folder / "none", environment)
        check("SLURM that does not answer", no_answer, folder / "silent", environment)
    print(f"SLURM: all checks passed in {time.monotonic() - begin:.0f} s")


def check(name: str, function: Callable, folder: Path, environment: dict[str, str]) -> None:
    """Run one check in a folder of its own and say how long it took."""
    begin = time.monotonic()
    folder.mkdir()
    said = function(folder, environment)
    print(f"ok: {name}: {said} ({time.monotonic() - begin:.0f} s)", flush=True)


def killed_jobs(folder: Path, environment: dict[str, str]) -> str:
    """Cancel one SLURM job and kill one stage with -9: both are tried again, and the files are those of a local run."""
    local, remote = lay_out(folder / "local"), lay_out(folder / "slurm")
    succeed(Run(local, "--cores", "2", environment=environment))
    run = Run(remote, *PROFILE, environment=environment)
    run.watch(lambda: cancel_one(environment), "a job was cancelled")
    run.watch(lambda: kill_stage(remote, "run_bandit"), "a stage was killed")
    succeed(run)
    if run.retried < 2:
        fail(f"two jobs were killed, but {run.retried} tried again", run)
    return f"{same_files(local, remote)}, {submitted(run)} SLURM jobs, {run.retried} tried again"


def killed_snakemake(folder: Path, environment: dict[str, str]) -> str:
    """Kill Snakemake itself with -9: two commands resume it, and what was finished is not run again."""
    local, remote = (lay_out(folder / name) for name in ("local", "slurm"))
    for checkout in (local, remote):
        shutil.copy(ROOT / "config.yaml", checkout)
    succeed(Run(local, "--cores", "2", "synthetic", environment=environment))
    begin = time.monotonic()
    killed = Run(remote, *PROFILE, "synthetic", environment=environment)
    killed.watch(lambda: is_amid(killed, environment), "Snakemake was killed")
    killed.process.kill()
    killed.process.wait()
    finished = {path: (remote / path).stat().st_mtime_ns for path in finished_files(killed)}
    unlocked = Run(remote, "--unlock", environment=environment)
    succeed(unlocked)
    if "Cancelling SLURM jobs" not in unlocked.printed:
        fail("no SLURM job of the killed run was cancelled", unlocked)
    resumed = Run(remote, *PROFILE, "synthetic", environment=environment)
    succeed(resumed)
    again = [path for path, built in finished.items() if (remote / path).stat().st_mtime_ns != built]
    if again:
        fail(f"finished, but run again after the restart: {again}", resumed)
    jobs = submitted(killed) + submitted(resumed)
    took = time.monotonic() - begin
    return f"{same_files(local, remote)}, {len(finished)} of them kept, {jobs} SLURM jobs in {took:.0f} s"


def unknown_partition(folder: Path, environment: dict[str, str]) -> str:
    """Name a partition that does not exist at the top of the profile."""
    profile = lay_out(folder / "slurm") / "workflow/profiles/slurm/config.yaml"
    text, named = re.subn(r"^  # slurm_partition: \w+", "  slurm_partition: nosuch", profile.read_text(), flags=re.M)
    if named != 1:
        raise SystemExit(f"error: {profile}: no line for the partition")
    profile.write_text(text)
    return one_line(folder / "slurm", environment, "error: SLURM refuses jobs of ")


def no_slurm(folder: Path, environment: dict[str, str]) -> str:
    """Hide SLURM's commands."""
    commands = folder / "bin"
    commands.mkdir()
    for path in Path("/usr/bin").iterdir():
        if path.name not in SLURM_COMMANDS:
            (commands / path.name).symlink_to(path)
    hidden = environment | {"PATH": str(commands)}
    return one_line(lay_out(folder / "slurm"), hidden, "error: no SLURM here: ")


def no_answer(folder: Path, environment: dict[str, str]) -> str:
    """Ask a cluster whose daemons have ended."""
    return one_line(lay_out(folder / "slurm"), environment, "error: SLURM does not answer: ")


# What the checks are made of


def one_line(checkout: Path, environment: dict[str, str], start: str) -> str:
    """Check that a run fails with one line that starts as expected, submits nothing and shows no traceback."""
    run = Run(checkout, *PROFILE, environment=environment)
    code, lines = run.wait(), run.printed.splitlines()
    if code == 0 or not lines[-1].startswith(start) or "Traceback" in run.printed or submitted(run):
        fail(f"expected a last line that starts with {start!r}", run)
    return lines[-1]


def submitted(run: Run) -> int:
    return run.printed.count("has been submitted with SLURM jobid")


def cancel_one(environment: dict[str, str]) -> bool:
    """Cancel the first running SLURM job, if there is one."""
    jobs = cluster.ask(environment, "squeue", "--noheader", "--states=R", "--format=%A").split()
    if jobs:
        time.sleep(2)  # amid its work
        cluster.ask(environment, "scancel", jobs[0])
    return bool(jobs)


def is_amid(run: Run, environment: dict[str, str]) -> bool:
    """Tell whether a batch is finished while another one is running."""
    time.sleep(0.5)
    running = cluster.ask(environment, "squeue", "--noheader", "--states=R")
    return "(Rule: measure_batch)" in run.printed and bool(running)


def finished_files(run: Run) -> list[str]:
    """Return the outputs of the jobs that Snakemake reported as finished."""
    numbers = set(re.findall(r"^Finished jobid: (\d+) ", run.printed, re.MULTILINE))
    blocks = re.findall(r"^ *output: (.+)\n(?:(?! *jobid: ).+\n)* *jobid: (\d+)$", run.printed, re.MULTILINE)
    return [path for files, number in blocks if number in numbers for path in files.split(", ")]


if __name__ == "__main__":
    try:
        main(long="--short" not in sys.argv)
    except cluster.NotStarted as error:
        if "--short" not in sys.argv:
            sys.exit(str(error))
        print(f"skipped: SLURM is installed, but does not start here ({str(error).removeprefix('error: ')})")
