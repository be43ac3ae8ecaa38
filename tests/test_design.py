"""The expansion into flat tables: who needs what, and that no stage sees a factor it does not use."""

import json
import re
from pathlib import Path

import pytest
import yaml

from graphdr import design, jobs, paths
from graphdr.fingerprint import PACKAGE

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def plan():
    return design.expand(yaml.safe_load((ROOT / "config.yaml").read_text()))


def all_jobs(plan):
    for graph in plan.graphs:
        yield jobs.build_graph(plan, graph)
    for graph, basis in plan.bases:
        yield jobs.compute_basis(plan, graph, basis)
    for batch, spec in plan.batches.items():
        yield jobs.pose_problem(plan, batch)
        yield jobs.describe_problem(plan, batch)
        for method in plan.config["experiments"][spec["experiment"]]["methods"]:
            yield jobs.run_bandit(plan, batch, method)
    for block, job in (
        ("experiments", jobs.measure_experiment),
        ("evaluations", jobs.evaluate_predictors),
        ("tables", jobs.make_table),
        ("figures", jobs.make_figure),
    ):
        for name in plan.config[block]:
            yield job(plan, name)
    yield jobs.compare_paper(plan)


def test_names_are_keys_that_follow_the_naming_rule(plan):
    for name in [*plan.graphs, *plan.problems, *plan.batches, *(basis for _, basis in plan.bases)]:
        assert re.fullmatch(r"[a-z0-9_]+(-[a-z0-9_]+)*", name)


def test_a_sweep_varies_its_factor_and_nothing_else(plan):
    sweep = [plan.problems[name] for name in plan.batches["k_sweep"]["problems"]]
    assert [problem["k"] for problem in sweep] == [1, 2, 3, 5, 8, 12, 20]
    rest = [{k: v for k, v in problem.items() if k not in ("k", "name")} for problem in sweep]
    assert all(other == rest[0] for other in rest)


def test_equal_graphs_are_built_once(plan):
    assert len({(g["family"], g["n"], g["flip"], str(g["parameters"])) for g in plan.graphs.values()}) == len(
        plan.graphs
    )
    assert plan.problems["sbm"]["graph"] == plan.problems["sbm-k_3"]["graph"]


def test_a_flipped_graph_names_its_clean_parent(plan):
    problem = plan.problems["sbm-flip_0_05-seeds_5"]
    assert plan.graphs[problem["graph"]]["parent"] == problem["clean"]
    assert plan.graphs[problem["clean"]]["parent"] is None


def test_batches_split_an_experiment_without_loss(plan):
    config = plan.config | {"batch": 3}
    parts = [b["problems"] for b in design.expand(config).batches.values() if b["experiment"] == "k_sweep"]
    assert [len(part) for part in parts] == [3, 3, 1]
    assert [name for part in parts for name in part] == plan.batches["k_sweep"]["problems"]


def test_every_input_of_every_job_is_made_by_some_rule(plan):
    made = {paths.PAPER}
    made |= {path(graph) for graph in plan.graphs for path in (paths.nodes, paths.edges)}
    made |= {paths.basis(*key) for key in plan.bases}
    made |= {path(batch) for batch in plan.batches for path in (paths.theta, paths.facts)}
    made |= {paths.runs(batch, method) for batch in plan.batches for method in plan.config["methods"]}
    made |= {path(name) for name in plan.config["experiments"] for path in (paths.measurements, paths.curves)}
    made |= {paths.evaluation(name) for name in plan.config["evaluations"]}
    made |= {paths.table(name, "parquet") for name in plan.config["tables"]}

    asked = {path for job in all_jobs(plan) for path in job.files()}
    assert len(asked) > 100
    assert asked <= made


def test_labels_captions_and_notes_stay_out_of_heavy_stages(plan):
    for batch in plan.batches:
        text = str(jobs.run_bandit(plan, batch, "pca_onehot"))
        assert "label" not in text
        assert "note" not in text


def test_a_stage_has_one_module_one_job_and_one_rule():
    modules = {path.stem for path in (PACKAGE / "stages").glob("*.py")} - {"__init__"}
    rules = set(
        re.findall(r"^rule (\w+):", "\n".join(p.read_text() for p in (ROOT / "workflow/rules").glob("*.smk")), re.M)
    )
    functions = {name for name in vars(jobs) if not name.startswith("_") and name in modules}
    assert modules == rules == functions


def test_the_order_of_yaml_keys_changes_no_job(plan):
    def reordered(value):
        return {key: reordered(value[key]) for key in reversed(value)} if isinstance(value, dict) else value

    other = design.expand(reordered(plan.config))
    assert sorted(map(repr, all_jobs(other))) != sorted(
        map(repr, all_jobs(plan))
    )  # it did change the order of something
    as_text = [sorted(json.dumps(job, sort_keys=True) for job in all_jobs(which)) for which in (plan, other)]
    assert as_text[0] == as_text[1]


def test_a_fact_is_rerun_only_by_the_factors_it_uses(plan):
    changed = design.expand(plan.config | {"protocol": plan.config["protocol"] | {"resamples": 3}})
    differing = {b for b in plan.batches if jobs.describe_problem(plan, b) != jobs.describe_problem(changed, b)}
    assert differing == {"noise_stress"}
