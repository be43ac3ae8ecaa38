"""Where a number comes from: every cell of every table is followed to raw checksums or to the root seed."""

import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from graphdr.bandit.methods import POLICIES
from graphdr.cache import io, paths
from graphdr.cli import lineage, provenance
from graphdr.facts import prior_facts, selection_facts
from graphdr.facts.registry import FACTS
from tests.support.instances import pose
from tests.support.project import ROOT

KEYS = {"cell", "measurements", "pooled", "runs", "start", "files"}


def files(found: dict) -> dict[str, dict]:
    return {file["path"]: file for file in found["files"]}


def ends(found: dict) -> tuple[set[int], set[str]]:
    """Return the seeds and the raw checksums that a chain ends at; every branch must end at one."""
    seeds_, sums = set(), set()
    for file in found["files"]:
        assert file["problem"] is None
        seeds_ |= {stream["seed"] for stream in file["streams"]}
        sums |= {row["sha256"] for row in file["raw"]}
        assert file["inputs"] or file["streams"] or file["raw"] or file["sha256"], file["path"]
        assert all(used["as_recorded"] for used in file["inputs"])
        assert {used["path"] for used in file["inputs"]} <= set(files(found))
    return seeds_, sums


def test_every_number_of_every_table_ends_at_a_seed_or_a_checksum(inside, ask):
    tables = {path.stem: pq.read_table(path).to_pylist() for path in Path("results/tables").glob("*.parquet")}
    assert set(tables) >= {"main_synthetic", "noise_sweep", "rgg", "robust_theorem", "films"}
    for table, cell in ((table, cell) for table, cells in tables.items() for cell in cells):
        found = ask("why", table, cell["row"], cell["column"])
        assert set(found) == KEYS
        assert found["cell"]["value"] == cell["value"]
        if cell["value"] is None:
            assert found["measurements"] == found["files"] == []
            continue
        roots, sums = ends(found)
        assert sums if table == "films" else roots == {0}
        first = found["measurements"][0]
        assert (first["instance"], first["draw"]) == (0, 0)
        assert first[found["cell"]["field"]] == cell["value"]


@pytest.mark.parametrize("path", ["comparison", "claims", "results/figures/overview.png", "results/tables/films.md"])
def test_every_file_is_followed_to_its_ends(inside, ask, path):
    found = ask("why", path)
    roots, sums = ends(found)
    assert roots or sums
    given = {file["path"] for file in found["files"] if file["sha256"]}
    assert given == {"comparison": {paths.PAPER}, "claims": {paths.PAPER_CLAIMS}}.get(path, set())


def test_a_number_of_a_figure_is_that_of_its_measurements(inside, ask, call):
    found = ask("why", "main", "graphdr", "regret")
    assert found["cell"]["value"] == ask("why", "main_synthetic", "graphdr", "regret")["cell"]["value"]
    assert {row["path"] for row in found["measurements"]} == {paths.measurements("main")}
    assert "figure   results/figures/main.parquet" in call("why", "main", "graphdr", "regret")[1]


def test_every_table_and_figure_answers_by_its_name(inside, ask, mistake):
    built = {path.stem for kind in ("tables", "figures") for path in Path(f"results/{kind}").glob("*.parquet")}
    assert len(built) > 5
    for name in built:
        assert ask("why", name)["files"]
        assert "not built" not in mistake("why", name, "nothing", "regret")


def test_a_cell_has_only_what_is_behind_it(inside, ask):
    found = ask("why", "noise_sweep", "0.03", "regret")
    graphs = ("sbm-n_40", "sbm-n_40-flip_0_03")
    assert set(files(found)) == {
        "results/measurements/noise_sweep-0.parquet",
        "results/runs/noise_sweep-0/plain.parquet",
        "results/problem/noise_sweep-0/theta.parquet",
        *(f"results/graph/{graph}/{part}.parquet" for graph in graphs for part in ("nodes", "edges")),
        *(f"results/basis/{graph}/laplacian_low.parquet" for graph in graphs),
    }  # fmt: skip
    assert {stream["purpose"] for file in found["files"] for stream in file["streams"]} == {
        "graph", "flip", "theta", "arms", "noise",
    }  # fmt: skip


