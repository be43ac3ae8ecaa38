"""Short jobs without their start-up: one process imports the libraries once, and every job is a fork of it.

A server is started with ``Server.start``; a shell command that starts with its words runs ``fork_client``, which hands
over its arguments and its output and ends as the job ends. A job whose client is killed is killed, too.
"""

import ctypes
import gc
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import NamedTuple, NoReturn

from graphdr.core import fork_client


class Server(NamedTuple):
    """A process that runs the ``main`` of a package for its clients until ``lifeline`` is closed."""

    words: str
    process: subprocess.Popen[bytes]
    lifeline: int  # of a pipe: it closes when this process ends, however that happens

    @classmethod
    def start(cls, package: str) -> "Server":
        """Start a server; clients may come at once, and wait until it is ready."""
        address = f"{tempfile.mkdtemp(prefix='graphdr-')}/jobs"  # for this user alone, and short as addresses must be
        end, lifeline = os.pipe()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen(64)
            passed = listener.fileno(), end
            command = [sys.executable, "-m", __name__, *map(str, passed), address, package]
            deaf = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh"]  # Ctrl-C is for the jobs, which end by themselves
            process = subprocess.Popen([*deaf, *command], pass_fds=passed, stdin=subprocess.DEVNULL)
        os.close(end)
        return cls(f"{sys.executable} -IS {fork_client.__file__} {address} {package}", process, lifeline)

    def stop(self) -> None:
        """End the server, after the jobs that are under way."""
        os.close(self.lifeline)
        self.process.wait()


def serve(listener: socket.socket, end: int, main: Callable[[list[str]], int]) -> None:
    """Fork for every client until the lifeline is closed, and wait for all jobs: their CPU time then counts here."""
    with selectors.DefaultSelector() as events:

        def close() -> None:
            events.unregister(listener)
            events.unregister(end)

        events.register(listener, selectors.EVENT_READ, lambda: _attend(listener, events, main))
        events.register(end, selectors.EVENT_READ, close)
        while events.get_map():
            for key, _ in events.select():
                key.data()


def _attend(listener: socket.socket, events: selectors.BaseSelector, main: Callable[[list[str]], int]) -> None:
    """Fork a job for the next client and have it told how the job ended; a job whose client is gone is killed."""
    connection, _ = listener.accept()
    try:
        size, output, *_ = socket.recv_fds(connection, 8, 2)
        with connection.makefile("rb") as stream:
            folder, *arguments = os.fsdecode(stream.read(int.from_bytes(size, "big"))).split("\0")
    except OSError:  # the client is gone already
        return connection.close()
    ends, running = os.pipe()  # closes when the job ends
    if not (job := os.fork()):
        _become(folder, arguments, output, main)
    for descriptor in (running, *output):
        os.close(descriptor)
    over = False

    def kill() -> None:
        if not over:
            os.kill(job, signal.SIGKILL)
            events.unregister(connection)

    def finish() -> None:
        nonlocal over
        over = True
        code = os.waitstatus_to_exitcode(os.waitpid(job, 0)[1])
        events.unregister(ends)
        os.close(ends)
        with connection, suppress(KeyError, OSError):
            events.unregister(connection)
            connection.sendall(bytes([code if code >= 0 else 128 - code]))

    events.register(connection, selectors.EVENT_READ, kill)
    events.register(ends, selectors.EVENT_READ, finish)


def _become(folder: str, arguments: list[str], output: list[int], main: Callable[[list[str]], int]) -> NoReturn:
    """Be the job: in the folder and with the output of its client; it ends with the server."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, descriptor in enumerate(output, 1):
            os.dup2(descriptor, number)
        os.chdir(folder)
        code = main(arguments)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        end_process(code)


def end_process(code: int) -> NoReturn:
    """End this process at once: Arrow's threads may abort one that ends in order right after they have read a file."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def main(listener: str, end: str, address: str, package: str) -> None:
    """Be the server: two open files by their numbers, where clients find it, and the package that has the jobs."""
    jobs = import_module(f"{package}.__main__")
    try:
        jobs.prepare()
        gc.freeze()  # a collection in a job would write to, and thereby copy, all that it shares with the others
        serve(socket.socket(fileno=int(listener)), int(end), jobs.main)
    finally:
        os.unlink(address)
        os.rmdir(os.path.dirname(address))


if __name__ == "__main__":
    main(*sys.argv[1:])
