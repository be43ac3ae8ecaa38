"""Build into a bucket by two workers that share nothing else, and compare values: ``make test-s3``."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.elsewhere.environments import made
from tests.places.places import Missing, another_user, owned
from tests.support.project import lay_out
from trust.checkout import contents
from trust.determinism import differences

BUCKET, PREFIX = "trial", "study"
BEGUN = ("results/measurements/main.parquet", "results/measurements/rgg.parquet")  # by the first worker
KEYS = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any"}  # the server takes all


def main() -> None:
    """Build in a folder, and in a bucket by two workers; bring that back, and compare."""
    programs = made("s3", "snakemake-storage-plugin-s3>=0.3.6", "moto[server]>=5", over=True)
    with tempfile.TemporaryDirectory(prefix="graphdr-s3-") as name, server(programs) as endpoint:
        folder = Path(name)
        folder.chmod(0o755)  # another user comes here, too
        local, first, second, home = (lay_out(folder / part) for part in ("local", "first", "second", "home"))
        build(local, programs)
        options = [
            *("--default-storage-provider", "s3", "--default-storage-prefix", f"s3://{BUCKET}/{PREFIX}"),
            *("--storage-s3-endpoint-url", endpoint, "--"),
        ]
        build(first, programs, *options, *BEGUN)
        begun = ask(programs, endpoint, "listed")
        assert {f"{PREFIX}/{path}" for path in BEGUN} < begun.keys()
        as_user, who = worker(second)
        build(second, programs, *options, "all", as_user=as_user)
        done = ask(programs, endpoint, "listed")
        assert {key: done[key] for key in begun} == begun, "built again by the second worker"
        print(f"A second worker, {who}, kept {len(begun)} files in the bucket and added {len(done) - len(begun)}.")
        for checkout in (first, second):
            beside = {path.name for path in (checkout / "results").iterdir()} - {"times"}
            assert not beside, f"beside the bucket: {beside}"
            shutil.rmtree(checkout)
        ask(programs, endpoint, "brought", str(home))
        compare(local, home)
    print("What was brought back is what a build in a folder gives.")


@contextmanager
def server(programs: Path) -> Iterator[str]:
    """Start a server with buckets on this machine alone; hand out its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [programs / "moto_server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", port)):
                    break
            assert process.poll() is None, "the server does not start"
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def worker(folder: Path) -> tuple[tuple[str, ...], str]:
    """Return what makes a call one of another worker, to whom the folder is given, and who that is."""
    try:
        before, _ = another_user(), owned(folder)
    except Missing as reason:
        return (), f"the same user in another folder ({reason})"
    named = any(word.startswith("--reuid") for word in before)
    return before, "another user" if named else "without privileges" if before else "the same user in another folder"


def build(folder: Path, programs: Path, *arguments: str, as_user: tuple[str, ...] = ()) -> None:
    """Call Snakemake in a folder, which is home, too."""
    environment = os.environ | KEYS | {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / ".cache")}
    command = [*as_user, programs / "python", "-m", "snakemake", "--cores", "2", *arguments]
    said = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr


def ask(programs: Path, endpoint: str, *question: str) -> Mapping[str, str]:
    """Have a function of this module that needs boto3 run where it is; return what it says."""
    command = [programs / "python", "-m", "tests.elsewhere.bucket", endpoint, *question]
    return json.loads(subprocess.run(command, env=os.environ | KEYS, check=True, capture_output=True).stdout)


def answer(endpoint: str, question: str, *folder: str) -> dict[str, str]:
    """List the files in the bucket with the time of their last change, or bring all of them into a folder."""
    import boto3

    bucket = boto3.resource("s3", endpoint_url=endpoint, region_name="us-east-1").Bucket(BUCKET)
    files = {item.key: item.last_modified.isoformat() for item in bucket.objects.all()}
    for key in files if question == "brought" else ():
        place = Path(*folder, key.removeprefix(f"{PREFIX}/"))
        place.parent.mkdir(parents=True, exist_ok=True)
        bucket.download_file(key, str(place))
    return files


def compare(local: Path, other: Path) -> None:
    """Check what was built elsewhere with the commands of a project, and against a build in a folder."""
    here, there = contents(local), contents(other)
    assert len(here) > 100
    assert not (unlike := differences(here, there)), f"built otherwise: {unlike}"
    subprocess.run([sys.executable, "-m", "trust.same_values", local, other], check=True)
    listed = json.loads(graphdr(other, "ls", "--all", "--json"))["files"]
    assert {file["state"] for file in listed} == {"current"}
    assert {file["path"] for file in listed} > set(there)
    assert "0 of them changed or missing" in graphdr(other, "verify")
    assert "GraphDR" in graphdr(other, "show", "main_synthetic")


def graphdr(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "graphdr", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(answer(*sys.argv[1:])))
    else:
        main()
