"""Run the benchmarks: python -m benchmarks [--scale] [section …]."""

import argparse
import os

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
os.environ.update(dict.fromkeys(THREADS, "1"))  # before NumPy is imported: BLAS reads them once

SECTIONS = ("limits", "kernels", "methods", "peers", "solvers", "scale", "arms", "raw")
ON_REQUEST = ("scale", "arms", "raw")  # they take minutes


def run(sections: list[str], large: bool) -> None:
    """Measure the sections, print their tables and keep their rows."""
    from benchmarks import kernels, limits, many_arms, methods, peer_environment, raw, report, scale, solvers
    from benchmarks.timing import say

    machine = limits.measure() if {"limits", "kernels"} & set(sections) else None
    measured = {
        "limits": ("rate", lambda: limits.rows(machine)),
        "kernels": ("microseconds", lambda: [row for rows in kernels.measure(machine) for row in rows]),
        "methods": ("microseconds", methods.measure),
        "peers": ("microseconds", peer_environment.measure),
        "solvers": ("seconds", lambda: solvers.measure(large)),
        "scale": ("seconds", scale.measure),
        "arms": ("seconds", many_arms.measure),
        "raw": ("seconds", raw.measure),
    }
    for at, section in enumerate(sections, 1):
        say(f"section {at} of {len(sections)}: {section}")
        measure, rows = measured[section]
        found = rows()
        say("")
        report.show(measure, found)
        report.keep(section, measure, found)
    print(f"\nKept in {report.FOLDER}/: {', '.join(f'{section}.parquet' for section in sections)}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "sections",
        nargs="*",
        metavar="section",
        help=f"of {', '.join(SECTIONS)}; all but {', '.join(ON_REQUEST)} if none",
    )
    parser.add_argument("--scale", action="store_true", help="the large sizes: solvers, scale and arms up to 1M nodes")
    arguments = parser.parse_args()
    unknown = set(arguments.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"unknown section {', '.join(sorted(unknown))}; sections are {', '.join(SECTIONS)}")
    default = ["solvers", "scale", "arms"] if arguments.scale else [s for s in SECTIONS if s not in ON_REQUEST]
    run(arguments.sections or default, arguments.scale)


if __name__ == "__main__":
    main()
