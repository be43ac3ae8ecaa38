"""Calls of Snakemake in the background, to be watched, disturbed and compared."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.project import hashes

LONGEST = 1800  # seconds that any call of Snakemake may take
RUNS: list["Run"] = []


class Run:
    """A call of Snakemake in a checkout, in the background, with all that it prints."""

    def __init__(self, folder: Path, *arguments: str, environment: Mapping[str, str], longest: int = LONGEST):
        self.log = folder / f"run-{time.monotonic_ns()}.txt"
        with open(self.log, "w") as stream:
            command = [sys.executable, "-m", "snakemake", *arguments]
            self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=stream, stderr=stream)
        self.longest, self.end = longest, time.monotonic() + longest
        RUNS.append(self)

    @property
    def printed(self) -> str:
        return self.log.read_text(errors="replace")

    @property
    def retried(self) -> int:
        """Return how many jobs were submitted once more."""
        return sum(line.startswith("Trying to restart job") for line in self.printed.splitlines())

    def is_over(self) -> bool:
        """Tell whether it has ended; one that takes too long is ended."""
        if time.monotonic() > self.end:
            self.process.kill()
            fail(f"no end after {self.longest} s", self)
        return self.process.poll() is not None

    def wait(self) -> int:
        """Wait for the end and return the exit code."""
        while not self.is_over():
            time.sleep(0.5)
        return self.process.returncode

    def watch(self, act: Callable[[], bool], what: str) -> None:
        """Call a function again and again until it has done its work, which must be before the run ends."""
        while not act():
            if self.is_over():
                fail(f"the run ended before {what}", self)
            time.sleep(0.02)


@contextmanager
def no_run_left() -> Iterator[None]:
    """End every Snakemake that still runs when a check fails."""
    try:
        yield
    finally:
        for run in RUNS:
            run.process.kill()
            run.process.wait()


def fail(what: str, run: Run) -> None:
    """End with one line, after what Snakemake printed last."""
    print("\n".join(run.printed.splitlines()[-60:]))
    raise SystemExit(f"error: {what}")


def succeed(run: Run) -> None:
    """Wait for the end, which must be a good one."""
    if run.wait():
        fail(f"snakemake {' '.join(run.process.args[3:])} ended with code {run.process.returncode}", run)


def same_files(local: Path, remote: Path) -> str:
    """Compare the digests of all that was built, in either checkout, and the files with their digests."""
    if names := different(local, remote):
        raise SystemExit(f"error: not the same in {local.name} and in {remote.name}: {', '.join(names)}")
    verify = [sys.executable, "-m", "graphdr", "verify"]
    done = subprocess.run(verify, cwd=remote, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: {done.stdout}")
    return f"{len(hashes(remote))} files as locally"


def different(one: Path, other: Path) -> list[str]:
    """Return the files that two checkouts do not share byte by byte; a page shows the times of its own build."""
    here, there = hashes(one), hashes(other)
    names = {name for name in here.keys() & there.keys() if here[name] != there[name] and not name.endswith(".html")}
    return sorted(names | here.keys() ^ there.keys())


def kill_stage(checkout: Path, stage: str) -> bool:
    """Kill a process that runs a stage in a checkout, if there is one."""
    for process, words in stages(checkout):
        if words[3] == stage:
            os.kill(process, signal.SIGKILL)
            return True
    return False


def stages(checkout: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the processes that run a stage in a checkout, with their command lines."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it ended just now
            words = (folder / "cmdline").read_text().split("\0")
            if words[1:3] == ["-m", "graphdr"] and (folder / "cwd").resolve() == checkout.resolve():
                yield int(folder.name), words
