"""CPU time and memory of a process, as the operating system counts them."""

import re
import resource
import sys
from pathlib import Path
from typing import NamedTuple


class JobCost(NamedTuple):
    """The cost of one job: wall time and CPU time in seconds, peak memory in megabytes."""

    stage: str
    seconds: float
    cpu: float
    peak_mb: float


def cpu_seconds(*processes: int) -> float:
    """Return the user and system CPU time of this process, zero after a fork, and of children that have ended.

    ``RUSAGE_SELF`` or ``RUSAGE_CHILDREN`` asks for one of both.
    """
    usages = map(resource.getrusage, processes or (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_memory() -> int:
    """Return the peak memory of this process in bytes.

    On Linux ``getrusage`` also counts the memory that the parent held at the fork; ``VmHWM`` does not.
    """
    status = Path("/proc/self/status")
    if status.exists() and (peak := re.search(r"VmHWM:\s*(\d+)", status.read_text())):
        return 1024 * int(peak[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
