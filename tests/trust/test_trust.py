"""Nothing wrong passes unseen, results repeat to the digit that is promised, and nobody is let in."""

import ast
import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from graphdr.__main__ import main, run_stage
from graphdr.bandit import environment, linucb, rewards
from graphdr.cache import io, manifest, paths
from graphdr.cli import integrity
from graphdr.core import atomic, compiled
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.graphs import arm_features, spectral
from graphdr.graphs.model import Graph
from graphdr.plan import config as configuration
from graphdr.plan import jobs
from graphdr.raw import archives, network
from graphdr.raw.archives import Unusable
from tests.support.project import ROOT, draw_sbm, lay_out, snakemake
from trust import checkout, flips, kills, pipeline

SOURCES = sorted((ROOT / "src").rglob("*.py"))
THETA = {"problem": ["a", "a"], "instance": [0, 0], "node": [0, 1], "theta": [0.6, -0.8]}
TABLE = "results/problem/main/theta.parquet"


@pytest.fixture
def cached(workdir) -> Path:
    """A folder with the outputs of two jobs: a parquet file, and two of other types."""
    io.write("theta", THETA, TABLE)
    manifest.record("pose_problem", {}, "code", {}, [TABLE])
    atomic.write_text("a,b\n", "results/tables/t.csv")
    atomic.write_text("a|b\n", "results/tables/t.md")
    manifest.record("make_table", {}, "code", {}, ["results/tables/t.csv", "results/tables/t.md"])
    assert integrity.findings() == []
    return workdir


def kinds() -> dict[str, str]:
    return {finding.path: finding.kind for finding in integrity.findings()}


# What verify finds, and what it would have deleted


def test_a_changed_cut_or_lost_file_is_named_and_only_what_is_ours_is_to_be_deleted(cached):
    Path(TABLE).write_bytes(Path(TABLE).read_bytes()[:-1])
    Path("results/tables/t.csv").write_text("x,b\n")
    Path("results/tables/t.md").unlink()
    assert kinds() == {TABLE: "changed", "results/tables/t.csv": "changed", "results/tables/t.md": "missing"}
    first = str(integrity.findings()[0])
    assert re.search(rf"{TABLE}: changed since pose_problem built it \(\S+ bytes instead of", first)
    entries = ["results/entries/results~problem~main~theta.parquet.json", "results/entries/results~tables~t.csv.json"]
    found = integrity.findings()
    assert integrity.to_delete(found) == sorted([*entries, TABLE, "results/tables/t.csv"])
    assert integrity.to_rebuild(found) == [TABLE, "results/tables/t.csv", "results/tables/t.md"]
    for path in integrity.to_delete(found):
        Path(path).unlink()
    assert integrity.findings() == []


def test_a_foreign_file_is_named_but_never_to_be_deleted(cached):
    names = ["results/notes.txt", "results/tables/x.parquet", "data/tables/films/y.csv", "results/entries/z.txt"]
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("mine")
    advised = f"{paths.ADVICE}/mine/results/x.parquet"
    for name in (
        advised,
        "results/README.md",
        "results/logs/x.log",
        "results/times/x.json",
        "results/bench/x.parquet",
    ):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("known")
    assert kinds() == dict.fromkeys(names, "foreign")
    assert integrity.to_delete(integrity.findings()) == []


def test_what_killed_jobs_leave_is_told_from_what_is_being_written(cached):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    Path(f"{TABLE}.{dead.pid}.tmp").write_text("half")
    Path(f"{TABLE}.{os.getpid()}.tmp").write_text("half")
    assert kinds() == {f"{TABLE}.{dead.pid}.tmp": "leftover"}


def test_files_whose_entry_cannot_be_read_are_not_foreign(cached):
    entry = manifest.entry_path(["results/tables/t.csv", "results/tables/t.md"])
    Path(entry).write_text("{")
    assert kinds() == {entry: "manifest"}
    assert integrity.to_delete(integrity.findings()) == [entry, "results/tables/t.csv"]


def test_a_file_of_ours_without_an_entry_is_built_again(cached):
    io.write("theta", THETA, "results/problem/other/theta.parquet")
    assert kinds() == {"results/problem/other/theta.parquet": "unlisted"}
    assert integrity.to_delete(integrity.findings()) == ["results/problem/other/theta.parquet"]


