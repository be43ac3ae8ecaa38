"""Raw data comes from the first place that works, is checked, and leaves nothing half-written behind."""

import errno
import gzip
import hashlib
import http.server
import os
import subprocess
import threading
import urllib.error
import urllib.request
from pathlib import Path
from unittest.mock import Mock

import pytest

from graphdr.core.errors import UserError
from graphdr.raw import archives, fetch
from graphdr.raw.archives import Raw, Unusable
from tests.support.tiny_data import zipped

DATA, ITEMS = b"1\t2\t3\n" * 500, b"1|Toy Story\n"
FOLDER, MIRROR = Path("data/raw/toy"), Path("mirror")
KEPT = {"toy.zip", fetch.HASHES}


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


ZIP = zipped({"toy/u.data": DATA, "toy/u.item": ITEMS})
OTHER = zipped({"toy/u.data": b"other", "toy/u.item": b"other"})


def source(url: str | None = None, **changes) -> dict:
    members = {
        "ratings": {"path": "toy/u.data", "sha256": sha(DATA)},
        "items": {"path": "toy/u.item", "optional": True},
    }
    return {"archive": "toy.zip", "format": "plain", "members": members} | ({"url": url} if url else {}) | changes


def wheel(**changes) -> dict:
    members = {"inter": {"path": "toy/u.data", "sha256": sha(DATA)}}
    return {"wheel": "toy-data==1.0", "format": "recbole", "members": members} | changes


def get(*sources: dict, mirror: Path | None = None, say=lambda text: None, **raw) -> list[dict]:
    return fetch.fetch("toy", {"sources": list(sources)} | raw, FOLDER, mirror, say)


def put(path: Path | str, data: bytes) -> Path:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def facts(rows: list[dict], *columns: str) -> list:
    return [tuple(row[column] for column in columns) if len(columns) > 1 else row[columns[0]] for row in rows]


def left() -> set[str]:
    return {path.name for path in FOLDER.rglob("*")} if FOLDER.exists() else set()


def content(rows: list[dict], role: str = "ratings") -> bytes:
    with Raw(FOLDER, rows).open(role) as stream:
        return stream.read()


