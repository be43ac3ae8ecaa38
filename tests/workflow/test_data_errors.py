"""Bad raw files, a useless network and a full disk: one clear line, no traceback, and nothing half-written."""

import io
import re
import urllib.error
from pathlib import Path

import pytest
import yaml

from graphdr.__main__ import main
from graphdr.cache import paths
from graphdr.core.errors import UserError
from graphdr.plan import design, jobs
from graphdr.plan.config import read
from graphdr.raw import fetch
from tests.support.adapter_twins import fixture
from tests.support.tiny_data import CONFIG, Built, lay_out, put, run, zipped

INTER = fixture("recbole")["inter"]
ROW = b"9\t20\t3\t880000180\n"
GOOD = zipped({"a/toy.inter": INTER})


def edited(new: bytes) -> bytes:
    """Return an archive whose fifth line is another one."""
    assert ROW in INTER
    return zipped({"a/toy.inter": INTER.replace(ROW, new)})


def dataset(archive: str = "toy.zip", **changes) -> dict:
    """Return the block of a data set with one archive."""
    source = {"format": "recbole", "archive": archive, "members": {"inter": {"path": "a/toy.inter"}}} | changes
    return {"family": "knn", "raw": {"licence": "none", "citation": "nobody", "sources": [source]}}


# What is wrong with a file, and what the last line says about it.
AT_HAND = {
    "truncated": (GOOD[:-30], "toy.zip: truncated or damaged ("),
    "page": (b"<!DOCTYPE html><title>Sign in</title>", "toy.zip: an HTML page, not a zip file"),
    "member": (zipped({"a/other.inter": INTER}), "toy.zip: has no member a/toy.inter"),
    "outside": (zipped({"a/toy.inter": INTER, "../evil": b""}), "refused, for its member '../evil' points out of the"),
}
INSIDE = {
    "fields": (edited(b"9\t20\t3\n"), "line 5: number of fields is 3; expected 4 (user_id, "),
    "number": (edited(b"9\t20\tthree\t880000180\n"), "line 5: rating 'three' is not a finite number"),
    "encoding": (edited("9\tMisère\t3\t880000180\n".encode("latin-1")), "line 5: not UTF-8 text"),
    "empty": (zipped({"a/toy.inter": b""}), "a/toy.inter: empty file"),
}
BAD = AT_HAND | INSIDE


@pytest.fixture(scope="module")
def failed(tmp_path_factory) -> Built:
    """One call for all data sets, of which one is good."""
    folder = lay_out(tmp_path_factory.mktemp("failed"), {"datasets": dict.fromkeys([*BAD, "good"], dataset())})
    for name, (data, _) in (BAD | {"good": (GOOD, None)}).items():
        put(folder / "data/raw" / name / "toy.zip", data)
    return run(folder, *map(paths.dataset_nodes, [*BAD, "good"]))


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_clear_line(failed, name):
    stage = "fetch_raw" if name in AT_HAND else "tabulate_dataset"
    log = failed.text(f"results/logs/{stage}/{name}.log").splitlines()
    assert log[-1].startswith(f"error: {name}: " if name in AT_HAND else "error: toy.zip: a/toy.inter")
    assert BAD[name][1] in log[-1]
    assert [line for line in log if line.startswith(("error: ", "Traceback"))] == log[-1:]
    assert log[-1] in failed.errors()


@pytest.mark.parametrize("name", AT_HAND)
def test_an_unusable_file_is_named_with_its_place(failed, name):
    (line,) = {line for line in failed.errors() if line.startswith(f"error: {name}: ")}
    assert f"put the file at data/raw/{name}/toy.zip" in line


def test_bad_files_stop_no_other(failed):
    assert failed.done.returncode != 0
    assert "Traceback" not in failed.said
    assert len(set(failed.errors())) == len(BAD)
    assert {path.parent.name for path in (failed.folder / "data/tables").glob("*/*")} == {"good"}


def test_bad_files_leave_nothing_half_written(failed):
    raw = failed.folder / "data/raw"
    for name in BAD:
        left = {path.name for path in (raw / name).iterdir()}
        assert left == ({"toy.zip"} if name in AT_HAND else {"toy.zip", "receipt.parquet"})
        assert (raw / name / "toy.zip").read_bytes() == BAD[name][0]  # what was placed by hand is left alone
    built = {path.parts[-2] for path in (failed.folder / "results").rglob("*") if path.is_file()}
    assert built <= {"entries", "times", "fetch_raw", "tabulate_dataset"}
    assert not [path for path in failed.folder.rglob("*") if path.name.endswith((".tmp", ".part"))]


