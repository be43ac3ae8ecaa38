"""A queue of one machine, with the three commands of a large one: submit, status and cancel.

Jobs wait in a folder and workers take them from there one by one. As on a cluster, a job that takes longer than it
asked for is killed, and a worker that is killed takes its job with it. Nothing but the standard library is imported, so
that a call takes 0.05 s.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

WAITING, RUNNING, DONE = "waiting", "running", "done"


def submit(spool: Path, mem_mb: str, minutes: str, script: str) -> str:
    """Put a job script into the queue; return its number."""
    job = {"mem_mb": int(mem_mb), "minutes": int(minutes), "submitted": time.time(), "script": Path(script).read_text()}
    number = f"{time.time_ns()}"
    _write(spool / WAITING / number, job)
    return number


def status(spool: Path, number: str) -> str:
    """Return whether a job is running (or waits), has succeeded, or has failed (or its worker is no longer there)."""
    for _ in range(2):  # a job that moves on meanwhile is found at the second look
        if (spool / DONE / number).exists():
            return "failed" if _read(spool / DONE / number)["code"] else "success"
        if (spool / WAITING / number).exists():
            return "running"
        for taken in (spool / RUNNING).glob(f"{number}.*"):
            if _is_alive(int(taken.suffix[1:])):
                return "running"
    return "failed"


def cancel(spool: Path, *numbers: str) -> None:
    """Take jobs that wait out of the queue, and end those that run."""
    for number in numbers:
        (spool / WAITING / number).unlink(missing_ok=True)
        for taken in (spool / RUNNING).glob(f"{number}.*"):
            with suppress(ProcessLookupError):
                os.kill(int(taken.suffix[1:]), signal.SIGUSR1)


def work(spool: Path) -> None:
    """Be a worker: take the oldest job that waits, run it, write down what it took; for ever."""
    signal.signal(signal.SIGTERM, lambda *_: None)  # what ends the process group of worker and job ends the job alone
    for number in (signal.SIGALRM, signal.SIGUSR1):
        signal.signal(number, lambda *_: os.killpg(0, signal.SIGTERM))
    while True:
        taken = next(filter(None, map(_take, sorted((spool / WAITING).glob("[0-9]*[0-9]")))), None)
        if taken:
            _write(spool / DONE / taken.stem, _read(taken) | _run(_read(taken)))
            taken.unlink()
        else:
            time.sleep(0.1)


def records(spool: Path) -> list[dict]:
    """Return what is known of all jobs that have ended, in the order of their submission."""
    return [_read(path) for path in sorted((spool / DONE).glob("[0-9]*[0-9]"))]


def _run(job: dict) -> dict:
    """Run a job, no longer than it asked for; return its exit code, and what it took."""
    started = time.time()
    process = subprocess.Popen(["/bin/sh", "-c", job["script"]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    signal.alarm(60 * job["minutes"])
    _, code, used = os.wait4(process.pid, 0)
    signal.alarm(0)
    cost = {"cpu": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}
    return {"started": started, "ended": time.time(), "code": os.waitstatus_to_exitcode(code)} | cost


def _take(path: Path) -> Path | None:
    """Take a job that waits, unless another worker was faster."""
    taken = path.parents[1] / RUNNING / f"{path.name}.{os.getpid()}"
    try:
        return path.rename(taken)
    except FileNotFoundError:
        return None


def _is_alive(worker: int) -> bool:
    try:
        os.kill(worker, 0)
    except ProcessLookupError:
        return False
    return True


def _read(path: Path) -> dict:
    return json.loads(path.read_text())


def _write(path: Path, job: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parents[1] / RUNNING).mkdir(exist_ok=True)
    part = path.with_suffix(".tmp")
    part.write_text(json.dumps(job))
    part.replace(path)


if __name__ == "__main__":
    command, spool, *words = sys.argv[1:]
    said = {"submit": submit, "status": status, "cancel": cancel, "work": work}[command](Path(spool), *words)
    if said:
        print(said)
