"""Grids of settings: who is played with which, which bases they need, and where the best of them go."""

from pathlib import Path

import yaml

from graphdr.bandit.policies.linucb import LinUCB
from graphdr.cache import paths
from graphdr.paper import multiverse
from graphdr.plan import design, jobs
from graphdr.plan.short_forms import full
from tests.support.project import ROOT
from tests.support.stages import NOTHING_SHOWN

GRID = {"alpha": [0.1, 1], "ridge": [0.1, 1], "k": [2, 5, 8]}


def planned(config: dict, grid: dict = GRID, **tuned) -> design.Design:
    """Return the plan of a grid on the block model, and of what is played with the best of it."""
    tried = {"problems": {"of": ["sbm"], "set": {"first_seed": 100}}, "methods": ["random", "linucb_full", "graphdr"]}
    tried |= {"settings": grid, "target": "tuning", "opt_in": True}
    best = {
        "problems": {"of": ["sbm"], "set": {"settings_from": "tuning"} | tuned},
        "methods": tried["methods"],
        "target": "tuning",
    }
    experiments = {"main": config["experiments"]["main"], "grid": tried, "best": best | {"opt_in": True}}
    return design.expand(config | NOTHING_SHOWN | {"experiments": experiments})


def test_every_method_is_played_with_the_settings_that_it_has(config):
    plan = planned(config)
    of = {
        name: [v.setting for v in plan.variants["grid"] if v.method == name]
        for name in ("random", "linucb_full", "graphdr")
    }
    assert of["random"] == [{}]
    assert len(of["linucb_full"]) == 4
    assert len(of["graphdr"]) == 12
    assert len({tuple(setting.items()) for setting in of["graphdr"]}) == 12
    job = jobs.run_bandit(plan, "grid", "plain")
    method = job.params.methods["graphdr-alpha_0_1-k_8-ridge_1"]
    assert method == LinUCB(basis="laplacian_low", alpha=0.1, ridge=1, k=8)
    assert job.params.problems[0].protocol.first_seed == 100


def test_the_best_settings_reach_those_who_are_played_with_them(config):
    plan = planned(config)
    grid = "sbm-first_seed_100"
    best = [("sbm-settings_from_tuning", name, grid) for name in ("graphdr", "linucb_full", "random")]
    for job in (jobs.run_bandit(plan, "best", "plain"), jobs.measure_batch(plan, "best")):
        assert job.input.chosen == [paths.measurements("grid")]
        assert job.params.chosen == best
    assert jobs.run_bandit(plan, "main", "plain").input.chosen == []
    assert plan.played["sbm-settings_from_tuning", "graphdr"] != plan.played["sbm", "graphdr"]


def test_what_is_built_on_demand_widens_no_basis_of_the_rest(config):
    plain, wide = planned(config), planned(config, components=48)
    graph = "sbm-n_200"
    assert wide.bases[graph, "laplacian_low"] == plain.bases[graph, "laplacian_low"]
    assert wide.bases[graph, "laplacian_low-48"][0] == 48
    assert (
        jobs.run_bandit(wide, "best", "plain").input.basis["laplacian_low"][graph].endswith("laplacian_low-48.parquet")
    )
    assert jobs.run_bandit(wide, "main", "plain").input.basis == jobs.run_bandit(plain, "main", "plain").input.basis
    made = jobs.compute_basis(wide, graph, "laplacian_low-48").params
    assert (made.basis, made.components) == ("laplacian_low", 48)


def test_every_claim_is_judged_with_other_settings_or_marked(whole_plan):
    job = jobs.judge_claims(whole_plan, paths.MULTIVERSE)
    judged = set(job.params.claims) - set(job.params.grid.marks)
    assert {"main_wins", "cross_beats_full", "dim_flat", "aware_wins", "ml1m_pca_wins", "robust_monotone_eps"} <= judged
    marks = job.params.grid.marks
    assert {marks[name] for name in ("thm1_holds", "dk_holds", "k_is_10", "khat_agree")} == {multiverse.NO_SETTINGS}
    assert {marks[name] for name in ("gamma_loo", "robust_spearman", "khat_degrades")} == {multiverse.NOT_VARIED}
    repeated = {(place.original_experiment, place.original_problem) for place in job.params.grid.places}
    assert {("main", "sbm"), ("rgg", "rgg"), ("real", "lastfm"), ("dimension_scaling", "sbm-n_800")} <= repeated


def test_who_learns_has_a_width_and_who_projects_a_k(whole_plan):
    tunable = {name: block.method.tunable for name, block in whole_plan.config.methods.items()}
    assert tunable["worst"] == ()
    assert tunable["spectral_ucb"] == ("alpha", "ridge")
    assert tunable["graphdr_k_naive"] == ("alpha", "ridge")  # its k is its own
    assert tunable["graphdr_exact"] == ()  # a theorem sets them
    assert tunable["content_pca"] == ("alpha", "ridge", "k")
    assert tunable["gp_heat"] == ("alpha", "ridge", "k", "rho")  # the strength of a filter


def test_a_newcomer_to_the_leaderboard_is_one_block_and_makes_no_other_method_play_again():
    page = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8")
    mine = yaml.safe_load(page.split("```yaml\n")[1].split("```")[0])
    written = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    added = written | {"methods": written["methods"] | mine["methods"]}
    added["sets"] = written["sets"] | {"methods": written["sets"]["methods"] | mine["sets"]["methods"]}
    before, after = (design.expand(full(config, ROOT)) for config in (written, added))
    played = {}
    for path in after.plays:
        batch, kind = Path(path).parent.name, Path(path).stem
        job = jobs.run_bandit(after, batch, kind)
        if path not in before.plays or job != jobs.run_bandit(before, batch, kind):
            played[batch] = set(job.params.methods)
    assert {batch.split("-")[0] for batch in played} == {
        f"leaderboard_{part}{kind}"
        for part in ("new_", "choice_new_")
        for kind in ("synthetic", "real", "split", "whole")
    }
    assert all(name.split("-")[0] == "mine" for names in played.values() for name in names)
    ranking = jobs.judge_claims(after, "leaderboard").params.ranking
    assert len({problem for problem, method, _ in ranking.runs if method == "mine"}) == len(ranking.titles)
