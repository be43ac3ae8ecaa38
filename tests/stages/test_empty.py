"""What a data set does not have is no data: an empty basis, no runs, no measurement, and a cell that says so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphdr.cache import io, paths
from graphdr.core.errors import UserError
from graphdr.plan import design, jobs
from graphdr.plan.job import Job
from graphdr.show import style
from graphdr.stages import make_figure, measure_batch
from graphdr.store.graphs import random_items, read_bases, read_items, write_graphs
from graphdr.store.problems import read_facts, read_thetas
from tests.support.project import draw_ratings, write_toy
from tests.support.stages import OBSERVED, PROTOCOL, blank_picture, run, small

METHODS = ["graphdr", "content_pca", "graphdr_shuffled"]
COLUMNS = {"zeta": "zeta", "energy": "energy_content", "ours": "regret@graphdr", "content": "regret@content_pca"}
COLUMNS |= {"gap": "regret_gap@content_pca", "redrawn": "regret_redrawn@graphdr"}


def expand(config: dict, missing=(), against: str = "graphdr", **toy) -> design.Design:
    """Plan an experiment on the toy data set alone, with a table and a figure."""
    columns = [{name: cell} for name, cell in COLUMNS.items()]
    experiment = {"problems": {"of": ["toy"]}, "methods": METHODS, "facts": ["zeta", "energy_content"]}
    blocks = {
        "experiments": {"e": experiment | {"against": against}},
        "tables": {"t": {"caption": "T", "experiment": "e", "rows": "dataset", "columns": columns}},
        "figures": {"curves": {"kind": "curves", "title": "C", "experiment": "e"}},
    }
    return design.expand(small(config, toy=toy, **blocks), missing)


def build(plan: design.Design) -> None:
    """Build everything from the tables of the data set to the measurements."""
    run(jobs.build_graph(plan, "toy"))
    for basis in ("laplacian_low", "laplacian_low_shuffled", "content_pca"):
        run(jobs.compute_basis(plan, "toy", basis))
    run(jobs.pose_problem(plan, "e"))
    if jobs.has_pilot(plan, "e"):
        run(jobs.estimate_pilot(plan, "e"))
    run(jobs.describe_problem(plan, "e"))
    run(jobs.run_bandit(plan, "e", "plain"))
    run(jobs.measure_batch(plan, "e"))


def show(plan: design.Design) -> dict[str, str]:
    """Make the table and return its cells by column."""
    run(jobs.make_table(plan, "t"))
    with open(paths.table("t", "md"), encoding="utf-8") as stream:
        line = next(line for line in stream if line.startswith("| Toy |"))
    return dict(zip(COLUMNS, line.strip(" |\n").split(" | ")[1:], strict=True))


def methods_in(kind: str, path: str) -> set[str]:
    return set(io.read(kind, path)["method"].drop_null().to_pylist())


@pytest.mark.parametrize("content", ["features", "text", "none"])
def test_no_content_is_an_empty_basis_no_run_no_fact_and_no_measurement(workdir, config, content, monkeypatch):
    monkeypatch.setattr(style, "save", blank_picture)
    plan = expand(config, content=content)
    write_toy(draw_ratings())
    build(plan)
    assert read_bases(paths.basis("toy", "content_pca")) == {}
    assert methods_in("runs", paths.runs("e", "plain")) == {"graphdr", "graphdr_shuffled"}
    assert set(read_facts(paths.facts("e"))) == {("toy", 0, "zeta")}
    assert methods_in("measurements", paths.measurements("e")) == {"graphdr", "graphdr_shuffled"}
    assert methods_in("curves", paths.curves("e")) == {"graphdr", "graphdr_shuffled"}
    cells = show(plan)
    assert {name for name, text in cells.items() if text == "no data"} == {"energy", "content", "gap"}
    assert cells["redrawn"] == "–"  # was run, and has nothing to redraw
    assert float(cells["ours"].split()[0]) > 0
    run(jobs.make_figure(plan, "curves"))
    drawn = io.read("figure", paths.figure("curves", "parquet"))["series"].to_pylist()
    assert set(drawn) == {"graphdr", "graphdr_shuffled"}


def leading(embedding: np.ndarray, k: int) -> np.ndarray:
    return np.linalg.svd(embedding / np.linalg.norm(embedding, axis=1, keepdims=True))[0][:, :k]


def test_content_that_is_there_is_measured(workdir, config):
    plan = expand(config, content="features")
    features = np.random.default_rng(1).standard_normal((36, 20)).astype(np.float32)
    write_toy(draw_ratings(), features=list(features))
    build(plan)
    item = read_items(paths.nodes("toy"))[0].item
    theta = read_thetas(paths.theta("e"))["toy", 0]
    expected = np.sum((leading(features[item].astype(float), OBSERVED["k"]).T @ theta) ** 2)
    facts = read_facts(paths.facts("e"))
    assert_allclose(facts["toy", 0, "energy_content"], expected, atol=1e-9)
    assert methods_in("measurements", paths.measurements("e")) == set(METHODS)
    assert "no data" not in show(plan).values()


def test_ratings_that_are_all_equal_have_no_principal_component(workdir, config):
    write_toy(np.where(np.isnan(draw_ratings()), np.nan, 1), reward=np.arange(36.0))
    plan = expand(config)
    build(plan)
    assert read_bases(paths.basis("toy", "content_pca")) == {}
    assert show(plan)["content"] == "no data"


def test_without_the_method_that_others_are_compared_with_there_are_no_gaps(workdir, config):
    plan = expand(config, content="text", against="content_pca")
    write_toy(draw_ratings())
    build(plan)
    quantities = set(io.read("measurements", paths.measurements("e"))["quantity"].to_pylist())
    assert quantities == {"regret", "slope", "regret_redrawn", "zeta", "srl", "crw", "widths"}
    assert float(show(plan)["ours"].split()[0]) > 0


def test_without_any_run_the_facts_are_measured(workdir):
    facts = {"problem": ["p"], "instance": [0], "quantity": ["zeta"], "value": [0.5]}
    io.write("facts", facts, "facts.parquet")
    io.write("runs", io.nothing("runs"), "runs.parquet")
    sources = {"content_pca": [("p", ("runs.parquet", "p", "content_pca"))]}
    input = measure_batch.Input(["runs.parquet"], "facts.parquet")
    params = measure_batch.Params(sources, against="content_pca", radii={}, constants={}, grids={})
    job = Job("measure_batch", input, measure_batch.Output(), params)
    run(job, measurements="measurements.parquet", curves="curves.parquet")
    assert io.read("measurements", "measurements.parquet").select(list(facts)).to_pydict() == facts
    assert len(io.read("curves", "curves.parquet")) == 0


def test_a_sweep_leaves_out_a_method_without_data(workdir):
    measured = {"problem": ["a", "b"], "instance": [0, 0], "draw": [0, 0], "method": ["graphdr"] * 2, "n": [3, 3]}
    measured |= {"predictor": [None] * 2, "quantity": ["regret"] * 2, "value": [1.0, 2.0], "sem": [0.1, 0.1]}
    io.write("measurements", measured, "measurements.parquet")
    labels = {"content_pca": "content-PCA", "graphdr": "GraphDR"}
    params = make_figure.Params("sweep", "S", [], labels, {}, x="k", positions={"a": 1, "b": 2})
    job = Job("make_figure", make_figure.Input(["measurements.parquet"]), make_figure.Output(), params)
    run(job, **{suffix: f"figure.{suffix}" for suffix in job.output._fields})
    points = io.read("figure", "figure.parquet").to_pydict()
    assert (points["series"], points["x"], points["y"]) == (["graphdr"] * 2, [1, 2], [1, 2])


def test_a_table_of_missing_data_alone_is_one_clear_error(workdir, config):
    plan = expand(config, missing=["toy"])
    assert (plan.batches, plan.graphs, plan.bases) == ({}, {}, {})
    with pytest.raises(UserError, match="no data: the raw files of toy are not here; get them: snakemake toy"):
        show(plan)


def test_a_reward_that_the_data_do_not_have_is_one_clear_error_unless_it_is_drawn(workdir, config):
    write_toy(draw_ratings(), reward=np.full(36, np.nan))
    with pytest.raises(UserError, match=r"data/tables/toy/nodes.parquet: rewards of the selected nodes are missing"):
        build(expand(config))
    build(expand(config, reward="planted"))
    low = read_bases(paths.basis("toy", "laplacian_low"))[0, 0].vectors
    theta = read_thetas(paths.theta("e"))["toy", 0]
    smooth = np.sum((low[:, 1 : PROTOCOL["k_star"] + 1].T @ theta) ** 2)
    assert_allclose(smooth, 0.8**2 / (0.8**2 + PROTOCOL["tail"] ** 2))


def test_every_instance_has_the_content_of_its_own_nodes(workdir, config, small_graph):
    """Instances lose different nodes when their pairs are flipped."""
    plan = expand(config, content="features")
    features = np.random.default_rng(1).standard_normal((40, 20))
    write_toy(draw_ratings(items=40), features=list(features))
    items = [np.arange(40)[::-1], np.arange(40)]
    panel = [random_items(small_graph)._replace(item=item) for item in items]
    write_graphs([small_graph] * 2, panel, paths.nodes("toy"), paths.edges("toy"))
    run(jobs.compute_basis(plan, "toy", "content_pca"))
    for instance, item in enumerate(items):
        vectors = read_bases(paths.basis("toy", "content_pca"))[instance, 0].vectors[:, :4]
        expected = leading(features[item], 4)
        assert_allclose(vectors @ vectors.T, expected @ expected.T, atol=1e-5)
