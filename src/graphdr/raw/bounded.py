"""Read files of a user within bounds: only plain files, whose size is known before memory is taken."""

import gzip
import math
import os
import re
import resource
import stat
import zlib
from io import BytesIO
from pathlib import Path
from typing import IO

from graphdr.core.errors import UserError, reason

SMALL, RATIO = 2**26, 200  # a file may unpack to so many bytes, or to so many times its size (text: five-fold)
SHARE = 0.25  # of the free memory that the content of one file may take
BLOCK = 2**20  # bytes unpacked at a time


def contents(path: Path | str) -> bytes:
    """Return the bytes of a plain file, unpacked if it is gzipped by its name."""
    try:
        _require_plain(path, os.stat(path))  # before it is opened, to which a device may react
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # without waiting for the writer of a pipe
        with open(descriptor, "rb") as stream:
            status = os.fstat(stream.fileno())
            _require_plain(path, status)  # once more: the name may belong to another file by now
            require(path, status.st_size, status.st_size)
            if Path(path).suffix == ".gz":
                return _unpacked(path, stream, status.st_size)
            data = stream.read(status.st_size)
            if stream.read(1):
                raise UserError(f"{path}: grows while it is read; take a copy of it")
            return data
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise UserError(f"{path}: cannot be read ({reason(error)})") from None


def require(name: Path | str, needed: int, size: int, part: str = "its content", share: float = SHARE) -> None:
    """Refuse content that needs too many bytes of memory, for a file of this size or for the share of free memory."""
    if needed > max(SMALL, RATIO * size):
        raise UserError(f"{name}: {part} would take {_size(needed)}, for {_size(size)} in the file: not plausible data")
    if needed > (most := int(share * free_memory())):
        raise UserError(
            f"{name}: {part} would take {_size(needed)}, and {_size(most)} is the most that one file may take here, "
            f"{share:.0%} of the free memory; bring a part of the data, or more memory"
        )


def free_memory() -> float:
    """Return the bytes of memory that this process may still take, by the state of the machine and its limits."""
    free = [float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))]
    if available := _number(r"MemAvailable:\s*(\d+)", "/proc/meminfo"):
        free.append(1024 * available)
    # A container or a batch system limits its processes together; cached files count as free.
    group = re.search(r"^0::(.*)", _text("/proc/self/cgroup"), re.MULTILINE)
    folder = f"/sys/fs/cgroup{group[1].rstrip('/') if group else ''}"
    if most := _number(r"^(\d+)", f"{folder}/memory.max"):
        used, copies = _number(r"^(\d+)", f"{folder}/memory.current"), f"{folder}/memory.stat"
        free.append(most - used + _number(r"^inactive_file (\d+)", copies))
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        free.append(limit - 1024 * _number(r"VmSize:\s*(\d+)", "/proc/self/status"))
    return min(free)


def _number(pattern: str, path: str) -> int:
    """Return a number in a file of the system, or 0."""
    match = re.search(pattern, _text(path), re.MULTILINE)
    return int(match[1]) if match else 0


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:  # another system than Linux
        return ""


def _require_plain(path: Path | str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe, a socket or a device"
        raise UserError(f"{path}: {kind}, not a file; save the data in a file first")


def _unpacked(path: Path | str, stream: IO[bytes], size: int) -> bytes:
    data = BytesIO()
    with gzip.GzipFile(fileobj=stream) as content:
        most = min(max(SMALL, RATIO * size), SHARE * free_memory())
        while block := content.read(BLOCK):
            data.write(block)
            if data.tell() > most:
                require(path, data.tell(), size, "its content, unpacked so far,")
    return data.getvalue()  # without a copy


def _size(count: float) -> str:
    """Format a number of bytes."""
    power = min(int(math.log(max(count, 1), 1000)), 4)
    return f"{count / 1000**power:,.{min(power, 1)}f} {('bytes', 'kB', 'MB', 'GB', 'TB')[power]}"
