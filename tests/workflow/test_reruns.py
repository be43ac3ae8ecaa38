"""What reruns when, in the process: one test for each row of the README's table.

That Snakemake reruns what these jobs say is tested end to end in test_workflow.py.
"""

import copy
import subprocess
from pathlib import Path

import pytest
import yaml

from graphdr.cache import paths
from graphdr.plan.jobs import JOBS
from tests.support import films
from tests.support.project import ROOT, hashes, lay_out, snakemake, would_write
from tests.support.reruns import RUNS_AND_BELOW, behind, copy_package, edit, rerun, stages_of, steps
from tests.support.tiny_data import put


@pytest.fixture(scope="module")
def tiny() -> dict:
    return yaml.safe_load((ROOT / "tests/support/tiny.yaml").read_text())


@pytest.fixture
def settings(tiny, workdir) -> dict:
    """The tiny configuration, free to be changed."""
    return copy.deepcopy(tiny)


@pytest.fixture
def edited(tiny, workdir):
    """Return a function that edits a module and returns the files that are made again."""

    def files(module: str, old: str, new: str) -> set[str]:
        edit((package := copy_package(workdir)) / module, old, new)
        return rerun(steps(tiny), steps(tiny, package))

    return files


def under(folder: str, files: set[str]) -> set[str]:
    """Return the files of a folder by their path in it, formats left out."""
    return {name.removeprefix(folder).split(".")[0] for name in files if name.startswith(folder)}


def test_the_jobs_here_are_those_that_snakemake_runs(built, tiny, workdir):
    assert set(steps(tiny)) == set(hashes(built))


def test_nothing_reruns_after_reordering_keys(tiny, settings):
    def reordered(value):
        if isinstance(value, dict):
            return {key: reordered(value[key]) for key in reversed(value)}
        return value

    assert list(reordered(settings)) != list(settings)
    assert rerun(steps(tiny), steps(reordered(settings))) == set()


BELOW_GRAPHS = {"build_graph", "compute_basis", "pose_problem", "estimate_pilot", "describe_problem"}


@pytest.mark.parametrize(
    ("module", "old", "new", "stages"),
    [
        ("graphs/model.py", "- normalised_adjacency", "+ normalised_adjacency", RUNS_AND_BELOW | BELOW_GRAPHS),
        ("theory/bounds.py", "return 2 * beta0", "return 3 * beta0", RUNS_AND_BELOW - {"run_bandit"}),
        ("cache/schemas.toml", "[curves]", '[curves]\nshown = ["int32", "new"]', RUNS_AND_BELOW - {"run_bandit"}),
    ],
    ids=["graphs", "bound", "column"],
)
def test_an_edit_reruns_the_stages_that_use_it_and_what_is_below(tiny, edited, module, old, new, stages):
    assert stages_of(steps(tiny), edited(module, old, new)) == stages < set(JOBS)


@pytest.mark.parametrize(
    ("module", "old", "new", "stage", "runs"),
    [
        ("bandit/pilot.py", "rewards = theta[nodes] +", "rewards = theta[nodes] -", "estimate_pilot", "informed"),
        ("facts/graph_facts.py", "4.0 * eps_l", "5.0 * eps_l", "describe_problem", "informed"),
        ("graphs/bases/onehot_pca.py", "1.0 / n", "2.0 / n", "compute_basis", "plain"),
    ],
)
def test_an_edit_reruns_only_the_runs_that_use_it(tiny, edited, module, old, new, stage, runs):
    files = edited(module, old, new)
    assert stage in stages_of(steps(tiny), files)
    assert not {"build_graph", "pose_problem"} & stages_of(steps(tiny), files)
    assert {Path(name).stem for name in files if name.startswith("results/basis/")} <= {"onehot_pca"}
    assert {Path(name).stem for name in files if name.startswith("results/runs/")} == {runs}