def refusal(*sources: dict, **more) -> str:
    """Return the one line with which all sources are refused."""
    with pytest.raises(UserError) as caught:
        get(*sources, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class Server(http.server.ThreadingHTTPServer):
    """Serves ``files`` in the ways that the first part of the path names, and notes what was asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.asked, self.failures = {"toy.zip": ZIP}, [], 0

    def url(self, way: str, name: str = "toy.zip") -> str:
        return f"http://127.0.0.1:{self.server_port}/{way}/{name}"


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_) -> None:
        pass

    def do_GET(self) -> None:
        _, way, name = self.path.split("/", 2)
        data = self.server.files[name]
        self.server.asked.append(way)
        if way == "gone":
            return self.send_error(404)
        if way == "busy" or (way == "shaky" and self.server.failures > 0):
            self.server.failures -= 1
            return self.send_error(503)
        if way == "moved":
            self.send_response(302)
            self.send_header("Location", "ftp://127.0.0.1/toy.zip")
            return self.end_headers()
        self.send_response(200)
        if way != "lengthless":
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if way in ("early", "lengthless") else data)
        return None


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def _sandbox(tmp_path, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fetch, "SCHEMES", ("http", "https"))
    monkeypatch.setattr(fetch, "PAUSES", (0, 0, 0))
    monkeypatch.setattr(fetch, "pip_download", lambda requirement, folder: pytest.fail("pip was called"))


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setattr(fetch, "open_url", lambda request: pytest.fail("the network was used"))


# Places and their order


@pytest.mark.usefixtures("offline")
def test_a_file_placed_by_hand_comes_first():
    put(FOLDER / "toy.zip", ZIP)
    put("mirror/toy.zip", OTHER)
    rows = get(source("https://example.org/toy.zip"), mirror=MIRROR)
    assert set(rows[0]) == set(fetch.COLUMNS)
    assert facts(rows, "role", "member", "source", "status", "bytes", "sha256") == [
        ("ratings", "toy/u.data", "file", "verified", len(DATA), sha(DATA)),
        ("items", "toy/u.item", "file", "recorded", len(ITEMS), sha(ITEMS)),
    ]
    assert left() == {"toy.zip"}


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("place", ["mirror/toy.zip", "mirror/toy/toy.zip", "mirror/toy_data-1.0-py3-none-any.whl"])
def test_a_mirror_comes_before_the_network_and_is_copied_and_remembered(place):
    original = put(place, ZIP)
    sources = source("https://example.org/toy.zip"), wheel()
    rows = get(*sources, mirror=MIRROR)
    assert set(facts(rows, "source", "address")) == {("mirror", place)}
    assert (FOLDER / original.name).read_bytes() == original.read_bytes() == ZIP
    assert left() == {original.name, fetch.HASHES}
    assert get(*sources) == rows  # also without the mirror


def test_a_download_is_verified_and_remembered(server, monkeypatch):
    rows = get(source(server.url("plain")))
    assert facts(rows, "source", "address", "status") == [
        ("url", server.url("plain"), "verified"),
        ("url", server.url("plain"), "recorded"),
    ]
    assert left() == KEPT
    monkeypatch.setattr(fetch, "open_url", lambda request: pytest.fail("the network was used"))
    assert get(source(server.url("plain"))) == rows
    Raw(FOLDER, rows).check()
    assert content(rows) == DATA


def test_the_next_source_is_tried_and_each_failure_is_one_line(server, monkeypatch):
    wheels = iter(["other.whl", "toy_data-1.0-py3-none-any.whl"])
    monkeypatch.setattr(fetch, "pip_download", lambda requirement, folder: put(folder / next(wheels), ZIP))
    assert "toy-data==1.0: pip fetched no toy_data-1.0-py3-none-any.whl" in refusal(wheel())
    assert left() == set()
    lines = []
    rows = get(source(server.url("gone")), source(server.url("plain", "none.zip")), wheel(), say=lines.append)
    assert facts(rows, "source", "address", "status") == [("wheel", "toy-data==1.0", "verified")]
    assert left() == {"toy_data-1.0-py3-none-any.whl", fetch.HASHES}
    assert f"toy: {server.url('gone')}: HTTP 404 Not Found" in lines
    assert all(line.startswith("toy: ") and "\n" not in line for line in lines)


def test_a_quick_second_attempt_before_the_next_source_and_patience_with_the_last(server):
    server.failures = 1
    assert get(source(server.url("shaky")), wheel())
    server.asked.clear()
    (FOLDER / "toy.zip").unlink()
    refusal(source(server.url("busy")), source(server.url("busy")))
    assert len(server.asked) == 2 + (1 + len(fetch.PAUSES))


def test_pip_fetches_a_wheel_without_running_code(monkeypatch, tmp_path):
    run = Mock(return_value=Mock(returncode=1, stdout="", stderr="WARNING: x\nERROR: No matching distribution found\n"))
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(Unusable, match=r"^pip download failed \(No matching distribution found\)$"):
        PIP_DOWNLOAD("toy-data==1.0", tmp_path)
    command = " ".join(run.call_args.args[0])
    assert "-m pip download --no-deps --only-binary :all:" in command
    assert command.endswith("toy-data==1.0")


def test_several_archives_of_which_one_is_optional(server):
    server.files |= {"train.zip": zipped({"b.tsv": b"1"}), "dev.zip": zipped({"b.tsv": b"2"})}

    def both(way: str) -> dict:
        train = {"url": server.url("plain", "train.zip"), "members": {"train": {"path": "b.tsv"}}}
        dev = {"url": server.url(way, "dev.zip"), "members": {"dev": {"path": "b.tsv", "optional": True}}}
        return {"format": "mind", "archives": [{"archive": "train.zip"} | train, {"archive": "dev.zip"} | dev]}

    rows = get(both("gone"))
    assert facts(rows, "role", "format", "status") == [("train", "mind", "recorded"), ("dev", "mind", "absent")]
    assert not Raw(FOLDER, rows).has("dev")
    server.asked.clear()
    assert facts(get(both("plain")), "status") == ["recorded", "absent"]  # enough is at hand
    assert server.asked == []
    (FOLDER / "train.zip").unlink()
    assert facts(get(both("plain")), "status") == ["recorded", "recorded"]


def test_available_looks_at_names_only_and_the_environment_names_the_mirror():
    assert fetch.mirror_folder({}) is None
    assert fetch.mirror_folder({"GRAPHDR_MIRROR": "../raw"}) == Path("../raw")
    dev = source(archive="dev.zip", members={"dev": {"path": "x", "optional": True}})
    raw = {"sources": [{"format": "", "archives": [source(), dev]}, wheel()]}
    assert not fetch.available(raw, FOLDER, None)
    assert not fetch.available(raw, FOLDER, MIRROR)
    put("mirror/toy/toy.zip", b"")
    assert fetch.available(raw, FOLDER, MIRROR)
    put(FOLDER / "toy_data-1.0-py3-none-any.whl", b"")
    assert fetch.available(raw, FOLDER, None)


# Checks


def test_what_differs_is_taken_from_a_mirror():
    put("mirror/toy.zip", OTHER)
    assert facts(get(source(), mirror=MIRROR), "status") == ["unverified", "recorded"]
    assert facts(get(source()), "status", "source") == [("unverified", "mirror"), ("recorded", "mirror")]


def test_an_archive_and_its_members_vouch_for_each_other(server):
    official = source(server.url("plain"), sha256=sha(ZIP), bytes=len(ZIP))
    assert facts(get(official), "status") == ["verified"] * 2  # one of its members has no checksum
    (FOLDER / "toy.zip").unlink()
    published = {"path": "toy/u.item", "sha256": sha(ITEMS)}
    members = {"ratings": {"path": "toy/u.data", "sha256": sha(DATA)}, "items": published}
    assert facts(get(source(server.url("plain"), sha256=sha(b""), members=members)), "status") == ["verified"] * 2
    for wrong in ({"sha256": sha(b"")}, {"bytes": len(ZIP) - 1}):
        (FOLDER / "toy.zip").unlink()
        assert "toy/u.item: the archive has a wrong checksum or size" in refusal(source(server.url("plain"), **wrong))
        put("mirror/toy.zip", ZIP)
        assert facts(get(source(**wrong), mirror=MIRROR), "status") == ["verified", "unverified"]


def test_later_downloads_agree_with_the_first(server):
    unknown = source(server.url("plain"), members={"ratings": {"path": "toy/u.data"}})
    assert facts(get(unknown), "status", "source") == [("recorded", "url")]
    (FOLDER / "toy.zip").unlink()
    server.files["toy.zip"] = OTHER
    assert "toy/u.data: differs from the first download" in refusal(unknown)
    assert left() == {fetch.HASHES}
    put(FOLDER / "toy.zip", OTHER)  # changed by hand: no longer the downloaded one
    assert facts(get(unknown), "status", "source") == [("unverified", "file")]


def test_single_files_need_no_member(server):
    packed = gzip.compress(b"{}\n")
    server.files |= {"reviews.json.gz": packed, "table.csv": b"1,2\n"}
    for name, data in (("reviews.json.gz", b"{}\n"), ("table.csv", b"1,2\n")):
        rows = get(source(server.url("plain", name), archive=name, members={"reviews": {}}))
        assert facts(rows, "member", "sha256", "status") == [("", sha(server.files[name]), "recorded")]
        assert content(rows, "reviews") == data
    published = {"archive": "reviews.json.gz", "members": {"reviews": {"sha256": sha(packed)}}}
    assert facts(get(source(**published)), "status") == ["verified"]


def test_unreadable_hashes_are_one_clear_error():
    put(FOLDER / "toy.zip", ZIP)
    put(FOLDER / fetch.HASHES, b"{")
    assert "hashes.json: not readable; delete it" in refusal(source())


# What goes wrong

WRONG = {
    "a truncated zip": (ZIP[:-30], "truncated or damaged"),
    "a page": (b"<!DOCTYPE html><p>Please sign in", "an HTML page, not a zip file"),
    "no zip": (b"nothing", "not a zip file"),
    "nothing": (b"", "empty file"),
    "a missing member": (zipped({"toy/u.item": b"1"}), "has no member toy/u.data"),
    "an outside member": (zipped({"toy/u.data": DATA, "../x": b""}), "refused, for its member '../x' points out"),
    "a wrong checksum": (OTHER, "toy/u.data: wrong checksum"),
}


ANSWERS = {
    "gone": "HTTP 404 Not Found",
    "busy": "HTTP 503 Service Unavailable",
    "moved": "leads to ftp://127.0.0.1/toy.zip; refused, only http or https is allowed",
}


@pytest.mark.parametrize(
    ("way", "data", "message"),
    [*(("plain", *wrong) for wrong in WRONG.values()), *((way, ZIP, message) for way, message in ANSWERS.items())],
    ids=[*WRONG, *ANSWERS],
)
def test_a_useless_download_is_one_line_and_leaves_nothing(server, way, data, message):
    server.files["toy.zip"] = data
    assert f"{server.url(way)}: {message}" in refusal(source(server.url(way)))
    assert left() == set()


@pytest.mark.parametrize(("data", "message"), list(WRONG.values())[:-1], ids=list(WRONG)[:-1])
def test_a_useless_file_or_mirror_is_named_and_replaced(server, data, message):
    lines = []
    for place in (FOLDER / "toy.zip", "mirror/toy.zip"):
        put(place, data)
    rows = get(source(server.url("plain")), mirror=MIRROR, say=lines.append)
    assert facts(rows, "source") == ["url", "url"]
    for place in (FOLDER / "toy.zip", "mirror/toy.zip"):
        assert sum(line.startswith(f"toy: {place}: {message}") for line in lines) == 1
    assert (left(), (FOLDER / "toy.zip").read_bytes()) == (KEPT, ZIP)


@pytest.mark.parametrize("url", ["http://example.org/toy.zip", "ftp://example.org/toy.zip", "file:///etc/passwd"])
@pytest.mark.usefixtures("offline")
def test_only_https_is_opened(monkeypatch, url):
    monkeypatch.setattr(fetch, "SCHEMES", ("https",))
    assert f"{url}: refused, only https is allowed" in refusal(source(url))
    request = urllib.request.Request("https://example.org/toy.zip")
    with pytest.raises(Unusable, match=f"^leads to {url}; refused, only https is allowed$"):
        fetch._Redirect().redirect_request(request, None, 302, "", {}, url)
    assert fetch._Redirect().redirect_request(request, None, 302, "", {}, "https://example.com/toy.zip")


def test_without_network_the_message_says_what_to_do(monkeypatch):
    text = refusal(source("http://127.0.0.1:9/toy.zip"), page="https://example.org", terms="research only")
    assert "no mirror set (GRAPHDR_MIRROR); http://127.0.0.1:9/toy.zip: Connection refused" in text
    assert "put the file at data/raw/toy/toy.zip, from https://example.org; terms: research only" in text
    assert "(toy.zip: not in the mirror m; toy.zip: no address to download from)" in refusal(source(), mirror=Path("m"))
    unknown = urllib.error.URLError(OSError(-2, "Name or service not known"))
    monkeypatch.setattr(fetch, "open_url", Mock(side_effect=unknown))
    text = refusal(source("https://none.example/toy.zip"))
    assert "https://none.example/toy.zip: Name or service not known" in text
    assert left() == set()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("place", ["url", "mirror", "hashes"])
def test_a_full_disk_stops_at_once_and_leaves_nothing(server, monkeypatch, place):
    put("mirror/toy.zip", ZIP)
    FOLDER.mkdir(parents=True)
    if place == "hashes":
        monkeypatch.setattr(Path, "write_text", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    else:
        monkeypatch.setattr("graphdr.core.atomic.create", lambda path: path.symlink_to("/dev/full"))
    text = refusal(*[source(server.url("plain"))] * 2, mirror=MIRROR if place == "mirror" else None)
    assert "No space left on device" in text
    assert len(server.asked) == (place != "mirror")
    assert left() == set()


def test_a_folder_that_cannot_be_written_is_one_line(server):
    put("data/raw", b"a file")
    put("mirror/toy.zip", ZIP)
    downloaded = source(server.url("plain"))
    for sources, mirror in ((downloaded, MIRROR), (downloaded, None), (wheel(), None)):
        assert refusal(sources, mirror=mirror).startswith("data/raw/toy: cannot be written (")


@pytest.mark.parametrize(("way", "extra"), [("early", {}), ("lengthless", {"bytes": len(ZIP)})])
def test_a_server_that_closes_early_is_asked_again_and_leaves_nothing(server, way, extra):
    with pytest.raises(UserError, match=rf"closed after \d+ of {len(ZIP)} bytes"):
        get(source(server.url(way), **extra))
    assert len(server.asked) == 1 + len(fetch.PAUSES)
    assert left() == set()


def test_too_much_is_refused(server, monkeypatch):
    assert "sends more than 10 bytes" in refusal(source(server.url("lengthless"), bytes=10))
    monkeypatch.setattr(archives, "BOUND", 100)
    assert f"{len(ZIP)} bytes are too many" in refusal(source(server.url("plain")))
    assert left() == set()


def test_terms_and_size_are_shown_before_a_large_download(server, monkeypatch):
    monkeypatch.setattr(fetch, "LARGE", 10)
    monkeypatch.setattr(fetch.time, "monotonic", iter(range(0, 1000, 10)).__next__)
    lines = []
    get(source(server.url("plain")), say=lines.append, terms="research only")
    assert lines[0] == "toy: terms: research only"
    assert lines[1].startswith("toy: downloading toy.zip (0.0 MB), about ")
    assert lines[2].startswith("toy: toy.zip: 0.0 of 0.0 MB after ")
    assert lines[-1] == f"toy: toy.zip from {server.url('plain')}: ratings verified, items recorded"


# Real data

PIP_DOWNLOAD = fetch.pip_download


@pytest.mark.skipif(os.environ.get("GRAPHDR_NETWORK") != "1", reason="GRAPHDR_NETWORK is not 1")
def test_a_real_wheel_holds_ratings(monkeypatch):
    monkeypatch.setattr(fetch, "pip_download", PIP_DOWNLOAD)
    published = "4edb74e2a81178c2ba9ff381495f754f996c4aea351b1272ca36b43da0935eff"
    members = {"inter": {"path": "recbole/dataset_example/ml-100k/ml-100k.inter", "sha256": published}}
    rows = get(wheel(wheel="recbole==1.2.1", members=members))
    assert facts(rows, "source", "status") == [("wheel", "verified")]
    assert content(rows, "inter").count(b"\n") == 1 + 100_000
