"""The workflow itself, on the tiny configuration: built once, it is rerun exactly where something changed."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from graphdr.cli import integrity
from tests.support.project import ROOT, hashes, lay_out, snakemake, would_run
from trust.checkout import content

RUNS_AND_BELOW = {
    "run_bandit",
    "measure_batch",
    "evaluate_predictors",
    "make_table",
    "make_figure",
    "compare_paper",
    "judge_claims",
    "make_report",
}
RAW = {"fetch_raw", "tabulate_dataset"}  # stages of data sets with raw files, of which the tiny configuration has none


def reruns(folder: Path, path: str, package: Path | None = None) -> set[str]:
    """Return the files that a dry run would write again and whose path holds ``path``."""
    done = snakemake(folder, "--dry-run", package=package)
    outputs = re.findall(r"^ +output: (.*)$", done.stdout + done.stderr, re.M)
    return {name for line in outputs for name in line.split(", ") if path in name}


@pytest.fixture
def package(tmp_path) -> Path:
    """A copy of the package, for dry runs after an edit; it is put first on the path."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src"


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_a_second_run_has_nothing_to_do(built):
    done = snakemake(built)
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr


def test_every_output_is_there_and_in_the_manifest(built):
    config = yaml.safe_load((built / "config.yaml").read_text())
    for table in config["tables"]:
        assert all(
            (built / f"results/tables/{table}.{suffix}").stat().st_size for suffix in ("parquet", "csv", "md", "tex")
        )
    for figure in config["figures"]:
        assert all(
            (built / f"results/figures/{figure}.{suffix}").stat().st_size for suffix in ("parquet", "pdf", "svg", "png")
        )
    there = {
        path.relative_to(built).as_posix()
        for path in (built / "results").rglob("*.*")
        if path.suffix not in (".log", ".tsv", ".json")
    }
    assert there == set(hashes(built))
    assert integrity.problems(str(built)) == []


def test_every_stage_leaves_logs_and_benchmarks(built):
    stages = {path.stem for path in (ROOT / "src/graphdr/stages").glob("*.py")} - {"__init__"}
    assert stages > RAW
    for kind in ("logs", "benchmarks"):
        assert {path.stem for path in (built / "results" / kind).iterdir()} == stages - RAW
    assert re.search(r"run_bandit: wrote .* in \d", (built / "results/logs/run_bandit/main/graphdr.log").read_text())


def test_one_core_and_small_batches_give_the_same_content(built, tmp_path):
    """A few artifacts and all behind them; `make determinism` compares everything."""
    other = lay_out(tmp_path)
    shown = ["results/tables/noise_sweep.csv", "results/figures/noise.svg"]
    done = snakemake(other, "--cores", "1", "--config", "batch=1", "--", *shown)
    assert done.returncode == 0, done.stderr
    batches = [{path.name for path in (folder / "results/runs").iterdir()} for folder in (built, other)]
    assert batches[1] - batches[0]
    whole = [name for name in hashes(other) if name.split("/")[1] in ("graph", "basis", "tables", "figures")]
    assert len(whole) > 10
    assert set(shown) < set(whole)
    assert [name for name in whole if content(built, name) != content(other, name)] == []


def test_golden_values(built):
    """The numbers of the tiny run, except those on an arbitrary basis; refresh only with a reason."""
    golden = pd.read_csv(ROOT / "tests/support/golden.csv", dtype={"row": str})
    tables = {
        name: pd.read_csv(built / f"results/tables/{name}.csv", dtype={"row": str}) for name in golden["table"].unique()
    }
    found = pd.concat([table.assign(table=name) for name, table in tables.items()])
    both = golden.merge(found, on=["table", "row", "column"], suffixes=("_golden", ""), how="left")
    assert len(both) == len(golden) > 15
    pd.testing.assert_series_equal(both["value"], both["value_golden"], check_names=False, rtol=1e-6, atol=1e-12)


PAGES = [ROOT / page for page in ("README.md", "docs/reading.md")]
PRINTED = [block for page in PAGES for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.S)]


@pytest.mark.parametrize("block", PRINTED)
def test_the_python_of_the_pages_runs_as_printed(built, block):
    done = subprocess.run([sys.executable, "-c", block], cwd=built, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_everything_that_was_just_built_is_current(built):
    command = [sys.executable, "-m", "graphdr", "ls", "--all", "--json"]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True, check=True)
    states = {file["path"]: file["state"] for file in json.loads(done.stdout)["files"]}
    assert set(states) >= set(hashes(built))
    assert set(states.values()) == {"current"}