def test_a_paired_difference_has_both_methods_behind_it(inside, ask):
    found = ask("why", "main_synthetic", "gaussian", "gap")
    assert {(row["path"], row["method"]) for row in found["runs"]} == {
        (paths.runs("main", "plain"), method) for method in ("gaussian", "graphdr")
    }


def test_a_redrawn_number_shows_the_further_draws(inside, ask):
    found = ask("why", "main_synthetic", "gaussian", "redrawn")
    assert {row["draw"] for row in found["runs"]} == {1, 2}


def test_a_fact_has_no_runs_behind_it_and_a_run_with_its_own_k_has_the_fact(inside, ask):
    fact = ask("why", "noise_sweep", "0.03", "k_hat")
    assert fact["runs"] == []
    assert paths.facts("noise_sweep-0") in files(fact)
    own_k = ask("why", "noise_sweep", "0.03", "cost")
    assert paths.facts("noise_sweep-0") in files(own_k)
    assert paths.facts("noise_sweep-0") not in files(ask("why", "noise_sweep", "0.03", "regret"))


def test_a_fact_has_another_basis_behind_it_only_if_it_needs_it(inside, ask):
    content = paths.basis("films-n_24", "content_pca")
    assert content in files(ask("why", "films", "graphdr", "gamma"))
    assert content not in files(ask("why", "films", "graphdr", "regret"))


def test_a_score_names_what_was_pooled(inside, ask):
    found = ask("why", "robust_theorem", "pooled", "spearman_regret_rho")
    assert {row["quantity"] for row in found["pooled"]} == {"regret", "rho"}
    assert len({row["problem"] for row in found["pooled"]}) == 3
    played = {
        (paths.runs("main", "plain"), "sbm"),
        (paths.runs("noise_sweep-0", "plain"), "sbm-flip_0_03"),
        (paths.runs("noise_sweep-1", "plain"), "sbm-flip_0_1"),
    }
    assert {(row["path"], row["problem"]) for row in found["runs"]} == played
    assert {row["method"] for row in found["runs"]} == {"graphdr"}


def test_the_text_has_the_number_the_paper_the_rows_and_the_tree(inside, call):
    _, out, _ = call("why", "main_synthetic", "graphdr", "regret")
    cell = next(c for c in pq.read_table("results/tables/main_synthetic.parquet").to_pylist() if c["row"] == "graphdr")
    assert f"ours     {cell['value']:.8g}" in out
    assert re.search(r"paper    31\.3 ± 0\.7, ratio .*: (match|close|not contradicted|differs)", out)
    assert "seed 0, stream 'graph': family sbm, n 40, instance 0 to 2" in out
    assert out.count("compute_basis") == 1
    assert "laplacian_low.parquet (shown above)" in out
    assert "ends at: 6 files; root seed 0 (streams: arms, graph, noise, theta)" in out


def test_the_text_ends_at_the_raw_file(inside, call):
    _, out, _ = call("why", "films", "content", "gap")
    checksum = pq.read_table(paths.receipt("films")).to_pylist()[0]["sha256"]
    assert "raw inter: films.inter, verified, sha256" in out
    assert checksum in out


def test_rows_and_columns_may_be_called_as_they_are_printed(inside, ask):
    by_label = ask("why", "main_synthetic", "GraphDR", "R(T)")
    assert by_label == ask("why", "results/tables/main_synthetic.md", "graphdr", "regret")


def test_the_depth_limits_the_tree(inside, call):
    _, out, _ = call("why", "comparison", "--depth", "1")
    assert "make_table" in out
    assert "run_bandit" not in out
    assert len(call("why", "comparison")[1]) > len(out)


