"""Bad raw files and a full disk stop one data set with one clear line, and leave nothing half-written.

Every way in which a raw file or a network can be bad is in tests/raw.
"""

import re
from pathlib import Path

import pytest
import yaml

from graphdr.__main__ import main
from graphdr.cache import paths
from graphdr.plan import design, jobs
from tests.support.adapter_twins import fixture
from tests.support.tiny_data import CONFIG, Built, lay_out, put, run, zipped

INTER = fixture("recbole")["inter"]
GOOD = zipped({"a/toy.inter": INTER})
SOURCE = {"format": "recbole", "archive": "toy.zip", "members": {"inter": {"path": "a/toy.inter"}}}
DATASET = {"family": "knn", "raw": {"licence": "none", "citation": "nobody", "sources": [SOURCE]}}

# The bytes of an archive, the stage that cannot use it, and its last line.
BAD = {
    "truncated": (
        GOOD[:-30],
        "fetch_raw",
        r"error: truncated: .*toy\.zip: truncated or damaged \(.*put the file at data/raw/truncated/toy\.zip",
    ),
    "number": (
        zipped({"a/toy.inter": INTER.replace(b"9\t20\t3\t", b"9\t20\tthree\t")}),
        "tabulate_dataset",
        r"error: toy\.zip: a/toy\.inter, line 5: rating 'three' is not a finite number",
    ),
}
LEFT = {"truncated": {"toy.zip"}, "number": {"toy.zip", "receipt.parquet"}}


@pytest.fixture(scope="module")
def failed(tmp_path_factory) -> Built:
    """One call for all data sets, of which one is good."""
    names = [*BAD, "good"]
    folder = lay_out(tmp_path_factory.mktemp("failed"), dict.fromkeys(names, DATASET))
    put(folder / "data/raw/good/toy.zip", GOOD)
    for name, (archive, _, _) in BAD.items():
        put(folder / "data/raw" / name / "toy.zip", archive)
    return run(folder, *map(paths.dataset_nodes, names))


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_clear_line(failed, name):
    archive, stage, message = BAD[name]
    log = failed.text(f"results/logs/{stage}/{name}.log").splitlines()
    assert re.match(message, log[-1])
    assert [line for line in log if line.startswith(("error: ", "Traceback"))] == log[-1:]
    assert log[-1] in failed.errors()
    raw = failed.folder / "data/raw" / name
    assert {path.name for path in raw.iterdir()} == LEFT[name]
    assert (raw / "toy.zip").read_bytes() == archive  # what was placed by hand is left alone


def test_bad_files_stop_no_other_and_leave_nothing_half_written(failed):
    assert failed.done.returncode != 0
    assert "Traceback" not in failed.said
    assert len(set(failed.errors())) == len(BAD)
    assert {path.parent.name for path in (failed.folder / "data/tables").glob("*/*")} == {"good"}
    folders = {path.parts[-2] for path in (failed.folder / "results").rglob("*") if path.is_file()}
    assert folders <= {"entries", "times", "fetch_raw", "tabulate_dataset"}
    assert not [path for path in failed.folder.rglob("*") if path.name.endswith((".tmp", ".part"))]


@pytest.fixture
def tabulate(workdir, capsys):
    """Return a function that tabulates a good file that was fetched; it returns the exit code and the last line."""
    config = yaml.safe_load(CONFIG.read_text())

    def call(stage: str = "tabulate_dataset", **raw) -> tuple[int, str]:
        config["datasets"]["toy"] = DATASET | {"raw": DATASET["raw"] | raw}
        job = getattr(jobs, stage)(design.expand(config), "toy")
        code = main([stage, "code", job.as_json()])
        printed = capsys.readouterr()
        return code, [*printed.out.splitlines(), *printed.err.splitlines()][-1]

    put(Path("data/raw/toy/toy.zip"), GOOD)
    assert call("fetch_raw")[0] == 0
    return call


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_full_while_tables_are_written_is_one_clear_line(tabulate, monkeypatch):
    before = set(Path().rglob("*.*"))
    monkeypatch.setattr("graphdr.core.atomic.create", lambda path: Path(path).symlink_to("/dev/full"))
    code, line = tabulate()
    assert code != 0
    assert re.match(r"error: data/tables/toy.*: cannot be written \(.*No space left on device", line)
    assert set(Path().rglob("*.*")) == before


def test_an_option_that_a_format_does_not_have_is_one_clear_line(tabulate):
    code, line = tabulate(options={"vaule": "rating"})
    assert code != 0
    assert re.match("error: .*vaule", line)
