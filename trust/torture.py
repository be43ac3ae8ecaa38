"""``python -m trust.torture``: kills, damaged files, a full disk, a closed folder and two builds at once."""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphdr.cli import integrity
from trust import flips, kills
from trust.checkout import command, contents, environment, last_lines, lay_out, snakemake, workshop


def full_disk(folder: Path, env: dict, expected: dict[str, str]) -> list[str]:
    """Let the disk fill while runs are written: one clear line, and after room was made a clean resume."""
    with mounted(folder / "results" / "runs", "size=8k"):
        done = snakemake(folder, env, *kills.everything(expected))
    return _refused(done, "error: .*No space left on device") + kills.resumed(folder, env, expected)


def closed_folder(folder: Path, env: dict, expected: dict[str, str]) -> list[str]:
    """Let tables not be written: one clear line, and after the folder was opened a clean resume."""
    shutil.rmtree(folder / "results" / "tables", ignore_errors=True)
    with mounted(folder / "results" / "tables", "size=8k,ro"):
        done = snakemake(folder, env, *kills.everything(expected))
    return _refused(done, ".*Read-only file system.*results/tables") + kills.resumed(folder, env, expected)


def _refused(done: subprocess.CompletedProcess, pattern: str) -> list[str]:
    """Return what is wrong if no line, be it of the stage or of Snakemake itself, says why a build failed."""
    if done.returncode == 0 or not re.search(f"^{pattern}", done.stderr, re.M):
        return [f"no line says {pattern!r}: {last_lines(done, 6)}"]
    return []


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """Mount a small disk in memory on a folder, which is empty before and after."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def can_mount(shop: Path) -> bool:
    """Tell whether this user may mount a disk."""
    try:
        with mounted(shop / "mount", "size=8k"):
            return os.geteuid() == 0
    except (OSError, subprocess.CalledProcessError):
        return False


def two_at_once(folder: Path, env: dict, expected: dict[str, str]) -> list[str]:
    """Start a second build while one is under way: it says so and ends, the first goes on.

    Snakemake looks at the files before it looks at the lock: it may find that one is just being replaced.
    """
    shutil.rmtree(folder / "results" / "runs")
    build, quiet = command(*kills.everything(expected)), subprocess.DEVNULL
    first = subprocess.Popen(build, cwd=folder, env=env, stdout=quiet, stderr=quiet)
    while first.poll() is None and not any((folder / ".snakemake" / "locks").glob("*")):
        time.sleep(0.02)
    second = snakemake(folder, env)
    code = first.wait()
    said = second.stdout + second.stderr
    told = "lock" in said.lower() or "a concurrent process" in said
    wrong = [] if second.returncode and told else [f"the second did not say so: {last_lines(second)}"]
    wrong += [f"the first ended with {code}"] if code else []
    return wrong + kills.resumed(folder, env, expected)


def leftovers(folder: Path) -> list[str]:
    """Delete what killed jobs left behind, as verify says; return what is wrong besides."""
    found = integrity.findings(str(folder))
    for finding in found:
        if finding.kind == "leftover":
            (folder / finding.path).unlink()
    print(f"{sum(finding.kind == 'leftover' for finding in found)} leftovers of killed jobs, all named by verify")
    return [f"{finding.path}: {finding.problem}" for finding in integrity.findings(str(folder))]


def main(arguments: list[str] | None = None) -> int:
    """Do all of it; the exit code is 1 if anything was lost or went unseen."""
    parser = argparse.ArgumentParser(prog="trust.torture", description=__doc__)
    parser.add_argument("--kills", type=int, help="by default 100")
    parser.add_argument("--flips", type=int, help="damaged files, by default 1,000")
    parser.add_argument("--minutes", type=float, default=60, help="no new kill or flip is begun after so long")
    parser.add_argument("--seed", type=int, help="of the random choices (default: a new one, which is printed)")
    parser.add_argument("--tiny", action="store_true", help="by default a kill and 20 damaged files")
    given = parser.parse_args(arguments)
    kill_count, flip_count = (1, 20) if given.tiny else (100, 1000)
    kill_count = kill_count if given.kills is None else given.kills
    flip_count = flip_count if given.flips is None else given.flips
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    rng, begin = random.Random(seed), time.monotonic()
    print(f"seed {seed}: {kill_count:,} kills, {flip_count:,} damaged files", flush=True)
    until, wrong = begin + 60 * given.minutes, []

    def note(what: str, found: list[str]) -> None:
        print(
            f"{what}: {'fine' if not found else f'{len(found)} wrong'} after {time.monotonic() - begin:.0f} s",
            flush=True,
        )
        wrong.extend(f"{what}: {text}" for text in found)

    with workshop() as shop:
        (mirror := shop / "mirror").mkdir()
        folder = lay_out(shop / "undisturbed", with_films=True)
        shutil.move(folder / "data/raw/films/films.inter", mirror)  # fetched from there, its hashes are recorded
        env = environment(shop, GRAPHDR_MIRROR=str(mirror))
        done = snakemake(folder, env)
        if done.returncode:
            sys.exit(f"error: the undisturbed build failed\n{last_lines(done)}")
        expected = contents(folder)
        tally, unseen = flips.torture(folder, flip_count, until, rng)
        note(f"{sum(tally.values())} damaged files {tally}", unseen)
        other = shutil.copytree(folder, shop / "disturbed", symlinks=True)
        note("two builds at once", two_at_once(other, env, expected))
        if can_mount(shop):
            note("a full disk", full_disk(other, env, expected))
            note("a closed folder", closed_folder(other, env, expected))
        else:
            print("a full disk, a closed folder: skipped (only root can mount a small disk)")
        done = kills.torture(other, env, expected, kill_count, until, rng)
        note(f"{sum(done.kills.values())} kills {done.kills}, {done.late} more came too late", done.wrong)
        note("what is left behind", leftovers(other))
    counts = {"kills": (sum(done.kills.values()), kill_count), "damaged files": (sum(tally.values()), flip_count)}
    wrong += [f"time ran out after {had} of {asked} {what}" for what, (had, asked) in counts.items() if had < asked]
    for text in wrong:
        print(f"WRONG: {text}")
    did = ", ".join(f"{had:,} {what}" for what, (had, _) in counts.items())
    print(f"seed {seed}: {did}: {'nothing lost, nothing unseen' if not wrong else f'{len(wrong)} WRONG'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