@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(max_examples=150)
def test_an_entry_of_the_manifest_vouches_for_itself(tmp_path_factory, where, bit):
    """An entry that was changed so that it fits a changed file would else hide it."""
    with contextlib.chdir(tmp_path_factory.mktemp("entry")):
        atomic.write_text("a,b\n", "results/tables/t.csv")
        manifest.record("make_table", {"k": 1}, "code", {}, ["results/tables/t.csv"])
        path = Path(manifest.entry_path(["results/tables/t.csv"]))
        data = bytearray(path.read_bytes())
        data[int(where * len(data))] ^= 1 << bit
        path.write_bytes(data)
        assert path.as_posix() in [finding.path for finding in integrity.findings()]


@pytest.mark.parametrize("fetched", [True, False], ids=["fetched", "placed by hand"])
def test_raw_files_are_compared_with_their_receipt(workdir, monkeypatch, fetched):
    from graphdr.raw import fetch

    data = b"user_id:token\titem_id:token\nu\ti\n"
    folder, mirror = Path("data/raw/films"), Path("mirror")
    for place in (folder, mirror):
        place.mkdir(parents=True)
    ((mirror if fetched else folder) / "films.inter").write_bytes(data)
    raw = {"sources": [{"archive": "films.inter", "format": "recbole", "members": {"inter": {}}}]}
    monkeypatch.setattr(fetch, "mirror_folder", lambda: mirror if fetched else None)
    output = {"receipt": paths.receipt("films")}
    run_stage("fetch_raw", "code", {"input": {}, "output": output, "params": {"dataset": "films", "raw": raw}})
    assert integrity.findings() == []
    (folder / "other.inter.part").write_bytes(b"half of a download")
    assert integrity.findings() == []
    (folder / "films.inter").write_bytes(data + b"v\ti\n")
    (found,) = integrity.findings()
    assert found.path == "data/raw/films/films.inter"
    assert found.delete == (("data/raw/films/films.inter", paths.receipt("films")) if fetched else ())
    assert ("fetch it again" if fetched else "put the former file back") in found.problem
    (folder / "films.inter").unlink()
    assert "cannot be read (No such file" in integrity.findings()[0].problem
    (folder / "films.inter").write_bytes(data)
    if fetched:
        (folder / "hashes.json").write_text((folder / "hashes.json").read_text().replace("mirror/", "mirrer/"))
        assert kinds() == {"data/raw/films/hashes.json": "changed"}


def test_the_paper_that_a_comparison_was_made_with_is_written_down(workdir):
    Path("data/paper").mkdir(parents=True)
    Path(paths.PAPER).write_text("artifact,row,column,value,sem\nt,r,c,1.0,\n")
    output = jobs.outputs("compare_paper")
    nothing = {"tables": {}, "pseudo_papers": {}}
    params = nothing | {"missing": [], "cells": {}, "observed": []}
    job = {"input": nothing | {"paper": paths.PAPER}, "params": params, "output": output}
    run_stage("compare_paper", "code", job)
    (entry,) = manifest.entries().values()
    assert entry["files"] == {paths.PAPER: io.file_digest(paths.PAPER)}
    assert integrity.findings() == []
    Path(paths.PAPER).write_text("artifact,row,column,value,sem\nt,r,c,2.0,\n")
    assert kinds() == dict.fromkeys(output.values(), "inputs")
    assert "data/paper/reference.csv is not the one that compare_paper has read" in str(integrity.findings()[0])


def test_the_lists_of_the_command_line(cached, capsys):
    lay_out(cached)
    Path(TABLE).write_text("x")
    Path("results/notes.txt").write_text("mine")
    assert main(["verify"]) == 1
    assert (
        "3 files in the manifest, 1 of them changed or missing, 1 files that are not in it" in capsys.readouterr().out
    )
    assert main(["verify", "--repair-list"]) == 0
    entry = manifest.entry_path([TABLE])
    assert capsys.readouterr().out.split() == [entry, TABLE]
    assert main(["verify", "--rebuild-list"]) == 0
    assert capsys.readouterr().out.split() == [TABLE]


# The same results


