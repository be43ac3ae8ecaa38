"""The fingerprint of a stage changes with the code behind it, and with nothing else."""

import shutil
from pathlib import Path

import pytest

from graphdr.cache.fingerprint import PACKAGE, stage_code

STAGES = sorted(path.stem for path in (PACKAGE / "stages").glob("*.py") if path.stem != "__init__")


@pytest.fixture
def edited(tmp_path):
    """Return a function that copies the package, applies an edit, and returns which stages changed."""
    count = 0

    def changes(module: str, old: str, new: str) -> set[str]:
        nonlocal count
        count += 1
        copy = tmp_path / str(count) / "graphdr"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        file = copy / module
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))
        return {stage for stage in STAGES if stage_code(stage, package=copy) != stage_code(stage)}

    return changes


def test_a_copy_elsewhere_has_the_same_fingerprints(edited):
    assert edited("cache/io.py", "import json", "import json") == set()


@pytest.mark.parametrize("module", sorted(p.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("*.py")))
def test_comments_and_docstrings_change_nothing(edited, module):
    text = (PACKAGE / module).read_text()
    docstring = text.split('"""')[1]
    assert edited(module, docstring, docstring + " Really.\n") == set()
    assert edited(module, text, "# a comment\n" + text + "\n# another\n") == set()


def test_the_kernel_belongs_to_the_runs_alone(edited):
    assert edited("bandit/linucb.py", "total = 0.0", "total = 1.0") == {"run_bandit"}


def test_graphs_belong_to_graphs_bases_and_below(edited):
    changed = edited("graphs/model.py", "- normalised_adjacency", "+ normalised_adjacency")
    assert {"build_graph", "compute_basis", "describe_problem"} <= changed
    assert not changed & {"measure_batch", "evaluate_predictors", "make_table", "compare_paper"}


def test_a_diagnostic_reruns_no_bandit(edited):
    assert edited("facts/graph_facts.py", "4.0 * eps_l", "5.0 * eps_l") == {"describe_problem"}


def test_the_code_of_tables_and_of_the_comparison_is_theirs(edited):
    assert "run_bandit" not in edited("show/tables.py", '"–"', '"none"')
    assert edited("paper/compare.py", "0.03", "0.04") == {"compare_paper"}


def test_the_version_of_the_package_is_not_code(edited):
    assert edited("__init__.py", "__version__ =", "__version__ = 'x' +") == set()


def test_every_stage_has_a_fingerprint_of_its_own():
    assert len({stage_code(stage) for stage in STAGES}) == len(STAGES)
    assert Path(PACKAGE / "stages" / "run_bandit.py").exists()