# One stage alone, with a network of its own


class Answer(io.BytesIO):
    """What a server sends."""

    status, headers = 200, {}


@pytest.fixture
def stage(workdir, monkeypatch, capsys):
    """Run a stage on a data set with one address; return its exit code, and all lines that it said."""
    monkeypatch.delenv("GRAPHDR_MIRROR", raising=False)
    monkeypatch.setattr(fetch, "PAUSES", (0, 0))
    config = yaml.safe_load(CONFIG.read_text())
    known = {"inter": {"path": "a/toy.inter", "sha256": "0" * 64}}

    def call(name: str, members: dict = known, **raw) -> tuple[int, list[str]]:
        config["datasets"]["toy"] = dataset(url="https://example.org/toy.zip", members=members)
        config["datasets"]["toy"]["raw"] |= raw
        job = getattr(jobs, name)(design.expand(config), "toy")
        code = main([name, "code", job.as_json()])
        said = capsys.readouterr()
        return code, [*said.out.splitlines(), *said.err.splitlines()]

    return call


def left() -> set[str]:
    return {str(path) for path in Path().rglob("*") if not path.is_dir()}


def unreachable(request):
    raise urllib.error.URLError(OSError(101, "Network is unreachable"))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (unreachable, "Network is unreachable"),
        (lambda request: Answer(GOOD), "a/toy.inter: wrong checksum"),
        (lambda request: Answer(b"<html>Log in"), "an HTML page, not a zip file"),
    ],
    ids=["no network", "wrong checksum", "page"],
)
def test_a_useless_network_is_one_clear_line(stage, monkeypatch, answer, message):
    monkeypatch.setattr(fetch, "open_url", answer)
    code, lines = stage("fetch_raw")
    assert code != 0
    assert lines[-1].startswith(
        "error: toy: no source works (no mirror set (GRAPHDR_MIRROR); https://example.org/toy.z"
    )
    assert f": {message}); put the file at data/raw/toy/toy.zip" in lines[-1]
    assert sum(line.startswith("error: ") for line in lines) == 1
    assert left() == set()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_full_during_a_download_is_one_clear_line(stage, monkeypatch):
    monkeypatch.setattr(fetch, "open_url", lambda request: Answer(GOOD))
    Path("data/raw/toy").mkdir(parents=True)
    Path("data/raw/toy/toy.zip.part").symlink_to("/dev/full")
    code, lines = stage("fetch_raw")
    assert code != 0
    assert lines[-1] == "error: data/raw/toy: cannot be written (No space left on device)"
    assert left() == set()


@pytest.fixture
def fetched(stage):
    """Tabulate a good file that was fetched; return what the stage said."""
    put(Path("data/raw/toy/toy.zip"), GOOD)
    assert stage("fetch_raw", {"inter": {"path": "a/toy.inter"}})[0] == 0
    return lambda **raw: stage("tabulate_dataset", **raw)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_full_while_tables_are_written_is_one_clear_line(fetched, monkeypatch):
    before = left()
    monkeypatch.setattr("graphdr.core.atomic.create", lambda path: Path(path).symlink_to("/dev/full"))
    code, lines = fetched()
    assert code != 0
    assert re.match(r"error: data/tables/toy.*: cannot be written \(.*No space left on device", lines[-1])
    assert left() == before


def test_an_option_that_a_format_does_not_have_is_one_clear_line(fetched):
    code, lines = fetched(options={"vaule": "rating"})
    assert code != 0
    assert lines[-1].startswith("error: ")
    assert "vaule" in lines[-1]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("{licence: none, citation: nobody}", "'sources' is required"),
        ("{licence: none, citation: nobody, sources: [{format: recbole, members: {inter: {}}}]}", ""),
    ],
    ids=["no sources", "no archive"],
)
def test_a_mistake_in_a_raw_block_is_one_line(raw, message):
    config = yaml.safe_load(CONFIG.read_text())
    config["datasets"]["bad"] = {"family": "knn", "raw": yaml.safe_load(raw)}
    with pytest.raises(UserError, match=rf"^datasets\.bad\.raw.*{message}") as refusal:
        read(config)
    assert len(str(refusal.value).splitlines()) == 1
