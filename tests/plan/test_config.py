"""A mistake in the configuration is one line that names the place and the choices, before anything runs."""

import copy

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from docs import schema
from graphdr.bandit.policies.linucb import LinUCB
from graphdr.core.errors import UserError
from graphdr.plan import config as configuration
from graphdr.plan import design, short_forms
from tests.support.project import ROOT
from tests.support.stages import NOTHING_SHOWN

CONFIGS = {"config.yaml": ROOT / "config.yaml", "tiny.yaml": ROOT / "tests" / "support" / "tiny.yaml"}


def load(name="config.yaml"):
    return yaml.safe_load(CONFIGS[name].read_text())


FULL = short_forms.full(load(), ROOT)


def changed(path, value):
    config = copy.deepcopy(FULL)
    *parents, last = path.split(".")
    block = config
    for name in parents:
        block = block[int(name)] if isinstance(block, list) else block[name]
    if value is None:
        del block[last]
    else:
        block[int(last) if isinstance(block, list) else last] = value
    return config


def test_the_schema_is_valid_rejects_unknown_keys_everywhere_and_takes_the_configurations():
    whole = schema.schema()
    jsonschema.Draft202012Validator.check_schema(whole)
    objects = [entry for entry in whole["$defs"].values() if "properties" in entry]
    assert len(objects) > 8
    assert all(entry["additionalProperties"] is False for entry in [whole, *objects])
    for name in CONFIGS:
        jsonschema.validate(load(name), whole)


def test_the_schema_file_is_what_the_blocks_say(tmp_path):
    schema.write_schema(tmp_path / "schema.yaml")
    assert (tmp_path / "schema.yaml").read_text() == schema.SCHEMA.read_text(), "run `make schema`"


def test_a_configuration_says_no_more_than_was_written():
    assert configuration.parse(FULL).plain() == FULL


def test_a_block_is_read_by_attributes_and_cannot_be_changed():
    config = configuration.parse(FULL)
    assert config.methods["graphdr"].method == LinUCB(basis="laplacian_low")
    with pytest.raises(ValueError, match="frozen"):
        config.seed = 1


