"""The short forms of config.yaml are written out before anything is checked; a mistake in one is one line."""

import pytest
import yaml

from graphdr.core.errors import UserError
from graphdr.plan.short_forms import full, problem_name
from tests.support.project import ROOT

WRITTEN = yaml.safe_load((ROOT / "config.yaml").read_text())
SETS = {"problems": {"both": ["a", "b"]}, "methods": {"two": ["x", "y"]}, "columns": {"ends": ["low", {"top": "high"}]}}


def test_a_configuration_without_short_forms_stays_as_it_is():
    written_out = full(WRITTEN, ROOT)
    assert full(written_out) == written_out
    assert not {"sets", "sources", "checks", "studies"} & set(written_out)


def test_a_set_stands_for_its_members_beside_others_or_alone():
    experiments = {"e": {"problems": {"of": ["c", "both"]}, "methods": "two"}, "f": {"problems": {"of": "both"}}}
    tables = {"t": {"columns": ["ends", {"name": "cell"}]}, "u": {"columns": "ends", "methods": ["z", "two"]}}
    config = full({"sets": SETS, "experiments": experiments, "tables": tables})
    assert config["experiments"]["e"] == {"problems": {"of": ["c", "a", "b"]}, "methods": ["x", "y"]}
    assert config["experiments"]["f"] == {"problems": {"of": ["a", "b"]}}
    assert config["tables"]["t"]["columns"] == [{"low": "low"}, {"top": "high"}, {"name": "cell"}]
    assert config["tables"]["u"]["columns"] == [{"low": "low"}, {"top": "high"}]
    assert config["tables"]["u"]["methods"] == ["z", "x", "y"]


def test_an_entry_like_another_takes_what_it_does_not_say_itself():
    base = {"problems": {"of": ["a"], "set": {"k": 2}, "vary": {"n": [1]}}, "methods": ["x"], "target": "t"}
    like = {"like": "base", "problems": {"vary": {"tail": [0]}}, "methods": ["y"]}
    config = full({"experiments": {"further": {"like": "like", "target": "u"}, "base": base, "like": like}})
    varied = {"problems": {"of": ["a"], "set": {"k": 2}, "vary": {"tail": [0]}}, "methods": ["y"], "target": "t"}
    assert config["experiments"] == {"further": varied | {"target": "u"}, "base": base, "like": varied}


def test_a_template_stands_for_an_entry_per_value_and_its_name_for_all_of_them():
    methods = {"m_{k}": {"for": {"k": [1, 20], "word": ["one", "many"]}, "label": "k = {k}, {word}", "k": "{k}"}}
    experiments = {"e": {"methods": ["other", "m_{k}"]}}
    config = full({"methods": methods, "experiments": experiments})
    assert config["methods"] == {"m_1": {"label": "k = 1, one", "k": 1}, "m_20": {"label": "k = 20, many", "k": 20}}
    assert config["experiments"]["e"]["methods"] == ["other", "m_1", "m_20"]


def test_a_template_of_evaluations_is_shown_by_its_name():
    evaluations = {"e_{b}": {"for": {"b": [1, 2]}, "joint": {"g": ["g_{b}"]}}}
    config = full({"evaluations": evaluations, "tables": {"t": {"evaluation": "e_{b}"}, "u": {"evaluation": "e_1"}}})
    assert config["evaluations"] == {"e_1": {"joint": {"g": ["g_1"]}}, "e_2": {"joint": {"g": ["g_2"]}}}
    assert config["tables"] == {"t": {"evaluation": ["e_1", "e_2"]}, "u": {"evaluation": ["e_1"]}}


def test_an_entry_changes_the_one_of_its_name_from_a_template():
    problems = {"{name}": {"for": {"name": "both"}, "dataset": "{name}"}, "b": {"n": 5}}
    for order in (problems, dict(reversed(problems.items()))):
        config = full({"sets": SETS | {"problems": {"both": ["a", "b"]}}, "problems": order, "datasets": {}}, ROOT)
        assert config["problems"] == {"a": {"dataset": "a"}, "b": {"dataset": "b", "n": 5}}


def test_a_cell_by_itself_names_its_column_and_columns_can_be_a_template():
    columns = ["zeta", "regret@graphdr", "slope.sem", {"for": {"k": [1, 2]}, "k_{k}": "regret@graphdr_k_{k}"}]
    assert full({"tables": {"t": {"columns": columns}}})["tables"]["t"]["columns"] == [
        {"zeta": "zeta"},
        {"graphdr": "regret@graphdr"},
        {"slope": "slope.sem"},
        {"k_1": "regret@graphdr_k_1"},
        {"k_2": "regret@graphdr_k_2"},
    ]


