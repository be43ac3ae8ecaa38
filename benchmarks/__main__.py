"""Run the benchmarks: python -m benchmarks [--scale | --tiny] [section …]."""

import argparse
import importlib
import os
import tempfile
from pathlib import Path

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
os.environ.update(dict.fromkeys(THREADS, "1"))  # before NumPy is imported: BLAS reads them once

from benchmarks.sections import AT_SCALE, LARGE, SECTIONS, TINY, USUAL  # noqa: E402


def run(sections: list[str], size: str, folder: Path) -> None:
    """Measure the sections, print their tables and keep their rows in a folder."""
    from benchmarks import report
    from benchmarks.timing import say

    for at, name in enumerate(sections, 1):
        say(f"section {at} of {len(sections)}: {name}")
        section = SECTIONS[name]
        rows = importlib.import_module(f"benchmarks.{section.module}").measure(size)
        say("")
        report.show(section.unit, rows)
        report.keep(folder / f"{name}.parquet", section.unit, rows)
    if size != TINY:
        print(f"\nKept in {folder}/: {', '.join(f'{name}.parquet' for name in sections)}")


def main() -> None:
    """Read the command line."""
    from benchmarks.report import FOLDER

    unasked = [name for name, section in SECTIONS.items() if not section.named_only]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "sections", nargs="*", metavar="section", help=f"of {', '.join(SECTIONS)}; {', '.join(unasked)} if none"
    )
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--scale", action="store_true", help=f"the large sizes: {', '.join(AT_SCALE)} up to 1M nodes")
    sizes.add_argument("--tiny", action="store_true", help="tiny sizes, to see that all of it works; nothing is kept")
    arguments = parser.parse_args()
    if unknown := set(arguments.sections) - set(SECTIONS):
        parser.error(f"unknown section {', '.join(sorted(unknown))}; sections are {', '.join(SECTIONS)}")
    if arguments.tiny:
        with tempfile.TemporaryDirectory() as folder:
            run(arguments.sections or list(SECTIONS), TINY, Path(folder))
    elif arguments.scale:
        run(arguments.sections or list(AT_SCALE), LARGE, FOLDER)
    else:
        run(arguments.sections or unasked, USUAL, FOLDER)


if __name__ == "__main__":
    main()