def test_snakemakes_own_report_has_every_table_and_figure_with_its_caption(built, tmp_path):
    page = tmp_path / "report.html"
    done = snakemake(built, "--report", str(page))
    assert done.returncode == 0, done.stderr
    text, config = page.read_text(), yaml.safe_load((built / "config.yaml").read_text())
    for block, words, suffix in (("tables", "caption", "csv"), ("figures", "title", "svg")):
        for name, spec in config[block].items():
            assert f"{name}.{suffix}" in text
            assert spec[words] in text


# What reruns when: the table in docs/running.md.


def test_nothing_reruns_after_every_file_was_touched(checkout):
    for path in checkout.rglob("*"):
        if ".snakemake" not in path.parts:
            os.utime(path)
    assert would_run(checkout) == set()


def test_nothing_reruns_with_the_results_in_another_clone(built, tmp_path):
    clone = lay_out(tmp_path)
    shutil.copytree(built / "results", clone / "results")
    shutil.copytree(built / ".snakemake", clone / ".snakemake")
    assert would_run(clone) == set()


def test_nothing_reruns_after_a_comment_or_a_docstring(checkout, package):
    for name in ("bandit/linucb.py", "graphs/model.py", "cache/io.py", "show/tables.py"):
        edit(package / "graphdr" / name, '"""', '"""Indeed. ')
        edit(package / "graphdr" / name, "\n\n\n", "\n\n\n# A remark.\n")
    assert would_run(checkout, package=package) == set()


def test_nothing_reruns_after_reordering_keys(checkout):
    def reordered(value):
        if isinstance(value, dict):
            return {key: reordered(value[key]) for key in reversed(value)}
        return value

    config = yaml.safe_load((checkout / "config.yaml").read_text())
    (checkout / "config.yaml").write_text(yaml.safe_dump(reordered(config), sort_keys=False))
    assert would_run(checkout) == set()


def test_a_constant_in_the_kernel_reruns_the_runs_and_what_is_below(checkout, package):
    edit(package / "graphdr" / "bandit/linucb.py", "total = 0.0", "total = 1.0")
    assert would_run(checkout, package=package) == RUNS_AND_BELOW


def test_a_constant_in_the_graphs_reruns_graphs_bases_and_below(checkout, package):
    edit(package / "graphdr" / "graphs/model.py", "- normalised_adjacency", "+ normalised_adjacency")
    everything = RUNS_AND_BELOW | {"build_graph", "compute_basis", "pose_problem", "describe_problem"}
    assert would_run(checkout, package=package) == everything


def test_a_diagnostic_reruns_only_the_bandits_that_take_k_or_radius_from_it(checkout, package):
    edit(package / "graphdr" / "facts/graph_facts.py", "4.0 * eps_l", "5.0 * eps_l")
    assert "build_graph" not in would_run(checkout, package=package)
    runs = {Path(name).stem for name in reruns(checkout, "results/runs/", package=package)}
    assert runs == {"graphdr_k_naive", "graphdr_estimated"}


def test_a_new_method_reruns_its_runs_that_measurement_and_that_table(checkout):
    edit(checkout / "config.yaml", "[linucb_full, graphdr]", "[linucb_full, graphdr, jl]")
    assert reruns(checkout, "results/runs/") == {"results/runs/rgg/jl.parquet"}
    assert reruns(checkout, "results/measurements/") == {"results/measurements/rgg.parquet"}
    assert {name.split(".")[0] for name in reruns(checkout, "results/tables/")} == {"results/tables/rgg"}


def test_a_column_reruns_that_table(checkout):
    edit(checkout / "config.yaml", "zeta: zeta, graphdr: regret@graphdr", "zeta: zeta, other: slope@graphdr")
    assert would_run(checkout) == {"make_table", "compare_paper", "make_report"}
    assert {name.split(".")[0] for name in reruns(checkout, "results/tables/")} == {"results/tables/rgg"}


def test_a_label_reruns_nothing_heavy(checkout):
    edit(checkout / "config.yaml", "label: GraphDR,", "label: Graph DR,")
    assert would_run(checkout) == {"make_table", "make_figure", "compare_paper", "make_report"}


def test_a_lost_file_is_rebuilt(checkout):
    (checkout / "results/tables/rgg.tex").unlink()
    assert "make_table" in would_run(checkout)
