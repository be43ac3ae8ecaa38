"""The workflow itself, on the tiny configuration: built once, it is rerun exactly where something changed."""

import itertools
import os
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest
import yaml

from benchmarks import many_jobs, profile
from graphdr.cache import manifest, paths, times
from graphdr.cli import integrity
from graphdr.plan.jobs import JOBS
from tests.support.in_process import build_here
from tests.support.project import ROOT, hashes, lay_out, snakemake, would_write
from tests.support.reruns import RUNS_AND_BELOW, behind, copy_package, edit, rerun, stages_of, steps
from trust.checkout import content

RAW = {"fetch_raw", "tabulate_dataset"}  # stages of data sets with raw files, of which the tiny configuration has none


def test_every_output_is_there_and_in_the_manifest(built):
    config = yaml.safe_load((built / "config.yaml").read_text())
    for kind, suffixes in (("tables", "csv md tex parquet"), ("figures", "pdf svg png parquet")):
        for name, suffix in itertools.product(config[kind], suffixes.split()):
            assert (built / f"results/{kind}/{name}.{suffix}").stat().st_size
    files = [path for path in (built / "results").rglob("*.*") if path.suffix not in (".log", ".json")]
    assert {path.relative_to(built).as_posix() for path in files} == set(hashes(built))
    assert integrity.findings(str(built)) == []


def test_every_job_leaves_a_log_and_with_snakemake_what_it_costs(built):
    costs, build = times.jobs(root=str(built)), times.build(str(built))
    assert len(costs) == len(manifest.entries(str(built)))
    stages = {cost.stage for cost in costs}
    assert stages == {entry.stage for entry in manifest.entries(str(built)).values()} == set(JOBS) - RAW
    assert stages == {path.stem for path in (built / "results/logs").iterdir()}
    assert re.search(r"run_bandit: wrote .* in \d", (built / "results/logs/run_bandit/main/plain.log").read_text())
    assert min(cost.cpu for cost in costs) > 0
    assert min(cost.peak_mb for cost in costs) > 50
    assert sum(cost.cpu for cost in costs) <= build.children  # forked jobs count their own time alone
    assert times.jobs(build.began + build.seconds + 1, str(built)) == []


def test_the_profile_accounts_for_every_second(built):
    costs, build = times.jobs(root=str(built)), times.build(str(built))
    rows, libraries = profile.table(costs), times.libraries(build.began, str(built))
    assert sum(row.jobs for row in rows) == len(costs)
    assert [row.cpu for row in rows] == sorted((row.cpu for row in rows), reverse=True)
    total, snakemake_cpu, rest = (
        float(re.search(pattern, profile.report(build, costs, libraries), re.M)[1])
        for pattern in (r"^([\d.]+) s of CPU", r"own process: ([\d.]+) s", r"^the rest, ([\d.]+) s")
    )
    assert total == pytest.approx(sum(row.cpu for row in rows) + snakemake_cpu + libraries + rest, abs=0.2)
    assert libraries > 0
    assert 0 <= rest < 0.15 * len(costs)


def test_a_local_run_has_no_limit_of_jobs_per_second(tmp_path):
    """With one, Snakemake looks for jobs once a second for every job that has ended."""
    folder = lay_out(tmp_path)
    many_jobs.idle(folder)
    (folder / "Snakefile").open("a").write("""
onsuccess:
    print("limit:", workflow.scheduler.job_rate_limiter)
""")
    done = snakemake(folder, "results/graph/rgg-n_40/nodes.parquet")
    assert "limit: None" in done.stdout + done.stderr


def test_one_process_and_small_batches_give_the_same_content(built, workdir):
    """A few artifacts and all behind them; `make determinism` compares everything."""
    config = yaml.safe_load((built / "config.yaml").read_text()) | {"batch": 1}
    shown = ["results/tables/noise_sweep.csv", "results/figures/noise.svg"]
    build_here(config, behind(steps(config), *shown))
    batches = [{path.name for path in (folder / "results/runs").iterdir()} for folder in (built, workdir)]
    assert batches[1] - batches[0]
    whole = [name for name in hashes(workdir) if name.split("/")[1] in ("graph", "basis", "tables", "figures")]
    assert len(whole) > 10
    assert set(shown) < set(whole)
    assert [name for name in whole if content(built, name) != content(workdir, name)] == []


