"""``python -m trust.soak``: the synthetic half again and again in fresh folders; nothing changes, grows or is left."""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from trust.checkout import ROOT, command, contents, environment, lay_out, workshop

ALLOWED_GROWTH = 1.1  # of the largest process, from the second run to the last
LOCK = "graphdr-kernels-"  # one file a user and copy of the package, so that kernels are compiled once: it stays


def lay_out_whole(folder: Path) -> Path:
    """Lay out a checkout with the configuration of the repository and no raw files."""
    lay_out(folder)
    shutil.copy(ROOT / "config.yaml", folder)
    return folder


def open_files() -> int:
    """Count the open files of this process."""
    return len(os.listdir("/proc/self/fd"))


def build(folder: Path, env: dict[str, str], target: str) -> int:
    """Build a target; return the bytes of memory that the largest process had, be it Snakemake or a job."""
    with (folder / "said.txt").open("w+", encoding="utf-8") as said:
        child = subprocess.Popen(command("--", target), cwd=folder, env=env, stdout=said, stderr=said)
        _, code, used = os.wait4(child.pid, 0)
        if code:
            said.seek(0)
            sys.exit(f"error: the build failed\n{''.join(said.readlines()[-30:])}")
    return used.ru_maxrss * 1024


def left_in(folder: Path) -> set[str]:
    """Return what is in the temporary folder, the lock of the kernels aside."""
    return {path.name for path in folder.iterdir() if not path.name.startswith(LOCK)}


def main(arguments: list[str] | None = None) -> int:
    """Build again and again; the exit code is 1 if a run differs from the first or leaves something."""
    parser = argparse.ArgumentParser(prog="trust.soak", description=__doc__)
    parser.add_argument("--runs", type=int, help="by default 20")
    parser.add_argument(
        "--tiny", action="store_true", help="the tiny configuration instead of the synthetic half, by default twice"
    )
    given = parser.parse_args(arguments)
    runs = given.runs or (2 if given.tiny else 20)
    wrong, seen = [], []
    with workshop() as shop:
        (temporary := shop / "tmp").mkdir()
        env = environment(shop, TMPDIR=str(temporary))
        for run in range(1, runs + 1):
            begin, folder = time.monotonic(), shop / "run"
            (lay_out if given.tiny else lay_out_whole)(folder)
            largest = build(folder, env, "synthetic" if not given.tiny else "all")
            found, left = contents(folder), left_in(temporary)
            shutil.rmtree(folder)
            seen.append((found, open_files(), largest))
            wrong += [f"run {run}: {name} differs" for name in found if found[name] != seen[0][0].get(name)]
            wrong += [f"run {run}: {len(found)} files, the first had {len(seen[0][0])}"] * (
                len(found) != len(seen[0][0])
            )
            wrong += [f"run {run}: left in the temporary folder: {name}" for name in sorted(left)]
            text = f"{len(found)} files, {seen[-1][1]} open, {largest / 1e6:.0f} MB at most, {len(left)} left"
            print(f"run {run}: {text}, {time.monotonic() - begin:.0f} s", flush=True)
    if len(seen) > 2:
        wrong += [f"open files grew from {seen[1][1]} to {seen[-1][1]}"] * (seen[-1][1] > seen[1][1])
        wrong += [f"memory grew from {seen[1][2]} to {seen[-1][2]}"] * (seen[-1][2] > ALLOWED_GROWTH * seen[1][2])
    for text in wrong:
        print(f"WRONG: {text}")
    print(f"{len(seen)} runs: {'all the same, nothing left behind' if not wrong else f'{len(wrong)} WRONG'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
