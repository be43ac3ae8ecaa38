"""The expansion into flat tables: who needs what, and that no stage sees a factor it does not use."""

import os
import re
import subprocess
import sys
from functools import cache

import pytest
import yaml

from graphdr.cache import paths
from graphdr.cache.fingerprint import PACKAGE
from graphdr.plan import design, jobs
from graphdr.plan.job import Job
from graphdr.plan.short_forms import full
from tests.support.project import ROOT
from tests.support.stages import NOTHING_SHOWN

CONFIG = full(yaml.safe_load((ROOT / "config.yaml").read_text()), ROOT)
OBSERVED = [name for name, block in CONFIG["datasets"].items() if "raw" in block]
SOME = ["ml_100k", "amazon", "mind_small"]


@pytest.fixture(scope="module")
def plan():
    return without()


@cache
def without(*missing: str) -> design.Design:
    """Return the plan of the configuration without these data sets."""
    return design.expand(CONFIG, missing)


def all_jobs(plan: design.Design) -> list[Job]:
    """Return every job of a plan but the report's, which shows the rest."""
    stages = [stage for stage in jobs.JOBS if stage != "make_report"]
    return [jobs.JOBS[stage](plan, **key) for stage in stages for key in jobs.keys(plan, stage)]


def test_names_are_keys_that_follow_the_naming_rule(plan):
    for name in [*plan.graphs, *plan.problems, *plan.batches, *(basis for _, basis in plan.bases)]:
        assert re.fullmatch(r"[a-z0-9_]+(-[a-z0-9_]+)*", name)


@pytest.mark.slow
def test_the_plan_is_the_same_in_every_process():
    """The order of a set of names depends on a random number of the process, that of a plan must not."""
    code = "import json, pathlib; from graphdr.plan import config, design; "
    code += "print(json.dumps(list(map(list, design.expand(config.load(pathlib.Path('config.yaml')))[1:5]))))"
    plans = {
        subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed})
        for seed in "12"
    }
    assert len(plans) == 1


def test_a_sweep_varies_its_factor_and_nothing_else(plan):
    sweep = [plan.problems[name] for name in plan.batches["k_sweep"].problems]
    assert [problem.k for problem in sweep] == [1, 2, 3, 5, 8, 12, 20]
    rest = [problem.model_copy(update={"k": 1, "name": "", "title": ""}) for problem in sweep]
    assert all(other == rest[0] for other in rest)


def test_equal_graphs_are_built_once(plan):
    unnamed = {str(graph._replace(name="", min_nodes=0)) for graph in plan.graphs.values()}
    assert len(unnamed) == len(plan.graphs)
    assert plan.problems["sbm"].graph == plan.problems["sbm-k_3"].graph
    assert plan.problems["ml_1m"].graph == plan.problems["ml_1m-horizon_8000-seeds_3"].graph == "ml_1m"
    assert plan.problems["ml_100k_whole"].graph == "ml_100k-n_1682"
    flipped = plan.problems["sbm-flip_0_05-seeds_5"]
    assert plan.graphs[flipped.graph].parent == flipped.clean
    assert plan.graphs[flipped.clean].parent is None


@pytest.mark.parametrize(("sample", "graph"), [(0, "ml_1m-n_all"), (2000, "ml_1m-n_all-sample_2000")])
def test_all_nodes_are_a_graph_of_their_own_and_can_be_sampled(sample, graph):
    problems = {"of": ["ml_1m"], "set": {"sample": sample}, "vary": {"n": ["all"]}}
    plan = design.expand(
        CONFIG | NOTHING_SHOWN | {"experiments": {"e": {"problems": problems, "methods": ["graphdr"]}}}
    )
    (problem,) = plan.problems.values()
    assert problem.graph == problem.clean == graph
    assert plan.graphs[graph].n == "all"
    assert jobs.build_graph(plan, graph).params.n == "all"


@pytest.mark.parametrize(
    ("factor", "values"),
    [("reward", ["mean", "modal_group"]), ("content", ["ratings", "features"]), ("transform", ["identity", "log1p"])],
)
def test_problems_that_see_other_data_are_on_other_graphs(factor, values):
    """A graph's files hold the rewards of its nodes, and a basis of its own is made of their content."""
    varied = {"problems": {"of": ["ml_1m"], "vary": {factor: values}}, "methods": ["graphdr", "content_pca"]}
    other = design.expand(CONFIG | NOTHING_SHOWN | {"experiments": {"e": varied}})
    for problem in other.members["e"]:
        graph = other.graphs[problem.graph]
        assert {**graph._asdict(), **graph.parameters}[factor] == getattr(problem, factor)


def datasets_of(plan, batch) -> set[str]:
    return {plan.problems[name].dataset for name in plan.batches[batch].problems}


def test_a_batch_is_on_one_data_set_and_named_after_it(plan):
    assert all(datasets_of(plan, batch) == {design.dataset_of(plan, batch)} for batch in plan.batches)
    real = [batch for batch, spec in plan.batches.items() if spec.experiment == "real"]
    assert real == [f"real-{dataset}" for dataset in OBSERVED]
    assert plan.batches["real-ml_100k"].problems == ["ml_100k"]
    assert datasets_of(plan, "ml_100k_graph") == {"ml_100k"}  # the only one there