def test_a_table_or_figure_is_of_a_variation_and_called_after_its_data_set():
    blocks = {"datasets": {"d": {"label": "Data"}}, "problems": {"p": {"dataset": "d"}}, "experiments": {"t": {}}}
    shown = {"t": {"problem": "p", "rows": {"n": "nodes"}}, "u": {"problem": {"of": "p", "tail": "0.1", "k": 5}}}
    config = full(blocks | {"tables": shown, "figures": {"f": {"problem": "p"}}})
    assert config["tables"]["t"] == {
        "problem": "p", "rows": "n", "heading": "nodes", "caption": "Data", "experiment": ["t"],
    }  # fmt: skip
    assert config["tables"]["u"]["problem"] == "p-k_5-tail_0_1" == problem_name("p", {"tail": 0.1, "k": 5})
    assert config["figures"]["f"]["title"] == "Data"


def test_sources_and_checks_are_files_or_mappings_and_what_stands_in_the_block_wins(tmp_path):
    (tmp_path / "sources.yaml").write_text("d: {licence: none, page: p}\n")
    config = {"datasets": {"d": {"family": "knn", "raw": {"page": "own"}}}, "claims": {"own": {"share": 1}}}
    for sources in ("sources.yaml", {"d": {"licence": "none", "page": "p"}}):
        checks = {"paper": {"share": "0.5"}, "own": {"share": 0}}
        whole = full(config | {"sources": sources, "checks": checks}, tmp_path)
        assert whole["datasets"]["d"]["raw"] == {"licence": "none", "page": "own"}
        assert whole["claims"] == {"paper": {"share": 0.5}, "own": {"share": 1}}


def test_studies_are_experiments_after_the_others_and_those_of_the_block_win():
    studies = {"own": {"methods": ["x"], "opt_in": True}, "further": {"like": "own", "methods": ["y"]}}
    whole = full({"experiments": {"own": {"methods": ["z"]}}, "studies": studies})
    assert whole["experiments"] == {
        "own": {"methods": ["z"], "opt_in": True}, "further": {"methods": ["y"], "opt_in": True},
    }  # fmt: skip
    assert list(whole["experiments"]) == ["own", "further"]


MISTAKES = [
    ({"sources": "nowhere.yaml"}, r"^sources: .*nowhere.yaml: cannot be read \(.*No such file"),
    ({"sources": 5}, r"sources: a mapping is needed"),
    ({"sources": {"dd": {}}, "datasets": {"d": {}}}, r"sources: no dataset 'dd'; there are: d"),
    ({"sets": {"problem": {}}}, r"sets: no kind of set 'problem'; there are: columns, facts, methods, problems, score"),
    ({"sets": {"methods": {"m": "x"}}}, r"sets.methods.m: a list of its members is needed"),
    ({"sets": {"methods": {"m": ["x"]}}, "methods": {"m": {}}}, r"sets.methods.m: methods.m has the same name"),
    ({"methods": {"m": {"like": "n"}}}, r"methods.m.like: no entry of methods 'n'; there are: m"),
    ({"methods": {"m": {"like": "m"}}}, r"methods.m.like: 'm' is like 'm' itself"),
    ({"methods": {"m_{k}": {"for": {"k": 5}}}}, r"methods.m_{k}.for: every variable needs a list of values"),
    ({"methods": {"m_{k}": {"for": {"k": [1], "j": [1, 2]}}}}, r"methods.m_{k}.for: all lists must be of the same len"),
    ({"methods": {"m_{k}": {"for": {"k": "some"}}}}, r"methods.m_{k}.for.k: no set of problems 'some'; there are: "),
    ({"methods": {"m_{j}": {"for": {"k": [1]}}}}, r"methods.m_{j}: no variable 'j'; there are: k"),
    ({"methods": {"m_{k}": {"for": {"k": [1]}, "label": "{l}"}}}, r"methods.m_{k}: no variable 'l'; there are: k"),
    ({"methods": {"m": {"for": {"k": [1, 2]}}}}, r"methods.m: two entries have the name 'm'"),
    ({"methods": {"m_{k}": {"for": {"k": [1, 1]}}}}, r"methods.m_{k}: two entries have the name 'm_1'"),
    ({"tables": {"t": {"columns": [{"for": {"k": []}, "a": "b"}]}}}, r"tables.t.columns.for: every variable needs a l"),
    ({"figures": {"f": {"problem": {"tail": 1}}}}, r"figures.f.problem: the problem that it is a variation `of` is ne"),
    ({"methods": []}, r"methods: a mapping is needed"),
    ([], r"top level: a mapping is needed"),
]


@pytest.mark.parametrize(("config", "message"), MISTAKES, ids=[message[:40] for _, message in MISTAKES])
def test_a_mistake_in_a_short_form_is_one_line_with_its_place(config, message, tmp_path):
    with pytest.raises(UserError, match=message) as caught:
        full(config, tmp_path)
    assert "\n" not in str(caught.value)
