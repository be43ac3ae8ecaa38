"""Targets build what they name, and a mistake is one line: nothing is rebuilt and nothing lost."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from graphdr.cli import integrity
from tests.support import films
from tests.support.project import hashes, lay_out, snakemake, would_write


def test_the_targets_are_built(built):
    assert would_write(built, "all", "synthetic", "headline", "paper", "fetch") == set()


def test_the_main_comparison_can_be_put_first(tmp_path):
    done = snakemake(lay_out(tmp_path), "--dry-run", "--prioritize", "headline", "--", "all")
    jobs = re.findall(r"^rule (\w+):\n((?:    .+\n)+)", done.stdout, re.M)
    first = [(rule, facts) for rule, facts in jobs if "    priority: highest\n" in facts]
    assert {rule for rule, _ in first} >= {"build_graph", "run_bandit", "make_table", "make_figure"}
    shown = {name for _, facts in first for name in re.findall(r"wildcards: (?:table|figure)=(\w+)", facts)}
    assert shown == {"main_synthetic", "overview"}
    assert len(first) < len(jobs) / 2


# A data set whose file is not there, and cannot be fetched from anywhere.

MISSING = r"error: fetch_raw films failed: films: no source works \(.*\); put the file at .*films.inter \(log: .*\)"


@pytest.fixture
def lacking(checkout, monkeypatch) -> Path:
    """A checkout with such a data set, in which one table of the others is yet to be built."""
    monkeypatch.delenv("GRAPHDR_MIRROR", raising=False)
    for path in (checkout / "results/tables").glob("rgg.*"):
        path.unlink()
    films.add_to(config := yaml.safe_load((checkout / "config.yaml").read_text()))
    (checkout / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    return checkout


def errors(done) -> set[str]:
    return {line for line in done.stderr.splitlines() if line.startswith("error: ")}


def test_what_can_be_built_without_the_missing_data_is_built(lacking):
    done = snakemake(lacking, "synthetic")
    assert (done.returncode, errors(done)) == (0, set())
    assert "Not built, since their raw files are not here: films. Get them with `snakemake fetch`" in done.stderr
    tables = yaml.safe_load((lacking / "config.yaml").read_text())["tables"]
    assert {path.stem for path in (lacking / "results/tables").iterdir()} == set(tables) - {"films"}
    assert would_write(lacking) == set()


@pytest.mark.parametrize("target", ["fetch", "films"])
def test_what_cannot_be_fetched_is_named_and_nothing_else_is_built(lacking, target):
    before = hashes(lacking)
    done = snakemake(lacking, target)
    assert done.returncode != 0
    (line,) = errors(done)
    assert re.fullmatch(MISSING, line)
    assert hashes(lacking) == before
    assert not list((lacking / "results/tables").glob("rgg.*"))


# Mistakes: one line, exit not 0, nothing rebuilt, nothing lost. All of the configuration's are in tests/plan.


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "",
            ["--config", "experiments={main: {methods: [grahpdr]}}"],
            r"experiments.main.methods: no method 'grahpdr'; ",
        ),
        ("seed: 1\n", [], r"config.yaml: the key 'seed' stands twice, in lines \d+ and \d+;"),
    ],
)
def test_a_mistake_in_the_configuration_is_one_line(checkout, text, options, message):
    before = hashes(checkout)
    written = (checkout / "config.yaml").read_text(encoding="utf-8")
    (checkout / "config.yaml").write_text(written + text, encoding="utf-8")
    done = snakemake(checkout, *options)
    assert done.returncode != 0
    greetings = ("Config file", "Using workflow specific profile")
    (line,) = (line for line in done.stderr.splitlines() if not line.startswith(greetings))
    assert re.match(f"config error: {message}", line)
    assert hashes(checkout) == before


def test_a_corrupted_input_stops_the_run_with_one_clear_line(checkout):
    broken = checkout / "results/measurements/rgg.parquet"
    table = pq.read_table(broken)
    values = table["value"].to_numpy() + 1e-9
    pq.write_table(table.set_column(5, table.schema.field("value"), [values]), broken)
    assert [finding.path for finding in integrity.findings(str(checkout))] == ["results/measurements/rgg.parquet"]
    (checkout / "results/tables/rgg.tex").unlink()
    done = snakemake(checkout)
    assert done.returncode != 0
    assert re.search(
        r"^error: make_table rgg failed: results/measurements/rgg.parquet: .*delete it and run snakemake again \(log: ",
        done.stderr,
        re.M,
    )
    broken.unlink()
    assert snakemake(checkout).returncode == 0
    assert (checkout / "results/tables/rgg.tex").exists()
    assert integrity.findings(str(checkout)) == []


def test_a_graph_that_falls_apart_is_one_clear_line(tmp_path):
    folder = lay_out(tmp_path)
    done = snakemake(folder, "--config", "datasets={rgg: {radius: 0.01}}", "--", "results/graph/rgg-n_40/nodes.parquet")
    assert done.returncode != 0
    assert re.search(
        r"^error: build_graph rgg-n_40 failed: .* the largest component of instance 0 has \d of 40 nodes, 12 .*"
        r" \(log: results/logs/build_graph/rgg-n_40\.log\)$",
        done.stderr,
        re.M,
    )
    assert done.stderr.count("largest component") == done.stderr.count(".log") == 1
    assert "Traceback" not in done.stderr
    assert "output:" not in done.stderr  # no list of files, no command
    assert not (folder / "results/graph/rgg-n_40/nodes.parquet").exists()


def test_a_file_that_no_job_writes_is_one_line(built):
    done = snakemake(built, "results/runs/rgg/informed.parquet")
    assert done.returncode != 0
    assert "error: results/runs/rgg/informed.parquet: the configuration has no such job" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_one_error_of_several_jobs_is_printed_once(tmp_path):
    folder = lay_out(tmp_path)
    path = folder / "data/paper/reference.csv"
    path.write_text(path.read_text(encoding="utf-8") + "nonsense\n", encoding="utf-8")
    done = snakemake(folder, "results/comparison.md", "results/headline.html")
    assert done.returncode != 0
    assert done.stderr.count("reference.csv, line") == 1
    assert set(re.findall(r"^error: (\w+).* failed.* \(log: (\S+)\)$", done.stderr, re.M)) == {
        ("compare_paper", "results/logs/compare_paper.log"),
        ("make_report", "results/logs/make_report/headline.log"),
    }
    assert "terminate called" not in done.stderr
    assert "packed:" not in done.stderr


@pytest.mark.slow
def test_an_interrupted_build_prints_no_traceback(tmp_path):
    """Ctrl-C reaches Snakemake, its jobs and the process that they are forks of."""
    folder = lay_out(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "2"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as build:
        lines = [build.stdout.readline()]
        while lines[-1] and not re.match(r"\d+ of \d+ jobs", lines[-1]):
            lines.append(build.stdout.readline())
        time.sleep(1.5)
        os.killpg(build.pid, signal.SIGINT)
        printed = "".join(lines) + build.stdout.read()
    assert build.returncode != 0
    assert "Terminating processes on user request" in printed
    assert "Traceback" not in printed
    assert "error" not in printed.lower()