def test_a_number_that_the_paper_lacks_and_one_without_value_say_so(inside, call):
    assert "does not print this number" in call("why", "films", "graphdr", "regret")[1]
    assert "no measurement" in call("why", "main_synthetic", "graphdr", "gap")[1]


def test_without_a_comparison_the_rest_is_told(own, ask):
    Path(paths.comparison("parquet")).unlink()
    assert ask("why", "main_synthetic", "graphdr", "regret")["cell"]["paper"] is None


def test_an_input_that_is_another_one_now_is_marked(own, call, ask):
    edges = "results/graph/sbm-n_40/edges.parquet"
    Path(edges).unlink()
    io.write("edges", io.nothing("edges"), edges)
    found = ask("why", "main_synthetic", "graphdr", "regret")
    used = {used["path"]: used["as_recorded"] for file in found["files"] for used in file["inputs"]}
    assert [path for path, same in used.items() if not same] == [edges]
    assert f"{edges}  not the file that was read" in call("why", "main_synthetic", "graphdr", "regret")[1]


def test_a_lost_or_broken_file_ends_its_branch_in_words(own, call):
    Path("results/graph/sbm-n_40/edges.parquet").unlink()
    Path("results/problem/main/theta.parquet").write_bytes(b"PAR1")
    code, out, err = call("why", "main_synthetic", "graphdr", "regret")
    assert (code, err) == (0, "")
    assert "could not be followed: " in out


def test_a_lost_measurement_is_one_line(own, mistake):
    shutil.rmtree("results/measurements")
    assert "run snakemake results/measurements/main.parquet" in mistake("why", "main_synthetic", "graphdr", "regret")


# The streams


@pytest.mark.parametrize("name", FACTS)
def test_the_streams_of_a_fact_are_those_that_it_draws(name, small_graph, monkeypatch):
    drawn = set()
    stream = selection_facts.stream
    for module in (selection_facts, prior_facts):
        monkeypatch.setattr(
            module, "stream", lambda root, purpose, **key: drawn.add(purpose) or stream(root, purpose, **key)
        )
    FACTS[name](pose(small_graph, tail=0.3))
    handed_over = {"resamples", "pilot"}
    assert drawn == set(FACTS[name].streams) - handed_over


def test_every_purpose_in_the_code_is_known():
    beside = {"policy.py", "public.py"}  # they serve, and make no cached file
    beside |= {"neighbours.py"}  # how a search goes on is drawn in the same way whatever the root seed
    elsewhere = {"cli", "advise"}  # advice is made of files of the user, outside of the workflow
    modules = [path for path in (ROOT / "src/graphdr").rglob("*.py") if not elsewhere & set(path.parts)]
    sources = [path.read_text() for path in modules if path.name not in beside]
    used = {word for text in sources for word in re.findall(r'streams?\([\w.]+, "([\w ]+)"', text)}
    known = {purpose for drawing in (*FACTS.values(), *POLICIES.values()) for purpose in drawing.streams}
    known |= set(re.findall(r'"([\w ]+)"', (ROOT / "src/graphdr/cli/seeds.py").read_text()))
    assert used >= {"graph", "basis", "arms", "noise", "pilot", "held out"}
    assert used - known == set()


def test_a_focus_grows_and_all_is_all():
    some, other = (lineage.Focus(frozenset(name), frozenset(name), None) for name in "ab")
    assert some | other == lineage.Focus(frozenset("ab"), frozenset("ab"), None)
    assert some | lineage.EVERYTHING == lineage.EVERYTHING


def test_parameters_are_brief():
    params = {"seed": 0, "problems": [{"name": "a", "k": 5}, {"name": "b", "k": 6}], "long": list(range(100))}
    assert provenance.parameters(params, lineage.Focus(frozenset("b"))) == "long [100 entries], problem b (k 6), seed 0"
    assert json.dumps(params)  # left as they were
