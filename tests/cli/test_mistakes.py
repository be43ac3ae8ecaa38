"""Every mistake at the command line is one line, and a broken or foreign file is never a traceback."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphdr.__main__ import main
from graphdr.cli.project import MARKERS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "results/runs/main/plian.parquet"], "no such file; did you mean 'results/runs/main/plain.parquet'"),
        (["show", "main_syntetic"], "did you mean 'main_synthetic'"),
        (["show", "zzz"], "there are: .*comparison.*rgg"),
        (["show", "results/runs"], "a folder; graphdr ls results/runs lists it"),
        (["show", ""], ""),
        (["show", "x" * 5000], ""),
        (["show", "a\0b"], ""),
        (["why", "config.yaml"], "its origin is not recorded"),
        (["why", "results/nothing.parquet"], "no such file"),
        (["why", "main_syntetic", "graphdr", "regret"], "did you mean 'main_synthetic'"),
        (["why", "main_synthetic", "grapdr", "regret"], "no row 'grapdr'; there are: random, .*did you mean 'graphdr'"),
        (["why", "main_synthetic", "graphdr", "regrets"], "no column 'regrets'; there are: regret, redrawn, gap"),
        (["ls", "run_bandits"], "did you mean 'run_bandit'"),
        (["ls", "zzz"], "stages: fetch_raw, "),
        (["ls", "--root", "nowhere"], "nowhere: no such folder"),
    ],
)
def test_a_mistake_is_one_line(inside, mistake, arguments, message):
    assert re.search(message, mistake(*arguments))


@pytest.mark.parametrize(
    "arguments",
    [[], ["lss"], ["show"], ["show", "main_synthetic", "--rows", "x"], ["show", "a", "--rows", "-1"], ["why", "a", "b"],
     ["ls", "--bogus"], ["wy", "main_synthetic", "graphdr", "regret"], ["one", "two", "three", "four", "five"]],
)  # fmt: skip
def test_wrong_usage_is_one_line(inside, mistake, arguments):
    assert "--help" in mistake(*arguments, code=2)


def test_outside_of_the_project_is_one_line(workdir, mistake, call, made):
    for command in (["ls"], ["show", "x"], ["why", "x"], ["verify"], ["advise", "x.csv", "--root", "."]):
        assert "not the folder of a project" in mistake(*command)
    assert call("--root", str(made), "ls")[0] == 0
    assert call("show", "main_synthetic", "--root", str(made))[0] == 0
    assert Path.cwd() == workdir


def test_a_mistake_in_the_configuration_is_one_line(copied, mistake):
    text = Path("config.yaml").read_text().replace("basis: laplacian_low", "basis: laplacian_lwo", 1)
    for broken, message in ((text, ": methods.graphdr.basis"), ("a: [", ": cannot be read"), ("", "")):
        Path("config.yaml").write_text(broken)
        assert f"config.yaml{message}" in mistake("ls")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("scratch")
    for name in MARKERS:
        (folder / name).write_text("")
    return folder


def one_line(scratch: Path, capsys, *arguments: str) -> bool:
    """Call in the scratch folder; either all is well or there is one line, and never a traceback."""
    code = main([*arguments, "--root", str(scratch)])
    _, err = capsys.readouterr()
    assert code in (0, 1)
    assert bool(err) == bool(code)
    assert not err or re.fullmatch(r"error: [^\n]+\n", err)
    return code == 0


@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_a_part_of_a_file_is_one_line_and_a_flipped_bit_never_a_traceback(made, scratch, capsys, where, bit):
    raw = bytearray((made / "results/tables/rgg.parquet").read_bytes())
    (scratch / "part.parquet").write_bytes(raw[: int(where * len(raw))])
    assert not one_line(scratch, capsys, "show", "part.parquet")
    assert not one_line(scratch, capsys, "why", "part.parquet")
    raw[int(where * len(raw))] ^= 1 << bit
    (scratch / "flip.parquet").write_bytes(raw)
    one_line(scratch, capsys, "show", "flip.parquet")


KINDS = (st.integers(-9, 9), st.floats(), st.text(), st.booleans(), st.binary(), st.lists(st.floats()), st.dates())
COLUMN = st.one_of(st.lists(st.one_of(st.none(), kind), min_size=3, max_size=3) for kind in KINDS)


@given(columns=st.dictionaries(st.text(min_size=1), COLUMN, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_any_foreign_parquet_is_shown(scratch, capsys, columns):
    try:
        pq.write_table(pa.table(columns), scratch / "foreign.parquet")
    except (UnicodeError, pa.ArrowException):  # not something that a parquet file can hold
        return
    assert one_line(scratch, capsys, "show", "foreign.parquet")
    assert one_line(scratch, capsys, "show", "foreign.parquet", "--json")
