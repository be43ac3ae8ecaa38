"""The command line on a built folder: what it lists and shows, as text and as JSON, and every mistake in one line."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from graphdr.cache import io, manifest, paths
from graphdr.plan.job import Job
from tests.support.in_process import RUNS

KEYS = {
    "ls": {"stages", "files", "built_on_others", "unreadable_manifest_entries"},
    "show": {"path", "kind", "rows", "bytes", "modified", "hash", "provenance", "marks", "columns", "head"},
    "verify": {"files", "problems"},
}


def states(ask, *arguments: str) -> dict[str, str]:
    return {file["path"]: file["state"] for file in ask("ls", *arguments)["files"]}


# ls


def test_a_fresh_build_is_current_throughout(inside, ask, call):
    answer = ask("ls")
    assert {file["state"] for file in answer["files"]} == {"current"}
    assert set(answer) == KEYS["ls"]
    assert answer["built_on_others"] == answer["unreadable_manifest_entries"] == 0
    assert {file["path"] for file in answer["files"]} == {*manifest.digests(), "data/raw/films/films.inter"}
    for stage in answer["stages"]:
        files = [file for file in answer["files"] if file["stage"] == stage["stage"]]
        assert stage["files"] == len(files)
        assert stage["rows"] == sum(file["rows"] or 0 for file in files)
        assert stage["bytes"] == sum(Path(file["path"]).stat().st_size for file in files)
    _, out, _ = call("ls")
    assert [line.split()[0] for line in out.splitlines()[1:4]] == ["fetch_raw", "tabulate_dataset", "build_graph"]
    _, out, _ = call("ls", "--all")
    assert sum(line.startswith(("results/", "data/")) for line in out.splitlines()) == len(answer["files"])


@pytest.mark.parametrize("wanted", ["run_bandit", "results/runs/", "runs/", "./results/runs"])
def test_a_stage_or_a_prefix_lists_its_files(inside, call, ask, wanted):
    assert all(path.startswith("results/runs/") for path in states(ask, wanted))
    _, out, _ = call("ls", wanted)
    assert RUNS in out
    assert "results/tables" not in out


def test_what_is_not_current_is_said_why(copied, ask, call):
    config = yaml.safe_load(Path("config.yaml").read_text())
    config["methods"]["graphdr"]["label"] = "another label"
    config["experiments"]["rgg"]["methods"].append("gaussian")
    config["batch"] = 1
    Path("config.yaml").write_text(yaml.safe_dump(config))
    shutil.copy("results/graph/sbm-n_40/nodes.parquet", "results/graph/rgg-n_40/nodes.parquet")
    Path("results/figures/main.png").write_bytes(b"short")
    Path("results/tables/rgg.tex").unlink()
    pq.write_table(pa.table({"x": [1]}), "results/mine.parquet")
    Path("results/half.parquet").write_bytes(b"PAR1")
    os.truncate(RUNS, 100)
    answer = {file["path"]: (file["state"], file["reasons"]) for file in ask("ls")["files"]}
    assert answer["results/tables/main_synthetic.md"] == ("outdated", ["params"])
    assert answer["results/measurements/rgg.parquet"] == ("outdated", ["params"])
    assert answer["results/evaluations/robust_theorem.parquet"] == ("outdated", ["inputs"])
    assert answer["results/figures/main.png"] == ("changed", [])
    assert answer["results/tables/rgg.tex"] == ("missing", [])
    assert answer["results/mine.parquet"] == answer["results/half.parquet"] == ("foreign", [])
    assert answer[RUNS] == ("changed", [])
    assert answer["results/problem/main/theta.parquet"] == ("current", [])
    assert "built from files that are not" in call("ls")[1]


def test_other_code_is_said_and_a_file_without_a_sound_manifest_entry_speaks_for_itself(copied, ask, call, monkeypatch):
    for entry, change in zip(Path(paths.MANIFEST).glob("*.json"), ('"bytes": 1', "{"), strict=False):
        entry.write_text(entry.read_text().replace('"bytes": ', change))
    assert "2 manifest entries cannot be read" in call("ls")[1]
    shutil.rmtree(paths.MANIFEST)
    listed = states(ask)
    assert listed[RUNS] == "current"
    assert listed["results/figures/main.png"] == "foreign"
    code = Job.code
    monkeypatch.setattr(Job, "code", lambda job: "x" if job.stage == "make_table" else code(job))
    assert {file["stage"] for file in ask("ls")["files"] if file["reasons"] == ["code"]} == {"make_table"}


# show


def test_a_file_is_shown_with_columns_provenance_and_rows(inside, call, ask):
    answer = ask("show", RUNS)
    assert set(answer) == KEYS["show"]
    assert (answer["kind"], answer["provenance"]["stage"]) == ("runs", "run_bandit")
    assert [column["name"] for column in answer["columns"]] == pq.read_schema(RUNS).names
    assert all(column["description"] for column in answer["columns"])
    assert answer["head"] == pq.read_table(RUNS).slice(0, 10).to_pylist()
    _, out, _ = call("show", RUNS, "--rows", "3")
    assert "cumulative pseudo-regret after t rounds" in out
    assert "first 3 of" in out
    assert answer["hash"] in out
    assert "run_bandit" in out


@pytest.mark.parametrize("name", ["main_synthetic", "comparison", "claims", "figures/noise", "overview", "tables/rgg"])
@pytest.mark.parametrize("columns", [20, 60, 100, 400])
def test_a_page_fits_the_terminal(inside, call, monkeypatch, name, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = call("show", name)
    assert (code, err) == (0, "")
    if columns >= 60:
        assert max(map(len, out.splitlines())) <= columns


def test_a_named_page_gives_all_rows_and_a_number_limits_them(inside, ask, call):
    count = pq.read_metadata("results/comparison.parquet").num_rows
    assert [len(ask("show", "comparison", *rows)["head"]) for rows in ((), ("--rows", "2"))] == [count, 2]
    assert "more rows" in call("show", "main_synthetic", "--rows", "2")[1]
    values = re.findall(r"\d+\.\d ± \d+\.\d", Path("results/tables/main_synthetic.md").read_text())
    assert len(values) > 10
    assert all(value in call("show", "main_synthetic")[1] for value in values)


@pytest.mark.parametrize("path", ["tables/rgg.csv", "tables/rgg.md", "figures/main.png", "figures/main.pdf"])
def test_every_kind_of_built_file_can_be_shown(inside, call, path):
    code, out, err = call("show", f"results/{path}")
    assert (code, err) == (0, "")
    assert re.search(r"make_(table|figure), code", out)


def test_a_foreign_parquet_is_shown_with_a_note_and_an_empty_one_without_rows(copied, call, ask):
    io.write("runs", io.nothing("runs"), "empty.parquet")
    assert "first 0 of 0 rows" in call("show", "empty.parquet")[1]
    pq.write_table(pa.table({"x": [1.5, None], "s": ["a", "b"], "l": [[1, 2, 3, 4], None]}), "mine.parquet")
    _, out, _ = call("show", "mine.parquet")
    assert "carries no provenance" in out
    assert "1.5" in out
    assert ask("show", "mine.parquet")["provenance"] is None


# verify


def test_verify_says_what_was_changed(copied, call):
    assert re.fullmatch(r"\d+ files in the manifest, 0 of them changed or missing\n", call("verify")[1])
    Path("results/tables/rgg.md").write_text("other")
    code, out, err = call("verify")
    assert (code, err) == (1, "")
    assert out.startswith("results/tables/rgg.md: changed since make_table built it")
    code, out, _ = call("verify", "--json")
    answer = json.loads(out)
    assert (code, set(answer)) == (1, KEYS["verify"])
    assert [problem["path"] for problem in answer["problems"]] == ["results/tables/rgg.md"]


# The command itself


@pytest.mark.parametrize("command", ["ls --all | head -1", "show main_synthetic"])
def test_neither_a_closed_pipe_nor_an_encoding_without_the_letters_is_an_error(made, command):
    command = f"{sys.executable} -m graphdr {command}"
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, shell=True, cwd=made, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_colours_are_for_terminals(inside, call, monkeypatch):
    assert "\033" not in call("ls")[1]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\033" in call("ls")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033" not in call("ls")[1]


@pytest.mark.parametrize("command", ["", "ls", "show", "why", "verify", "advise"])
def test_help_has_examples_and_documents_the_json(call, command):
    code, out, _ = call(*command.split(), "--help")
    assert code == 0
    assert "examples:" in out or command == "verify"
    assert "JSON: {" in out or not command
    for key in KEYS.get(command, ()):
        assert key in out


def test_a_stage_imports_nothing_of_the_command_line():
    heavy = ("graphdr.cli", "argparse", "numpy")
    code = f"import sys, graphdr.__main__; print([m for m in sys.modules if m.startswith({heavy})])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_summary_counts_what_is_built_and_its_verdicts(inside, ask, call):
    answer = ask("summary", "--since", "0")
    assert answer["artifacts"] == {"tables": len(list(Path("results/tables").glob("*.md"))), "figures": 3}
    assert sum(answer["claims"].values()) == len(pq.read_table(paths.claims("parquet")))
    compared = pq.read_table(paths.comparison("parquet")).to_pandas()
    for kind, counts in answer["numbers"].items():
        distinct = compared[compared["kind"] == kind].drop_duplicates(["paper", "cell"])
        assert sum(counts.values()) - counts["printed"] == len(distinct)
    assert answer["claims"]["holds"] == 1
    assert answer["seconds"] > 1e9
    code, out, _ = call("summary")
    assert code == 0
    assert "time" not in out


def test_a_summary_counts_bounds_that_cannot_fail_apart(copied, ask):
    claims = io.read("claims", paths.claims("parquet")).slice(0, 4).to_pydict()
    verdicts = ["holds", "holds, vacuous in 4 of 5 runs", "holds, vacuous on 5 of 5 available", "mixed"]
    io.write("claims", claims | {"verdict": verdicts}, paths.claims("parquet"))
    assert ask("summary")["claims"] == {"holds": 1, "vacuous": 2, "mixed": 1, "fails": 0, "no data": 0}