@pytest.mark.parametrize("n", [200, 500], ids=["dense solver", "sparse solver"])
def test_what_a_processor_may_change_changes_no_choice(n):
    """Rounding of the size of 1e-13 leaves signs, the 12 decimals kept but for the last, and every arm chosen."""
    graph = draw_sbm(3, n, blocks=5, p_in=0.3, p_out=0.02)
    noise = graph.adjacency.copy()
    noise.data *= 1 + 1e-13 * np.random.default_rng(0).standard_normal(len(noise.data))
    other = Graph((noise + noise.T) / 2, graph.origin)
    found = [spectral.low_eigenpairs(each, 7) for each in (graph, other)]
    one, two = (arm_features.nontrivial(basis.vectors, 5) for basis in found)
    assert np.array_equal(np.sign(one), np.sign(two))
    np.testing.assert_allclose(one, two, rtol=0, atol=2e-12)
    theta = rewards.smooth(one, stream(0, "theta"))
    setting = {"arms": 10, "candidates": "uniform", "horizon": 2000, "noise": 0.1}
    rounds = environment.draw(0, setting, graph.n, instance=0, seed=0)
    runs = [linucb.Run(theta, rounds, features=np.ascontiguousarray(arms)) for arms in (one, two)]
    regrets = [linucb.play([run], 1.0)[0].regret for run in runs]
    assert np.array_equal(*regrets)  # the regret of an arm does not depend on its features: all choices were the same


def test_a_solver_may_turn_signs_and_the_result_is_the_same():
    graph = draw_sbm(3, 60)
    vectors = np.linalg.eigh(spectral._dense_laplacian(graph))[1][:, :5]
    rng = np.random.default_rng(1)
    turned = vectors * rng.choice([-1, 1], 5) + 1e-14 * rng.standard_normal(vectors.shape)
    found = [np.round(spectral.canonical_signs(each), spectral.DECIMALS) for each in (vectors, turned)]
    np.testing.assert_allclose(*found, rtol=0, atol=1.1 * 10.0**-spectral.DECIMALS)


# Nobody is let in

FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "marshal", "shelve", "joblib", "cloudpickle", "ftplib", "telnetlib"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "system", "popen", "mktemp", "unsafe_load", "full_load",
                   "extractall", "extract", "read_pickle", "to_pickle"}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_no_code_is_run_that_came_as_data(source):
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name.split(".")[0] for alias in node.names} | {
                (getattr(node, "module", "") or "").split(".")[0]
            }
            assert not names & FORBIDDEN_MODULES
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            owner = getattr(getattr(node.func, "value", None), "id", None)
            keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            # re.compile, and the compile of a kernel, which takes types
            assert (
                name not in FORBIDDEN_CALLS
                or (name == "compile" and owner in ("re", "compiled"))
                or owner == "platform"
            )
            assert name != "load" or owner != "yaml" or "Safe" in keywords.get("Loader", ""), source
            assert keywords.get("shell", "False") == "False", source
            assert keywords.get("allow_pickle", "False") == "False", source


NASTY = ["$(touch pwned)", "a;touch pwned", "a b", "../x", "-n", "'x", "{input}", "Ä", "", "a\nb", "a\n"]


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("block", ["datasets", "problems", "methods", "experiments", "tables", "figures"])
def test_a_name_that_a_shell_could_mistake_is_one_clear_line(block, name):
    config = yaml.safe_load((ROOT / "tests" / "support" / "tiny.yaml").read_text(encoding="utf-8"))
    config[block][name] = next(iter(config[block].values()))
    with pytest.raises(UserError, match=rf"^{block}.* should match pattern") as found:
        configuration.read(config)
    assert len(str(found.value).splitlines()) == 1


def test_texts_of_the_configuration_reach_no_shell(tmp_path):
    folder = checkout.lay_out(tmp_path, with_films=True)
    text = (folder / "config.yaml").read_text()
    assert "citation: nobody" in text
    evil = "$(touch pwned) `touch pwned` ' \\\" ; touch pwned {input} %"
    (folder / "config.yaml").write_text(text.replace("citation: nobody", f'citation: "{evil}"'))
    done = snakemake(folder, "--", paths.receipt("films"))
    assert done.returncode == 0, done.stderr
    assert not list(folder.rglob("pwned"))


@pytest.mark.parametrize("name", ["../x.zip", "/etc/x", "a/b.zip", "..", ".bashrc", "-r", "..\\x"])
def test_a_raw_file_has_a_plain_name(name):
    from graphdr.raw.fetch import file_name

    with pytest.raises(UserError, match="is not the plain name of a file or package"):
        file_name({"archive": name})
    with pytest.raises(UserError, match="is not the plain name of a file or package"):
        file_name({"wheel": f"{name}==1"})


