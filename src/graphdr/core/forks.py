"""Short jobs without start-up time: a server imports the libraries once, and every job is a fork of it.

``Server.start`` starts a server. ``Server.command`` is the start of a shell command that runs ``fork_client``, which
passes its arguments and its output to the server and returns the exit code of the job.
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

    command: str
    process: subprocess.Popen[bytes]
    lifeline: int  # end of a pipe, which closes when this process ends for any reason

    @classmethod
    def start(cls, package: str) -> "Server":
        """Start a server; clients may connect at once and wait until it is ready."""
        address = f"{tempfile.mkdtemp(prefix='graphdr-')}/jobs"  # only for this user; addresses must be short
        end, lifeline = os.pipe()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen(64)
            passed = listener.fileno(), end
            shell = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh"]  # Ctrl-C ends the jobs, not the server
            command = [*shell, sys.executable, "-m", __name__, *map(str, passed), address, package]
            process = subprocess.Popen(command, pass_fds=passed, stdin=subprocess.DEVNULL)
        os.close(end)
        return cls(f"{sys.executable} -IS {fork_client.__file__} {address} {package}", process, lifeline)

    def stop(self) -> None:
        """End the server after all running jobs."""
        os.close(self.lifeline)
        self.process.wait()


Main = Callable[[list[str]], int]


def serve(listener: socket.socket, end: int, main: Main) -> None:
    """Fork for every client until the lifeline is closed, and wait for all jobs, so that their CPU time counts here."""
    with selectors.DefaultSelector() as events:

        def close() -> None:
            events.unregister(listener)
            events.unregister(end)

        events.register(listener, selectors.EVENT_READ, lambda: _accept(listener, events, main))
        events.register(end, selectors.EVENT_READ, close)
        while events.get_map():
            for key, _ in events.select():
                key.data()


def _accept(listener: socket.socket, events: selectors.BaseSelector, main: Main) -> None:
    """Fork a job for the next client; if the client goes away, the job is killed."""
    connection, _ = listener.accept()
    try:
        size, output, *_ = socket.recv_fds(connection, 8, 2)
        with connection.makefile("rb") as stream:
            folder, *arguments = os.fsdecode(stream.read(int.from_bytes(size, "big"))).split("\0")
    except OSError:  # the client is gone already
        return connection.close()
    end, running = os.pipe()  # closes when the job ends
    process = os.fork()
    if not process:
        _run(folder, arguments, output, main)
    for descriptor in (running, *output):
        os.close(descriptor)

    def kill() -> None:
        if connection.fileno() >= 0:  # else the job has just ended
            os.kill(process, signal.SIGKILL)
            events.unregister(connection)

    def finish() -> None:
        """Send the exit code of the job to its client."""
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        events.unregister(end)
        os.close(end)
        with connection, suppress(KeyError, OSError):  # KeyError: it was killed, so there is no client to tell
            events.unregister(connection)
            connection.sendall(bytes([code if code >= 0 else 128 - code]))

    events.register(connection, selectors.EVENT_READ, kill)
    events.register(end, selectors.EVENT_READ, finish)


def _run(folder: str, arguments: list[str], output: list[int], main: Main) -> NoReturn:
    """Run a job in the folder and with the output of its client; it is killed if the server ends."""
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
    """End this process at once: Arrow's threads may abort a normal exit right after they have read a file."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def main(listener: str, end: str, address: str, package: str) -> None:
    """Run the server.

    ``listener`` and ``end`` are file descriptors, ``address`` is the socket, ``package`` contains the jobs.
    """
    jobs = import_module(f"{package}.__main__")
    try:
        jobs.prepare()
        gc.freeze()  # a garbage collection in a job would copy all memory that it shares with the server
        serve(socket.socket(fileno=int(listener)), int(end), jobs.main)
    finally:
        os.unlink(address)
        os.rmdir(os.path.dirname(address))


if __name__ == "__main__":
    main(*sys.argv[1:])
