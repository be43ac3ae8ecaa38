"""Members of archives come out as they went in; whatever is unsafe or damaged is one clear error."""

import gzip
import hashlib
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphdr.core.errors import UserError
from graphdr.raw import archives
from graphdr.raw.archives import Raw, Unusable
from tests.support.tiny_data import zipped

NAMES = st.text("abc.", min_size=1, max_size=8).filter(lambda name: name.strip("."))


def row(archive: str, member: str = "", role: str = "it", data: bytes = b"", status: str = "verified") -> dict:
    sha256 = hashlib.sha256(data).hexdigest()
    return {"role": role, "archive": archive, "member": member, "sha256": sha256, "status": status, "format": "f"}


def content(folder, *where) -> bytes:
    with Raw(folder, [row(*where)]).open("it") as stream:
        return stream.read()


@given(
    members=st.dictionaries(st.lists(NAMES, min_size=1, max_size=3).map("/".join), st.binary(max_size=2000), min_size=1)
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_zip_gives_back_what_was_put_in(tmp_path, members):
    (tmp_path / "a.zip").write_bytes(zipped(members))
    for name, data in members.items():
        assert archives.locate(tmp_path / "a.zip", name) == name
        assert archives.digest(tmp_path / "a.zip", name) == (len(data), hashlib.sha256(data).hexdigest())
        if not name.endswith(".gz"):
            assert content(tmp_path, "a.zip", name) == data


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_what_is_gzipped_comes_out_unpacked_and_is_hashed_as_stored(tmp_path):
    packed = gzip.compress(b"1,2\n", mtime=0)
    files = {"a.zip": zipped({"raw/edge.csv.gz": packed}), "reviews.json.gz": packed, "plain.csv": b"1,2\n"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        archives.require_kind(tmp_path / name, name)
        member = "raw/edge.csv.gz" if name == "a.zip" else ""
        assert content(tmp_path, name, member) == b"1,2\n"
        stored = b"1,2\n" if name == "plain.csv" else packed
        assert archives.digest(tmp_path / name, member)[1] == hashlib.sha256(stored).hexdigest()


def test_a_member_is_found_below_another_top_folder_if_there_is_one_such(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"MINDsmall_train/news.tsv": b"", "x/u.data": b"", "y/u.data": b"", "z/not-news.tsv": b""}))
    assert archives.locate(path, "news.tsv") == "MINDsmall_train/news.tsv"
    assert archives.locate(path, "u.data") is None
    assert archives.locate(path, None) == ""


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/passwd", "C:/x", "..\\evil", "\\\\host\\x"])
def test_an_archive_with_a_member_that_points_outside_is_refused_whole(tmp_path, name):
    (tmp_path / "a.zip").write_bytes(zipped({"good": b"1", name: b"2"}))
    with pytest.raises(Unusable, match="points out of the archive"):
        archives.locate(tmp_path / "a.zip", "good")


def test_an_encrypted_member_is_refused(tmp_path):
    data = bytearray(zipped({"a": b"secret"}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(Unusable, match="a is encrypted"):
        archives.digest(tmp_path / "a.zip", "a")


def test_a_member_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "SMALL", 1000)
    members = {"bomb": bytes(10**6), "text": bytes(range(256)) * 40}
    (tmp_path / "a.zip").write_bytes(zipped(members, zipfile.ZIP_DEFLATED))
    with pytest.raises(Unusable, match=r"bomb would unpack from .* to 1000000 bytes"):
        archives.digest(tmp_path / "a.zip", "bomb")
    archives.digest(tmp_path / "a.zip", "text")
    monkeypatch.setattr(archives, "BOUND", 5000)
    with pytest.raises(Unusable, match="text would unpack"):
        archives.digest(tmp_path / "a.zip", "text")
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(10**6)))
    with pytest.raises(Unusable, match="more than 5000 bytes"):
        archives.require_whole(tmp_path / "a.gz", "")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.zip", b"<!DOCTYPE html><title>Sign in</title>", "an HTML page, not a zip file"),
        ("a.json.gz", b"\xef\xbb\xbf\n <HTML>", "an HTML page, not a gzip file"),
        ("a.csv", b"<html>", "an HTML page, not the file"),
        ("a.zip", gzip.compress(b"x", mtime=0), "not a zip file"),
        ("a.gz", zipped({"a": b"x"}), "not a gzip file"),
    ],
)
def test_a_file_must_be_what_its_name_promises(tmp_path, name, data, message):
    path = tmp_path / "downloaded.part"
    path.write_bytes(data)
    with pytest.raises(Unusable, match=f"^{message}$"):
        archives.require_kind(path, name)


TEXT = b"".join(b"%d\t%d\n" % (i, i * i) for i in range(40))
PACKED = gzip.compress(TEXT, mtime=0)
FILES = {"a.zip": zipped({"d/e.csv.gz": PACKED}), "alone.gz": PACKED}


@pytest.mark.parametrize("file", FILES)
@given(cut=st.integers(0, 200), flip=st.integers(0, 10**6), bit=st.integers(0, 7))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_gzip_is_one_clear_error_or_its_content_is_right(tmp_path, file, cut, flip, bit):
    """Damaged zips are in tests/trust/test_fuzz.py."""
    data = bytearray(FILES[file])[: max(len(FILES[file]) - cut, 1)]
    data[flip % len(data)] ^= 1 << bit
    path = tmp_path / file
    path.write_bytes(data)
    try:
        archives.require_kind(path, file)
        member = archives.locate(path, "d/e.csv.gz" if file == "a.zip" else None)
        if member is None:
            return
        archives.require_whole(path, member)
    except Unusable as error:
        assert "\n" not in str(error)
    else:
        assert content(tmp_path, file, member) == TEXT


def test_raw_knows_its_members(tmp_path):
    rows = [row("a.zip", "d/u.data", "ratings"), row("b.gz", "", "reviews"), row("c", "", "items", status="absent")]
    raw = Raw(str(tmp_path), rows)
    assert [raw.has(role) for role in ("ratings", "reviews", "items", "other")] == [True, True, False, False]
    assert (raw.name("ratings"), raw.name("reviews"), raw.format) == ("a.zip: d/u.data", "b.gz", "f")
    with pytest.raises(UserError, match="no member 'items'; there are: ratings, reviews"):
        raw.open("items")


def test_raw_refuses_what_changed_or_vanished_since(tmp_path):
    raw = Raw(tmp_path, [row("a.zip", "u.data", data=b"1\n")])
    (tmp_path / "a.zip").write_bytes(zipped({"u.data": b"1\n", "another": b"zip, same member"}))
    raw.check()
    for damage in (zipped({"u.data": b"2\n"}), zipped({"v.data": b"1\n"}), b"PK\x03\x04", b""):
        (tmp_path / "a.zip").write_bytes(damage)
        with pytest.raises(UserError, match=r"a\.zip: u\.data: (changed since|truncated or damaged)"):
            raw.check()
    (tmp_path / "a.zip").unlink()
    for use in (raw.check, lambda: raw.open("it")):
        with pytest.raises(UserError, match=r"a\.zip: u\.data: cannot be read \(No such file or directory\)"):
            use()
