"""No method is played twice on the same problem, whatever experiments call them."""

from itertools import product

from graphdr.cache import paths
from graphdr.plan import design, jobs
from tests.support.stages import NOTHING_SHOWN, PROTOCOL

METHODS = {
    "full": {"label": "full", "basis": "identity"},
    "ours": {"label": "ours", "basis": "laplacian_low"},
    "ours_3": {"label": "ours, k = 3", "basis": "laplacian_low", "k": 3},
    "naive": {"label": "naive", "basis": "laplacian_low", "k": "k_hat_naive"},
    "prior": {"label": "prior", "policy": "graph_prior", "basis": "laplacian_low"},
}


def plan(config: dict, **experiments: dict) -> design.Design:
    """Return the plan of some experiments on a random graph; k is 3 unless they say otherwise."""
    usual = {"facts": ["k_hat_naive"], "methods": ["full", "ours"]}
    on = {name: {"problems": {"of": ["sbm"]} | spec.get("problems", {})} for name, spec in experiments.items()}
    asked = {name: usual | spec | on[name] for name, spec in experiments.items()}
    protocol = config["protocol"] | PROTOCOL | {"k": 3}
    named = {"protocol": protocol, "problems": {"sbm": {"dataset": "sbm", "n": 60}}, "methods": METHODS}
    return design.expand(config | NOTHING_SHOWN | named | {"experiments": asked})


def files(planned: design.Design) -> dict[str, set[tuple[str, str]]]:
    return {path: {(runs.problem, runs.method) for runs in plays} for path, plays in planned.plays.items()}


def test_two_experiments_share_what_both_ask_for(config):
    planned = plan(config, a={}, b={"problems": {"vary": {"noise": [0.1, 0.2]}}})
    assert config["protocol"]["noise"] == 0.1
    assert files(planned) == {
        paths.runs("a", "plain"): {("sbm", "full"), ("sbm", "ours")},
        paths.runs("b", "plain"): {("sbm-noise_0_2", "full"), ("sbm-noise_0_2", "ours")},
    }
    assert planned.played["sbm-noise_0_1", "ours"] == planned.played["sbm", "ours"]
    measured = jobs.measure_batch(planned, "b")
    assert measured.input.runs == [paths.runs("a", "plain"), paths.runs("b", "plain")]


def test_a_k_is_the_same_whoever_gives_it_and_full_linucb_has_none(config):
    planned = plan(config, a={}, b={"methods": ["full", "ours_3"], "problems": {"vary": {"k": [3, 5]}}})
    assert planned.played["sbm-k_3", "ours_3"] == planned.played["sbm-k_5", "ours_3"] == planned.played["sbm", "ours"]
    assert planned.played["sbm-k_5", "full"] == planned.played["sbm", "full"]


def test_what_changes_a_run_is_played_apart(config):
    changes = {"noise": 0.3, "alpha": 0.5, "ridge": 2, "horizon": 400, "arms": 7, "seeds": 1, "flip": 0.1, "tail": 0.5}
    for factor, value in changes.items():
        planned = plan(config, a={}, b={"problems": {"set": {factor: value}}})
        assert len(set(planned.played.values())) == 4, factor


def test_a_factor_of_facts_matters_to_methods_that_look_at_them_alone(config):
    methods = ["ours", "naive"]
    planned = plan(config, a={"methods": methods}, b={"methods": methods, "problems": {"set": {"k_max": 5}}})
    (other,) = set(planned.problems) - {"sbm"}
    assert planned.played[other, "ours"] == planned.played["sbm", "ours"]
    assert planned.played[other, "naive"] != planned.played["sbm", "naive"]
    assert jobs.run_bandit(planned, "a", "plain").input.facts == ""
    assert jobs.run_bandit(planned, "a", "informed").input.facts == paths.facts("a")


def test_the_smaller_experiment_plays_and_one_on_request_never_does(config):
    many = {"problems": {"vary": {"noise": [0.1, 0.2]}}}
    asked = {"z": {}, "a": many, "opt": {"target": "opt", "opt_in": True}}
    planned = plan(config, **asked)
    assert set(planned.plays) == {paths.runs("z", "plain"), paths.runs("a", "plain")}
    assert planned.plays == plan(config, **dict(reversed(asked.items()))).plays


def test_every_pair_of_the_paper_has_its_runs_once(whole_plan):
    planned = whole_plan
    played = [(runs.path, runs.problem, runs.method) for plays in planned.plays.values() for runs in plays]
    assert len(played) == len(set(played))
    for batch, spec in planned.batches.items():
        for pair in product(spec.problems, [name for name, *_ in planned.variants[spec.experiment]]):
            assert planned.played[pair] in planned.plays[planned.played[pair].path], (batch, pair)


def test_a_graph_prior_plays_again_with_other_columns_and_linucb_does_not(config):
    planned = plan(config, a={"methods": ["ours", "prior"], "problems": {"vary": {"components": [12, 24]}}})
    assert len({planned.played[f"sbm-components_{c}", "ours"] for c in (12, 24)}) == 1
    assert len({planned.played[f"sbm-components_{c}", "prior"] for c in (12, 24)}) == 2
    job = jobs.run_bandit(planned, "a", "plain")
    assert [problem.settings["components"] for problem in job.params.problems] == [12, 24]