MISTAKES = [
    ("experiments.main.methods", ["grahpdr"], r"experiments.main.methods: no method 'grahpdr'; there are: .*club, con"),
    ("protocl", {}, r"top level: no key 'protocl'; there are: batch, claims, datasets"),
    ("protocol.horizont", 5, r"protocol: no key 'horizont'; there are: .*horizon"),
    ("methods.graphdr.bases", "x", r"methods.graphdr: no key 'bases'; there are: alpha, basis, "),
    ("protocol.horizon", -5, r"protocol.horizon: -5 should be greater than or equal to 1$"),
    ("protocol.tail", 2, r"protocol.tail: 2 should be less than or equal to 1$"),
    ("protocol.k", 30, r"k = 30 needs components >= 32, components = 24"),
    ("protocol.arms", 300, r"arms = 300 candidates per round are more than n = 200 nodes"),
    ("protocol.checkpoint", 30000, r"horizon = 20000 is not a multiple of checkpoint = 30000"),
    ("protocol.components", 61, r"components = 61 are more than n = 60 nodes"),
    ("methods.linucb_full.k", "k_hat_naive", r"methods.linucb_full.k: the basis 'identity' has no dimension"),
    ("methods.graph_prior.k", 5, r"graph_prior.k: the policy 'graph_prior'.*; it takes: basis, second_basis, componen"),
    ("methods.graph_prior.second_basis", "netmff", r"graph_prior.second_basis: no second_basis 'netmff'; there are: "),
    ("methods.graph_prior.second_basis", "laplacian_low", r"graph_prior.second_basis: 'laplacian_low' is the first"),
    ("methods.random.second_basis", "netmf", r"the policy 'random' does not take it; it takes: none"),
    ("methods.graph_ucb.laplacian", 0, r"graph_ucb.laplacian: 0 should be greater than 0"),
    ("methods.lin_ts.basis", "identity", r"lin_ts.basis: no basis 'identity'; there are: "),
    ("methods.onehot_pca", {"label": "x", "policy": "club"}, r"the arms of 'club' are nodes of the graph, not bundles"),
    ("methods.graphdr_adaptive.basis", "gaussian", r"basis: no basis whose columns are the same .*'gaussian'; there"),
    ("methods.graphdr_adaptive.laplacian", 1, r"graphdr_adaptive.laplacian: .* adaptive k takes no penalty"),
    ("methods.graphdr_k_20.k", 23, r"method graphdr_k_20 on problem sbm: k = 23 needs components >= 25, comp"),
    ("methods.graphdr_k_20.k", "best", r"graphdr_k_20.k: 'best' should be a whole number or one of k_hat_naive, "),
    ("experiments.theory_tailed.facts", ["zeta", "eps_l", "interior_gap"], r"method 'graphdr_a_priori' needs 'pilot_e"),
    ("methods.graphdr.radius", "a_priori", r"facts: method 'graphdr' needs 'eps_l'; add it to the facts$"),
    ("experiments.theory_tailed.problems.set", {"pilot_source": "logged"}, r"graphdr_a_priori on problem .*: the radi"),
    ("protocol.k_grid", [2, 30], r"method graphdr_adaptive on problem sbm: k_grid = 30 needs components >= 32"),
    ("protocol.k_grid", None, r"method graphdr_adaptive on problem sbm: factor 'k_grid' has no value"),
    ("protocol.k_grid", [], r"protocol.k_grid: \[\] should have at least 1 item$"),
    ("protocol.candidates", "popular", r"no candidate construction 'popular'; there are: neighbourhood, popularity, u"),
    ("problems.sbm.n", "all", r"problem sbm: n = 'all' comes from data, and a random graph has none"),
    ("problems.ml_1m.n", "some", r"problems.ml_1m.n: 'some' should be a valid integer or 'all'$"),
    ("protocol.noise", "ratings", r"protocol.noise: 'ratings' should be a valid number or 'resampled'$"),
    ("protocol.holdout", "half", r"protocol.holdout: 'half' should be 'none' or 'users'$"),
    ("problems.sbm.holdout", "users", r"sbm: holdout = 'users' needs ratings: family = 'knn', reward = 'mean' and"),
    ("problems.ogbn_arxiv.noise", "resampled", r"noise = 'resampled' needs ratings: family = 'knn'"),
    ("problems.ml_100k", {"dataset": "ml_100k", "holdout": "users", "context": "bundle"}, r"and context = 'node'"),
    ("problems.sbm.shuffle", 1, r"sbm: only one of shuffle, .* can change a graph$"),
    ("datasets.sbm.p_in", None, r"problems.sbm: factor 'p_in' has no value"),
    ("datasets.sbm.family", "smb", r"datasets.sbm: no family of random graphs 'smb'; there are: rgg, sbm$"),
    ("datasets.ml_1m.family", "sbm", r"ml_1m: no family of observed graphs 'sbm'; there are: citation, cited, "),
    ("datasets.ml_1m.raw.sources", [], r"datasets.ml_1m.raw.sources: \[\] should have at least 1 item$"),
    (
        "datasets.ml_1m.raw.sources",
        [{"archive": "x.zip", "format": "zip", "members": {"ratings": {}}}],
        r"datasets.ml_1m.raw.sources.0.format: no format 'zip'; there are: amazon_ratings, .*, recbole$",
    ),
    ("datasets.ml_1m.raw.citation", None, r"datasets.ml_1m.raw: 'citation' is required$"),
    ("observed.neighbours", None, r"problems.ml_100k: factor 'neighbours' has no value"),
    ("observed.k_min", 11, r"problem ml_100k: k_min = 11 is above k_max = 10"),
    ("observed.reward", "modal", r"observed.reward: 'modal' should be 'planted', .*, 'mean' or 'modal_group'$"),
    ("datasets.sbm.reward", "mean", r"problem sbm: reward .* random graph"),
    ("problems.sbm.dataset", "smb", r"problems.sbm.dataset: no dataset 'smb'; there are: amazon, .*, rgg, sbm$"),
    ("methods.graphdr.basis", "low", r"graphdr.basis: no basis 'low'; there are: .*content_pca, .*gaussian, .*, unit_"),
    ("methods.graphdr.filter", "hot", r"graphdr.filter: no filter 'hot'; there are: cut, heat, matern, smooth$"),
    ("methods.graphdr.rho", 2, r"graphdr.rho: the filter 'cut' has no strength; .*: cut, smooth, heat, matern$"),
    ("methods.linucb_full.filter", "heat", r"linucb_full.filter: the basis 'identity' has no columns to weigh; take"),
    ("methods.graphdr_exact.filter", "heat", r"graphdr_exact.radius: 'exact' needs the basis .* without filter, "),
    ("methods.graphdr_exact.noise_units", True, r"graphdr_exact.radius: 'exact' needs the basis .* own k or noise_uni"),
    ("experiments.main.methods", ["graphdr", "user_columns"], r"sbm: the basis 'user_columns' needs the factor"),
    ("experiments.main.methods", ["graphdr", "interaction_svd"], r"experiments.main: 'interaction_svd' needs 'interac"),
    ("experiments.main.problems.of", ["sbn"], r"no problem 'sbn'; there are: amazon, .*, sbm, sbm_few$"),
    ("experiments.main.facts", ["zta"], r"experiments.main.facts: no fact 'zta'; there are: .*degree, .*, zeta, "),
    ("experiments.main.facts", ["zeta", "energy_content"], r"experiments.main: 'energy_content' needs 'content_pca', "),
    ("experiments.real.problems.of", ["ml_1m", "rgg"], r"experiments.real: 'content_pca' needs 'content_pca', which a"),
    ("experiments.main.against", "spectral_ucb", r"experiments.main.against: no method of this experiment"),
    ("experiments.k_sweep.problems.vary", {"kk": [1]}, r"experiments.k_sweep.problems.vary: no key 'kk'"),
    ("experiments.k_sweep.problems.vary.k", ["x"], r"experiments.k_sweep.problems.vary.k.0: 'x' should be a valid int"),
    ("experiments.k_sweep.problems.vary.k", [2, 2], r"experiments.k_sweep.problems.vary.k: 2 is there twice$"),
    ("experiments.k_sweep.problems.cycle", {"reward": ["low"]}, r"problems.cycle.reward.0: 'low' should be 'planted',"),
    ("experiments.main.methods", ["graphdr", "graphdr"], r"experiments.main.methods: 'graphdr' is there twice$"),
    ("experiments.main.opt_in", True, r"experiments.main.target: an experiment that is opt_in needs a target"),
    ("experiments.calibrated_real.methods", ["laplacian_linucb_10"], r"no setting of 'laplacian_linucb_10' on 'ml_10"),
    ("experiments.calibrated_real.problems.set.settings_from", "x", r"no study of settings 'x'"),
    ("experiments.calibration_real.settings.k", [50], r"k = 50 needs components >= 52"),
    ("experiments.calibration_real.settings", {"beta": [1]}, r"no key 'beta'; there are: alpha, k, rho, ridge"),
    ("experiments.calibration_real.settings.alpha", [-1], r"settings.alpha"),
    ("experiments.multiverse_k.settings", {"k": [2, 5]}, r"settings.k: the experiment 'k_sweep' in `varies` varies it"),
    ("methods.graphdr.style", ["#000000", "#000000", "a"], r"methods.graphdr.style: a light and a dark colour like "),
    ("simulated_papers.main_synthetic.control", "mian", r"main_synthetic.control: no experiment 'mian'; there are: "),
    ("simulated_papers.main_synthetic.protocols", [{"sensitivity_noise": "noise"}], r"no method of sensitivity_noise"),
    ("simulated_papers.main_synthetic.aliases", {"graphdr_first": "x"}, r"aliases: no method of the control 'x'"),
    ("simulated_papers.mine", {"control": "main", "protocols": []}, r"simulated_papers.mine: no table 'mine'; there a"),
    ("tables.k_sweep.experiment", 5, r"tables.k_sweep.experiment: 5 should be a valid list$"),
    ("tables.k_sweep.evaluation", ["selectors"], r"tables.k_sweep: either an experiment or an evaluation is needed$"),
    ("evaluations.robust_theorem.predictors", None, r"evaluations.robust_theorem: predictors, or joint ones, are need"),
    ("datasets.ml_1m.raw.sources.0", {"format": "recbole"}, r"sources.0: an archive or a wheel, and its members, are"),
    ("protocol.ridge", float("inf"), r"protocol.ridge: inf should be a finite number$"),
    ("experiments.noise_stress.facts", ["eps_l"], r"method 'graphdr_k_naive' needs 'k_hat_naive'; add it to the facts"),
    ("evaluations.robust_theorem.target", "rgt", r"evaluations.robust_theorem.target: no measure 'rgt'"),
    ("evaluations.robust_theorem.method", "gaussian", r"evaluations.robust_theorem.method: no method of smoothness_sw"),
    ("evaluations.robust_theorem.predictors", ["g"], r"predictor 'g': no fact or measure of smoothness_sweep 'g'"),
    ("tables.k_sweep.experiment", ["k_swep"], r"tables.k_sweep.experiment: no experiment 'k_swep'; there are: "),
    ("tables.k_sweep.rows", "kk", r"tables.k_sweep.rows: no factor 'kk'; there are: "),
    ("tables.k_sweep.rows", "n", r"tables.k_sweep.rows: 'n' does not tell the 7 problems of k_sweep apart"),
    ("tables.cross_dataset.rows", "method", r"cross_dataset.rows: 'method' does not tell the 6 problems of real apart"),
    ("tables.ml_1m.problem", "ml_9", r"tables.ml_1m.problem: .*'ml_9'.*; there are: amazon, .*, ogbn_"),
    ("tables.ml_1m.methods", ["spectral_ucb"], r"tables.ml_1m.methods: no method there 'spectral_ucb'"),
    ("tables.k_sweep.columns", [{"a": "regrt"}], r"tables.k_sweep.columns.a: no quantity measured there 'regrt'"),
    ("tables.k_sweep.columns", [{"a": "regret@gaussian"}], r"tables.k_sweep.columns.a: no method or predictor there '"),
    ("tables.k_sweep.columns", [{"a": "regret@@"}], r"tables.k_sweep.columns.a: 'regret@@' is not quantity"),
    ("quantities.regret", None, r"no quantity 'regret'; there are: "),
    ("figures.dim.kind", "pie", r"dim.kind: no kind of figure 'pie'; there are: bounds, curves, dots, leaderboard"),
    ("figures.dim.x", "m", r"figures.dim.x: no varied factor 'm'; there are: n"),
    ("figures.ml_1m.problem", "ml_9", r"figures.ml_1m.problem: .*'ml_9'.*; there are: amazon, .*, ogbn_"),
    ("figures.dim.methods", ["gaussian"], r"figures.dim.methods: no method of this experiment 'gaussian'; there are: "),
]


