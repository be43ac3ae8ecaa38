"""``python -m trust.fuzz``: thousands of bad inputs for every parser; each is read right or refused in one line."""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from trust import cases, checks, pipeline
from trust.cases import ADAPTERS
from trust.checkout import ROOT


def _adapter(name: str) -> Callable:
    example = cases.fixture(name)

    def one(data) -> bool:
        role = data.draw(st.sampled_from(sorted(example)))
        odd = cases.Memory(example | {role: data.draw(cases.odd_files(example[role]))})
        return checks.adapter(name, odd) is not None

    return one


def _configuration(data) -> bool:
    return checks.configuration(data.draw(cases.odd_configurations()))


def _graph(data) -> bool:
    checks.graph(*data.draw(cases.odd_graphs()), k=data.draw(st.integers(1, 20)))
    return True


def _stages(data, folder: Path) -> bool:
    return pipeline.build(folder, data.draw(pipeline.odd_ratings()), k=data.draw(st.sampled_from([3, 1, 10, 22])))


def parsers(folder: Path) -> dict[str, tuple[float, Callable]]:
    """Return what is tried by name: a function of Hypothesis's data, and its share of the cases."""
    paper = {kind: (ROOT / "data" / "paper" / name).read_bytes() for kind, name in
             (("numbers", "reference.csv"), ("claims", "claims.csv"))}  # fmt: skip
    heads = {kind: b"".join(data.splitlines(keepends=True)[:12]) for kind, data in paper.items()}
    text = checks.tiny_text()
    return {
        **{f"adapter {name}": (1.0, _adapter(name)) for name in ADAPTERS},
        "configuration": (0.5, _configuration),
        "configuration as text": (
            0.1,
            lambda data: checks.configuration_text(data.draw(cases.odd_files(text)), folder),
        ),
        "archive": (1.0, lambda data: checks.archive(cases.path_of(folder, data.draw(cases.odd_archives())))),
        **{
            f"printed {kind}": (
                0.5,
                lambda data, kind=kind: checks.printed_file(kind, data.draw(cases.odd_files(heads[kind])), folder),
            )
            for kind in heads
        },
        **{
            f"user's {name}": (
                0.5,
                lambda data, name=name, own=own: checks.user_file(data.draw(cases.odd_files(own)), folder / name),
            )
            for name, own in cases.user_files().items()
        },
        "graph": (0.5, _graph),
        "all stages": (0.1, lambda data: _stages(data, folder)),
    }


def run(name: str, one: Callable, count: int, start: int) -> tuple[int, str | None]:
    """Try so many cases; return how many were taken, and the first that fails, as simple as it can be made, or None."""
    taken = []

    @seed(start)
    @settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def all_of_them(data) -> None:
        taken.append(one(data))

    try:
        all_of_them()
    except Exception as error:  # whatever it is, it is the finding
        notes = " ".join(getattr(error, "__notes__", []))
        return sum(taken), f"{name}: {type(error).__name__}: {error} {notes}"
    return sum(taken), None


def main(arguments: list[str] | None = None) -> int:
    """Try all parsers; the exit code is 1 if one fails."""
    parser = argparse.ArgumentParser(prog="trust.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, help="cases in all, by default 10,400")
    parser.add_argument("--tiny", action="store_true", help="by default 400 cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", metavar="WORD", help="parsers whose name holds this word")
    given_ = parser.parse_args(arguments)
    cases_in_all = given_.cases or (400 if given_.tiny else 10_400)
    failures, total = [], 0
    with tempfile.TemporaryDirectory(prefix="graphdr-fuzz-") as name:
        chosen = {parser: own for parser, own in parsers(Path(name)).items() if given_.only in parser}
        whole = sum(share for share, _ in chosen.values())
        for parser_name, (share, one) in chosen.items():
            begin, count = time.monotonic(), max(1, round(cases_in_all * share / whole))
            for entry in Path(name).iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            taken, failure = run(parser_name, one, count, given_.seed)
            total += count
            words = "FAILS" if failure else f"{taken} taken, {count - taken} refused"
            print(f"{parser_name}: {count} cases, {words}, {time.monotonic() - begin:.0f} s", flush=True)
            failures += [failure] if failure else []
    for failure in failures:
        print(failure)
    print(f"{total} cases from seed {given_.seed}, {len(failures)} parsers fail")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
