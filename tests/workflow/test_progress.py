"""What Snakemake prints while it builds: counts, times and errors, on a terminal and elsewhere."""

import io
import json
import logging
import os
import pty
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from graphdr.core.cpu_time import JobCost
from snakemake_logger_plugin_graphdr import LogHandler, LogHandlerSettings, build
from tests.support.project import lay_out, snakemake

GRAPHS = {"build_graph": 4, "run_bandit": 2}


# How long it will take


@pytest.mark.parametrize(
    ("seconds", "done", "cores", "elapsed", "rest"),
    [
        ({"build_graph": [1.0, 3.0], "run_bandit": [5.0]}, {}, 1, 0, 18),
        ({"build_graph": [1.0, 3.0], "run_bandit": [5.0]}, {}, 2, 0, 9),
        ({"build_graph": [2.0]}, {}, 1, 0, 12),  # a stage without record is like the others
        ({"build_graph": [2.0], "run_bandit": [5.0]}, {"build_graph": 4}, 1, 26, 20),  # half as fast as foreseen
        ({"build_graph": [2.0], "run_bandit": [5.0]}, GRAPHS, 1, 20, 0),
        ({}, {}, 1, 5, None),
    ],
)
def test_the_rest_follows_from_recorded_times_and_the_speed_so_far(seconds, done, cores, elapsed, rest):
    planned = build.Build(GRAPHS, seconds, cores)
    planned.done.update(done)
    assert planned.rest(elapsed) == rest


def test_the_times_of_this_build_count_and_a_job_that_succeeds_at_last_has_not_failed(clock):
    handler = a_handler(io.StringIO())
    tell(handler, event="run_info", stats=GRAPHS)
    start(handler, 1)
    tell(handler, event="job_error", jobid=1, rule_name="build_graph", log=[])
    assert "1 failed" in str(handler.build)
    start(handler, 1)
    clock.now += 2
    finish(handler, 1)
    assert "failed" not in str(handler.build)
    assert handler.build.seconds["build_graph"] == [2.0]
    assert handler.build.rest(0.0) > 0


def test_recorded_times_are_read_by_stage_and_broken_files_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert build.recorded_seconds() == {}
    for stage, name, text in (
        ("run_bandit", "a", json.dumps(JobCost("run_bandit", 2.5, 2.0, 90.0)._asdict())),
        ("run_bandit", "b", json.dumps(JobCost("run_bandit", 3.5, 3.0, 90.0)._asdict())),
        ("build_graph", "a", '{"stage": "buil'),
    ):
        path = tmp_path / f"results/times/{stage}/{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert {stage: sorted(times) for stage, times in build.recorded_seconds().items()} == {"run_bandit": [2.5, 3.5]}


# What is printed: a handler that is told what Snakemake tells its own


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    time = SimpleNamespace(now=1000.0)
    monkeypatch.setattr("time.monotonic", lambda: time.now)
    return time


def a_handler(stream, *, table: str = "", **asked) -> LogHandler:
    names = ("dryrun", "printshellcmds", "verbose", "debug_dag", "quiet", "nocolor", "stdout")
    settings = SimpleNamespace(**dict.fromkeys(names, False) | {"show_failed_logs": True} | asked)
    handler = LogHandler(settings, LogHandlerSettings(table=table))
    handler.stream = handler.snakemake_handler.stream = stream
    return handler


def tell(handler: LogHandler, text: str = "", level: int = logging.INFO, **facts) -> None:
    record = {"msg": text, "levelno": level, "levelname": logging.getLevelName(level)}
    handler.emit(logging.makeLogRecord(record | facts))


def start(handler: LogHandler, number: int, rule: str = "build_graph", **wildcards) -> None:
    tell(handler, event="job_info", jobid=number, rule_name=rule, wildcards=wildcards)


def finish(handler: LogHandler, number: int) -> None:
    tell(handler, event="job_finished", job_id=number)


def test_where_no_terminal_is_a_line_is_printed_each_minute_and_one_at_the_end(clock):
    out = io.StringIO()
    handler = a_handler(out)
    tell(handler, "Building DAG of jobs...")
    tell(handler, "Provided cores: 2", event="resources_info", cores=2)
    tell(handler, "Job stats: …", event="run_info", stats=GRAPHS | {"total": 6})
    for number in range(6):
        start(handler, number, "build_graph" if number < 4 else "run_bandit", graph=f"g{number}")
        clock.now += 25
        tell(handler, "Select jobs to execute...")
        finish(handler, number)
    handler.close()
    assert re.sub(r", about .* left", "", out.getvalue()).splitlines() == [
        "Building DAG of jobs...",
        "0 of 6 jobs done in 0:00",
        "3 of 6 jobs done in 1:15",
        "6 of 6 jobs done in 2:30",
    ]