def test_golden_values(built):
    """The numbers of the tiny run, except those on an arbitrary basis; refresh only with a reason."""
    golden = pd.read_csv(ROOT / "tests/support/golden.csv", dtype={"row": str})
    files = {name: built / f"results/tables/{name}.csv" for name in golden["table"].unique()}
    tables = [pd.read_csv(file, dtype={"row": str}).assign(table=name) for name, file in files.items()]
    both = golden.merge(pd.concat(tables), on=["table", "row", "column"], suffixes=("_golden", ""), how="left")
    assert len(both) == len(golden) > 15
    pd.testing.assert_series_equal(both["value"], both["value_golden"], check_names=False, rtol=1e-6, atol=1e-12)


def test_simulated_papers_of_our_protocol_begin_with_the_instances_of_the_table(built):
    """The panel that other protocols are judged against is that of the main table, number by number."""
    table, control = (
        pd.read_parquet(built / paths.measurements(batch)).query("quantity == 'regret' and draw == 0")
        for batch in ("main", "pseudo_control")
    )
    keys = ["method", "instance"]
    both = table.merge(control, on=keys, suffixes=("", "_control"))
    assert sorted(both["method"].unique()) == ["graphdr", "random"]
    assert len(both) == 2 * 3
    assert (both["value"] == both["value_control"]).all()
    assert (both["sem"] == both["sem_control"]).all()
    power = pd.read_parquet(built / paths.power)
    assert power["protocol"].unique().tolist() == ["ours (control)", "noise 0.5", "the paper itself"]
    assert power.loc[power["test"] == "numbers", "judged"].tolist() == [3 * 2, 2 * 2, 2]
    assert "## What these verdicts can notice" in (built / paths.comparison("md")).read_text(encoding="utf-8")


PAGES = [ROOT / page for page in ("README.md", "docs/reading.md")]
PRINTED = [block for page in PAGES for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.S)]


@pytest.mark.slow
@pytest.mark.parametrize("block", PRINTED)
def test_the_python_of_the_pages_runs_as_printed(built, block):
    done = subprocess.run([sys.executable, "-c", block], cwd=built, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_snakemakes_own_report_has_every_table_and_figure_with_its_caption(built, tmp_path):
    page = tmp_path / "report.html"
    done = snakemake(built, "--report", str(page))
    assert done.returncode == 0, done.stderr
    text, config = page.read_text(), yaml.safe_load((built / "config.yaml").read_text())
    for block, words, suffix in (("tables", "caption", "csv"), ("figures", "title", "svg")):
        for name, spec in config[block].items():
            assert f"{name}.{suffix}" in text
            assert spec[words] in text


# What reruns when: that Snakemake does what test_reruns.py finds from the jobs.


@pytest.fixture
def settings(checkout) -> dict:
    return yaml.safe_load((checkout / "config.yaml").read_text())


def test_nothing_reruns_in_another_clone_in_which_every_file_was_touched(built, tmp_path):
    clone = lay_out(tmp_path)
    shutil.copytree(built / "results", clone / "results")
    shutil.copytree(built / ".snakemake", clone / ".snakemake")
    for path in clone.rglob("*"):
        if ".snakemake" not in path.parts:
            os.utime(path)
    assert would_write(clone) == set()


def test_a_constant_in_the_kernel_reruns_the_runs_and_what_is_below(checkout, settings, tmp_path):
    edit((package := copy_package(tmp_path)) / "bandit/linucb.py", "total = 0.0", "total = 1.0")
    files = would_write(checkout, package=tmp_path)
    assert stages_of(steps(settings), files) == RUNS_AND_BELOW
    assert files == rerun(steps(settings), steps(settings, package))


def test_a_column_reruns_that_table(checkout, settings):
    edit(checkout / "config.yaml", "zeta: zeta, graphdr: regret@graphdr", "zeta: zeta, other: slope@graphdr")
    after = steps(yaml.safe_load((checkout / "config.yaml").read_text()))
    files = would_write(checkout)
    assert stages_of(after, files) == {"make_table", "compare_paper", "make_report"}
    assert {name.split(".")[0] for name in files if name.startswith("results/tables/")} == {"results/tables/rgg"}
    assert files == rerun(steps(settings), after)
