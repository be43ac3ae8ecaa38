"""Every way in which a cached file can be wrong is one clear error; a right one comes back unchanged."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphdr.cache import io, manifest
from graphdr.cache.io import SCHEMAS
from graphdr.cli import integrity
from graphdr.core import atomic
from graphdr.core.errors import UserError

THETA = {"problem": ["a", "a"], "instance": [0, 0], "node": [0, 1], "theta": [0.6, -0.8]}


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_every_kind_describes_its_columns_and_survives_being_empty(kind):
    io.write(kind, {name: [] for name in SCHEMAS[kind].names}, "empty.parquet")
    table = io.read(kind, "empty.parquet")
    assert table.num_rows == 0
    texts = [table.schema.field(name).metadata[b"description"].decode() for name in table.column_names]
    assert all(text and not text.endswith(".") for text in texts)
    assert texts == [field.metadata[b"description"].decode() for field in SCHEMAS[kind]]


def test_missing_values_and_lists_survive():
    columns = {name: [None] for name in SCHEMAS["table"].names} | {"row": ["r"], "panel": [[1.0, 2.0]]}
    io.write("table", columns, "t.parquet")
    assert io.read("table", "t.parquet").to_pydict() == columns


def test_a_failed_write_leaves_the_old_file_and_no_litter():
    with pytest.raises(ValueError, match="theta table has columns"):
        io.write("theta", {"problem": ["a"]}, "t.parquet")
    assert not Path("t.parquet").exists()
    io.write("theta", THETA, "t.parquet")
    before = Path("t.parquet").read_bytes()
    with pytest.raises(RuntimeError), atomic.replacing("t.parquet") as temporary:
        Path(temporary).write_text("half")
        raise RuntimeError
    assert Path("t.parquet").read_bytes() == before
    assert os.listdir() == ["t.parquet"]


def test_the_content_hash_ignores_provenance_and_the_bytes_do_not_change_between_runs():
    with io.provenance(stage="a", params={}, code="1", version="1"):
        io.write("theta", THETA, "t.parquet")
    first = pq.read_schema("t.parquet").metadata[io.HASH]
    io.write("theta", THETA, "t.parquet")
    assert pq.read_schema("t.parquet").metadata[io.HASH] == first
    before = Path("t.parquet").read_bytes()
    io.write("theta", THETA, "t.parquet")
    assert Path("t.parquet").read_bytes() == before


def test_provenance_names_the_job_and_the_hashes_of_its_inputs_which_are_read_before_anything_is_written():
    """Else an output would lack inputs in its record, and look outdated as soon as it is built."""
    for path in ("early.parquet", "late.parquet"):
        io.write("theta", THETA, path)
    job = {"stage": "pose_problem", "params": {"seed": 7}, "code": "abc", "version": "1.0"}
    with io.provenance(**job):
        io.read("theta", "early.parquet")
        io.write("theta", THETA, "out.parquet")
        io.read("theta", "early.parquet")
        with pytest.raises(RuntimeError, match=r"late\.parquet: read after out\.parquet was written"):
            io.read("theta", "late.parquet")
    digest = pq.read_schema("early.parquet").metadata[io.HASH].decode()
    recorded = json.loads(pq.read_schema("out.parquet").metadata[io.PROVENANCE])
    assert recorded == job | {"inputs": {"early.parquet": digest}}


@pytest.mark.parametrize(
    ("kind", "path", "message"),
    [
        ("theta", "results/x.parquet", r"results/x.parquet: no such file; run snakemake results/x.parquet"),
        ("facts", "t.parquet", r"t.parquet: not a table of kind 'facts' .* delete it"),
        ("theta", "moved.parquet", r"moved.parquet: the content does not match its hash"),
        ("theta", "edited.parquet", r"edited.parquet: the content does not match its hash"),
    ],
)
def test_a_missing_foreign_moved_or_edited_file_is_one_clear_line(kind, path, message):
    io.write("theta", THETA, "t.parquet")
    shutil.copy("t.parquet", "moved.parquet")
    io.write("theta", THETA, "edited.parquet")
    table = pq.read_table("edited.parquet")
    pq.write_table(table.set_column(3, table.schema.field(3), [np.array([0.6, -0.81])]), "edited.parquet")
    with pytest.raises(UserError, match=message):
        io.read(kind, path)


@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(max_examples=50)
def test_a_flip_never_reaches_a_result(where, bit):
    """A flipped bit is an error on reading or leaves the data as they were; the manifest finds it in any case."""
    io.write("theta", THETA, "results/t.parquet")
    manifest.record("pose_problem", {}, "code", {}, ["results/t.parquet"])
    raw = bytearray(Path("results/t.parquet").read_bytes())
    raw[int(where * len(raw))] ^= 1 << bit
    Path("results/t.parquet").write_bytes(raw)
    try:
        assert io.read("theta", "results/t.parquet").to_pydict() == THETA
    except UserError as error:
        assert str(error).startswith("results/t.parquet: ")
    assert len(integrity.findings()) == 1


def test_the_manifest_finds_files_that_were_swapped():
    for path in ("results/a.csv", "results/b.csv"):
        atomic.write_text(f"{path}\n", path)
    manifest.record("make_table", {}, "code", {}, ["results/a.csv", "results/b.csv"])
    assert integrity.findings() == []
    os.rename("results/a.csv", "x")
    os.rename("results/b.csv", "results/a.csv")
    os.rename("x", "results/b.csv")
    assert [finding.path for finding in integrity.findings()] == ["results/a.csv", "results/b.csv"]
