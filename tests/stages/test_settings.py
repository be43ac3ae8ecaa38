"""Grids of settings through the real stages and files: each is played as it says, and the best taken over."""

from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from graphdr.cache import io, paths
from graphdr.plan import design, jobs
from tests.support.stages import run, run_all, small

GRID = {"alpha": [0.05, 1], "ridge": [0.1, 2], "k": [2, 5]}
METHODS = ["random", "linucb_full", "spectral_ucb", "graphdr", "graphdr_shuffled"]
CLAIM = {"experiment": "paper", "checks": [{"ratio": {"of": "regret@graphdr", "to": "regret@linucb_full", "below": 1}}]}
PLAYED = ["method", "instance", "draw", "seed", "t", "regret"]


@pytest.fixture(scope="module")
def plan(config, tmp_path_factory):
    """A grid on two graphs, what is played with its best settings, and one of them written out by hand."""
    graph = {"dataset": "sbm", "n": 30, "blocks": 3, "p_in": 0.7, "p_out": 0.05, "tail": 0, "draws": 0}
    study = {"target": "tuning", "opt_in": True, "methods": METHODS}
    blocks = {
        "horizons": [40, 80],
        "datasets": {"sbm": config["datasets"]["sbm"]},
        "problems": {"small": graph},
        "experiments": {
            "paper": {"problems": {"of": ["small"]}, "methods": METHODS},
            "grid": study
            | {"problems": {"of": ["small"], "set": {"first_seed": 7}}, "settings": GRID, "varies": ["paper"]},
            "best": study | {"problems": {"of": ["small"], "set": {"settings_from": "tuning"}}},
            "board": {
                "problems": {"of": ["small"], "set": {"seeds": 3}, "vary": {"shuffle": [0, 1]}},
                "methods": [*METHODS, "graph_prior"],
                "target": "leaderboard",
                "opt_in": True,
            },
            "by_hand": {
                "problems": {"of": ["small"], "set": {"first_seed": 7, "alpha": 0.05, "ridge": 2, "k": 5}},
                "methods": METHODS,
            },
        },
        "claims": {
            "main_wins": CLAIM,
            "k_is_10": {"experiment": "paper", "checks": [{"bounded": {"of": "zeta", "at_most": 1}}]},
        },
    }
    settings = small(config, {"checkpoint": 20, "horizon": 80}, **blocks)
    stages = ("build_graph", "compute_basis", "pose_problem", "describe_problem")
    with chdir(tmp_path_factory.mktemp("settings")):
        plan = design.expand(settings)
        run_all(plan, stages)
        for batch in ("paper", "grid", "by_hand", "best", "board"):
            run(jobs.run_bandit(plan, batch, "plain"))
            run(jobs.measure_batch(plan, batch))
        yield plan


def runs(batch: str) -> pd.DataFrame:
    return io.read("runs", paths.runs(batch, "plain")).to_pandas()


def test_a_setting_of_a_grid_plays_what_the_same_problem_plays(plan):
    grid, by_hand = runs("grid"), runs("by_hand")
    assert set(grid["seed"]) == {7, 8}
    told = {"graphdr": "-alpha_0_05-k_5-ridge_2", "graphdr_shuffled": "-alpha_0_05-k_5-ridge_2", "random": ""}
    told |= dict.fromkeys(("linucb_full", "spectral_ucb"), "-alpha_0_05-ridge_2")
    for method, suffix in told.items():
        one = grid[grid["method"] == method + suffix][PLAYED[1:]].reset_index(drop=True)
        other = by_hand[by_hand["method"] == method][PLAYED[1:]].reset_index(drop=True)
        pd.testing.assert_frame_equal(one, other)


def test_the_best_setting_on_other_seeds_is_taken_over(plan):
    measured = io.read("measurements", paths.measurements("grid")).to_pandas()
    regret = measured[measured["quantity"] == "regret"].groupby("method")["value"].mean()
    best = measured[measured["quantity"].str.startswith("best_")].set_index(["method", "quantity"])["value"]
    shown = io.read("measurements", paths.measurements("best")).to_pandas()
    kept = shown[shown["quantity"].str.startswith("best_")].set_index(["method", "quantity"])["value"]
    pd.testing.assert_series_equal(kept.sort_index(), best.sort_index())
    for method in ("graphdr", "linucb_full"):
        variants = [variant for variant in plan.variants["grid"] if variant.method == method]
        least = min(variants, key=lambda variant: regret[variant.name])
        assert {name: best[method, f"best_{name}"] for name in least.setting} == least.setting
    found = runs("best")
    assert set(found["seed"]) == {0, 1}
    settings = {name.removeprefix("best_"): value for name, value in best["graphdr"].items()}
    job = jobs.run_bandit(plan, "paper", "plain")
    first = job.params.problems[0]
    problem = replace(first, settings=first.settings | settings | {"k": int(settings["k"])})
    run(replace(job, params=job.params._replace(problems=[problem])), runs="again.parquet")
    other = io.read("runs", "again.parquet").to_pandas()
    one, two = (frame[frame["method"] == "graphdr"][PLAYED].reset_index(drop=True) for frame in (found, other))
    pd.testing.assert_frame_equal(one, two)


def test_claims_are_judged_at_every_setting_and_horizon(plan):
    job = jobs.judge_claims(plan, paths.MULTIVERSE)
    Path("claims.csv").write_text("claim,where,statement\nmain_wins,1,GraphDR wins\nk_is_10,2,The tail is small\n")
    run(replace(job, input=job.input._replace(paper="claims.csv")))
    decided = io.read("multiverse", paths.multiverse("parquet")).to_pandas()
    won = decided[decided["claim"] == "main_wins"]
    assert len(won) == 2 * 2 * 2 * 2 * 2  # widths, ridges, k, horizons, instances
    marked = decided[decided["claim"] == "k_is_10"]
    assert marked["dataset"].tolist() == ["no settings"]
    grid = runs("grid")
    place = (grid["instance"] == 1) & (grid["t"] == 40)
    mean = grid[place].groupby("method")["regret"].mean()
    row = won.query("alpha == 1 and ridge == 0.1 and k == 5 and horizon == 40 and instance == 1").iloc[0]
    assert_allclose(row["effect"], mean["graphdr-alpha_1-k_5-ridge_0_1"] / mean["linucb_full-alpha_1-ridge_0_1"])
    assert row["holds"] == (row["effect"] < 1)


def test_methods_are_ranked_over_the_instances_of_every_problem(plan):
    run(jobs.judge_claims(plan, paths.LEADERBOARD))
    table = io.read("leaderboard", paths.leaderboard("parquet")).to_pandas()
    assert set(table["problem"]) == {"small-seeds_3-shuffle_0", "small-seeds_3-shuffle_1"}
    assert set(table["method"]) == {*METHODS, "graph_prior"} - {"graphdr_shuffled"}  # a control
    assert set(table["games"]) == {2}
    played = pd.concat([runs("board"), runs("paper")])
    for (problem, method), row in table.set_index(["problem", "method"]).iterrows():
        ends = played[(played["problem"] == problem) & (played["method"] == method) & (played["t"] == 80)]
        assert_allclose(row["regret"], ends["regret"].mean())
    text = Path(paths.leaderboard("md")).read_text()
    assert "| SBM, shuffled graph |" in text
    assert "Graph prior" in text
