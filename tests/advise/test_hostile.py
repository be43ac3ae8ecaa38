"""Files that would take all memory or all time, hang, or write elsewhere: each is one clear line, soon."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import yaml

from graphdr import __main__ as package
from graphdr.advise import building, files, graph_files
from graphdr.cli import advising
from graphdr.cli.main import main
from graphdr.core.errors import UserError
from graphdr.plan import config
from graphdr.raw import bounded
from tests.support import hostile
from tests.support.project import ROOT

SECONDS, MEMORY = 10, 500 * 10**6
ESCAPE = "\033]0;owned\a\033[31m\u202e\x9b31m"  # sets a title, a colour, and the order of letters


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A folder that passes for a project, with hostile files in it."""
    folder = tmp_path_factory.mktemp("hostile")
    shutil.copy(ROOT / "Snakefile", folder)
    written = yaml.safe_load((ROOT / "tests" / "support" / "tiny.yaml").read_text(encoding="utf-8"))
    (folder / "config.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
    (folder / "good.csv").write_text("user,item,value\n" + "".join(f"u{at},i{at % 9},{at % 5}\n" for at in range(99)))
    (folder / f"name{ESCAPE}.csv").write_text(f"{ESCAPE},b,c\nx,y,z\n")
    (folder / "anchors").mkdir()
    shutil.copy(ROOT / "Snakefile", folder / "anchors")
    (folder / "anchors" / "config.yaml").write_text(hostile.anchors())
    return folder


def asked(name: str) -> list[list[str]]:
    """Return the commands that read a file: a graph is read in one way, a table in several."""
    if Path(name).suffix in graph_files.READERS:
        return [["advise", "--edges", name]]
    as_log = ["advise", "good.csv", "--log", name]
    return [["advise", name], ["advise", "--edges", name, "--rewards", name], ["advise", "good.csv", "--rewards", name], as_log]


def test_every_hostile_file_is_one_clear_line_within_bounds(project):
    expected = hostile.write_all(project)
    commands = [(name, command) for name in expected for command in asked(name)]
    commands += [(name, ["advise", name]) for name in (f"name{ESCAPE}.csv", "none\nsuch.csv")]
    commands += [("anchors", ["advise", "--root", "anchors", "good.csv"]), ("anchors", ["--root", "anchors", "ls"])]
    expected |= {"anchors": "more than 200,000 values, with its aliases written out"}
    environment = os.environ | {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "NUMBA")}
    run = subprocess.run(
        [sys.executable, "-m", "tests.support.limited", project, str(SECONDS), str(MEMORY)],
        cwd=ROOT, env=environment, input=json.dumps([command for _, command in commands]),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(answers) == len(commands), (commands[len(answers)], run.stderr[-1000:])
    for (name, command), answer in zip(commands, answers, strict=True):
        lines = answer["err"].splitlines()
        assert (answer["code"], len(lines), answer["out"]) == (1, 1, ""), (command, answer)
        assert lines[0].startswith("error: "), command
        assert lines[0].isprintable(), command
        assert expected.get(name, "") in lines[0], command
    assert sum(answer["seconds"] for answer in answers) < SECONDS
