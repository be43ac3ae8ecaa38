"""``python -m trust.trials``: run every benchmark and every trial at a tiny size, so that none stops working unseen."""

import argparse
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from benchmarks.sections import SECTIONS
from trust.checkout import ROOT

TINY = "--tiny"
RUN = '\nif __name__ == "__main__":\n'  # where a program begins
PEERS = "benchmarks.peers"  # runs in the environment of the peers
SHOWN = 40  # lines of what a trial that fails has printed


class Ended(NamedTuple):
    """How a trial ended: its exit code, its seconds, and what it printed."""

    code: int
    seconds: float
    printed: str


def programs() -> list[str]:
    """Return the modules of trust/ and benchmarks/ that can be run, but for those that a section or this one starts."""
    own = {f"benchmarks.{section.module}" for section in SECTIONS.values()} | {PEERS, "trust.trials"}
    paths = [path for folder in ("trust", "benchmarks") for path in sorted((ROOT / folder).glob("[!_]*.py"))]
    names = [f"{path.parent.name}.{path.stem}" for path in paths if RUN in path.read_text(encoding="utf-8")]
    return [name for name in names if name not in own]


def trials() -> dict[str, list[str]]:
    """Return the command of every trial, by its name."""
    found = {name: [name, TINY] for name in programs()}
    return found | {f"benchmarks {section}": ["benchmarks", TINY, section] for section in SECTIONS}


def run(module: str, *arguments: str) -> Ended:
    """Run a module to its end."""
    begin = time.monotonic()
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
    return Ended(done.returncode, time.monotonic() - begin, done.stdout)


def report(name: str, ended: Ended) -> None:
    """Print a line about a trial, what it skipped, and the end of what it printed if it failed."""
    lines = ended.printed.splitlines()
    print(f"{name}: {'FAILED after ' if ended.code else ''}{ended.seconds:.0f} s", flush=True)
    for line in lines[-SHOWN:] if ended.code else [line for line in lines if "skipped" in line]:
        print(f"  {line}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run all trials, or those whose names hold a word; the exit code is 1 if one fails."""
    parser = argparse.ArgumentParser(prog="python -m trust.trials", description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="trials whose name holds this word")
    parser.add_argument("--workers", type=int, default=2, help="trials that run at once")
    asked = parser.parse_args(arguments)
    chosen = {name: command for name, command in trials().items() if asked.only in name}
    if not chosen:
        parser.error(f"no trial has {asked.only!r} in its name; there are: {', '.join(trials())}")
    begin, failed = time.monotonic(), []
    with ThreadPoolExecutor(asked.workers) as pool:
        ends = {name: pool.submit(run, *command) for name, command in chosen.items()}
        for name, end in ends.items():
            report(name, end.result())
            failed += [name] if end.result().code else []
    print(
        f"{len(chosen)} trials in {time.monotonic() - begin:.0f} s, {len(failed)} failed{': ' * bool(failed)}", end=""
    )
    print(", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
