"""``python -m trust.determinism``: the same configuration and data give the same content, however they are built."""

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from graphdr.cache import manifest
from trust.checkout import ROOT, contents, environment, last_lines, lay_out, rows, snakemake, workshop

LATE_FIRST = ("results/figures/noise.pdf", "results/runs/rgg/plain.parquet")  # what is usually built late
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
OPEN = "onehot_pca"  # a basis that depends on the build of LAPACK, hence on the wheels for a version of Python
POOLED = ("measurements", "curves", "runs")  # kinds whose files differ with the size of a batch


class Way(NamedTuple):
    """A way to build: cores, arguments of Snakemake, targets to build before the others, and the environment."""

    cores: int = 2
    arguments: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    variables: Mapping[str, str] = {}


WAYS = {
    "a second time": Way(),
    "on one core": Way(cores=1),
    "in another order": Way(1, ("--scheduler", "greedy"), LATE_FIRST),
    "with one thread a library": Way(variables=dict.fromkeys(THREADS, "1")),
    "with four threads a library": Way(variables=dict.fromkeys(THREADS, "4")),
    "with kernels compiled anew": Way(variables={"NUMBA_CACHE_DIR": "fresh"}),
}

TINY = ("in another order", "batch")


def build(shop: Path, name: str, way: Way, python: str = sys.executable) -> Path:
    """Build the tiny configuration in a way; a build that fails ends the trial."""
    folder = lay_out(shop / name.replace(" ", "_"))
    variables = {key: str(shop / value) if value.startswith("fresh") else value for key, value in way.variables.items()}
    env = environment(shop, **variables)
    for targets in ([way.before] if way.before else []) + [()]:
        done = snakemake(
            folder, env, *way.arguments, *(["--", *targets] if targets else []), cores=way.cores, python=python
        )
        if done.returncode:
            sys.exit(f"error: the build {name} failed\n{last_lines(done)}")
    return folder