def test_errors_and_warnings_are_printed_at_once_with_the_rule_and_its_log(clock, tmp_path):
    out, log = io.StringIO(), tmp_path / "job.log"
    log.write_text("reading\nerror: ratings.csv: line 3: 'x' is no number\n")
    handler = a_handler(out)
    tell(handler, event="run_info", stats=GRAPHS)
    start(handler, 1, graph="sbm")
    tell(handler, "RuleException:\nCalledProcessError in file Snakefile", logging.ERROR, event="error")
    tell(handler, event="job_error", jobid=1, rule_name="build_graph", log=[str(log)])
    tell(handler, "the disk is slow", logging.WARNING)
    for _ in range(3):
        tell(handler, "Will exit after finishing currently running jobs (scheduler).")
    tell(handler, "Complete log(s): .snakemake/log/1.log")
    handler.close()
    assert out.getvalue().splitlines()[1:] == [
        f"error: build_graph sbm failed: ratings.csv: line 3: 'x' is no number (log: {log})",
        "the disk is slow",
        "Will exit after finishing currently running jobs (scheduler).",
        "0 of 6 jobs done in 0:00, 1 failed",
    ]


@pytest.mark.parametrize("asked", ["dryrun", "printshellcmds", "verbose", "debug_dag", "quiet"])
def test_what_is_asked_of_snakemake_is_printed_as_it_is(asked):
    out = io.StringIO()
    handler = a_handler(out, **{asked: True})
    tell(handler, "Using shell: /bin/bash")
    tell(handler, "Job stats: …", event="run_info", stats=GRAPHS)
    handler.close()
    assert out.getvalue().splitlines() == ["Using shell: /bin/bash", "Job stats: …"]


def test_the_main_table_is_shown_as_soon_as_it_is_built_with_what_is_to_come(built, monkeypatch):
    monkeypatch.chdir(built)
    out = io.StringIO()
    handler = a_handler(out, table="main_synthetic")
    tell(handler, event="run_info", stats={"make_table": 4, "make_figure": 1, "make_report": 2})
    for number, table in enumerate(("rgg", "main_synthetic")):
        start(handler, number, "make_table", table=table)
        finish(handler, number)
    shown = out.getvalue()
    assert shown.count("Main comparison\n") == 1
    assert re.search(r"^GraphDR +3\.1 ± 0\.4\*", shown, re.M)
    assert "Still to come: 2 tables, 1 figure, results/headline.html, results/report.html (5 jobs).\n" in shown


# … and Snakemake itself


def on_a_terminal(*command: str, **options) -> str:
    """Return all that a command prints on a terminal of its own, which must succeed."""
    terminal, end = pty.openpty()
    with subprocess.Popen(command, stdin=end, stdout=end, stderr=end, **options) as process:
        os.close(end)
        printed = b""
        try:
            while some := os.read(terminal, 4096):
                printed += some
        except OSError:  # the other end is closed
            pass
    os.close(terminal)
    assert process.returncode == 0, printed.decode()
    return printed.decode()


def test_snakemake_shows_a_display_on_a_terminal_and_lines_elsewhere(tmp_path):
    folder = lay_out(tmp_path)
    done = snakemake(folder, "results/graph/sbm-n_40/nodes.parquet")
    _, dag, *lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout, dag) == (0, "", "Building DAG of jobs...")
    assert [re.sub(r"\d:\d\d.*", "", line) for line in lines] == ["0 of 1 job done in ", "1 of 1 job done in "]

    command = (sys.executable, "-m", "snakemake", "--cores", "1", "results/graph/rgg-n_40/nodes.parquet")
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "60", "LINES": "20"}
    printed = on_a_terminal(*command, cwd=folder, env=environment)
    assert "━" in printed
    assert re.search(r"\x1b\[2K1 of 1 job done in \d:\d\d\s*$", printed.split("\x1b[?25h")[1])
    assert printed.rindex("\x1b[?25h") > printed.rindex("\x1b[?25l")  # the cursor is shown again
