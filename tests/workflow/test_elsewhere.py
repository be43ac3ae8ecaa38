"""The workflow in other places: as a module of another one, from another folder, and with the tools of Snakemake."""

import json
import re
import subprocess
import sys

import pytest
import yaml

from graphdr.cache import paths, times
from graphdr.cli import integrity
from tests.support.project import ROOT, hashes, lay_out, lay_out_module, small, snakemake, would_write
from trust.checkout import content

PREFIX = "my studies"  # with a space


@pytest.mark.slow
def test_a_module_builds_the_same_files_below_its_prefix(tmp_path, built):
    lay_out_module(tmp_path, PREFIX, small())
    done = snakemake(tmp_path, "graphdr_all", "best")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "best.txt").read_text().startswith("rgg,")
    there = hashes(tmp_path / PREFIX)
    alike = {name for name in there.keys() & hashes(built).keys() if "rgg" in name}
    assert {"results/tables/rgg.csv", "results/runs/rgg/plain.parquet"} < alike
    assert [name for name in alike if content(tmp_path / PREFIX, name) != content(built, name)] == []
    assert "results/comparison.md" in there
    assert {path.name for path in tmp_path.iterdir() if path.name[0] != "."} == {PREFIX, "Snakefile", "best.txt"}
    assert would_write(tmp_path, "graphdr_all", "best") == set()
    assert integrity.findings(str(tmp_path / PREFIX)) == []
    words = (tmp_path / "Snakefile").read_text()
    replaced = words.replace(f'prefix: "{PREFIX}"', 'replace_prefix: {"results/": "mine/"}')
    (tmp_path / "Snakefile").write_text(replaced)
    done = snakemake(tmp_path, "--dry-run", "mine/tables/rgg.csv")
    assert done.returncode != 0
    assert "give the module `prefix`, not `replace_prefix`" in done.stdout + done.stderr


FROM_HERE = "--snakefile", str(ROOT / "Snakefile")


@pytest.mark.slow
def test_from_another_folder_a_configuration_extends_that_of_the_package(tmp_path):
    (extension := tmp_path / "mine.yaml").write_text("protocol: { horizon: 10_000 }\n")
    (work := tmp_path / "work").mkdir()
    options = "-d", str(work), "--configfile", str(extension), "--dry-run", "results/comparison.md"
    done = snakemake(tmp_path, *FROM_HERE, *options)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^compare_paper +1$", done.stdout, re.M)


@pytest.mark.slow
def test_what_was_built_elsewhere_with_options_is_current(tmp_path):
    """The configuration of the build is remembered: that of the folder alone would call everything outdated."""
    (replaced := tmp_path / "small.yaml").write_text(yaml.safe_dump(small()))
    (work := tmp_path / "work").mkdir()
    options = "-d", str(work), "--configfile", str(replaced), "--replace-workflow-config", "--config", "seed=5", "--"
    done = snakemake(tmp_path, *FROM_HERE, *options, "results/tables/rgg.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    command = [sys.executable, "-m", "graphdr", "ls", "--json"]
    listed = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    assert listed.returncode == 0, listed.stderr
    states = {file["path"]: file["state"] for file in json.loads(listed.stdout)["files"]}
    assert states.pop("results/tables/rgg.csv") == "current"
    assert set(states.values()) == {"current"}


def test_the_package_has_all_that_comes_with_the_project():
    named = ("config.yaml", "data/sources.yaml", *paths.PAPER_FILES)
    folders = [*(ROOT / "data/paper").iterdir(), *(ROOT / "workflow").glob("*.yaml")]
    wanted = {*named, *(path.relative_to(ROOT).as_posix() for path in folders)}
    packaged = {
        path.relative_to(paths.PACKAGE_DATA).as_posix() for path in paths.PACKAGE_DATA.rglob("*") if path.is_file()
    }
    assert packaged == wanted
    assert all((paths.PACKAGE_DATA / name).read_bytes() == (ROOT / name).read_bytes() for name in packaged)


# Tools of Snakemake


def test_the_linter_has_one_remark_which_the_page_answers(built):
    done = snakemake(built, "--lint", "text")
    remarks = set(re.findall(r"^    \* (.*?):?$", done.stdout + done.stderr, re.M))
    assert remarks <= {"Specify a conda environment or container for each rule."}


def test_graphs_and_bases_come_from_a_shared_cache(tmp_path, monkeypatch):
    (cache := tmp_path / "cache").mkdir()
    monkeypatch.setenv("SNAKEMAKE_OUTPUT_CACHE", str(cache))
    shared = ["build_graph", "compute_basis"]
    basis = paths.basis("rgg-n_40", "laplacian_low")
    for number in range(2):
        folder = lay_out(tmp_path / str(number))
        done = snakemake(folder, "--cache", *shared, "--", basis)
        assert done.returncode == 0, done.stdout + done.stderr
        assert integrity.findings(str(folder)) == []
        assert set(hashes(folder)) == {basis, paths.edges("rgg-n_40"), paths.nodes("rgg-n_40")}
        assert len(times.jobs(root=str(folder))) == (0 if number else 2)  # the second computes nothing