def test_addresses_are_https_and_every_source_of_the_repository_is_checked(config):
    for name, block in config["datasets"].items():
        for source in block.get("raw", {}).get("sources", []):
            for archive in source.get("archives", [source]):
                assert archive.get("url", "https://").startswith("https://")
                hashes = [archive.get("sha256"), *(member.get("sha256") for member in archive["members"].values())]
                lines = [member.get("lines") for member in archive["members"].values()]
                assert any([*hashes, *lines]) or archive.get("bytes"), (name, archive)  # else taken unseen


@pytest.mark.parametrize("url", ["http://a/x", "ftp://a/x", "file:///etc/passwd", "data:text/plain,x", "HTTP://a"])
def test_no_redirect_leads_to_another_scheme(url):
    request = urllib.request.Request("https://example.org/x")
    with pytest.raises(Unusable, match="refused, only https is allowed"):
        network._Redirect().redirect_request(request, None, 302, "Found", {}, url)
    with pytest.raises(Unusable, match="refused, only https is allowed"):
        network.require_scheme(url)


def test_an_archive_with_a_link_is_refused(tmp_path):
    link = zipfile.ZipInfo("u.item")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("u.data", "1")
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(Unusable, match=r"refused, for its member 'u\.item' is a link"):
        archives.locate(tmp_path / "a.zip", "u.data")


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_file_is_private_until_it_is_complete(workdir, mask, mode):
    former = os.umask(mask)
    try:
        with atomic.replacing("results/x.csv") as name:
            assert Path(name).stat().st_mode & 0o777 == 0o600
            Path(name).write_text("x")
    finally:
        os.umask(former)
    assert Path("results/x.csv").stat().st_mode & 0o777 == mode


def test_a_temporary_file_is_written_through_no_link(workdir):
    Path("results").mkdir()
    Path("precious").write_text("mine")
    Path(f"results/x.csv.{os.getpid()}.tmp").symlink_to(Path("precious").resolve())
    atomic.write_text("x", "results/x.csv")
    assert Path("precious").read_text() == "mine"
    assert not Path("results/x.csv").is_symlink()


def test_kernels_follow_no_link_to_their_lock(workdir, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: ".")
    lock = Path(compiled.LOCK)
    with compiled._one_at_a_time():
        assert lock.stat().st_mode & 0o777 == 0o600
    lock.unlink()
    lock.symlink_to(Path("made").resolve())
    with compiled._one_at_a_time():
        assert not Path("made").exists()


def test_the_page_shows_no_picture_that_was_changed(workdir):
    for suffix in ("parquet", "svg"):
        atomic.write_text(suffix, paths.figure("overview", suffix))
    picture = paths.figure("overview", "svg")
    manifest.record("make_figure", {}, "code", {}, [picture, paths.figure("overview", "parquet")])
    assert manifest.drawing(picture) == "svg"
    Path(picture).write_text("gvs")
    with pytest.raises(UserError, match=r"overview\.svg: changed since it was built; delete it"):
        manifest.drawing(picture)


# The trials themselves


def test_a_checkout_of_the_trials_is_that_of_the_tests(tmp_path):
    one, two = checkout.lay_out(tmp_path / "one"), lay_out(tmp_path / "two")
    names = {path.relative_to(one) for path in one.rglob("*") if path.is_file()}
    assert names == {path.relative_to(two) for path in two.rglob("*") if path.is_file()}
    assert all((one / name).read_bytes() == (two / name).read_bytes() for name in names)


def test_no_damage_of_a_cached_file_goes_unseen(tmp_path):
    data = checkout.lay_out(tmp_path / "with_films", with_films=True) / "data/raw/films/films.inter"
    (folder := tmp_path / "built").mkdir()
    assert pipeline.build(folder, data.read_bytes())
    tally, unseen = flips.torture(folder, 60, time.monotonic() + 60, random.Random(0))
    assert unseen == []
    assert sum(tally.values()) == 60
    assert set(tally) == set(flips.KINDS)


@pytest.mark.slow
def test_what_is_killed_is_resumed_and_nothing_is_lost(built, tmp_path):
    folder = shutil.copytree(built, tmp_path / "disturbed", symlinks=True)
    until, rng = time.monotonic() + 120, random.Random(5)
    found = kills.torture(folder, dict(os.environ), checkout.contents(built), 1, until, rng, work=2)
    assert found.wrong == []
    assert sum(found.kills.values()) == 1
