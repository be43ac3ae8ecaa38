"""``python -m tests.support.limited FOLDER SECONDS BYTES`` runs commands of graphdr in little memory.

The bytes are those besides what imports take. Commands come as JSON, a list of arguments each; the answers are their
exit codes, CPU seconds and what they said.
"""

import contextlib
import io
import json
import os
import re
import resource
import signal
import sys
import time
from pathlib import Path

import pyarrow as pa
import scipy.sparse.csgraph  # noqa: F401 - taken before the limit, as all that follows
from pyarrow import csv, parquet  # noqa: F401

import graphdr.cli.advising  # noqa: F401
from graphdr.__main__ import main


def run(arguments: list[str], seconds: int) -> dict:
    """Run one command; one that takes too long ends all of them."""
    out, err, begin = io.StringIO(), io.StringIO(), time.process_time()  # others may use the machine
    signal.alarm(seconds)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except BaseException as error:
            code = f"{type(error).__name__}: {error}"
    signal.alarm(0)
    return {"code": code, "seconds": time.process_time() - begin, "out": out.getvalue(), "err": err.getvalue()}


if __name__ == "__main__":
    csv.read_csv(io.BytesIO(b"a,b\n1,2\n" * 1000))  # starts the threads of Arrow, which have memory of their own
    pa.compute.unique(pa.array(["a", "b"]))
    used = 1024 * int(re.search(r"VmSize:\s*(\d+)", Path("/proc/self/status").read_text())[1])
    resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[3]),) * 2)
    os.chdir(sys.argv[1])
    for command in json.load(sys.stdin):
        print(json.dumps(run(command, int(sys.argv[2]))), flush=True)
