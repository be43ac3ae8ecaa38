"""The workflow on raw files: data sets come one by one, and what is not the published data says so to the end."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from graphdr.__main__ import main
from graphdr.cache import paths
from graphdr.plan import design, jobs
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
    assert not (bare.folder / "data/raw").exists()
    assert set(bare.verdicts().values()) == {"no data"}
    assert "Not built, since their raw files are not here: papers, news. Get them with" in bare.done.stderr


def test_one_more_data_set_is_a_block_of_the_configuration(seventh):
    assert seventh.done.returncode == 0, seventh.said
    regret = seventh.table("films").xs("regret", level="column")["value"]
    assert list(regret.index) == METHODS
    assert (regret > 0).all()
    assert regret["graphdr"] < regret["random"]
    assert seventh.table("films").loc[("graphdr_shuffled", "redrawn"), "n"] == 2
    nodes = pq.read_table(seventh.folder / "data/tables/films/nodes.parquet").to_pydict()
    assert nodes["title"] == [key.replace("f", "Film No. ") for key in nodes["key"]]


def test_by_its_name_a_data_set_is_built_and_nothing_else(seventh):
    assert seventh.outputs()
    assert all("films" in path for path in seventh.outputs())


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


@pytest.fixture
def config() -> dict:
    return yaml.safe_load(CONFIG.read_text())


def test_problems_of_one_data_set_need_not_stand_together(config):
    config["problems"]["papers_few"] = {"dataset": "papers", "n": 20}
    config["experiments"]["others"]["problems"]["of"] = ["papers", "news", "papers_few"]
    config["tables"].pop("others")
    planned = design.expand(config)
    assert sorted(name for batch in planned.batches.values() for name in batch.problems) == sorted(planned.problems)


def test_problems_on_one_graph_may_differ_in_reward_and_content(config):
    config["problems"]["news_too"] = {"dataset": "news", "reward": "modal_group", "content": "ratings"}
    config["experiments"]["others"]["problems"]["of"] = ["news", "news_too"]
    config["tables"].pop("others")
    planned = design.expand(config)
    for problem in (planned.problems[name] for name in ("news", "news_too")):
        graph, basis = jobs.build_graph(planned, problem["graph"]), (problem["graph"], "content_pca")
        assert graph.params.reward == problem["reward"]
        assert jobs.compute_basis(planned, *basis).params.content == problem["content"]


# Targets


def test_what_is_missing_is_one_line_after_all_else_is_built(partial):
    assert partial.done.returncode != 0
    (line,) = set(partial.errors())
    assert re.match(r"error: news: no source works .*; put the file at data/raw/news/news\.zip", line)
    assert {path.stem for path in (partial.folder / "results/tables").iterdir()} == {"synthetic", "films", "others"}
    assert (partial.folder / "results/comparison.md").exists()
    assert not (partial.folder / paths.receipt("news")).exists()
    assert not list((partial.folder / "data").rglob("*news*"))


def test_where_to_find_what_is_missing_is_told(partial):
    assert partial.errors()[-1].endswith(", from https://example.org/news")


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


def test_a_table_of_a_missing_data_set_is_one_clear_line(bare):
    asked = run(bare.folder, "results/tables/others.md")
    assert asked.done.returncode != 0
    assert "Traceback" not in asked.said
    assert re.search("papers|others", asked.done.stderr)


# What the data are not


def marks(path: Path) -> dict:
    return json.loads(pq.read_schema(path).metadata[b"graphdr.marks"])


def built_from(folder: Path, dataset: str) -> list[Path]:
    """Return the parquet files that were built from one data set alone."""
    places = ["data/tables/{0}/*", "results/graph/{0}/*", "results/basis/{0}/*", "results/problem/*{0}/*"]
    places += ["results/runs/*{0}/*", "results/measurements/*{0}.*", "results/curves/*{0}.*"]
    found = [sorted(folder.glob(place.format(dataset))) for place in places]
    assert all(found)
    return [path for paths in found for path in paths]


def test_what_differs_from_its_known_hash_is_marked_to_the_end(partial):
    words = {"unverified": "not the official bytes: labels", "absent": "features"}
    paths = [*built_from(partial.folder, "papers"), partial.folder / "results/tables/others.parquet"]
    assert [path for path in paths if marks(path) != {"papers": words}] == []
    assert re.search(
        r"^Papers: unverified\W+not the official bytes: labels\b", partial.text("results/tables/others.md"), re.M
    )
    assert partial.verdicts()["others", "papers", "graphdr"] not in ("other data", "no data")


def test_what_agrees_with_its_known_hash_is_not_marked(partial):
    paths = [*built_from(partial.folder, "films"), partial.folder / "results/tables/films.parquet"]
    assert [path for path in paths if marks(path)] == []
    assert not re.search("unverified|incomplete|absent", partial.text("results/tables/films.md"))


def test_missing_lines_are_marked_and_not_judged(whole):
    words = {"incomplete": f"behaviors has {2 * USERS} of 1,000 lines", "absent": "news"}
    assert [path for path in built_from(whole.folder, "news") if marks(path) != {"news": words}] == []
    assert set(marks(whole.folder / "results/tables/others.parquet")) == {"news", "papers"}
    assert re.search(rf"^News: incomplete\W+{words['incomplete']}\b", whole.text("results/tables/others.md"), re.M)
    assert whole.verdicts()["others", "news", "graphdr"] == "other data"
    assert whole.verdicts()["films", "graphdr", "regret"] not in ("other data", "no data")


@pytest.mark.parametrize("dataset", ["papers", "news"])
def test_without_an_optional_file_its_cells_have_no_data(whole, dataset):
    line = re.search(rf"^\| {dataset.title()} \| (.*) \|$", whole.text("results/tables/others.md"), re.M)
    graphdr, *content = line[1].split(" | ")
    assert re.match(r"\d", graphdr)
    assert content == ["no data", "no data"]
    assert whole.verdicts()["others", "papers", "content"] == "no data"


@pytest.mark.parametrize("methods", [["graphdr", "content_pca"], ["content_pca"]])
def test_a_method_without_data_may_be_the_one_compared_with(whole, after, monkeypatch, methods):
    monkeypatch.chdir(after(whole))
    runs = paths.runs("others-papers", "plain")
    sources = {method: [["papers", runs, "papers", method]] for method in methods}
    job = {
        "input": {"runs": [runs], "facts": paths.facts("others-papers")},
        "params": {"sources": sources, "against": "content_pca", "radii": {}, "problems": {}, "grids": {}},
        "output": {"measurements": paths.measurements("new"), "curves": paths.curves("new")},
    }
    assert main(["measure_batch", "code", json.dumps(job)]) == 0
    measured = pq.read_table(paths.measurements("new")).to_pandas()
    assert set(measured["method"].dropna()) == set(methods) - {"content_pca"}


def test_without_titles_items_are_called_by_their_keys(workdir):
    add_films(lay_out(workdir), with_titles=False)
    config, target = yaml.safe_load(Path("config.yaml").read_text()), "data/tables/films/nodes.parquet"
    build_here(config, behind(steps(config), target))
    nodes = pq.read_table(target).to_pydict()
    assert nodes["title"] == nodes["key"]
    assert set(nodes["group"]) == {None}
    assert marks(Path(target)) == {"films": {"absent": "item"}}
