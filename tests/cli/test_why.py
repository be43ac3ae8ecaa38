"""Where a number comes from: every cell of every table is followed to raw checksums or to the root seed."""

import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from graphdr.cache import io, paths

KEYS = {"cell", "measurements", "pooled", "runs", "start", "files"}


def files(answer: dict) -> dict[str, dict]:
    return {file["path"]: file for file in answer["files"]}


def ends(answer: dict) -> tuple[set[int], set[str]]:
    """Return the seeds and the raw checksums that a chain ends at; every branch must end at one."""
    seeds_, sums = set(), set()
    for file in answer["files"]:
        assert file["problem"] is None
        seeds_ |= {stream["seed"] for stream in file["streams"]}
        sums |= {row["sha256"] for row in file["raw"]}
        assert file["inputs"] or file["streams"] or file["raw"] or file["sha256"], file["path"]
        assert all(used["as_recorded"] for used in file["inputs"])
        assert {used["path"] for used in file["inputs"]} <= set(files(answer))
    return seeds_, sums


def test_every_number_of_every_table_ends_at_a_seed_or_a_checksum(inside, ask):
    tables = {path.stem: pq.read_table(path).to_pylist() for path in Path("results/tables").glob("*.parquet")}
    assert set(tables) >= {"main_synthetic", "noise_sweep", "rgg", "robust_theorem", "films"}
    for table, cell in ((table, cell) for table, cells in tables.items() for cell in cells):
        answer = ask("why", table, cell["row"], cell["column"])
        assert set(answer) == KEYS
        assert answer["cell"]["value"] == cell["value"]
        if cell["value"] is None:
            assert answer["measurements"] == answer["files"] == []
            continue
        roots, sums = ends(answer)
        assert sums if table == "films" else roots == {0}
        first = answer["measurements"][0]
        assert (first["instance"], first["draw"]) == (0, 0)
        assert first[answer["cell"]["statistic"]] == cell["value"]


def test_a_figure_answers_by_its_name_and_its_numbers_are_those_of_its_measurements(inside, ask, call, mistake):
    answer = ask("why", "main", "graphdr", "regret")
    assert answer["cell"]["value"] == ask("why", "main_synthetic", "graphdr", "regret")["cell"]["value"]
    assert {row["path"] for row in answer["measurements"]} == {paths.measurements("main")}
    assert "figure   results/figures/main.parquet" in call("why", "main", "graphdr", "regret")[1]
    for path in Path("results/figures").glob("*.parquet"):
        assert ask("why", path.stem)["files"]
        assert "not built" not in mistake("why", path.stem, "nothing", "regret")


@pytest.mark.parametrize("path", ["comparison", "claims", "results/figures/overview.png", "results/tables/films.md"])
def test_every_file_is_followed_to_its_ends(inside, ask, path):
    answer = ask("why", path)
    roots, sums = ends(answer)
    assert roots or sums
    checked = {file["path"] for file in answer["files"] if file["sha256"]}
    assert checked == {"comparison": {paths.PAPER}, "claims": {paths.PAPER_CLAIMS}}.get(path, set())


def test_the_runs_behind_a_number_are_those_that_it_uses(inside, ask):
    difference = ask("why", "main_synthetic", "gaussian", "gap")
    used = {(row["path"], row["method"]) for row in difference["runs"]}
    assert used == {(paths.runs("main", "plain"), method) for method in ("gaussian", "graphdr")}
    redrawn = ask("why", "main_synthetic", "gaussian", "redrawn")
    assert {row["draw"] for row in redrawn["runs"]} == {1, 2}
    fact = ask("why", "noise_sweep", "0.03", "k_hat")
    assert fact["runs"] == []
    assert paths.facts("noise_sweep-0") in files(fact)


def test_a_score_names_what_was_pooled(inside, ask):
    answer = ask("why", "robust_theorem", "pooled", "spearman_regret_rho")
    assert {row["quantity"] for row in answer["pooled"]} == {"regret", "rho"}
    assert len({row["problem"] for row in answer["pooled"]}) == 3
    played = {
        (paths.runs("main", "plain"), "sbm"),
        (paths.runs("noise_sweep-0", "plain"), "sbm-flip_0_03"),
        (paths.runs("noise_sweep-1", "plain"), "sbm-flip_0_1"),
    }
    assert {(row["path"], row["problem"]) for row in answer["runs"]} == played
    assert {row["method"] for row in answer["runs"]} == {"graphdr"}


@pytest.mark.parametrize(
    ("cell", "patterns"),
    [
        (
            ["main_synthetic", "graphdr", "regret"],
            [r"ours +\d", r"paper +31\.3 ± 0\.7, ratio .*: \w", "seed 0, stream 'graph': family sbm", "root seed 0"],
        ),
        (["films", "content", "gap"], [r"raw inter: films\.inter, verified, sha256 +\w{64}"]),
        (["films", "graphdr", "regret"], ["does not print this number"]),
        (["main_synthetic", "graphdr", "gap"], ["no measurement"]),
    ],
)
def test_the_text_has_the_number_the_paper_and_where_it_ends(inside, call, cell, patterns):
    _, out, _ = call("why", *cell)
    assert [pattern for pattern in patterns if not re.search(pattern, out)] == []


def test_rows_and_columns_may_be_called_as_they_are_printed(inside, ask):
    by_label = ask("why", "main_synthetic", "GraphDR", "R(T)")
    assert by_label == ask("why", "results/tables/main_synthetic.md", "graphdr", "regret")


def test_the_depth_limits_the_tree(inside, call):
    _, out, _ = call("why", "comparison", "--depth", "1")
    assert "make_table" in out
    assert "run_bandit" not in out
    assert len(call("why", "comparison")[1]) > len(out)


def test_a_lost_or_broken_file_is_said_in_words(copied, call, ask, mistake):
    Path(paths.comparison("parquet")).unlink()
    Path("results/graph/sbm-n_40/edges.parquet").unlink()
    Path("results/problem/main/theta.parquet").write_bytes(b"PAR1")
    assert ask("why", "main_synthetic", "graphdr", "regret")["cell"]["paper"] is None
    assert "could not be followed: " in call("why", "main_synthetic", "graphdr", "regret")[1]
    shutil.rmtree("results/measurements")
    assert "run snakemake results/measurements/main.parquet" in mistake("why", "main_synthetic", "graphdr", "regret")


def test_an_input_that_is_another_one_now_is_marked(copied, call, ask):
    edges = "results/graph/sbm-n_40/edges.parquet"
    Path(edges).unlink()
    io.write("edges", io.nothing("edges"), edges)
    answer = ask("why", "main_synthetic", "graphdr", "regret")
    used = {used["path"]: used["as_recorded"] for file in answer["files"] for used in file["inputs"]}
    assert [path for path, same in used.items() if not same] == [edges]
    assert f"{edges}  not the file that was read" in call("why", "main_synthetic", "graphdr", "regret")[1]