@pytest.fixture
def on_data(settings) -> dict:
    """The tiny configuration with two data sets of different formats."""
    films.add_to(settings)
    source = settings["datasets"]["films"]["raw"]["sources"][0] | {"format": "amazon_ratings"}
    raw = settings["datasets"]["films"]["raw"] | {"sources": [source]}
    settings["datasets"]["lists"] = settings["datasets"]["films"] | {"raw": raw}
    settings["problems"]["lists"] = {"dataset": "lists"}
    settings["experiments"]["lists"] = settings["experiments"]["films"] | {"problems": {"of": ["lists"]}}
    for name in ("films", "lists"):
        put(Path(f"data/raw/{name}/films.inter"), films.ratings())
    return settings


@pytest.mark.parametrize(
    ("module", "old", "new", "made", "played"),
    [
        ("graphs/neighbours.py", "product[j] > 0.0", "product[j] >= 0.0", set(), {"films", "lists"}),
        ("raw/adapters/amazon_ratings.py", '",", "key")', '";", "key")', {"nodes", "links", "users"}, {"lists"}),
    ],
)
def test_an_edit_for_data_sets_reruns_those_that_use_it(on_data, workdir, module, old, new, made, played):
    edit((package := copy_package(workdir)) / module, old, new)
    files = rerun(steps(on_data), steps(on_data, package))
    assert under("data/tables/", files) == {f"lists/{name}" for name in made}
    assert under("results/graph/", files) == {f"{name}/{part}" for name in played for part in ("nodes", "edges")}
    assert {name.split("/")[0] for name in under("results/runs/", files)} == played


def test_after_make_clean_an_edited_adapter_rebuilds_the_tables_of_its_data_sets(settings, tmp_path):
    """Files without Snakemake's records would pass as current whatever the code is: ``make clean`` leaves none."""
    films.add_to(settings)
    folder, tables = lay_out(tmp_path / "checkout"), [paths.dataset_nodes("films"), paths.dataset_links("films")]
    (folder / "config.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    put(raw := folder / "data/raw/films/films.inter", films.ratings())
    done = snakemake(folder, *tables)
    assert done.returncode == 0, done.stderr
    makefile = str(ROOT / "Makefile")
    subprocess.run(["make", "--silent", "-f", makefile, "clean", "YES=yes"], cwd=folder, check=True)
    assert raw.exists()
    package = copy_package(tmp_path / "edited")
    edit(package / "raw/adapters/recbole.py", "import", "EDITED = True\nimport")
    assert {*tables, paths.receipt("films")} <= would_write(folder, *tables, package=package.parent)


def test_a_new_method_reruns_its_runs_that_measurement_and_that_table(tiny, settings):
    assert settings["experiments"]["rgg"]["methods"] == ["linucb_full", "graphdr"]
    settings["experiments"]["rgg"]["methods"].append("gaussian")
    files = rerun(steps(tiny), steps(settings))
    assert under("results/runs/", files) == {"rgg/plain"}
    assert under("results/measurements/", files) == {"rgg"}
    assert under("results/tables/", files) == {"rgg"}


def test_a_label_reruns_nothing_heavy(tiny, settings):
    settings["methods"]["graphdr"]["label"] = "Graph DR"
    files = rerun(steps(tiny), after := steps(settings))
    assert stages_of(after, files) == {"make_table", "make_figure", "compare_paper", "judge_claims", "make_report"}


def test_another_number_of_the_paper_reruns_the_comparison_and_the_pages(tiny, workdir):
    before = steps(tiny)  # with the numbers that the package brings
    put(workdir / paths.PAPER, b"artifact,row,column,value,sem\n")
    assert stages_of(before, rerun(before, steps(tiny))) == {"compare_paper", "make_report"}


def test_a_table_needs_the_runs_that_it_shows_and_no_figure(tiny, workdir):
    needed = behind(planned := steps(tiny), "results/tables/rgg.md")
    assert under("results/runs/", needed) == {"rgg/plain"}
    assert "make_figure" not in stages_of(planned, needed)
