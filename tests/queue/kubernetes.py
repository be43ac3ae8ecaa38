"""Dry-run the profile for Kubernetes with its two plugins, over a bucket without files: ``make test-kubernetes``."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from graphdr.cache import paths
from graphdr.plan import config as configuration
from graphdr.plan import design
from tests.elsewhere.environments import made
from tests.support.project import lay_out

PLUGINS = ("snakemake-executor-plugin-kubernetes>=0.5", "snakemake-storage-plugin-s3>=0.3.6")
PROFILE = ("--profile", "workflow/profiles/kubernetes", "--workflow-profile", "none")
KEYS = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "any"}


class EmptyBucket(BaseHTTPRequestHandler):
    """Answer as a bucket does that exists and has no files."""

    def do_HEAD(self) -> None:
        self._answer(404 if "/" in self.path.strip("/") else 200)

    def do_GET(self) -> None:
        self._answer(200, b"<ListBucketResult></ListBucketResult>")

    def log_message(self, *_) -> None:
        """Print nothing."""

    def _answer(self, code: int, body: bytes = b"") -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def empty_bucket() -> Iterator[str]:
    """Start a server on this machine alone; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), EmptyBucket) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def planned(python: str, checkout: Path, *arguments: str) -> int:
    """Return how many stages a dry run of all measurements has; an option that is not known ends it."""
    batches = design.expand(configuration.load(checkout / "config.yaml"), []).batches
    command = [python, "-m", "snakemake", *arguments, "--dry-run", "--quiet", "rules", "--"]
    command += [paths.measurements(batch) for batch in batches]
    done = subprocess.run(command, cwd=checkout, env=os.environ | KEYS, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: {' '.join(arguments)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return int(re.search(r"^total +(\d+)$", done.stdout + done.stderr, re.MULTILINE)[1])


def main() -> None:
    """Plan the tiny configuration for pods and a bucket, and for this machine: the same stages."""
    with tempfile.TemporaryDirectory(prefix="graphdr-kubernetes-") as name, empty_bucket() as address:
        python, checkout = str(made("kubernetes", *PLUGINS, over=True) / "python"), lay_out(Path(name) / "checkout")
        there = planned(python, checkout, *PROFILE, "--storage-s3-endpoint-url", address)
        here = planned(sys.executable, checkout)
        if there != here:
            sys.exit(f"error: {there} stages are planned for Kubernetes, {here} here")
        print(f"ok: all options of the profile are known; {there} stages are planned, as for this machine")


if __name__ == "__main__":
    main()
