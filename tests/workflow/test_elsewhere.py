"""The workflow in other places: as a module of another one, from another folder, and with the tools of Snakemake."""

import json
import re
import subprocess
import sys
from pathlib import Path

import networkx
import pytest
import yaml

from graphdr.cache import paths, times
from graphdr.cli import integrity
from graphdr.plan.jobs import JOBS
from tests.support.project import ROOT, TARGETS, hashes, lay_out, lay_out_module, small, snakemake, would_write
from trust.checkout import content

PREFIX = "my studies"  # with a space


@pytest.fixture(scope="module")
def module(tmp_path_factory) -> Path:
    """A folder with a workflow of its own, which has this one as a module and has built it."""
    folder = tmp_path_factory.mktemp("another")
    lay_out_module(folder, PREFIX, small())
    done = snakemake(folder, "graphdr_all", "best")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_a_module_builds_the_same_files_below_its_prefix(module, built):
    assert (module / "best.txt").read_text().startswith("rgg,")
    there = hashes(module / PREFIX)
    alike = {name for name in there.keys() & hashes(built).keys() if "rgg" in name}
    assert {"results/tables/rgg.csv", "results/runs/rgg/plain.parquet"} < alike
    assert [name for name in alike if content(module / PREFIX, name) != content(built, name)] == []
    assert "results/comparison.md" in there
    assert {path.name for path in module.iterdir() if path.name[0] != "."} == {PREFIX, "Snakefile", "best.txt"}


@pytest.mark.slow
def test_what_a_module_built_is_current_and_can_be_checked(module):
    assert would_write(module, "graphdr_all", "best") == set()
    assert integrity.findings(str(module / PREFIX)) == []
    command = [sys.executable, "-m", "graphdr", "verify"]
    done = subprocess.run(command, cwd=module / PREFIX, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_another_prefix_of_some_files_alone_is_refused_in_words(module):
    words = (module / "Snakefile").read_text().replace(f'prefix: "{PREFIX}"', 'replace_prefix: {"results/": "mine/"}')
    (module / "replaced.smk").write_text(words)
    try:
        done = snakemake(module, "--dry-run", "--snakefile", "replaced.smk", "mine/tables/rgg.csv")
    finally:
        (module / "replaced.smk").unlink()
    assert done.returncode != 0
    assert "give the module `prefix`, not `replace_prefix`" in done.stdout + done.stderr


def test_all_that_comes_with_the_project_is_found_from_another_folder(tmp_path):
    done = snakemake(tmp_path, "--snakefile", str(ROOT / "Snakefile"), "--dry-run", "results/comparison.md")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^compare_paper +1$", done.stdout, re.M)


FROM_HERE = "--snakefile", str(ROOT / "Snakefile")


def test_a_configuration_can_replace_that_of_the_package(tmp_path):
    given = "--configfile", str(ROOT / "tests/support/tiny.yaml"), "--replace-workflow-config"
    done = snakemake(tmp_path, *FROM_HERE, *given, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^build_graph +\d$", done.stdout, re.M)  # the paper's has more


def test_a_configuration_that_is_given_extends_that_of_the_package(tmp_path):
    (given := tmp_path / "mine.yaml").write_text("protocol: { horizon: 10_000 }\n")
    (work := tmp_path / "work").mkdir()
    done = snakemake(tmp_path, *FROM_HERE, "-d", str(work), "--configfile", str(given), "--dry-run", "synthetic")
    assert done.returncode == 0, done.stderr


def test_what_was_built_elsewhere_with_options_is_current(tmp_path):
    """The configuration of the build is remembered: that of the folder alone would call everything outdated."""
    (given := tmp_path / "small.yaml").write_text(yaml.safe_dump(small()))
    (work := tmp_path / "work").mkdir()
    options = "-d", str(work), "--configfile", str(given), "--replace-workflow-config", "--config", "seed=5", "--"
    done = snakemake(tmp_path, *FROM_HERE, *options, "results/tables/rgg.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    command = [sys.executable, "-m", "graphdr", "ls", "--json"]
    listed = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    assert listed.returncode == 0, listed.stderr
    states = {file["path"]: file["state"] for file in json.loads(listed.stdout)["files"]}
    assert states.pop("results/tables/rgg.csv") == "current"
    assert set(states.values()) == {"current"}


def test_the_package_has_all_that_comes_with_the_project():
    named = ("config.yaml", "data/sources.yaml", *paths.COMMITTED)
    folders = [*(ROOT / "data/paper").iterdir(), *(ROOT / "workflow").glob("*.yaml")]
    wanted = {*named, *(path.relative_to(ROOT).as_posix() for path in folders)}
    brought = {path.relative_to(paths.SHIPPED).as_posix() for path in paths.SHIPPED.rglob("*") if path.is_file()}
    assert brought == wanted
    assert all((paths.SHIPPED / name).read_bytes() == (ROOT / name).read_bytes() for name in brought)


# Tools of Snakemake


def test_the_linter_has_one_remark_which_the_page_answers(built):
    done = snakemake(built, "--lint", "text")
    remarks = set(re.findall(r"^    \* (.*?):?$", done.stdout + done.stderr, re.M))
    assert remarks <= {"Specify a conda environment or container for each rule."}


def test_every_rule_says_what_it_does(built):
    done = snakemake(built, "--list-rules")
    said = dict(re.findall(r"^(\w+) \((.*)\)$", done.stdout, re.M))
    assert set(said) >= {*JOBS, *TARGETS}
    assert all(re.fullmatch(r"[A-Z].+[.]", sentence) for sentence in said.values()), said


def test_the_picture_of_the_rules_is_that_of_snakemake(built):
    done = snakemake(built, "--rulegraph", "dot")
    names = dict(re.findall(r'(\d+)\[label = "(\w+)"', done.stdout))
    needs = {(names[one], names[other]) for one, other in re.findall(r"(\d+) -> (\d+)", done.stdout)}
    drawn = networkx.DiGraph(re.findall(r"<title>(\w+)&#45;&gt;(\w+)</title>", (ROOT / "docs/rules.svg").read_text()))
    assert set(drawn) == set(JOBS)
    wanted = {(one, other) for one, other in needs if one != other and other in JOBS}
    assert wanted
    assert wanted <= set(networkx.transitive_closure(drawn).edges)


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
