"""Bases through their stage: what they read, and what becomes of them where there are no data."""

import numpy as np
import pytest

from graphdr.bandit.policies.graph_prior import GraphPrior
from graphdr.cache import io, paths
from graphdr.core.errors import UserError
from graphdr.plan import compute_jobs, design, jobs
from graphdr.store.graphs import read_bases
from graphdr.store.problems import read_runs
from tests.support.project import draw_ratings, write_toy
from tests.support.stages import run, small

TWO = {"label": "two", "policy": "graph_prior", "basis": "laplacian_low_shuffled", "second_basis": "graph_pca"}
CONTROLS = {"content_pca_shuffled": "content_pca", "user_columns_random_directions": "user_columns"}
BASES = ["interaction_svd", "interaction_svd_shuffled", "user_columns", *CONTROLS]


def planned(config, played, problem=None, methods=None, **settings) -> design.Design:
    """Plan an experiment on the toy data set, or on a small random graph."""
    lines = {name: {"label": name, "basis": name} for name in BASES} | {"two": TWO} | (methods or {})
    blocks = {
        "methods": config["methods"] | lines,
        "problems": {"p": problem or {"dataset": "toy"}},
        "experiments": {"e": {"problems": {"of": ["p"]}, "methods": played}},
    }
    return design.expand(small(config, settings, **blocks))


def test_a_control_reads_the_stored_basis_that_it_is_made_of(config):
    plan = planned(config, [*CONTROLS], user_columns="mine.parquet")
    assert {basis for _, basis in plan.bases} >= {*CONTROLS.values()}  # which no method asks for
    for control, name in CONTROLS.items():
        files = jobs.compute_basis(plan, "toy", control).files()
        assert files == [paths.nodes("toy"), paths.basis("toy", name)]


def test_the_file_of_a_user_is_an_input_and_part_of_the_name_of_its_graph(config, workdir):
    plan = planned(config, ["user_columns"], user_columns="data/mine.parquet")
    assert "data/mine.parquet" in jobs.compute_basis(plan, "toy", "user_columns").files()
    with pytest.raises(
        UserError, match=r"^user_columns: there is no file 'data/mine.parquet'; a parquet file with a column"
    ):
        compute_jobs.check_files(plan)
    problem = {"dataset": "toy", "user_columns": "data/other.parquet"}
    other = planned(config, ["user_columns"], problem, user_columns="data/mine.parquet")
    (graph,) = {graph for graph, basis in other.bases if basis == "user_columns"}
    assert graph == "toy-user_columns_data_other_parquet"
    assert "data/other.parquet" in jobs.compute_basis(other, graph, "user_columns").files()
    compute_jobs.check_files(planned(config, ["graphdr"], user_columns="data/mine.parquet"))  # which nobody asks for


def test_a_data_set_without_users_has_no_interactions(workdir, config, capsys):
    plan = planned(config, ["interaction_svd", "interaction_svd_shuffled", "graphdr"])
    write_toy(draw_ratings())
    io.write("dataset_users", io.nothing("dataset_users"), paths.dataset_users("toy"))
    run(jobs.build_graph(plan, "toy"))
    for basis in ("laplacian_low", "interaction_svd", "interaction_svd_shuffled"):
        run(jobs.compute_basis(plan, "toy", basis))
        message = f"no data: instance 0 has no data for basis {basis}"
        assert (message in capsys.readouterr().out) == (basis != "laplacian_low")
        assert (read_bases(paths.basis("toy", basis)) == {}) == (basis != "laplacian_low")
    run(jobs.pose_problem(plan, "e"))
    run(jobs.run_bandit(plan, "e", "plain"))
    assert {method for method, _ in read_runs(paths.runs("e", "plain"))} == {"graphdr"}


def test_every_draw_of_a_basis_meets_the_only_one_beside_it(workdir, config, monkeypatch):
    plan, recorded = planned(config, ["two"]), []
    write_toy(draw_ratings())
    run(jobs.build_graph(plan, "toy"))
    for basis in ("laplacian_low", "laplacian_low_shuffled", "graph_pca"):
        run(jobs.compute_basis(plan, "toy", basis))
    run(jobs.pose_problem(plan, "e"))
    features = GraphPrior.features
    monkeypatch.setattr(GraphPrior, "features", lambda *inputs: recorded.append(features(*inputs)) or recorded[-1])
    run(jobs.run_bandit(plan, "e", "plain"))
    second = read_bases(paths.basis("toy", "graph_pca"))[0, 0].vectors
    assert [np.array_equal(given.second_basis[0], second) for given in recorded] == [True] * 3
    assert len({given.features.tobytes() for given in recorded}) == 3


def test_a_setting_that_lacks_what_it_needs_is_one_clear_line(config):
    mine = {"mine": TWO | {"second_basis": "user_columns"}}
    message = r"method mine on problem p: the basis 'user_columns' needs the factor 'user_columns'"
    with pytest.raises(UserError, match=message):
        planned(config, ["mine"], methods=mine)
    message = r"gp_heat on problem p: noise_units measures width and ridge in noise, and there"
    with pytest.raises(UserError, match=message):
        planned(config, ["gp_heat"], noise=0)
