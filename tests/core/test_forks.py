"""A forked job is what a process of its own would be: its output, folder, exit code and end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphdr.core.forks import Server

JOB = """
import os, signal, sys, time

def prepare():
    import decimal

def main(arguments):
    task, *rest = arguments
    print(task, *rest, os.getcwd(), "decimal" in sys.modules, flush=True)
    print("told", file=sys.stderr)
    if task == "fail":
        raise ValueError("broken")
    if task == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if task == "long":
        open("pid", "w").write(str(os.getpid()))
        time.sleep(60)
    return int(task == "refuse")

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server of a package that does what its first argument says."""
    package = tmp_path / "package" / "jobs"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(JOB)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    started = Server.start("jobs")
    yield started
    if started.process.poll() is None:
        started.stop()


def run(server: Server, *arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([*server.command.split(), *arguments], capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize(("task", "code"), [("work", 0), ("refuse", 1), ("fail", 1), ("killed", 128 + signal.SIGKILL)])
def test_a_job_has_the_output_the_folder_and_the_end_of_its_client(server, tmp_path, task, code):
    done = run(server, task, "ä b", "x" * 100_000, cwd=tmp_path)
    assert done.returncode == code
    assert done.stdout == f"{task} ä b {'x' * 100_000} {tmp_path} True\n"  # True: the library was there before
    assert done.stderr.startswith("told\n")
    assert ("ValueError: broken" in done.stderr) == (task == "fail")


def wait_for(path: Path) -> int:
    while not (path.exists() and path.read_text()):
        time.sleep(0.01)
    return int(path.read_text())


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until_gone(process: int) -> None:
    deadline = time.monotonic() + 20
    while is_alive(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive(process)


def test_a_job_ends_with_its_server_and_the_next_one_runs(server, tmp_path):
    client = subprocess.Popen([*server.command.split(), "long"], cwd=tmp_path, stdout=subprocess.DEVNULL)
    job = wait_for(tmp_path / "pid")
    server.process.kill()
    server.process.wait()
    assert client.wait(20) == 1
    until_gone(job)
    assert run(server, "work").returncode == 0


def test_jobs_run_side_by_side_and_end_with_their_clients(server, tmp_path):
    folders = [tmp_path / name for name in ("one", "two", "three")]
    for folder in folders:
        folder.mkdir()
    clients = [
        subprocess.Popen([*server.command.split(), "long"], cwd=folder, stdout=subprocess.DEVNULL) for folder in folders
    ]
    first, second, third = (wait_for(folder / "pid") for folder in folders)
    os.kill(second, signal.SIGTERM)
    assert clients[1].wait(20) == 128 + signal.SIGTERM
    clients[0].kill()
    until_gone(first)
    assert is_alive(third)
    clients[2].kill()
    until_gone(third)
    for client in clients:
        client.wait()
    assert run(server, "work").returncode == 0


def test_a_server_that_is_stopped_leaves_nothing_and_then_the_client_is_the_job(server, tmp_path):
    before = os.times().children_user
    assert run(server, "work").returncode == 0
    address = Path(server.command.split()[-2])
    assert address.parent.stat().st_mode & 0o777 == 0o700
    server.stop()
    assert server.process.returncode == 0
    assert not address.parent.exists()
    assert os.times().children_user > before  # the CPU time of its jobs is counted
    done = run(server, "work", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"work {tmp_path} False\n")


def test_a_server_ends_with_the_process_that_started_it(tmp_path, server):
    start = "import os; from graphdr.core.forks import Server; print(Server.start('jobs').process.pid, flush=True)"
    done = subprocess.run([sys.executable, "-c", f"{start}; os._exit(1)"], capture_output=True, text=True, check=False)
    until_gone(int(done.stdout))
