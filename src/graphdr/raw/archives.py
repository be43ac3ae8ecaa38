"""Archives of raw data (zips, single gzip or plain files): check that they are safe, and open their members."""

import gzip
import hashlib
import lzma
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from graphdr.core.errors import UserError, join_names, no_such, quote

KINDS = {".zip": "zip", ".whl": "zip", ".gz": "gzip"}  # expected kind, by suffix
BOUND = 4 * 2**30  # bytes; no member of a data set is near it
SMALL, RATIO = 2**26, 200  # a larger member that is compressed more is not data (text: five-fold)
BLOCK = 2**18

_DAMAGE = (  # raised on damaged bytes
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(OSError, RuntimeError, ValueError, LookupError, OverflowError),
)


class Unusable(UserError):
    """A file, an address or a package that cannot be used; another source may work."""


def kind(path: Path) -> str:
    """Tell by its first bytes whether a file is a zip, a gzip, an HTML page or plain."""
    with _readable(), path.open("rb") as stream:
        start = stream.read(512)
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if start.startswith(b"\x1f\x8b"):
        return "gzip"
    page = re.match(rb"(\xef\xbb\xbf)?\s*<(!doctype html|html|head|body|\?xml|!--)", start, re.IGNORECASE)
    return "html" if page else "plain"


def require_kind(path: Path, name: str) -> None:
    """Refuse a file whose bytes are not of the kind that its official name promises."""
    actual, expected = kind(path), KINDS.get(Path(name).suffix)
    if not path.stat().st_size:
        raise Unusable("empty file")
    if actual == "html":
        raise Unusable(f"an HTML page, not {'a ' + expected if expected else 'the'} file")
    if expected not in (None, actual):
        raise Unusable(f"not a {expected} file")


def locate(path: Path, member: str | None) -> str | None:
    """Find a member by its path, or by the only path that ends with it: re-zipped copies differ in the top folder."""
    if not member:
        return ""
    with _readable(), zipfile.ZipFile(path) as archive:
        modes = [(info.filename, info.external_attr >> 16) for info in archive.infolist()]
    for name, mode in modes:
        if re.match(r"[/\\]|[A-Za-z]:", name) or ".." in re.split(r"[/\\]", name):
            raise Unusable(f"refused, for its member {quote(name)} points out of the archive")
        if stat.S_ISLNK(mode):
            raise Unusable(f"refused, for its member {quote(name)} is a link")
    ends = [name for name, _ in modes if name.endswith(f"/{member}")]
    if any(name == member for name, _ in modes):
        return member
    return ends[0] if len(ends) == 1 else None


def stored(path: Path, member: str) -> IO[bytes]:
    """Open the bytes of a member as the archive holds them; without a member, those of the file."""
    if not member:
        return path.open("rb")
    with zipfile.ZipFile(path) as archive:  # the file stays open as long as the stream does
        return archive.open(member)


def content(path: Path, member: str) -> IO[bytes]:
    """Open the content of a member; unpacked if it is gzipped."""
    stream = stored(path, member)
    if not _gzipped(path, member):
        return stream
    unpacked: Any = gzip.GzipFile(fileobj=stream)
    unpacked.myfileobj = stream  # to be closed with it
    opened: IO[bytes] = unpacked
    return opened


def blocks(path: Path, member: str, opener: Callable[[Path, str], IO[bytes]] = stored) -> Iterator[bytes]:
    """Read a member block by block."""
    with _readable(), opener(path, member) as stream:
        while block := stream.read(BLOCK):
            yield block


def digest(path: Path, member: str) -> tuple[int, str]:
    """Return size and sha256 of a member as the archive holds it, its zip checksum is checked as well."""
    if member:
        with _readable(), zipfile.ZipFile(path) as archive:
            info = archive.getinfo(member)
        if info.flag_bits & 1:
            raise Unusable(f"{member} is encrypted")
        if info.file_size > BOUND or info.file_size > max(SMALL, RATIO * info.compress_size):
            raise Unusable(f"{member} would unpack from {info.compress_size} to {info.file_size} bytes")
    size, sha256 = 0, hashlib.sha256()
    for block in blocks(path, member):
        sha256.update(block)
        size += len(block)
    return size, sha256.hexdigest()


def require_whole(path: Path, member: str) -> None:
    """Refuse a gzipped member that does not unpack to its end, or to too much."""
    size = 0
    for block in blocks(path, member, content) if _gzipped(path, member) else ():
        size += len(block)
        if size > BOUND:
            raise Unusable(f"unpacks to more than {BOUND} bytes")


class Raw:
    """The members of a data set in its receipt, by role."""

    def __init__(self, folder: Path | str, rows: Iterable[Mapping[str, Any]]) -> None:
        self._folder = Path(folder)
        self._rows = {row["role"]: row for row in rows if row["status"] != "absent"}

    @property
    def format(self) -> str:
        """Name the format of the source, which decides on the adapter."""
        return str(next(iter(self._rows.values()))["format"])

    def has(self, role: str) -> bool:
        """Tell whether there is such a member."""
        return role in self._rows

    def name(self, role: str) -> str:
        """Name archive and member, for messages."""
        row = self._row(role)
        return ": ".join(filter(None, (row["archive"], row["member"])))

    def open(self, role: str) -> IO[bytes]:
        """Open the content of a member; unpacked if it is gzipped."""
        row = self._row(role)
        with self._located(role):
            return content(self._folder / row["archive"], row["member"])

    def check(self) -> None:
        """Refuse members that changed since they were fetched."""
        command = f"snakemake --forcerun fetch_raw -- {self._folder.name}"
        advice = f"put the former file back, or take this one: {command}"
        for role, row in self._rows.items():
            with self._located(role):
                if digest(self._folder / row["archive"], row["member"])[1] != row["sha256"]:
                    raise Unusable(f"changed since it was fetched; {advice}")

    def _row(self, role: str) -> Mapping[str, Any]:
        if role not in self._rows:
            raise no_such(str(self._folder), "member", role, self._rows)
        return self._rows[role]

    @contextmanager
    def _located(self, role: str) -> Iterator[None]:
        try:
            with _readable():
                yield
        except Unusable as error:
            raise UserError(f"{self._folder}/{self.name(role)}: {error}") from None


def _gzipped(path: Path, member: str) -> bool:
    return member.endswith(".gz") if member else kind(path) == "gzip"


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        text = getattr(error, "strerror", None) or (str(error).splitlines() or [type(error).__name__])[0]
        reason = "cannot be read" if getattr(error, "strerror", None) else "truncated or damaged"
        raise Unusable(f"{reason} ({join_names([text])})") from None