@pytest.mark.parametrize("size", [1, 2, 8])
def test_batches_of_data_sets_in_any_order_lose_no_problem(size):
    experiment = {"problems": {"of": ["ml_100k", "sbm", "rgg", "ml_100k_whole"]}, "methods": ["graphdr"]}
    experiment["problems"]["vary"] = {"k": [2, 3]}
    plan = design.expand(CONFIG | NOTHING_SHOWN | {"experiments": {"e": experiment}, "batch": size})
    assert all(len(datasets_of(plan, batch)) == 1 for batch in plan.batches)
    batched = [name for spec in plan.batches.values() for name in spec.problems]
    assert sorted(batched) == sorted(problem.name for problem in plan.members["e"])
    assert (len(batched), max(len(spec.problems) for spec in plan.batches.values())) == (8, min(size, 4))


@pytest.mark.parametrize("missing", [[], SOME, OBSERVED])
def test_nothing_is_planned_on_missing_data_and_nothing_else_changes(plan, missing):
    partial = without(*missing)
    assert partial.problems == plan.problems
    assert partial.members == plan.members
    assert partial.batches == {b: spec for b, spec in plan.batches.items() if design.dataset_of(plan, b) not in missing}
    left = {name: graph for name, graph in plan.graphs.items() if graph.dataset not in missing}
    assert partial.graphs == left
    assert partial.bases == {key: basis for key, basis in plan.bases.items() if key[0] in left}
    for job in (jobs.pose_problem, jobs.describe_problem, jobs.measure_batch):
        assert all(job(partial, batch) == job(plan, batch) for batch in partial.batches)


def test_tables_show_what_is_there_and_the_paper_is_compared_with_what_is_built(plan):
    for missing in ([], SOME, OBSERVED):
        partial = without(*missing)
        tables = {name: jobs.make_table(partial, name) for name in CONFIG["tables"]}
        assert [job.params for job in tables.values()] == [jobs.make_table(plan, name).params for name in tables]
        built = set(jobs.compare_paper(partial).input.tables)
        usual = {name for name, spec in plan.config.tables.items() if not design.is_opt_in(plan, spec)}
        shown = {name for name in usual if tables[name].files() and "evaluation" not in CONFIG["tables"][name]}
        assert {name for name in built if "evaluation" not in CONFIG["tables"][name]} == shown
        assert ("ml_100k" in built) == ("ml_100k" not in missing)
        assert "graph_aware_baselines" in built  # its first row is a random graph


@pytest.mark.parametrize("missing", [[], SOME, OBSERVED])
def test_every_input_of_every_job_is_made_by_some_rule(missing):
    planned = all_jobs(without(*missing))
    made = {path for job in planned for path in job.output}
    asked = {path for job in planned for path in job.files()}
    assert len(asked) > 100
    assert asked <= made
    unread = {name for name in OBSERVED if paths.dataset_nodes(name) not in asked}
    assert unread == set(missing)
    assert {paths.receipt(name) for name in OBSERVED} <= asked


def test_a_stage_has_one_module_one_job_and_one_rule():
    modules = {path.stem for path in (PACKAGE / "stages").glob("*.py")} - {"__init__"}
    rules = set(
        re.findall(r"^rule (\w+):", "\n".join(p.read_text() for p in (ROOT / "workflow/rules").glob("*.smk")), re.M)
    )
    functions = {name for name in vars(jobs) if not name.startswith("_") and name in modules}
    assert modules == rules == functions


def test_cells_that_show_the_same_number_of_ours_have_one_name(plan):
    named = {name: spec.cells for name, spec in jobs.compare_paper(plan).params.tables.items()}
    regret = "regret, graphdr, on sbm"
    assert named["main_synthetic"]["graphdr"]["regret"] == named["k_sweep"]["5"]["regret"] == regret
    assert named["smoothness_sweep"]["0"]["regret"] == named["noise_sweep"]["0"]["regret"] != regret  # other seeds
    assert named["smoothness_sweep"]["0"]["zeta"] != named["smoothness_sweep"]["0.1"]["zeta"]
    assert named["capture_margin"]["ml_100k"]["zeta"] == named["cross_dataset"]["ml_100k"]["zeta"]
    assert named["cross_dataset"]["ml_100k"]["graphdr"] != named["cross_dataset"]["ml_1m"]["graphdr"]
    assert named["selectors"]["all"]["eigengap_spearman"] == "spearman, eigengap, over selectors"


def test_simulated_papers_are_on_instances_beyond_those_of_their_table_and_on_no_page(plan):
    (spec,) = jobs.compare_paper(plan).params.simulated_papers.values()
    assert plan.problems[spec.control].instances > spec.size == CONFIG["protocol"]["instances"]
    assert ("sbm-draws_0-noise_0_2", "noise of standard deviation 0.2") in spec.others
    page = jobs.make_report(plan, paths.REPORT)
    assert not [name for name in page.params.experiments if name.startswith("pseudo_")]


def test_a_fact_is_rerun_only_by_the_factors_it_uses(plan):
    changed = design.expand(CONFIG | {"protocol": CONFIG["protocol"] | {"resamples": 3}})
    differing = {b for b in plan.batches if jobs.describe_problem(plan, b) != jobs.describe_problem(changed, b)}
    assert differing == {"noise_stress"}
