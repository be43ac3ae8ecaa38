"""The fingerprint of a stage changes with the code behind it, and with nothing else."""

import pytest

from graphdr.cache.fingerprint import PACKAGE
from tests.support.reruns import STAGES, codes, copy_package, edit


@pytest.fixture
def changed(tmp_path):
    """Return a function that applies edits to a copy of the package and returns which stages changed."""

    def stages(*edits: tuple[str, str, str]) -> set[str]:
        package = copy_package(tmp_path)
        for module, old, new in edits:
            edit(package / module, old, new)
        before, after = codes(), codes(package)
        return {stage for stage in STAGES if before[stage] != after[stage]}

    return stages


def test_a_copy_elsewhere_has_the_same_fingerprints(changed):
    assert changed() == set()


def test_comments_and_docstrings_change_nothing(changed):
    """All modules are edited in one copy: a stage whose fingerprint stays is deaf to each of these edits."""
    edits = []
    for module in sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")):
        text = (PACKAGE / module).read_text()
        docstring = text.split('"""')[1]
        commented = "# a comment\n" + text.replace(docstring, docstring + " Really.\n", 1) + "\n# another\n"
        assert commented.count("Really.") > text.count("Really.")
        edits.append((module, text, commented))
    assert len(edits) > 100
    assert changed(*edits) == set()


def test_the_kernel_belongs_to_the_runs_alone(changed):
    assert changed(("bandit/linucb.py", "total = 0.0", "total = 1.0")) == {"run_bandit"}


def test_graphs_belong_to_graphs_bases_and_below(changed):
    stages = changed(("graphs/model.py", "- normalised_adjacency", "+ normalised_adjacency"))
    assert {"build_graph", "compute_basis", "describe_problem"} <= stages
    assert not stages & {"measure_batch", "evaluate_predictors", "make_table", "compare_paper"}


def test_a_diagnostic_reruns_no_bandit(changed):
    assert changed(("facts/graph_facts.py", "4.0 * eps_l", "5.0 * eps_l")) == {"describe_problem"}


def test_the_code_of_a_table_reruns_no_bandit(changed):
    assert "run_bandit" not in changed(("show/tables.py", '"–"', '"none"'))


def test_the_code_of_the_comparison_is_its_own(changed):
    assert changed(("paper/compare.py", "0.03", "0.04")) == {"compare_paper", "make_report"}


def test_the_version_of_the_package_is_not_code(changed):
    assert changed(("__init__.py", "__version__ =", "__version__ = 'x' +")) == set()


def test_every_stage_has_a_fingerprint_of_its_own():
    assert len(set(codes().values())) == len(STAGES)
    assert "run_bandit" in STAGES
