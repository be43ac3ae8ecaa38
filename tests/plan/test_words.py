"""Words for names: whatever the page shows has a title or a label, and every word is about something that exists."""

import pytest

from graphdr.paper import compare, verdicts
from graphdr.paper.predicates import cell_names
from graphdr.plan import blocks, design, outline, words
from graphdr.scores import cells
from graphdr.show import words as shown


@pytest.fixture(scope="module")
def plan(whole_plan):
    return whole_plan


def test_every_experiment_and_study_has_a_title_of_its_own(plan):
    titles = [spec.title for spec in plan.config.experiments.values()]
    assert None not in titles
    assert len(set(titles)) == len(titles)
    assert {spec.target for spec in plan.config.experiments.values() if spec.target} == set(plan.config.targets)


def test_what_has_no_title_is_named_by_its_key(config):
    untitled = {name: {k: v for k, v in entry.items() if k != "title"} for name, entry in config["experiments"].items()}
    plan = design.expand(config | {"experiments": untitled, "targets": {}})
    described = outline.experiment(plan, "theory_exact", [])
    assert (described["title"], described["group"]) == ("Theory exact", "Theory")


def test_every_cell_of_every_claim_and_table_has_words(plan):
    labels = words.labels(plan.config)
    checks = [
        arguments for claim in plan.config.claims.values() for check in claim.checks for arguments in check.values()
    ]
    named = [cell for arguments in checks for cell in cell_names(arguments)]
    named += [text for table in plan.config.tables.values() for _, text in cells.named(table.columns)]
    for text in named:
        cell = cells.parse("test", text)
        assert {cell.quantity, cell.key or cell.quantity} <= set(labels), text
    for arguments in checks:
        factor = arguments.get("along", "k")
        assert factor in labels or len(factor) == 1, factor


def test_a_problem_is_named_by_what_its_experiment_varies(plan):
    spec, problems = plan.config.experiments["noise_stress"], plan.members["noise_stress"]
    assert [words.title(plan.config, problem, spec) for problem in problems[:2]] == [
        "SBM, share of pairs flipped = 0",
        "SBM, share of pairs flipped = 0.05",
    ]


def test_claims_about_who_wins_compare_regrets(plan):
    wins = [name for name, claim in plan.config.claims.items() if outline.compares_methods(claim)]
    assert {"main_wins", "cross_beats_full", "main_15x"} <= set(wins)
    assert not {"k_is_10", "thm1_holds", "diag_zeta_best", "dim_flat"} & set(wins)


def test_words_are_about_what_exists(plan):
    assert set(shown.FACTORS) <= set(blocks.Factors.model_fields)
    assert set(shown.meanings()) <= set(plan.config.quantities)
    assert set(shown.NUMBERS) == set(compare.VERDICTS)
    assert set(verdicts.VERDICTS) == {verdicts.verdict_kind(verdict) for verdict in shown.CLAIMS}
    assert set(shown.ON_THE_PAGE) <= set(shown.WORDS)


def test_a_fact_that_is_described_nowhere_is_shown_by_its_name(plan):
    quantity = plan.config.model_copy(update={"quantities": {}}).quantity("mean_degree")
    assert (quantity.label, quantity.digits) == ("mean degree", 3)
