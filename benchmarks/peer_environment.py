"""Install the peers in an environment of their own and race them against our kernel."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks import kernels, peers
from benchmarks.report import FOLDER, Row
from benchmarks.sections import TINY
from benchmarks.timing import race, say

VENV = FOLDER / ".peers-venv"
PYTHON = VENV / "bin" / "python"
SETTING = f"k={peers.K} n={peers.N} m={peers.M}"
SECTION = "peers"
PATIENCE = 600  # seconds for one install or for all measurements


def first_line(text: str) -> str:
    """Return the first line that is not a warning; of a traceback the last one, which names the error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if not line.lower().startswith(("warning", "[notice]"))]
    if not telling:
        return "no message"
    return telling[-1] if telling[0].startswith("Traceback") else telling[0]


def attempt(*command: str | Path) -> tuple[str, str | None]:
    """Run a command; return what it printed and, if it failed, the first line of its error."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error).splitlines()[0]
    return done.stdout, first_line(done.stderr) if done.returncode else None


def install(packages: list[str]) -> dict[str, str]:
    """Create the environment if it is missing and install each package alone; return the errors by package."""
    if not PYTHON.exists():
        print(f"Setting up the peers in {VENV} …", flush=True)
        _, error = attempt(sys.executable, "-m", "venv", VENV)
        if error:
            return dict.fromkeys(packages, error)
    pip = (PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    errors = {package: attempt(*pip, package)[1] for package in packages}
    return {package: error for package, error in errors.items() if error}


def play(name: str) -> dict:
    """Measure one peer in a process of its environment."""
    printed, error = attempt(PYTHON, "-m", "benchmarks.peers", name)
    if error:
        return {"name": name, "microseconds": None, "note": f"failed: {error}"}
    return json.loads(printed[printed.index("[{") :])[0]


def measure(size: str) -> list[Row]:
    """Race ours and every peer in turns of processes; a peer that cannot be had is reported, not raised.

    At the tiny size, which is there to find what is broken, a peer that fails ends the section with an error. Without a
    package index no peer can be installed, and the section is skipped.
    """
    packages = sorted({package for package, _ in peers.PEERS.values()})
    errors = install(packages)
    if size == TINY and len(errors) == len(packages):
        print(f"peers: skipped, none of {', '.join(packages)} can be installed here ({errors[packages[0]]})")
        return []
    ours = [kernels.ours_of(kernels.pose(peers.N, peers.K, peers.M, kernels.Size().rounds))]
    best, found = float("inf"), []
    for name, (package, _) in peers.PEERS.items():
        best = min(best, 1e6 * race(ours)["ours"])
        say(f"peers: {name}")
        missing = {"name": name, "microseconds": None, "note": f"does not install: {errors.get(package)}"}
        found.append(missing if package in errors else play(name))
    if size == TINY and (failed := [peer for peer in found if peer["microseconds"] is None]):
        raise SystemExit("\n".join(f"error: {peer['name']}: {peer['note']}" for peer in failed))
    rows = [Row(SECTION, "ours", SETTING, best, 1.0)]
    for peer in found:
        time = peer["microseconds"]
        rows.append(Row(SECTION, peer["name"], SETTING, time, time and time / best, note=peer["note"]))
    return rows
