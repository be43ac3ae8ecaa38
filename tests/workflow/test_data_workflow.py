"""The workflow on raw files: data sets come one by one, and what is not the published data says so to the end."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from graphdr.cache import paths
from tests.support.in_process import build_here
from tests.support.reruns import behind, rerun, steps
from tests.support.tiny_data import CONFIG, USERS, Built, add_films, lay_out, news, papers, put, run

METHODS = list(yaml.safe_load(CONFIG.read_text())["methods"])

pytestmark = pytest.mark.slow

# Each stage goes on from a copy of the one before.


@pytest.fixture(scope="module")
def mirror(tmp_path_factory) -> Path:
    """A mirror that has one data set of two."""
    folder = tmp_path_factory.mktemp("mirror")
    put(folder / "papers.zip", papers())
    return folder


@pytest.fixture(scope="module")
def after(tmp_path_factory):
    """Copy a folder, modification times kept."""
    return lambda built: shutil.copytree(built.folder, tmp_path_factory.mktemp("next") / "checkout", symlinks=True)


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> Built:
    """Without any raw file."""
    return run(lay_out(tmp_path_factory.mktemp("bare")))


@pytest.fixture(scope="module")
def seventh(bare, after) -> Built:
    """With one more data set, its files placed by hand, built by its name."""
    return run(add_films(after(bare)), "films")


@pytest.fixture(scope="module")
def partial(seventh, after, mirror) -> Built:
    """All of the paper, with a mirror that lacks one data set."""
    return run(after(seventh), "paper", mirror=mirror)


@pytest.fixture(scope="module")
def whole(partial, after) -> Built:
    """With the missing file placed by hand, and the mirror gone."""
    folder = after(partial)
    put(folder / "data/raw/news/news.zip", news())
    return run(folder)


# A data set is a block of the configuration


def test_without_raw_files_the_synthetic_part_is_built(bare):
    assert bare.done.returncode == 0, bare.said
    assert {path.stem for path in (bare.folder / "results/tables").iterdir()} == {"synthetic"}
    assert set(bare.verdicts().values()) == {"no data"}
    missing = run(bare.folder, "results/tables/others.md")
    assert missing.done.returncode != 0
    assert "Traceback" not in missing.said
    assert re.search("papers|others", missing.done.stderr)


def test_one_more_data_set_is_a_block_of_the_configuration(seventh):
    assert seventh.done.returncode == 0, seventh.said
    regret = seventh.table("films").xs("regret", level="column")["value"]
    assert list(regret.index) == METHODS
    assert (regret > 0).all()
    assert regret["graphdr"] < regret["random"]
    assert seventh.table("films").loc[("graphdr_shuffled", "redrawn"), "n"] == 2
    assert all("films" in path for path in seventh.outputs())  # and nothing else is built
    nodes = pq.read_table(seventh.folder / "data/tables/films/nodes.parquet").to_pydict()
    assert nodes["title"] == [key.replace("f", "Film No. ") for key in nodes["key"]]


def test_a_file_that_is_placed_later_is_built_later(partial, whole):
    assert whole.done.returncode == 0, whole.said
    assert pd.isna(partial.table("others").loc[("news", "graphdr"), "value"])
    assert whole.table("others").loc[("news", "graphdr"), "value"] > 0
    shared = ("results/tables/others.", "results/comparison.", paths.power, paths.page("report"))
    assert all("news" in path for path in whole.outputs() if not path.startswith(shared))


def test_another_number_of_neighbours_reruns_that_data_set_only(whole, monkeypatch):
    monkeypatch.chdir(whole.folder)
    config = yaml.safe_load(Path("config.yaml").read_text())
    before = steps(config)
    config["datasets"]["films"]["neighbours"] = 3
    files = {
        path
        for path in rerun(before, steps(config))
        if not path.startswith(("results/comparison.", paths.power, paths.page("report")))
    }
    assert all(re.match(r"results/\w+/films\b", path) for path in files)
    assert {f"results/{place}" for place in ("graph/films/edges.parquet", "tables/films.md")} <= files
    assert paths.runs("films", "plain") in files


# Targets


def test_what_is_missing_is_one_line_after_all_else_is_built(partial):
    assert partial.done.returncode != 0
    (line,) = set(partial.errors())
    assert re.match(
        r"error: news: no source works .*; put the file at data/raw/news/news\.zip.*, from https://example\.org/news$",
        line,
    )
    assert {path.stem for path in (partial.folder / "results/tables").iterdir()} == {"synthetic", "films", "others"}
    assert (partial.folder / "results/comparison.md").exists()
    assert not (partial.folder / paths.receipt("news")).exists()
    assert not list((partial.folder / "data").rglob("*news*"))


def test_fetch_gets_raw_files_and_nothing_else(tmp_path, mirror):
    folder = lay_out(tmp_path)
    put(folder / "data/raw/news/news.zip", news())
    fetched = run(folder, "fetch", mirror=mirror)
    assert fetched.done.returncode == 0, fetched.said
    assert fetched.outputs() == {f"data/raw/{name}/receipt.parquet" for name in ("papers", "news")}
    assert (folder / "data/raw/papers/papers.zip").read_bytes() == (mirror / "papers.zip").read_bytes()
    assert not (folder / "data/tables").exists()
    assert {path.name for path in (folder / "results").iterdir()} == {"logs", "times", "entries"}


def test_a_second_run_has_nothing_to_do(whole, mirror):
    assert not [path for path in whole.outputs() if "papers" in path]  # though the mirror they came from is gone
    again = run(whole.folder, mirror=mirror)
    assert again.done.returncode == 0
    assert "Nothing to be done" in again.said


# What the data are not


def test_what_is_missing_of_the_data_is_said_in_the_tables_and_not_judged(whole):
    """That marks reach every file is in tests/stages/test_marks.py."""
    marks = json.loads(pq.read_schema(whole.folder / "results/tables/others.parquet").metadata[b"graphdr.marks"])
    lines = f"behaviors has {2 * USERS} of 1,000 lines"
    assert marks["news"] == {"incomplete": lines, "absent": "news"}
    assert marks["papers"] == {"unverified": "not the official bytes: labels", "absent": "features"}
    shown = whole.text("results/tables/others.md")
    assert re.search(rf"^News: incomplete\W+{lines}\b", shown, re.M)
    for dataset in ("News", "Papers"):
        assert re.search(rf"^\| {dataset} \| \d.* \| no data \| no data \|$", shown, re.M)
    assert not re.search("unverified|incomplete|absent", whole.text("results/tables/films.md"))
    verdicts = whole.verdicts()
    assert verdicts["others", "news", "graphdr"] == "other data"
    assert verdicts["others", "papers", "content"] == "no data"
    for cell in (("others", "papers", "graphdr"), ("films", "graphdr", "regret")):
        assert verdicts[cell] not in ("other data", "no data")


def test_without_titles_items_are_called_by_their_keys(workdir):
    add_films(lay_out(workdir), with_titles=False)
    config, target = yaml.safe_load(Path("config.yaml").read_text()), "data/tables/films/nodes.parquet"
    build_here(config, behind(steps(config), target))
    nodes = pq.read_table(target).to_pydict()
    assert nodes["title"] == nodes["key"]
    assert set(nodes["group"]) == {None}
