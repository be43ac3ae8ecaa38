"""CPU seconds of a job by what they are spent on, each counted once: a part within another counts for itself alone."""

import builtins
import os
import re
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START, KERNELS, FILES, COMPUTE = "start", "kernels", "files", "compute"

_seconds = dict.fromkeys((START, KERNELS, FILES, COMPUTE), 0.0)
_current, _since = START, 0.0  # what the process does now, and its clock when it began to: all before is the start


def _begin() -> None:
    """Count from the start of a process that was forked, as its clock does."""
    global _current, _since
    _seconds.update(dict.fromkeys(_seconds, 0.0))
    _current, _since = START, 0.0


os.register_at_fork(after_in_child=_begin)


def clock() -> float:
    """Return the CPU seconds of this process since it was started, and of processes that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@contextmanager
def on(part: str) -> Iterator[None]:
    """Count what is done inside, or by the decorated function, for one part."""
    before = _switch(part)
    try:
        yield
    finally:
        _switch(before)


def _switch(part: str) -> str:
    global _current, _since
    now = clock()
    _seconds[_current] += now - _since
    before, _current, _since = _current, part, now
    return before


def account() -> dict[str, float]:
    """Return the seconds of every part since the last account or, without one, since the process was started."""
    _switch(_current)
    spent = dict(_seconds)
    _seconds.update(dict.fromkeys(_seconds, 0.0))
    return spent


@contextmanager
def imports_counted() -> Iterator[None]:
    """Count imports inside of functions for the start; those that an import leads to need no looking at."""
    plain = builtins.__import__

    def counted(name, globals=None, locals=None, fromlist=(), level=0):
        if level or name in sys.modules:  # libraries import thousands of times what is there
            return plain(name, globals, locals, fromlist, level)
        builtins.__import__ = plain
        try:
            with on(START):
                return plain(name, globals, locals, fromlist, level)
        finally:
            builtins.__import__ = counted

    builtins.__import__ = counted
    try:
        yield
    finally:
        builtins.__import__ = plain


def peak_memory() -> int:
    """Return the peak memory of this process in bytes.

    On Linux ``getrusage`` also counts what the parent held when it started the process; the kernel's own mark does not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(re.search(r"VmHWM:\s*(\d+)", status.read_text())[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
