"""Nothing wrong passes unseen, results repeat to the digit that is promised, and nobody is let in."""

import ast
import contextlib
import os
import random
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphdr.__main__ import main, run_stage
from graphdr.bandit import environment, rewards
from graphdr.bandit.method import BanditProblem
from graphdr.bandit.policies.linucb import LinUCB
from graphdr.bandit.simulate import simulate
from graphdr.cache import io, manifest, paths
from graphdr.cli import integrity
from graphdr.core import atomic, compiled
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.graphs import arm_features, spectral
from graphdr.graphs.model import Graph
from graphdr.plan import config as configuration
from graphdr.plan import jobs
from graphdr.raw import archives
from graphdr.raw.archives import Unusable
from tests.support.policies import refused
from tests.support.project import ROOT, draw_sbm, lay_out, snakemake, tiny
from trust import checkout, flips, pipeline

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
    foreign = ["results/notes.txt", "results/tables/x.parquet", "data/tables/films/y.csv", "results/entries/z.txt"]
    expected = ["results/README.md", "results/logs/x.log", "results/times/x.json", "results/bench/x.parquet"]
    for name in (*foreign, *expected, f"{paths.ADVICE}/mine/results/x.parquet"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("some text")
    assert kinds() == dict.fromkeys(foreign, "foreign")
    assert integrity.to_delete(integrity.findings()) == []


def test_files_of_ours_without_a_readable_entry_are_built_again(cached):
    entry, other = manifest.entry_path(["results/tables/t.csv"]), "results/problem/other/theta.parquet"
    Path(entry).write_text("{")
    io.write("theta", THETA, other)
    assert kinds() == {entry: "manifest", other: "unlisted"}
    assert integrity.to_delete(integrity.findings()) == [entry, other, "results/tables/t.csv"]


def test_what_killed_jobs_leave_is_told_from_what_is_being_written(cached):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    Path(f"{TABLE}.{dead.pid}.tmp").write_text("half")
    Path(f"{TABLE}.{os.getpid()}.tmp").write_text("half")
    assert kinds() == {f"{TABLE}.{dead.pid}.tmp": "leftover"}


@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(max_examples=60)
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
    nothing = {"tables": {}, "simulated_papers": {}}
    params = nothing | {"missing": []}
    job = {"input": nothing | {"paper": paths.PAPER}, "params": params, "output": output}
    run_stage("compare_paper", "code", job)
    (entry,) = manifest.entries().values()
    assert entry.files == {paths.PAPER: io.file_digest(paths.PAPER)}
    assert integrity.findings() == []
    Path(paths.PAPER).write_text("artifact,row,column,value,sem\nt,r,c,2.0,\n")
    assert kinds() == dict.fromkeys(output.values(), "inputs")
    assert "data/paper/reference.csv is not the one that compare_paper has read" in str(integrity.findings()[0])


def test_the_lists_of_the_command_line(cached, capsys):
    lay_out(cached)
    Path(TABLE).write_text("x")
    Path("results/notes.txt").write_text("mine")
    assert main(["verify"]) == 1
    assert "3 files in the manifest, 1 of them changed or missing, 1 files that" in capsys.readouterr().out
    for option, listed in (("--repair-list", [manifest.entry_path([TABLE]), TABLE]), ("--rebuild-list", [TABLE])):
        assert main(["verify", option]) == 0
        assert capsys.readouterr().out.split() == listed


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
    rounds = environment.draw_rounds(0, environment.RoundsSpec(2000, 10, noise=0.1), graph.n, instance=0, seed=0)
    problems = [BanditProblem(theta, features=np.ascontiguousarray(arms)) for arms in (one, two)]
    regrets = [simulate(problem, LinUCB(), rounds).regret for problem in problems]
    assert np.array_equal(*regrets)  # the regret of an arm does not depend on its features: all choices were the same


# Nobody is let in

FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "marshal", "shelve", "joblib", "cloudpickle", "ftplib", "telnetlib"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "system", "popen", "mktemp", "unsafe_load", "full_load",
                   "extractall", "extract", "read_pickle", "to_pickle"}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_no_code_is_run_that_came_as_data(source):
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
            assert not {module.partition(".")[0] for module in modules} & FORBIDDEN_MODULES
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            owner = getattr(getattr(node.func, "value", None), "id", None)
            keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            # re.compile, and the compile of a kernel, which takes types
            harmless = owner == "platform" or (name == "compile" and owner in ("re", "compiled"))
            assert harmless or name not in FORBIDDEN_CALLS
            assert name != "load" or owner != "yaml" or "Safe" in keywords.get("Loader", ""), source
            assert keywords.get("shell", "False") == "False", source
            assert keywords.get("allow_pickle", "False") == "False", source


NASTY = ["$(touch pwned)", "a;touch pwned", "a b", "../x", "-n", "'x", "{input}", "Ä", "", "a\nb", "a\n"]


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("block", ["datasets", "problems", "methods", "experiments", "tables", "figures"])
def test_a_name_that_a_shell_could_mistake_is_one_clear_line(block, name):
    config = tiny()
    config[block][name] = next(iter(config[block].values()))
    with refused(rf"^{block}.* should match pattern", UserError):
        configuration.read(config)


@pytest.mark.slow
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

    for source in ({"archive": name}, {"wheel": f"{name}==1"}):
        with refused("is not the plain name of a file or package", UserError):
            file_name(source)


def test_addresses_are_https_and_every_source_of_the_repository_is_checked(config):
    for name, block in config["datasets"].items():
        for source in block.get("raw", {}).get("sources", []):
            for archive in source.get("archives", [source]):
                assert archive.get("url", "https://").startswith("https://")
                hashes = [archive.get("sha256"), *(member.get("sha256") for member in archive["members"].values())]
                lines = [member.get("lines") for member in archive["members"].values()]
                assert any([*hashes, *lines]) or archive.get("bytes"), (name, archive)  # else taken unseen


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


def test_neither_a_temporary_file_nor_a_lock_is_written_through_a_link(workdir, monkeypatch):
    Path("results").mkdir()
    Path("precious").write_text("mine")
    Path(f"results/x.csv.{os.getpid()}.tmp").symlink_to(Path("precious").resolve())
    atomic.write_text("x", "results/x.csv")
    assert Path("precious").read_text() == "mine"
    assert not Path("results/x.csv").is_symlink()
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


def test_no_damage_of_a_cached_file_goes_unseen(tmp_path):
    data = checkout.lay_out(tmp_path / "with_films", with_films=True) / "data/raw/films/films.inter"
    (folder := tmp_path / "built").mkdir()
    assert pipeline.build(folder, data.read_bytes())
    tally, unseen = flips.torture(folder, 60, time.monotonic() + 60, random.Random(0))
    assert unseen == []
    assert sum(tally.values()) == 60
    assert set(tally) == set(flips.KINDS)
