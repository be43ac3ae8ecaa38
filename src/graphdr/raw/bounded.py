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
KINDS = {
    stat.S_ISDIR: "a folder",
    stat.S_ISFIFO: "a pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
}


def contents(path: Path | str) -> bytes:
    """Return the bytes of a plain file, unpacked if it is gzipped by its name."""
    try:
        _require_plain(path, os.stat(path))  # before it is opened, to which a device may react
        with open(path, "rb", opener=_without_waiting) as stream:
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
    return min(_of_machine(), _of_group(), _of_process())


def _of_machine() -> float:
    if match := re.search(r"MemAvailable:\s*(\d+)", _text("/proc/meminfo")):
        return 1024 * int(match[1])
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _of_group() -> float:
    """Return the memory that a container or a batch system leaves to its processes; cached files count as free."""
    group = re.search(r"^0::(.*)", _text("/proc/self/cgroup"), re.MULTILINE)
    folder = f"/sys/fs/cgroup{group[1].rstrip('/') if group else ''}"
    most, used = (_text(f"{folder}/memory.{name}").strip() for name in ("max", "current"))
    copies = re.search(r"^inactive_file (\d+)", _text(f"{folder}/memory.stat"), re.MULTILINE)
    if not most.isdecimal() or not used.isdecimal():
        return math.inf
    return int(most) - int(used) + (int(copies[1]) if copies else 0)


def _of_process() -> float:
    most, used = resource.getrlimit(resource.RLIMIT_AS)[0], re.search(r"VmSize:\s*(\d+)", _text("/proc/self/status"))
    return math.inf if most == resource.RLIM_INFINITY else most - (1024 * int(used[1]) if used else 0)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:  # another system than Linux
        return ""


def _require_plain(path: Path | str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((kind for test, kind in KINDS.items() if test(status.st_mode)), "something special")
        raise UserError(f"{path}: {kind}, not a file; save the data in a file first")


def _without_waiting(path: str, flags: int) -> int:
    """Open a file, or a pipe without waiting for its writer."""
    return os.open(path, flags | os.O_NONBLOCK)


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