def differences(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Return the files that are not in both builds, or not the same."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def unbatched(shop: Path, first: Path, expected: dict[str, str]) -> tuple[int, list[str]]:
    """Build with one problem a batch; compare tables and figures as they are, and pooled rows, whose files differ."""
    other = build(shop, "one problem a batch", Way(arguments=("--config", "batch=1")))
    shown = ("results/tables/", "results/figures/", "results/evaluations/", "results/co", "results/cl")
    found = contents(other)
    one, two = ({name: text for name, text in all_.items() if name.startswith(shown)} for all_ in (expected, found))
    pools = [kind for kind in POOLED if not rows(first, kind).equals(rows(other, kind))]
    return len(one) + len(POOLED), differences(one, two) + [f"results/{kind}" for kind in pools]


def other_pythons() -> list[str]:
    """Return interpreters of other versions than this one that are on this machine and can be run."""
    names = [f"python3.{minor}" for minor in range(11, 20) if minor != sys.version_info.minor]
    homes = sorted(Path.home().glob(".pyenv/versions/3.*/bin"))
    found = [which for name in names for home in (None, *homes) if (which := shutil.which(name, path=home))]
    return [path for path in found if subprocess.run([path, "-V"], capture_output=True, check=False).returncode == 0]


def installed(python: str, folder: Path) -> str | None:
    """Install the locked packages for another interpreter; None if that cannot be done here."""
    subprocess.run([python, "-m", "venv", str(folder)], capture_output=True, check=False)
    inside = str(folder / "bin" / "python")
    install = [inside, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "-r"]
    try:
        done = subprocess.run(
            [*install, str(ROOT / "requirements.lock")], capture_output=True, check=False, timeout=1200
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return inside if done.returncode == 0 else None


def on_another_python(shop: Path, given: str | None) -> tuple[str, Path | None]:
    """Build with another version of Python, if there is one for which the packages can be installed."""
    for python in [given] if given else other_pythons():
        if inside := installed(python, shop / "environment"):
            version = subprocess.run([inside, "-V"], capture_output=True, text=True, check=True).stdout.strip()
            way = Way(variables={"NUMBA_CACHE_DIR": "fresh_other"})
            return f"on {version}", build(shop, "another python", way, inside)
        shutil.rmtree(shop / "environment", ignore_errors=True)
    return "no other Python here, or its packages cannot be installed", None


def resting_on(folder: Path, basis: str) -> set[str]:
    """Return all files that a basis is behind, by the inputs that the manifest has of every job."""
    entries = [entry for entry in manifest.entries(str(folder)).values() if entry]
    found = {path for entry in entries for path in entry.outputs if path.endswith(f"/{basis}.parquet")}
    while more := {path for e in entries if found & set(e.inputs) for path in e.outputs} - found:
        found |= more
    return found


def on_another_processor(shop: Path, first: Path) -> str:
    """Say how far results move if kernels are compiled for a plain processor, without fused multiply-add."""
    other = build(
        shop, "plain processor", Way(variables={"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": "fresh_plain"})
    )
    moved = [_largest_difference(rows(first, kind), rows(other, kind)) for kind in ("runs", "measurements")]
    return f"largest relative difference {max(moved):.1e} in runs and measurements"


def _largest_difference(one: pa.Table, other: pa.Table) -> float:
    if one.num_rows != other.num_rows:
        return np.inf
    names = [field.name for field in one.schema if pa.types.is_floating(field.type)]
    pairs = [(one[name].to_numpy(), other[name].to_numpy()) for name in names]
    return max(float(np.nanmax(np.abs(a - b) / np.maximum(np.abs(a), 1e-9), initial=0.0)) for a, b in pairs)


def report(name: str, count: int, differing: list[str]) -> bool:
    """Print a line about a way to build, and one for each file that differs; tell whether there is none."""
    print(f"{name}: {count} files compared, {len(differing)} differ", flush=True)
    for path in differing:
        print(f"  differs: {path}")
    return not differing


def main(arguments: list[str] | None = None) -> int:
    """Build in every way and compare; the exit code is 1 if a file differs."""
    parser = argparse.ArgumentParser(prog="trust.determinism", description=__doc__)
    parser.add_argument(
        "--ways", nargs="*", metavar="WORDS", help=f"only these of: {', '.join(WAYS)}, batch, python, processor"
    )
    parser.add_argument("--python", help="another interpreter (default: any on this machine)")
    parser.add_argument("--tiny", action="store_true", help=f"only these ways: {', '.join(TINY)}")
    given = parser.parse_args(arguments)
    if given.tiny:
        given.ways = TINY

    def wanted(name: str) -> bool:
        return given.ways is None or name in given.ways

    fine, total, begin = True, 0, time.monotonic()
    with workshop() as shop:
        first = build(shop, "first", Way())
        expected = contents(first)
        for name, way in WAYS.items():
            if wanted(name):
                found = contents(folder := build(shop, name, way))
                fine, total = report(name, len(found), differences(expected, found)) and fine, total + len(found)
                shutil.rmtree(folder)
        if wanted("batch"):
            count, differing = unbatched(shop, first, expected)
            fine, total = report("with one problem a batch", count, differing) and fine, total + count
        if wanted("python"):
            name, folder = on_another_python(shop, given.python)
            if folder is None:
                print(f"on another Python: skipped ({name})")
            else:
                left_open = resting_on(first, OPEN)
                one, found = (
                    {path: text for path, text in all_.items() if path not in left_open}
                    for all_ in (expected, contents(folder))
                )
                fine, total = report(name, len(found), differences(one, found)) and fine, total + len(found)
                print(f"  not compared: {len(left_open)} files behind which is {OPEN}, which the problem leaves open")
        if wanted("processor"):
            print(f"as on another processor: {on_another_processor(shop, first)} (not required to be zero)")
    print(f"{total} files compared in {time.monotonic() - begin:.0f} s: {'all the same' if fine else 'NOT the same'}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