@pytest.mark.parametrize(("path", "value", "message"), MISTAKES, ids=[f"{m[0]}={m[1]}" for m in MISTAKES])
def test_a_mistake_is_named_with_its_place_and_the_choices(path, value, message):
    with pytest.raises(UserError, match=message) as caught:
        design.expand(changed(path, value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("methods", "facts", "message"),
    [
        (["graphdr"], ["pilot_error_bound"], "'pilot_error_bound' needs a number for the noise, not 'resampled'"),
        (["graphdr_oracle"], ["eps_l", "interior_gap", "zeta"], "the radius 'oracle' needs a number for the noise"),
    ],
)
def test_resampled_noise_is_no_number(methods, facts, message):
    problems = {"of": ["ml_100k"], "set": {"noise": "resampled"}}
    experiments = {"e": {"problems": problems, "methods": methods, "facts": facts}}
    with pytest.raises(UserError, match=message):
        design.expand(FULL | NOTHING_SHOWN | {"experiments": experiments})


TEXTS = st.text(max_size=5) | st.sampled_from(["for", "like", "of", "k", "six", "{k}", "main", "graphdr_k_{k}"])
LEAVES = st.none() | st.booleans() | st.integers(-3, 10**6) | st.floats() | TEXTS
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner))
KEYS = ("", "problems", "methods", "columns", "problem", "rows", "experiment", "style")


