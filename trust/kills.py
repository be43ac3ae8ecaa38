"""Kill jobs, Snakemake, or all of them at random moments, and resume as docs/running.md says."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from trust.checkout import command, contents, files, last_lines, snakemake

WHOM = ("job", "snakemake", "all")
SIGNALS = (signal.SIGTERM, signal.SIGKILL)
CHECK_EVERY = 5  # kills: every resume but the fifth is killed as well, the fifth is left to finish and compared
WORK = 8  # files deleted before each
PATIENCE = 120  # seconds until a Snakemake that was asked to end counts as stuck
REFUSALS = ("LockException", "IncompleteFilesException", "Error: Directory cannot be locked")


class Tally(NamedTuple):
    """What happened: kills by whom and signal, those that came too late, and what was wrong."""

    kills: dict[str, int]
    late: int
    wrong: list[str]


def torture(
    folder: Path, env: dict, expected: dict[str, str], count: int, until: float, rng: random.Random, work: int = WORK
) -> Tally:
    """Kill so many times, or until the clock says so; resume after each, compare after some.

    ``work`` files are deleted before each, so that there is something to kill.
    """
    kills, late, wrong, done = {}, 0, [], 0
    while done < count and time.monotonic() < until and not wrong:
        whom, how = rng.choice(WHOM), rng.choice(SIGNALS)
        _delete_some(folder, work, rng)
        unlock(folder, env)
        hit, said = _run_and_kill(folder, env, everything(expected), (whom, how), rng)
        if refused := [word for word in REFUSALS if word in said]:
            wrong.append(f"kill {done + 1}: the resume was refused ({refused[0]})")
        if not hit:
            late += 1
            continue
        done += 1
        kills[f"{whom} {how.name}"] = kills.get(f"{whom} {how.name}", 0) + 1
        if done % CHECK_EVERY == 0:
            wrong += resumed(folder, env, expected)
            print(f"{done} kills, {late} too late, {'fine' if not wrong else wrong[-1]}", flush=True)
    if done % CHECK_EVERY:
        wrong += resumed(folder, env, expected)
    return Tally(kills, late, wrong)


def everything(expected: dict[str, str]) -> list[str]:
    """Return the targets that rebuild every file: by itself, Snakemake leaves out what is only needed on the way."""
    return ["--", "all", *sorted(name for name in expected if not name.startswith("data/raw/"))]


def unlock(folder: Path, env: dict) -> None:
    """Do what docs/running.md says after Snakemake itself was killed."""
    if any((folder / ".snakemake" / "locks").glob("*")):
        snakemake(folder, env, "--unlock")


def resumed(folder: Path, env: dict, expected: dict[str, str]) -> list[str]:
    """Resume, let it finish, and return what differs from the undisturbed build."""
    unlock(folder, env)
    done = snakemake(folder, env, *everything(expected))
    if done.returncode:
        return [f"the resume failed: {last_lines(done, 6)}"]
    found = contents(folder)
    found = {name: text for name, text in found.items() if not name.endswith(".tmp")}  # verify names these
    differing = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
    return [f"differs after the resume: {name}" for name in differing]


def _delete_some(folder: Path, count: int, rng: random.Random) -> None:
    built = [name for name in files(folder) if not name.startswith("data/")]
    for name in rng.sample(built, k=min(len(built), count)):
        (folder / name).unlink()


def _run_and_kill(folder: Path, env: dict, targets: list[str], kill: tuple, rng: random.Random) -> tuple[bool, str]:
    """Start Snakemake, kill at a random moment, wait for its end; tell whether anything was there to kill."""
    log = folder / ".said"
    with log.open("w") as stream:
        child = subprocess.Popen(
            command(*targets), cwd=folder, env=env, stdout=stream, stderr=stream, start_new_session=True
        )
        hit = _kill(child, *kill, rng)
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    return hit, log.read_text(errors="replace")


def _kill(child: subprocess.Popen, whom: str, how: signal.Signals, rng: random.Random) -> bool:
    """Wait for a random moment, mostly one with jobs under way, and send the signal."""
    if whom == "job" or rng.random() < 0.7:
        while child.poll() is None and not jobs_of(child.pid):
            time.sleep(0.02)
        time.sleep(rng.choice([0, 0.1, 1]) * rng.random())
    else:
        time.sleep(4 * rng.random())
    if child.poll() is not None:
        return False
    victims = jobs_of(child.pid) if whom == "job" else []
    if whom == "job" and not victims:
        return False
    try:
        if whom == "all":
            os.killpg(child.pid, how)
        else:
            os.kill(rng.choice(victims) if victims else child.pid, how)
    except ProcessLookupError:
        return False
    return True


def jobs_of(session: int) -> list[int]:
    """Return the processes of a session that run a stage."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                _, parent, _, own, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
            except (OSError, IndexError, ValueError):
                continue
            alone = words[1:3] == [b"-m", b"graphdr"]
            forked = words[1:3] == [b"-m", b"graphdr.core.forks"] and int(parent) != session  # the server is no job
            client = any(word.endswith(b"fork_client.py") for word in words[2:3])
            if int(own) == session and (alone or forked or client):
                found.append(int(entry.name))
    return found