@settings(max_examples=40)  # `make fuzz` tries thousands
@given(key=st.sampled_from(KEYS), value=VALUES, data=st.data())
def test_whatever_stands_in_a_block_is_valid_or_one_clear_error(key, value, data):
    config = load()
    blocks = [name for name, entries in config.items() if isinstance(entries, dict) and entries]
    block = data.draw(st.sampled_from(blocks))
    name = data.draw(st.sampled_from(sorted(config[block])))
    entry = config[block][name]
    config[block][name] = entry | {key: value} if key and isinstance(entry, dict) else value
    try:
        design.expand(configuration.read(config, ROOT))
    except UserError as error:
        assert str(error)
        assert "\n" not in str(error)


def test_numbers_given_on_the_command_line_as_text_are_numbers():
    given_as_text = {
        "protocol": {"k": "5", "tail": "0.5", "noise": "1e-1"},
        "tables": {"t": {"label": "5"}},
        "raw": {"sha256": "0" * 64, "release": "2014", "bytes": "7"},
        "m": ["x"],
    }
    assert short_forms.typed(given_as_text) == {
        "protocol": {"k": 5, "tail": 0.5, "noise": 0.1}, "tables": {"t": {"label": "5"}},
        "raw": {"sha256": "0" * 64, "release": "2014", "bytes": 7}, "m": ["x"],
    }  # fmt: skip


@pytest.mark.parametrize("text", ["1e2", "100.0", 100.0, "100"])
def test_a_whole_number_is_an_integer_however_it_is_spelled(text):
    batch = short_forms.typed({"batch": text})["batch"]
    assert (batch, type(batch)) == (100, int)
    assert configuration.read(changed("batch", text)).batch == 100


def test_checking_does_not_change_the_configuration():
    for config in (load(), copy.deepcopy(FULL)):
        before = copy.deepcopy(config)
        configuration.read(config, ROOT)
        assert config == before


def test_a_key_that_stands_twice_is_refused_with_both_lines(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("seed: 0\nprotocol:\n  arms: 10\n  noise: 0.1\n  arms: 20\n")
    with pytest.raises(
        UserError, match=r"config.yaml: the key 'arms' stands twice, in lines 3 and 5; keep one of them"
    ):
        configuration.load(path)
    path.write_text("seed: 0\nmethods: { a: &a { k: 1 }, b: { <<: *a, k: 2 } }\nseed: 1\n")
    with pytest.raises(UserError, match=r"'seed' stands twice, in lines 1 and 3"):  # what is merged may be replaced
        configuration.load(path)
